//! Our own command line in a child process.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Returns the program that is tested: our own binary, or what `CUWELD_TEST_BIN` names.
pub fn program() -> PathBuf {
    std::env::var_os("CUWELD_TEST_BIN")
        .unwrap_or_else(|| env!("CARGO_BIN_EXE_cuweld").into())
        .into()
}

/// Runs `cuweld` in a folder.
pub fn cuweld(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(program())
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap()
}

/// What a program wrote to standard error.
pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// All that a program wrote.
pub fn said(output: &Output) -> String {
    let out = String::from_utf8_lossy(&output.stdout);
    format!("{out}{}", stderr(output))
}
