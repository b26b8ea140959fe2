//! cuweld with the pass `my-pass`. It has every command and option of `cuweld`, and nvlink's command
//! line if its name ends in `nvlink`.

mod my_pass;

use std::process::ExitCode;

fn main() -> ExitCode {
    cuweld::cli::main(&[my_pass::register])
}
