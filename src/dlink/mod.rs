//! The whole device-link step, which `nvcc -dlink` does with nvlink, fatbinary and a compiler for
//! the host.
//!
//! [`links`] does the links of all targets, [`fatbin`] packs what comes of them, [`stub`] makes the
//! host object that carries it and registers it when the program starts.

pub mod architectures;
pub mod dependencies;
pub mod fatbin;
pub mod links;
pub mod stub;
