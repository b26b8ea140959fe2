//! `weld`: cuweld with passes and an instrument of our own. It has every command and option of `cuweld`,
//! and `nvlink`'s command line if it is called by that name.

mod build_id;
mod check_registers;
mod drop_sleeps;
mod slowest_pass;

use std::process::ExitCode;

fn main() -> ExitCode {
    cuweld::cli::main(&[
        check_registers::register,
        build_id::register,
        drop_sleeps::register,
        slowest_pass::register,
    ])
}
