//! Target tables: what is data about architectures and formats, and nothing else.

pub mod arch;
pub mod attributes;
pub mod compat;
pub mod relocs;
pub mod section_types;

pub use arch::Target;
