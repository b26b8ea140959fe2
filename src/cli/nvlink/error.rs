//! What can be wrong with a command line, in nvlink's words.

use super::suggest;

/// A wrong command line. Displays as nvlink's message without its prefix; all are fatal.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ArgError {
    /// No option has this name.
    #[error("Unknown option '{name}'")]
    UnknownOption {
        /// The text after the first dash.
        name: String,
    },
    /// A flag was given a value.
    #[error("no argument expected after '{option}'")]
    NoArgumentExpected {
        /// The option as typed.
        option: String,
    },
    /// An option that takes a value is the last argument.
    #[error("argument expected after '{option}'")]
    ArgumentExpected {
        /// The option as typed.
        option: String,
    },
    /// Not a number.
    #[error("'{value}': expected a number")]
    NotANumber {
        /// The value as typed.
        value: String,
    },
    /// A number beyond 32 bits.
    #[error("32-bit integer value ({value}) out of range")]
    OutOfRange {
        /// The value as typed.
        value: String,
    },
    /// Neither `true` nor `false`.
    #[error("'{value}': expected true or false")]
    NotABoolean {
        /// The value as typed.
        value: String,
    },
    /// Not one of the values that the option accepts.
    #[error("Value '{value}' is not defined for option '{option}'")]
    UndefinedValue {
        /// The value as typed.
        value: String,
        /// The option's long name.
        option: &'static str,
    },
    /// A quote without its partner, or a backslash at the end of an options file.
    #[error("Stray '{character}' character")]
    Stray {
        /// `"`, or nothing for the backslash.
        character: &'static str,
    },
    /// An options file cannot be read.
    #[error("Could not open options file '{file}'")]
    OptionsFile {
        /// Its name.
        file: String,
        /// What the system says.
        reason: String,
    },
    /// Options files include each other too deeply.
    #[error("Too many options file opened '{file}'")]
    TooManyOptionsFiles {
        /// The one too many.
        file: String,
    },
    /// No `-arch`.
    #[error("Unknown arch name '(null)'")]
    NoArch,
    /// No `-o`.
    #[error("Must specify output file with -o option")]
    NoOutput,
    /// No input.
    #[error("No input files specified; use option --help for more information")]
    NoInputs,
    /// Inputs beside `-ghls`.
    #[error("Input files are not allowed with -ghls option; use --help for more information")]
    InputsWithHostLinkerScript,
    /// Two options that exclude each other, or one that needs another.
    #[error("Conflicting options '{first}' and '{second}'")]
    Conflict {
        /// One of them.
        first: &'static str,
        /// The other, or `no -x`.
        second: &'static str,
    },
    /// `-arch=lto_*`.
    #[error(
        "Link target of '{arch}' is virtual target that is not JIT-able; use 'sm_' target instead"
    )]
    VirtualTarget {
        /// The target.
        arch: String,
    },
    /// `-lto` without `-nvvmpath`.
    #[error("-nvvmpath should be specified with -lto")]
    NoNvvmPath,
    /// A value that the option does not know.
    #[error("Invalid argument for option '{option}'")]
    InvalidArgument {
        /// The option.
        option: &'static str,
    },
    /// An option of nvlink that cuweld does not follow.
    #[error("option '{option}' is not supported by cuweld")]
    NotSupported {
        /// The option.
        option: &'static str,
    },
    /// An environment variable of ours has a value that its option would refuse.
    #[error("environment variable {variable}: {reason}")]
    Environment {
        /// The variable.
        variable: &'static str,
        /// What is wrong with its value.
        reason: String,
    },
}

impl ArgError {
    /// Returns suggestions on what the user can do about the error.
    pub fn helps(&self) -> Vec<String> {
        match self {
            ArgError::UnknownOption { name } => suggest::for_unknown(name).into_iter().collect(),
            ArgError::NoArch => vec!["name the GPU to link for, such as -arch=sm_90".to_owned()],
            ArgError::UndefinedValue { value, option } => {
                suggest::for_value(value, option).into_iter().collect()
            }
            ArgError::TooManyOptionsFiles { .. } => {
                vec!["an options file includes itself, directly or through others".to_owned()]
            }
            ArgError::OptionsFile { reason, .. } => vec![reason.clone()],
            ArgError::Stray { character: "" } => {
                vec!["the last character of an options file is a backslash".to_owned()]
            }
            ArgError::Stray { .. } => {
                vec!["a double quote in a list or an options file has no partner".to_owned()]
            }
            ArgError::Conflict {
                second: "no -dlto",
                first,
            } => {
                vec![format!("{first} only makes sense with -dlto")]
            }
            _ => Vec::new(),
        }
    }
}
