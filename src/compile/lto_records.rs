//! What LTO-IR says of the options that it was compiled with: code that is optimised together has to
//! agree on them.
//!
//! The records are those of fatbin members, `-maxreg 32 -generate-line-info -ftz=0 -prec_div=1 ...`;
//! LTO-IR in files of its own has none, and no say.

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::codes::link;

const LINE_INFO: &str = "-generate-line-info";
const MAX_REGISTERS: &str = "-maxreg";
const SPLIT_COMPILE: &str = "-split-compile";
/// Options for floating point, as records and as messages have them.
const FLOATING_POINT: [(&str, &str); 4] = [
    ("-ftz", "-ftz"),
    ("-prec_div", "-prec-div"),
    ("-prec_sqrt", "-prec-sqrt"),
    ("-fmad", "-fmad"),
];

/// What the records have in common, as options of the link.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Agreed {
    /// `-maxrregcount`, if the link has none of its own.
    pub max_registers: Option<i32>,
    /// `-split-compile`, in place of the link's.
    pub split_compile: Option<i32>,
    /// Options for floating point, as the optimiser takes them.
    pub floating_point: Vec<String>,
}

/// Compares the records of a link, in the order of nvlink's messages; these are in `findings`, even
/// if the records do not agree. `limits_registers` says that the link has `-maxrregcount`.
///
/// # Errors
///
/// A fatal error for an option that two records have with different values.
pub fn agree<'a>(
    records: impl Iterator<Item = &'a [u8]>,
    limits_registers: bool,
    findings: &mut Vec<Diagnostic>,
) -> Result<Agreed, Diagnostic> {
    let records: Vec<String> = records
        .filter(|record| !record.is_empty())
        .map(|record| String::from_utf8_lossy(record).into_owned())
        .collect();
    let missing = |shown: &str, value: &str| {
        Diagnostic::info(
            link::LTO_OPTION_MISSING,
            format!(
                "Some objects do not have '{shown}' specified but others do; will build everything with '{shown}{value}'"
            ),
        )
    };
    let with_lines = records.iter().filter(|record| has_word(record, LINE_INFO));
    let count = with_lines.count();
    if count != 0 && count != records.len() {
        findings.push(missing("-lineinfo", ""));
    }
    let mut agreed = Agreed::default();
    if !limits_registers {
        let shown = "-maxrregcount";
        let (value, is_everywhere) = common(&records, MAX_REGISTERS, shown)?;
        if let Some(value) = value {
            if !is_everywhere {
                findings.push(missing(shown, &format!("={value}")));
            }
            agreed.max_registers = value.parse().ok();
        }
    }
    for (name, shown) in FLOATING_POINT {
        let (value, is_everywhere) = common(&records, name, shown)?;
        if value.is_some() && !is_everywhere {
            return Err(mismatch(shown));
        }
        let option = if name == "-fmad" { "-fma" } else { shown };
        let option = value.map(|value| format!("{option}={value}"));
        agreed.floating_point.extend(option);
    }
    let (value, _) = common(&records, SPLIT_COMPILE, SPLIT_COMPILE)?;
    agreed.split_compile = value.and_then(|value| value.parse().ok());
    Ok(agreed)
}

/// Returns the value of `-split-compile` in a record.
pub fn split_compile(record: &[u8]) -> Option<i32> {
    let record = std::str::from_utf8(record).ok()?;
    value_in(record, SPLIT_COMPILE)?.parse().ok()
}

/// Returns the value of an option that records have, and whether all have it.
fn common<'r>(
    records: &'r [String],
    name: &str,
    shown: &str,
) -> Result<(Option<&'r str>, bool), Diagnostic> {
    let mut values = records.iter().map(|record| value_in(record, name));
    let mut known = values.by_ref().flatten();
    let Some(first) = known.next() else {
        return Ok((None, false));
    };
    if known.any(|value| value != first) {
        return Err(mismatch(shown));
    }
    let is_everywhere = records
        .iter()
        .all(|record| value_in(record, name).is_some());
    Ok((Some(first), is_everywhere))
}

