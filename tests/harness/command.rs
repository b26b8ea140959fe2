//! Our own command line in a child process.

use std::path::Path;
use std::process::{Command, Output};

/// Runs `cuweld` in a folder.
pub fn cuweld(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_cuweld"))
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
