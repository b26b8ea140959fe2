//! The C ABI of pass plugins, version 1, from both sides.
//!
//! A plugin is a shared library with passes that take a module in text form (`.lir`) and give one
//! back. [`abi`] is what `include/cuweld-plugin.h` says, in Rust; a plugin in Rust uses
//! [`export!`](crate::export) and writes no unsafe code itself; with the feature `host`, `Plugin`
//! loads one.
//!
//! All unsafe code of pass plugins stands in this crate.

pub mod abi;
pub mod guest;
#[cfg(feature = "host")]
mod host;

#[cfg(feature = "host")]
pub use host::LoadError;
#[cfg(feature = "host")]
pub use host::Plugin;
#[cfg(feature = "host")]
pub use host::PluginPass;
