//! The `cuweld` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    cuweld::cli::main(&[])
}
