//! Typed options of passes.
//!
//! A pass that takes options declares a table of [`OptionInfo`], for checks and documentation, and
//! a type that serde fills. Both are checked: names and types against the table, with a suggestion
//! for a mistyped name or choice, and the whole by the type.

use std::fmt;

use serde::de::DeserializeOwned;
use thiserror::Error;

use crate::suggest;

/// What is known of one option of a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OptionInfo {
    /// Its key in pipelines.
    pub name: &'static str,
    /// What values it takes.
    pub ty: OptionType,
    /// Its value when it is not given, as pipelines spell it.
    pub default: &'static str,
    /// What it does, in a sentence.
    pub doc: &'static str,
}

/// What values an option takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionType {
    /// `true` or `false`.
    Bool,
    /// A whole number.
    Integer,
    /// Any text.
    String,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A list of texts.
    Strings,
    /// The path of a file that is read; reproducers hold it.
    File,
    /// A program and its arguments; reproducers hold the files among them.
    Command,
}

impl OptionType {
    /// Returns `true` if an option of the type takes this value.
    pub fn accepts(self, value: &toml::Value) -> bool {
        match self {
            OptionType::Bool => value.is_bool(),
            OptionType::Integer => value.is_integer(),
            OptionType::String | OptionType::File => value.is_str(),
            OptionType::Choice(words) => value.as_str().is_some_and(|word| words.contains(&word)),
            OptionType::Strings | OptionType::Command => value
                .as_array()
                .is_some_and(|list| list.iter().all(toml::Value::is_str)),
        }
    }
}

impl fmt::Display for OptionType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OptionType::Bool => f.write_str("true or false"),
            OptionType::Integer => f.write_str("a whole number"),
            OptionType::String => f.write_str("a string"),
            OptionType::File => f.write_str("a string: the path of a file"),
            OptionType::Strings => f.write_str("a list of strings"),
            OptionType::Command => f.write_str("a list of strings: a program and its arguments"),
            OptionType::Choice(words) => {
                for (index, word) in words.iter().enumerate() {
                    let before = match index {
                        0 => "",
                        _ if index + 1 == words.len() => " or ",
                        _ => ", ",
                    };
                    write!(f, "{before}'{word}'")?;
                }
                Ok(())
            }
        }
    }
}

/// The options that a pipeline gives to one pass.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PassOptions {
    table: toml::Table,
}

impl PassOptions {
    /// Makes options of their keys and values.
    pub fn new(table: toml::Table) -> Self {
        PassOptions { table }
    }

    /// Returns `true` if none is given.
    pub fn is_empty(&self) -> bool {
        self.table.is_empty()
    }

    /// Returns the keys and values.
    pub fn table(&self) -> &toml::Table {
        &self.table
    }

    /// Checks names and types against what the pass declares.
    pub fn check(&self, known: &[OptionInfo]) -> Result<(), OptionError> {
        for (name, value) in &self.table {
            let Some(info) = known.iter().find(|info| info.name == name) else {
                let names = known.iter().map(|info| info.name);
                return Err(OptionError::Unknown {
                    name: name.clone(),
                    suggestion: suggest::nearest(name, names.clone()),
                    known: names.collect(),
                });
            };
            if !info.ty.accepts(value) {
                let suggestion = match (info.ty, value.as_str()) {
                    (OptionType::Choice(words), Some(word)) => {
                        suggest::nearest(word, words.iter().copied())
                    }
                    _ => None,
                };
                return Err(OptionError::Value {
                    name: name.clone(),
                    expected: info.ty,
                    found: value.to_string(),
                    suggestion,
                });
            }
        }
        Ok(())
    }

    /// Fills the options type of a pass.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, OptionError> {
        self.table
            .clone()
            .try_into()
            .map_err(|error| OptionError::Invalid(error.message().trim_end().to_owned()))
    }
}

/// Why options were refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum OptionError {
    /// The pass has no option of this name.
    #[error("there is no option '{name}'")]
    Unknown {
        /// The name.
        name: String,
        /// What was probably meant.
        suggestion: Option<&'static str>,
        /// The options that the pass has.
        known: Vec<&'static str>,
    },
    /// A value has the wrong type or is none of the choices.
    #[error("option '{name}' takes {expected}, not {found}")]
    Value {
        /// The option.
        name: String,
        /// What it takes.
        expected: OptionType,
        /// The value, as TOML spells it.
        found: String,
        /// What was probably meant.
        suggestion: Option<&'static str>,
    },
    /// The options type of the pass refused the values.
    #[error("{0}")]
    Invalid(String),
}

