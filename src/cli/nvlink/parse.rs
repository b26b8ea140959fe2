//! From arguments to [`LowArgs`]: each option with its value, as given.
//!
//! Arguments are read from left to right, and the first mistake ends the parse. Short names take
//! one dash and are never bundled; a value follows after `=` or as the next argument, and for `-l`,
//! `-L` and `-m` directly. An options file is read where it is named, on its own: an option at its
//! end does not find its value after the file.

use crate::file_name;
use std::io;
use std::path::Path;

use super::error::ArgError;
use super::options;
use super::options::OPTION_COUNT;
use super::options::OptionId;
use super::options::OptionSpec;
use super::options::ValueKind;
use super::options_file::split_words;
use super::path_of;
use super::value::Value;
use super::value::convert;

/// Options files may include each other this deep.
const MAX_OPTIONS_FILE_DEPTH: usize = 15;
/// All options files together; nvlink has no such bound, and runs out of time instead.
const MAX_OPTIONS_FILES: usize = 10_000;

/// Options as given, not checked against each other.
#[derive(Clone, Debug)]
pub struct LowArgs {
    /// Arguments that are not options.
    pub inputs: Vec<Vec<u8>>,
    /// Files whose arguments stand for `@file` (deviation D10), in order.
    pub response_files: Vec<Vec<u8>>,
    values: [Option<Value>; OPTION_COUNT],
}

impl Default for LowArgs {
    fn default() -> Self {
        LowArgs {
            inputs: Vec::new(),
            response_files: Vec::new(),
            values: [const { None }; OPTION_COUNT],
        }
    }
}

impl LowArgs {
    /// Returns the value of an option, if it was given.
    pub fn value(&self, id: OptionId) -> Option<&Value> {
        self.values.get(id as usize)?.as_ref()
    }

    /// Returns `true` if an option was given.
    pub fn given(&self, id: OptionId) -> bool {
        self.value(id).is_some()
    }

