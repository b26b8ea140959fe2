//! The `cuweld` program.

use std::process::ExitCode;

use cuweld::heap::LargePages;

#[global_allocator]
static HEAP: LargePages = LargePages;

fn main() -> ExitCode {
    cuweld::cli::main(&[])
}
