//! Environment variables that stand in for cuweld's own options.

use super::error::ArgError;
use super::options;
use super::options::OptionId;
use super::options::OptionSpec;
use super::options::ValueKind;
use super::parse::LowArgs;
use super::value::Value;
use super::value::convert;
use crate::file_name;
use crate::toolkit::shadow::Shadowed;

/// Looks up an environment variable. The library never reads the environment itself.
pub type Environment<'a> = dyn Fn(&str) -> Option<Vec<u8>> + 'a;

/// What a link depends on beside its arguments and files.
#[derive(Clone, Copy)]
pub struct Surroundings<'a> {
    /// Looks up environment variables.
    pub environment: &'a Environment<'a>,
    /// The toolkit whose nvlink the program stands in the place of, in a shadow of it.
    pub shadowed: Option<&'a Shadowed>,
}

/// Gives our own options the values of their environment variables, unless the command line has
/// them. An empty variable counts as unset.
pub fn apply_environment(low: &mut LowArgs, environment: &Environment<'_>) -> Result<(), ArgError> {
    for option in options::own() {
        if !low.given(option.id)
            && let Some(text) = environment(option.environment).filter(|text| !text.is_empty())
            && let Some(value) = value_of(option, &text)?
        {
            low.set(option.id, value);
        }
    }
    Ok(())
}

/// Returns `true` if messages are to be explained; also known where the command line is wrong
/// elsewhere, as what follows is.
pub fn explains(low: &LowArgs, environment: &Environment<'_>) -> bool {
    !is_set_to(low, environment, EXPLAIN, b"off")
}

/// Returns `true` if what messages count is to be listed.
pub fn explains_all(low: &LowArgs, environment: &Environment<'_>) -> bool {
    is_set_to(low, environment, EXPLAIN, b"all")
}

/// Returns `true` if messages are to be JSON.
pub fn wants_json(low: &LowArgs, environment: &Environment<'_>) -> bool {
    let format = (OptionId::CuweldMessageFormat, "CUWELD_MESSAGE_FORMAT");
    is_set_to(low, environment, format, b"json")
}

const EXPLAIN: (OptionId, &str) = (OptionId::CuweldExplain, "CUWELD_EXPLAIN");

fn is_set_to(
    low: &LowArgs,
    environment: &Environment<'_>,
    (option, variable): (OptionId, &str),
    wanted: &[u8],
) -> bool {
    match low.text(option) {
        Some(value) => value == wanted,
        None => environment(variable).is_some_and(|value| value == wanted),
    }
}

fn value_of(option: &'static OptionSpec, text: &[u8]) -> Result<Option<Value>, ArgError> {
    let wrong = |reason: String| ArgError::Environment {
        variable: option.environment,
        reason,
    };
    if matches!(option.kind, ValueKind::Flag) {
        return match text {
            b"1" | b"true" | b"on" | b"yes" => Ok(Some(Value::Flag)),
            b"0" | b"false" | b"off" | b"no" => Ok(None),
            other => Err(wrong(format!(
                "'{}': expected 1 or 0",
                file_name::text(other)
            ))),
        };
    }
    convert(option, text)
        .map(Some)
        .map_err(|error| wrong(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn applied(
        given: &[(OptionId, Value)],
        variables: &[(&str, &str)],
    ) -> Result<LowArgs, ArgError> {
        let mut low = LowArgs::default();
        for (id, value) in given {
            low.set(*id, value.clone());
        }
        let environment = |name: &str| {
            let (_, value) = variables.iter().find(|(variable, _)| *variable == name)?;
            Some(value.as_bytes().to_vec())
        };
        apply_environment(&mut low, &environment).map(|()| low)
    }

    #[test]
    fn variables_stand_in_for_options() {
        let low = applied(
            &[],
            &[
                ("CUWELD_STAMP", "nvlink-13.0.88"),
                ("CUWELD_STRICT", "1"),
                ("CUWELD_VERIFY_EACH", "off"),
                ("CUWELD_DUMP_AFTER", "classify,relocate"),
                ("CUWELD_DUMP_DIR", ""),
                ("CUWELD_ARCH", "sm_90"),
            ],
        )
        .expect("all values are right");
        assert_eq!(
            low.text(OptionId::CuweldStamp),
            Some(&b"nvlink-13.0.88"[..])
        );
        assert!(low.given(OptionId::CuweldStrict));
        assert!(!low.given(OptionId::CuweldVerifyEach));
        assert_eq!(
            low.list(OptionId::CuweldDumpAfter),
            [&b"classify"[..], b"relocate"]
        );
        assert!(!low.given(OptionId::CuweldDumpDir));
        assert!(!low.given(OptionId::Arch));
    }

    #[test]
    fn the_command_line_wins() {
        let passes = (OptionId::CuweldDumpAfter, Value::List(vec![b"a".to_vec()]));
        let low = applied(&[passes], &[("CUWELD_DUMP_AFTER", "b")]).expect("right");
        assert_eq!(low.list(OptionId::CuweldDumpAfter), [b"a"]);
        let on = (OptionId::CuweldExplain, Value::Text(b"on".to_vec()));
        let low = applied(&[on], &[]).expect("right");
        let off = |_: &str| Some(b"off".to_vec());
        assert!(explains(&low, &off));
        assert!(!explains(&LowArgs::default(), &off));
        assert!(explains(&LowArgs::default(), &|_: &str| None));
        let all = |_: &str| Some(b"all".to_vec());
        assert!(explains(&LowArgs::default(), &all) && explains_all(&LowArgs::default(), &all));
        assert!(!explains_all(&low, &all));
    }

    #[test]
    fn wrong_variables_are_named() {
        let message = |variable, value| {
            applied(&[], &[(variable, value)])
                .expect_err("wrong")
                .to_string()
        };
        assert_eq!(
            message("CUWELD_STRICT", "maybe"),
            "environment variable CUWELD_STRICT: 'maybe': expected 1 or 0"
        );
        assert_eq!(
            message("CUWELD_EXPLAIN", "loud"),
            "environment variable CUWELD_EXPLAIN: Value 'loud' is not defined for option 'cuweld-explain'"
        );
    }
}
