//! cuweld, the open CUDA device linker.
pub mod input;
pub mod cli;
