//! The cases of tests/passes, each on cuweld with the plugin of this package. BLESS=1 writes them anew.

use cuweld_test::{Program, built_library, run_cases};

/// The cuweld that made this file; the variable CUWELD names another one.
const PROGRAM: &str = "cuweld";

fn main() -> std::process::ExitCode {
    let program = std::env::var("CUWELD").unwrap_or_else(|_| PROGRAM.to_owned());
    let program = Program::from(program).with_plugin(built_library("my_plugin"));
    run_cases("tests/passes", program)
}
