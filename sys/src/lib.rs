//! What the program `cuweld` asks of the operating system. The library `cuweld` knows nothing of
//! it: the program passes it in as hooks.
//!
//! Everything here but [`cut_files`] makes links faster and changes nothing else; on other systems
//! than Linux it does nothing.

pub mod allocator;
pub mod background_exit;
pub mod cut_files;
#[cfg(all(target_arch = "x86_64", any(target_env = "musl", test)))]
mod memory_functions;
