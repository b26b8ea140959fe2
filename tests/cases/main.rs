//! Tests that are data: one trial for each file, folder or seed of a subject.
//!
//! `cargo test --test cases` runs all subjects, one after another; `cargo test --test cases links` one of them, `cargo test --test cases
//! links::weak` those of its trials whose name contains a word, and `cargo test --test cases -- links passes` two subjects. [`SUBJECTS`] are all.

#[path = "../harness/mod.rs"]
mod harness;

mod conformance;
mod cxx;
mod declarations;
mod engine;
mod inputs;
mod language;
mod links;
mod mutate;
mod operands;
mod passes;
mod resume;
mod schedule;
mod structure;
mod toolkits;

use std::error::Error;
use std::ffi::OsString;
use std::io::Write as _;
use std::process::ExitCode;

use libtest_mimic::{Arguments, Conclusion};

/// Runs the trials of a subject that the arguments ask for.
type Run = fn(&Arguments) -> Result<Conclusion, Box<dyn Error>>;

/// Every subject. The names of its trials begin with the subject's and `::`.
const SUBJECTS: [(&str, Run); 14] = [
    ("links", links::run_all),
    ("toolkits", toolkits::run_all),
    ("passes", passes::run_all),
    ("resume", resume::run_all),
    ("inputs", inputs::run_all),
    ("mutate", mutate::run_all),
    ("structure", structure::run_all),
    ("conformance", conformance::run_all),
    ("engine", engine::run_all),
    ("cxx", cxx::run_all),
    ("language", language::run_all),
    ("declarations", declarations::run_all),
    ("operands", operands::run_all),
    ("schedule", schedule::run_all),
];

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let is_subject = |word: &OsString| SUBJECTS.iter().any(|(name, _)| word == name);
    let (mut subjects, words): (Vec<_>, Vec<_>) = std::env::args_os().partition(is_subject);
    let mut arguments = Arguments::from_iter(words);
    let filter = arguments.filter.clone().unwrap_or_default();
    if let Some((subject, word)) = filter.split_once("::") {
        subjects.push(subject.into());
        // With `--exact` the filter is a full name, as `--list` shows it.
        if !arguments.exact {
            arguments.filter = Some(word.to_owned());
        }
    }
    let mut failed = false;
    for (name, run) in SUBJECTS {
        if !subjects.is_empty() && !subjects.iter().any(|subject| subject == name) {
            continue;
        }
        if !arguments.list {
            writeln!(std::io::stdout(), "\n{name}:")?;
        }
        match run(&arguments) {
            Ok(conclusion) => failed |= conclusion.has_failed(),
            Err(error) => {
                writeln!(std::io::stderr(), "{name}: {error}")?;
                failed = true;
            }
        }
    }
    Ok(if failed {
        ExitCode::from(101)
    } else {
        ExitCode::SUCCESS
    })
}