impl OptionError {
    /// Returns the option that is at fault, if it is one.
    pub fn option(&self) -> Option<&str> {
        match self {
            OptionError::Unknown { name, .. } | OptionError::Value { name, .. } => Some(name),
            OptionError::Invalid(_) => None,
        }
    }

    /// Returns a suggestion on how to mend the error.
    pub fn help(&self) -> Option<String> {
        match self {
            OptionError::Unknown {
                suggestion: Some(word),
                ..
            }
            | OptionError::Value {
                suggestion: Some(word),
                ..
            } => Some(format!("did you mean '{word}'?")),
            OptionError::Unknown { known, .. } if known.is_empty() => {
                Some("this pass has no options".to_owned())
            }
            OptionError::Unknown { known, .. } => Some(format!(
                "the options of this pass are: {}",
                known.join(", ")
            )),
            OptionError::Value { .. } | OptionError::Invalid(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    const KNOWN: &[OptionInfo] = &[
        OptionInfo {
            name: "roots",
            ty: OptionType::Choice(&["kernels", "host-referenced", "all"]),
            default: "kernels",
            doc: "What keeps functions.",
        },
        OptionInfo {
            name: "limit",
            ty: OptionType::Integer,
            default: "0",
            doc: "A limit.",
        },
        OptionInfo {
            name: "names",
            ty: OptionType::Strings,
            default: "[]",
            doc: "Names.",
        },
        OptionInfo {
            name: "strict",
            ty: OptionType::Bool,
            default: "false",
            doc: "Strictness.",
        },
    ];

    #[derive(Debug, Default, PartialEq, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    struct Options {
        roots: String,
        limit: u8,
        names: Vec<String>,
        strict: bool,
    }

    fn options(text: &str) -> PassOptions {
        PassOptions::new(text.parse().unwrap())
    }

    /// Returns the message and the help of the refusal.
    fn refusal(text: &str) -> (String, Option<String>) {
        let options = options(text);
        let error = options
            .check(KNOWN)
            .and_then(|()| options.read::<Options>())
            .expect_err("these options must be refused");
        (error.to_string(), error.help())
    }

    #[test]
    fn options_are_read_by_type() {
        let options = options("roots = 'all'\nlimit = 7\nnames = ['a', 'b']\nstrict = true");
        assert_eq!(options.check(KNOWN), Ok(()));
        let expected = Options {
            roots: "all".into(),
            limit: 7,
            names: vec!["a".into(), "b".into()],
            strict: true,
        };
        assert_eq!(options.read(), Ok(expected));
        assert_eq!(PassOptions::default().read(), Ok(Options::default()));
    }

    #[test]
    fn unknown_names_are_refused() {
        assert_eq!(
            refusal("rots = 'all'"),
            (
                "there is no option 'rots'".into(),
                Some("did you mean 'roots'?".into())
            )
        );
        assert_eq!(
            refusal("threads = 1"),
            (
                "there is no option 'threads'".into(),
                Some("the options of this pass are: roots, limit, names, strict".into())
            )
        );
        let error = options("threads = 1").check(&[]).unwrap_err();
        assert_eq!(error.help().as_deref(), Some("this pass has no options"));
        assert_eq!(error.option(), Some("threads"));
    }

    #[test]
    fn wrong_values_are_refused() {
        assert_eq!(
            refusal("roots = 'kernel'"),
            (
                "option 'roots' takes 'kernels', 'host-referenced' or 'all', not \"kernel\"".into(),
                Some("did you mean 'kernels'?".into())
            )
        );
        assert_eq!(
            refusal("limit = 'x'"),
            (
                "option 'limit' takes a whole number, not \"x\"".into(),
                None
            )
        );
        assert_eq!(
            refusal("names = [1]"),
            (
                "option 'names' takes a list of strings, not [1]".into(),
                None
            )
        );
        assert_eq!(
            refusal("strict = 1"),
            ("option 'strict' takes true or false, not 1".into(), None)
        );
        // The declared type is right, the options type knows better.
        assert_eq!(
            refusal("limit = 300").0,
            "invalid value: integer `300`, expected u8"
        );
    }
}
