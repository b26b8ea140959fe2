//! Target tables: what is data about architectures, formats and the toolkit, and nothing else.

pub mod arch;
pub mod attributes;
pub mod compat;
pub mod finalize;
pub mod relocs;
pub mod section_types;
pub mod toolkit;

pub use arch::Target;
