//! Command lines.
pub mod nvlink;
