//! Tests of passes: one test for each case, a module in text form with the passes to run on it and what
//! they change.
//!
//! A crate with a pass of its own has the file `tests/passes.rs`, with `harness = false` in its manifest:
//!
//! ```no_run
//! # macro_rules! env { ($name:literal) => { "weld" } }
//! fn main() -> std::process::ExitCode {
//!     cuweld_test::run_cases("tests/passes", env!("CARGO_BIN_EXE_weld"))
//! }
//! ```
//!
//! Each case runs in a process of its own, `weld test-passes FILE`, so that one that ends its process fails
//! alone. With the variable `BLESS=1` the cases are written anew. The form of a case is described by the
//! book's page "Writing passes".

#![forbid(unsafe_code)]

use std::env::consts::DLL_PREFIX;
use std::env::consts::DLL_SUFFIX;
use std::ffi::OsString;
use std::fmt::Display;
use std::path::Path;
use std::path::PathBuf;
use std::process::Command;
use std::process::ExitCode;
use std::process::Output;

use libtest_mimic::Arguments;
use libtest_mimic::Failed;
use libtest_mimic::Trial;

/// A program that has the passes: cuweld, or a driver around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    path: PathBuf,
    plugins: Vec<PathBuf>,
}

impl<P: Into<PathBuf>> From<P> for Program {
    fn from(path: P) -> Self {
        Program {
            path: path.into(),
            plugins: Vec::new(),
        }
    }
}

impl Program {
    /// Has the program load the passes of this library.
    pub fn with_plugin(mut self, library: impl Into<PathBuf>) -> Self {
        self.plugins.push(library.into());
        self
    }

    /// Runs `PROGRAM test-passes`; an error is that it cannot be run.
    fn test_passes(&self, path: &Path, more: &[&str]) -> Result<Output, String> {
        let mut command = Command::new(&self.path);
        command.arg("test-passes");
        for plugin in &self.plugins {
            let mut word = OsString::from("--load-pass-plugin=");
            word.push(plugin);
            command.arg(word);
        }
        let output = command.args(more).arg(path).output();
        output.map_err(|error| format!("cannot run '{}': {error}", self.path.display()))
    }
}

/// A case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// Its path in the folder of the cases, without `.lir`, such as `callgraph-dce/aliases`.
    pub name: String,
    /// Its file.
    pub file: PathBuf,
}

impl Case {
    /// Runs the case in a process of its own.
    ///
    /// # Errors
    ///
    /// If it fails: what the program said, with the difference of what the case expects and of what
    /// was found.
    pub fn run(&self, program: &Program) -> Result<(), String> {
        let output = program.test_passes(&self.file, &[])?;
        match output.status.success() {
            true => Ok(()),
            false => Err(said(&output)),
        }
    }
}

/// Finds the cases in a folder and its folders, in the order of their names.
///
/// # Errors
///
/// If there are none, a file cannot be read, or the program cannot be run.
pub fn cases(folder: impl AsRef<Path>, program: &Program) -> Result<Vec<Case>, String> {
    let folder = folder.as_ref();
    let output = program.test_passes(folder, &["--list"])?;
    if !output.status.success() {
        return Err(said(&output));
    }
    let list = String::from_utf8_lossy(&output.stdout);
    let case = |line: &str| {
        let file = PathBuf::from(line);
        let name = file
            .strip_prefix(folder)
            .unwrap_or(&file)
            .with_extension("");
        let name = name.display().to_string();
        Case { name, file }
    };
    Ok(list.lines().map(case).collect())
}

/// Runs the cases of a folder as a test program does, with the arguments of the process (`--list`,
/// a word of a name). Paths in cases are relative to the current folder, which is that of the
/// package under `cargo test`.
///
/// Without a case, one test fails that says so.
pub fn run_cases(folder: impl AsRef<Path>, program: impl Into<Program>) -> ExitCode {
    let program = program.into();
    let trials = match cases(folder, &program) {
        Ok(cases) => cases
            .into_iter()
            .map(|case| trial(case, program.clone()))
            .collect(),
        Err(error) => vec![Trial::test("cases", || Err(Failed::from(error)))],
    };
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// Returns the path of the shared library of a package, `lib.crate-type = ["cdylib", "rlib"]`, that
/// cargo has built for the running test. `name` is that of the crate, with `_`.
///
/// If there is none, the path of the place where it would be is returned.
pub fn built_library(name: &str) -> PathBuf {
    let file = format!("{DLL_PREFIX}{name}{DLL_SUFFIX}");
    // cargo puts tests and what they need into one folder, and what it shows to users above it.
    let test = std::env::current_exe().unwrap_or_default();
    let folders = test.ancestors().skip(1).take(2);
    let built = |path: &PathBuf| path.metadata().and_then(|data| data.modified()).ok();
    let newest = folders.map(|folder| folder.join(&file)).max_by_key(built);
    newest.unwrap_or_else(|| PathBuf::from(file))
}

fn trial(case: Case, program: Program) -> Trial {
    Trial::test(case.name.clone(), move || Ok(case.run(&program)?))
}

/// Returns all that a program wrote, and how it ended if that was by no exit code of its own.
fn said(output: &Output) -> String {
    let texts = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
    let ended: &dyn Display = match output.status.code() {
        Some(_) => &"",
        None => &output.status,
    };
    format!("{}{}{ended}", texts[0], texts[1])
}
