//! The C interface of cuweld: a link of bytes in memory.
//!
//! The functions are in [`linker`], for a link that is to be done, and in [`linked`], for what came
//! of it; `include/cuweld.h` is made of both.

pub mod linked;
pub mod linker;
pub mod status;

mod text;