/// Returns the value of an option in a record, `name value` or `name=value`.
fn value_in<'r>(record: &'r str, name: &str) -> Option<&'r str> {
    let mut words = record.split_ascii_whitespace();
    let word = words.find(|word| {
        let rest = word.strip_prefix(name);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
    })?;
    match word.split_once('=') {
        Some((_, value)) => Some(value),
        None => words.next(),
    }
}

fn has_word(record: &str, name: &str) -> bool {
    record.split_ascii_whitespace().any(|word| word == name)
}

fn mismatch(shown: &str) -> Diagnostic {
    let text = format!("Cicc option values for '{shown}' do not match");
    Diagnostic::fatal(link::LTO_MISMATCH, text)
        .help("compile all inputs with the same -maxrregcount, -split-compile, -ftz, -prec-div, -prec-sqrt and -fmad")
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: &str = "-ftz=0 -prec_div=1 -prec_sqrt=1 -fmad=1 ";

    /// Returns what the records have in common, or the message, after the other messages.
    fn of(records: &[&str], limits_registers: bool) -> (Result<Agreed, String>, Vec<String>) {
        let records: Vec<String> = records
            .iter()
            .map(|record| format!("{record} {PLAIN}"))
            .collect();
        let mut findings = Vec::new();
        let records = records.iter().map(String::as_bytes);
        let agreed = agree(records, limits_registers, &mut findings);
        let said = findings.iter().map(ToString::to_string).collect();
        (agreed.map_err(|fatal| fatal.to_string()), said)
    }

    fn agreed(max_registers: Option<i32>, split_compile: Option<i32>) -> Result<Agreed, String> {
        let floating_point = ["-ftz=0", "-prec-div=1", "-prec-sqrt=1", "-fma=1"];
        Ok(Agreed {
            max_registers,
            split_compile,
            floating_point: floating_point.map(str::to_owned).to_vec(),
        })
    }

    fn fatal(option: &str) -> Result<Agreed, String> {
        Err(format!("Cicc option values for '{option}' do not match"))
    }

    #[test]
    fn what_one_has_holds_for_all() {
        assert_eq!(of(&["", ""], false), (agreed(None, None), vec![]));
        let all = ["-maxreg 32 -generate-line-info"; 2];
        assert_eq!(of(&all, false), (agreed(Some(32), None), vec![]));
        let some = "Some objects do not have";
        let build = "specified but others do; will build everything with";
        assert_eq!(
            of(
                &["", "-split-compile 2 -maxreg 40 -generate-line-info"],
                false
            ),
            (
                agreed(Some(40), Some(2)),
                vec![
                    format!("{some} '-lineinfo' {build} '-lineinfo'"),
                    format!("{some} '-maxrregcount' {build} '-maxrregcount=40'"),
                ]
            )
        );
        // The link's own limit of registers is everybody's.
        assert_eq!(
            of(&["-maxreg 32", "-maxreg 40", ""], true),
            (agreed(None, None), vec![])
        );
    }

    #[test]
    fn values_that_differ_end_the_link() {
        let registers = ["-maxreg 32 -ftz=1 -split-compile 2", "-maxreg 40"];
        assert_eq!(of(&registers, false), (fatal("-maxrregcount"), vec![]));
        assert_eq!(of(&registers, true), (fatal("-ftz"), vec![]));
        assert_eq!(
            of(&["-split-compile 2", "-split-compile 3"], false),
            (fatal("-split-compile"), vec![])
        );
        // LTO-IR without a record has no say.
        let records = [b"-fmad=0".as_slice(), b"", b"-fmad=1"];
        let found = agree(records.into_iter(), false, &mut Vec::new());
        assert_eq!(found.map_err(|it| it.to_string()), fatal("-fmad"));
    }
}