    /// Returns the text of an option.
    pub fn text(&self, id: OptionId) -> Option<&[u8]> {
        match self.value(id)? {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the number of an option.
    pub fn number(&self, id: OptionId) -> Option<i32> {
        match self.value(id)? {
            Value::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// Returns the truth value of an option.
    pub fn boolean(&self, id: OptionId) -> Option<bool> {
        match self.value(id)? {
            Value::Boolean(value) => Some(*value),
            _ => None,
        }
    }

    /// Returns the elements of a list option.
    pub fn list(&self, id: OptionId) -> &[Vec<u8>] {
        match self.value(id) {
            Some(Value::List(elements)) => elements,
            _ => &[],
        }
    }

    /// Stores a value. Returns `true` if it replaces another one that differs.
    pub(super) fn set(&mut self, id: OptionId, value: Value) -> bool {
        let Some(slot) = self.values.get_mut(id as usize) else {
            return false;
        };
        match (slot, value) {
            (Some(Value::List(elements)), Value::List(more)) => {
                elements.extend(more);
                false
            }
            (slot, value) => {
                let differs = slot.as_ref().is_some_and(|old| *old != value);
                *slot = Some(value);
                differs
            }
        }
    }
}

/// An option was given again with another value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Redefinition {
    /// The option's long name.
    pub option: &'static str,
}

/// Reads a file, for `-optf`.
pub type ReadFile<'a> = dyn FnMut(&Path) -> io::Result<Vec<u8>> + 'a;

/// Parses the arguments after the program's name. After an error `low` and `redefinitions` hold
/// what came before it.
pub fn parse(
    arguments: &[&[u8]],
    read_file: &mut ReadFile<'_>,
    low: &mut LowArgs,
    redefinitions: &mut Vec<Redefinition>,
) -> Result<(), ArgError> {
    // The option may stand after the first such file.
    let strict = arguments.contains(&&b"--cuweld-strict"[..]);
    Parser {
        low,
        redefinitions,
        read_file,
        files: 0,
        strict,
    }
    .words(arguments, 0)
}

struct Parser<'a, 'f> {
    low: &'a mut LowArgs,
    redefinitions: &'a mut Vec<Redefinition>,
    read_file: &'a mut ReadFile<'f>,
    files: usize,
    /// `@file` is an input.
    strict: bool,
}

/// An option argument taken apart.
struct Word<'w> {
    option: &'static OptionSpec,
    /// The option as typed, for messages.
    typed: &'w [u8],
    value: Option<&'w [u8]>,
}

impl Parser<'_, '_> {
    fn words(&mut self, words: &[&[u8]], depth: usize) -> Result<(), ArgError> {
        let mut words = words.iter().copied().peekable();
        while let Some(word) = words.next() {
            if let Some(file) = self.response_file(word) {
                self.options_file(&file, depth + 1)?;
                self.low.response_files.push(file);
                continue;
            }
            if !is_option(word) {
                self.low.inputs.push(word.to_vec());
                continue;
            }
            let Word {
                option,
                typed,
                value,
            } = take_apart(word)?;
            let value = match option.kind {
                ValueKind::Flag => match value {
                    None => b"",
                    Some(_) => {
                        return Err(ArgError::NoArgumentExpected {
                            option: file_name::text(typed),
                        });
                    }
                },
                ValueKind::OptionalChoice(_, default) => value
                    .or_else(|| words.next_if(|word| !is_option(word)))
                    .unwrap_or(default.as_bytes()),
                _ => value
                    .or_else(|| words.next())
                    .ok_or_else(|| ArgError::ArgumentExpected {
                        option: file_name::text(typed),
                    })?,
            };
            self.option(option, value, depth)?;
        }
        Ok(())
    }

    fn option(
        &mut self,
        option: &'static OptionSpec,
        text: &[u8],
        depth: usize,
    ) -> Result<(), ArgError> {
        let mut value = convert(option, text)?;
        if matches!(option.kind, ValueKind::OptionsFiles) {
            let Value::List(files) = value else {
                return Ok(());
            };
            for file in files {
                self.options_file(&file, depth + 1)?;
            }
            // Only that there was one is recorded.
            value = Value::Flag;
        }
        if self.low.set(option.id, value) {
            self.redefinitions.push(Redefinition {
                option: option.long,
            });
        }
        Ok(())
    }

    /// Returns the file that `@file` stands for, if it is there and no input has that name.
    fn response_file(&mut self, word: &[u8]) -> Option<Vec<u8>> {
        let file = word.strip_prefix(b"@").filter(|file| !file.is_empty())?;
        let mut exists = |name: &[u8]| (self.read_file)(&path_of(name)).is_ok();
        (!self.strict && !exists(word) && exists(file)).then(|| file.to_vec())
    }

    fn options_file(&mut self, file: &[u8], depth: usize) -> Result<(), ArgError> {
        self.files += 1;
        if depth > MAX_OPTIONS_FILE_DEPTH || self.files > MAX_OPTIONS_FILES {
            return Err(ArgError::TooManyOptionsFiles {
                file: file_name::text(file),
            });
        }
        let contents = match (self.read_file)(&path_of(file)) {
            Ok(contents) => contents,
            // A directory opens, and reads as nothing.
            Err(error) if error.kind() == io::ErrorKind::IsADirectory => Vec::new(),
            Err(error) => {
                return Err(ArgError::OptionsFile {
                    file: file_name::text(file),
                    reason: error.to_string(),
                });
            }
        };
        let words = split_words(&contents)?;
        let words: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
        self.words(&words, depth)
    }
}

/// Returns `true` if an argument is an option. A single dash is an input.
fn is_option(word: &[u8]) -> bool {
    word.len() > 1 && word.starts_with(b"-")
}

fn take_apart(word: &[u8]) -> Result<Word<'_>, ArgError> {
    let (typed, value) = match word.iter().position(|byte| *byte == b'=') {
        Some(equals) => (
            word.get(..equals).unwrap_or_default(),
            Some(word.get(equals + 1..).unwrap_or_default()),
        ),
        None => (word, None),
    };
    let name = typed.get(1..).unwrap_or_default();
    if let Some(long) = name.strip_prefix(b"-") {
        if let Some(option) = options::find_long(long) {
            return Ok(Word {
                option,
                typed,
                value,
            });
        }
    } else if let Some(option) = options::find_short(name) {
        return Ok(Word {
            option,
            typed,
            value,
        });
    } else if let Some(option) = options::find_glued(name) {
        let value = word.get(1 + option.short.len()..);
        return Ok(Word {
            option,
            typed,
            value,
        });
    }
    Err(ArgError::UnknownOption {
        name: file_name::text(name),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_with(
        arguments: &[&str],
        files: &[(&str, &str)],
    ) -> (LowArgs, Vec<Redefinition>, Result<(), ArgError>) {
        let arguments: Vec<&[u8]> = arguments
            .iter()
            .map(|argument| argument.as_bytes())
            .collect();
        let mut low = LowArgs::default();
        let mut redefinitions = Vec::new();
        let mut read = |path: &Path| {
            files
                .iter()
                .find(|(name, _)| Path::new(name) == path)
                .map(|(_, contents)| contents.as_bytes().to_vec())
                .ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
        };
        let result = parse(&arguments, &mut read, &mut low, &mut redefinitions);
        (low, redefinitions, result)
    }

    #[test]
    fn lists_accumulate_and_scalars_are_replaced() {
        let (low, redefinitions, result) = parse_with(
            &[
                "-la,b",
                "-l",
                "c",
                "-o",
                "x",
                "-o=x",
                "--output-file",
                "y",
                "-v",
                "-v",
                "in",
            ],
            &[],
        );
        assert_eq!(result, Ok(()));
        assert_eq!(low.list(OptionId::Library), [b"a", b"b", b"c"]);
        assert_eq!(low.text(OptionId::OutputFile), Some(&b"y"[..]));
        assert_eq!(
            redefinitions,
            [Redefinition {
                option: "output-file"
            }]
        );
        assert_eq!(low.inputs, [b"in"]);
        assert!(low.given(OptionId::Verbose));
        assert!(!low.given(OptionId::Debug));
    }

    #[test]
    fn optional_value_does_not_swallow_an_option() {
        let (low, _, result) = parse_with(&["-ghls", "-o", "x"], &[]);
        assert_eq!(result, Ok(()));
        assert_eq!(
            low.text(OptionId::GenHostLinkerScript),
            Some(&b"lcs-abs"[..])
        );
        assert_eq!(low.text(OptionId::OutputFile), Some(&b"x"[..]));
    }

    #[test]
    fn options_files_expand_in_place_and_stand_alone() {
        let files = [("a", "m1 -optf b m3"), ("b", "m2"), ("c", "-o")];
        let (low, _, result) = parse_with(&["m0", "-optf", "a", "m4"], &files);
        assert_eq!(result, Ok(()));
        assert_eq!(low.inputs, [b"m0", b"m1", b"m2", b"m3", b"m4"]);
        let (.., result) = parse_with(&["-optf", "c", "out"], &files);
        assert_eq!(
            result,
            Err(ArgError::ArgumentExpected {
                option: "-o".to_owned()
            })
        );
    }

    #[test]
    fn response_files_are_options_unless_they_are_inputs() {
        let files = [("a", "m1 -v"), ("b", "m2"), ("@b", "an input")];
        let (low, _, result) = parse_with(&["@a", "@b", "@none", "@"], &files);
        assert_eq!(result, Ok(()));
        assert_eq!(low.inputs, [b"m1".as_slice(), b"@b", b"@none", b"@"]);
        assert_eq!(low.response_files, [b"a"]);
        assert!(low.given(OptionId::Verbose));
        let (low, ..) = parse_with(&["@a", "--cuweld-strict"], &files);
        assert_eq!(low.inputs, [b"@a"]);
    }

    #[test]
    fn exponential_inclusion_ends() {
        let names: Vec<String> = (0..16).map(|depth| format!("f{depth}")).collect();
        let contents: Vec<String> = (0..16)
            .map(|depth| format!("-optf f{0},f{0},f{0},f{0}", depth + 1))
            .collect();
        let mut files: Vec<(&str, &str)> = names
            .iter()
            .map(String::as_str)
            .zip(contents.iter().map(String::as_str))
            .collect();
        files.push(("f16", ""));
        let (.., result) = parse_with(&["-optf", "f3"], &files);
        assert!(
            matches!(result, Err(ArgError::TooManyOptionsFiles { .. })),
            "{result:?}"
        );
    }

    #[test]
    fn text_before_an_error_is_kept() {
        let (low, redefinitions, result) =
            parse_with(&["-arch=sm_80", "-arch=sm_90", "-bogus", "-v"], &[]);
        assert_eq!(
            result,
            Err(ArgError::UnknownOption {
                name: "bogus".to_owned()
            })
        );
        assert_eq!(redefinitions, [Redefinition { option: "arch" }]);
        assert_eq!(low.text(OptionId::Arch), Some(&b"sm_90"[..]));
        assert!(!low.given(OptionId::Verbose));
    }
}
