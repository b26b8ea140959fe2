//! What the program `cuweld` asks of the operating system. The library `cuweld` knows nothing of
//! it, but for [`foreign_code`]: the program passes it in as hooks.
//!
//! [`cut_files`], [`file_size_limit`], [`foreign_code`] and what [`allocator`] does without memory have the program end
//! with a message; all else makes links faster and changes nothing, and does nothing on other systems
//! than Linux.

pub mod allocator;
pub mod background_exit;
pub mod cut_files;
#[cfg(target_os = "linux")]
mod end;
pub mod file_size_limit;
pub mod foreign_code;
#[cfg(all(target_arch = "x86_64", any(target_env = "musl", test)))]
mod memory_functions;
#[cfg(target_os = "linux")]
mod signals;
