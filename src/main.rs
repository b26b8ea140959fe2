//! The `cuweld` program.

#![cfg_attr(all(target_os = "linux", target_env = "gnu", not(test)), no_main)]

#[cfg(all(target_os = "linux", target_env = "gnu", not(test)))]
mod c_main;

use cuweld::heap::LargePages;

#[global_allocator]
static HEAP: LargePages = LargePages;

#[cfg(not(all(target_os = "linux", target_env = "gnu", not(test))))]
fn main() -> std::process::ExitCode {
    cuweld::cli::main(&[])
}
