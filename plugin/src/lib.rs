//! The C ABI of pass plugins, version 2, from both sides.
//!
//! A plugin is a shared library with passes that take a module in text form (`.lir`) and give one
//! back. [`abi`] is what `include/cuweld-plugin.h` says, in Rust; a plugin in Rust uses
//! [`export!`](crate::export) and writes no unsafe code itself; with the feature `host`, `Plugin`
//! loads one.
//!
//! All unsafe code of pass plugins stands in this crate.

/// The header for plugins in C, `cuweld-plugin.h`.
pub const HEADER: &str = include_str!("../include/cuweld-plugin.h");

pub mod abi;
mod exchanged;
pub mod guest;
#[cfg(feature = "host")]
mod host;

pub use exchanged::Finding;
pub use exchanged::OptionType;
pub use exchanged::Severity;
pub use exchanged::Value;
pub use guest::Call;
#[cfg(feature = "host")]
pub use host::Failure;
#[cfg(feature = "host")]
pub use host::Listener;
#[cfg(feature = "host")]
pub use host::LoadError;
#[cfg(feature = "host")]
pub use host::Plugin;
#[cfg(feature = "host")]
pub use host::PluginOption;
#[cfg(feature = "host")]
pub use host::PluginPass;
