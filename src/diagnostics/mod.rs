//! Rendering of findings, in nvlink's form and in ours.
//!
//! On the nvlink-compatible command line the first line of a finding is nvlink's own wording,
//! because tools parse it; what more we know follows as `note:` and `help:` lines, which `explain =
//! off` leaves out. The native command line leads with ours.
//!
//! Findings themselves are [`cuweld_diagnostics::Diagnostic`]; passes and readers make them.
//!
//! Architecture Invariant: text goes to the writer that the caller hands in, and nowhere else.

mod demangle;
mod json;
mod reporter;

pub use cuweld_diagnostics::Diagnostic;
pub use cuweld_diagnostics::Severity;
pub use json::line_of_remark;
pub use reporter::Reporter;
pub use reporter::Style;
pub use reporter::nvlink_word;
