//! The device ELF format, without a link: what a file holds, whether it is sound, and what its
//! words mean.
//!
//! - [`raw`]: the file's records, as zero-copy views; [`class32`]: ELF32 files in the form of ELF64 ones.
//! - [`validate`]: the four layers of checks that a reader relies on.
//! - [`symbol`], [`target`]: constants of CUDA; tables of architectures, relocations and attributes.
//! - [`finalize`]: which code runs on which target, as NVIDIA's finalizer decides it.
//! - [`toolkit`]: what differs between releases; [`behaviours`]: rules of nvlink that no standard explains;
//!   [`known_symbols`]: names that mean something.
//! - [`note_records`], [`string_table`]: contents of sections.
//! - [`mercury`]: the second form of code that objects for sm_100 and later carry.
//! - [`check`]: rules of a finished file, each with a name.
//!
//! Architecture Invariant: this crate does no IO, prints nothing, and knows neither a link nor a
//! pass.

#![forbid(unsafe_code)]

#[macro_use]
mod rules;

pub mod align;
pub mod behaviours;
pub mod branch_targets;
pub mod check;
pub mod class32;
pub mod finalize;
pub mod known_symbols;
pub mod mercury;
pub mod note_records;
pub mod put;
pub mod raw;
pub mod sass;
pub mod string_table;
pub mod symbol;
pub mod target;
pub mod toolkit;
pub mod validate;

pub use target::Target;
