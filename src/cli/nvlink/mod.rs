//! The nvlink-compatible command line.
//!
//! [`parse`](mod@parse) turns arguments into [`LowArgs`](parse::LowArgs) by nvlink's exact rules,
//! [`check`](mod@check) checks them against each other, [`run`](mod@run) links. Drivers own this
//! command line, so each of our own options is also an environment variable. It is parsed without
//! clap, as a tiny link costs about a millisecond.
//!
//! Behaviour is nvlink 13.0.88's, message for message; `testdata/observed.json` holds what it was
//! seen to do, and `testdata/observe.py` obtains that anew.

pub mod args;
pub mod check;
pub mod command_line;
pub mod documents;
pub mod environment;
pub mod error;
mod help;
mod host_linker_script;
pub mod options;
mod options_file;
mod output;
pub mod parse;
pub mod recorded;
pub mod run;
mod suggest;
mod time_table;
mod value;
mod version;

#[cfg(test)]
mod observed_tests;

pub(super) use options_file::split_words;
pub use run::run;

use std::path::PathBuf;

/// Makes a path of the bytes of an argument.
fn path_of(bytes: &[u8]) -> PathBuf {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    PathBuf::from(OsStr::from_bytes(bytes))
}
