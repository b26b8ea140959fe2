//! The passes of cuweld and the manager that runs them.
//!
//! Architecture Invariant: a pass keeps nothing beside the [`cuweld_ir::Module`]; [`PassCx`] holds
//! no link state. Stopping after any pass, printing the module, parsing it and going on gives the
//! same bytes.
//!
//! Architecture Invariant: passes never print and never exit. They emit [`Diagnostic`]s and
//! `tracing` events.

#![forbid(unsafe_code)]

pub mod analyses;
pub mod checks;
mod facts;
pub mod instrument;
pub mod link;
mod located;
pub mod manager;
pub mod options;
pub mod pass;
pub mod pipeline;
pub mod registry;
pub mod remark;
pub mod reports;
pub mod suggest;
pub mod threads;
pub mod traced;
pub mod transforms;

pub use analyses::Analyses;
pub use cuweld_diagnostics::Code;
pub use cuweld_diagnostics::CodeRow;
pub use cuweld_diagnostics::Diagnostic;
pub use cuweld_diagnostics::Diagnostics;
pub use cuweld_diagnostics::Kind;
pub use cuweld_diagnostics::Severity;
pub use pass::Changed;
pub use pass::Pass;
pub use pass::PassCx;
pub use pass::PassError;
pub use pass::PassInfo;
pub use pass::Required;
pub use pass::Statistics;
pub use remark::Remark;
pub use remark::RemarkInfo;
pub use remark::Remarks;

/// Whether passes are watched at all: not in a build with the feature `uninstrumented`.
pub const INSTRUMENTED: bool = !cfg!(feature = "uninstrumented");
