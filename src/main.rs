//! The `cuweld` program.

#![cfg_attr(all(target_os = "linux", not(test)), no_main)]

#[cfg(all(target_os = "linux", not(test)))]
mod c_main;
#[cfg(all(target_arch = "x86_64", any(target_env = "musl", test)))]
mod memory_functions;

use cuweld::heap::LargePages;

#[global_allocator]
static HEAP: LargePages = LargePages;

#[cfg(not(all(target_os = "linux", not(test))))]
fn main() -> std::process::ExitCode {
    cuweld::cli::main(&[])
}
