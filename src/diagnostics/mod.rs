//! Rendering of findings, in nvlink's form and in ours.
//!
//! On the nvlink-compatible command line the first line of a finding is nvlink's own wording, because
//! tools parse it; what more we know follows as `note:` and `help:` lines, which `explain = off`
//! leaves out. The native command line leads with ours.

pub mod demangle;
mod reporter;

pub use demangle::demangle;
pub use reporter::Reporter;
pub use reporter::Style;
