//! The interface of NVIDIA's libnvJitLink, with cuweld as the linker.
//!
//! `cargo xtask jitlink` makes `libnvJitLink.so.13` of it, which programs load in place of
//! NVIDIA's. Each function of the interface is in [`abi`]; what they do is the session of a link,
//! which knows nothing of C.
//!
//! Architecture Invariant: a handle is a number of a table and never an address, so that no call
//! with a wrong one reads memory that is not ours.

pub mod abi;
mod arguments;
mod handles;
mod options;
mod real;
mod result;
mod session;
mod surroundings;

pub use result::ResultCode;
