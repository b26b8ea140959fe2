//! Findings of a device link: their model, and the codes that name them.
//!
//! Readers, passes and command lines make [`Diagnostic`]s. Each has a [`Code`], which says what it
//! is about: its wording is free, and nothing recognises a finding by its text. The code that
//! prints a finding decides its form.
//!
//! Architecture Invariant: this crate depends on no other, so that each may have findings. It never
//! prints.

#![forbid(unsafe_code)]

pub mod book;
mod code;
pub mod codes;
mod diagnostic;
mod list;
mod names;

pub use code::Code;
pub use code::CodeRow;
pub use code::Kind;
pub use diagnostic::Diagnostic;
pub use diagnostic::NvlinkPhase;
pub use diagnostic::Severity;
pub use list::Diagnostics;
pub use names::code;
pub use names::deviation;
