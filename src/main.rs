//! The `cuweld` program.

use std::process::ExitCode;

use cuweld::Hooks;
use cuweld::cli::Program;
use cuweld_sys::allocator;
use cuweld_sys::allocator::LargePages;
use cuweld_sys::background_exit;
use cuweld_sys::cut_files;
use cuweld_sys::file_size_limit;

#[global_allocator]
static ALLOCATOR: LargePages = LargePages;

fn main() -> ExitCode {
    cut_files::report();
    file_size_limit::report();
    let hooks = Hooks {
        reserve: allocator::reserve,
        linked,
    };
    let code = cuweld::cli::run(Program {
        register: &[],
        hooks,
    });
    background_exit::start();
    code
}

/// Has a large link's memory given back in the background.
fn linked() {
    if allocator::uses_large_pages() {
        background_exit::request();
    }
}
