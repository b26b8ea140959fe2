//! `weld`: cuweld with a pass and an instrument of our own. It has every command and option of `cuweld`,
//! and `nvlink`'s command line if it is called by that name.

mod check_registers;
mod slowest_pass;

use std::process::ExitCode;

fn main() -> ExitCode {
    cuweld::cli::main(&[check_registers::register, slowest_pass::register])
}
