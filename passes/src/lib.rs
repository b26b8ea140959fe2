//! The passes of cuweld and the manager that runs them.
//!
//! Architecture Invariant: a pass keeps nothing beside the [`cuweld_ir::Module`]; [`PassCx`] holds no
//! link state. Stopping after any pass, printing the module, parsing it and going on gives the same
//! bytes.
//!
//! Architecture Invariant: passes never print and never exit. They emit [`Diagnostic`]s and `tracing`
//! events.

#![forbid(unsafe_code)]

pub mod analysis;
pub mod callgraph_dce;
pub mod check_link;
mod classify;
pub mod constant_bank_dedup;
pub mod demangle;
pub mod diagnostic;
pub mod emit;
#[cfg(test)]
mod fake;
pub mod finalizer;
pub mod fold_identical_functions;
mod host_names;
pub mod instrument;
pub mod internalize;
pub mod layout_output;
pub mod manager;
pub mod mercury_encode;
pub mod merge_metadata;
pub mod name_patterns;
mod opt_in;
pub mod options;
pub mod order_functions;
pub mod pass;
pub mod passes_doc;
pub mod pipeline;
pub mod place_memory;
pub mod plan_relocations;
pub mod propagate_resources;
mod register_limit;
pub mod registry;
pub mod relocate;
pub mod rename_symbols;
pub mod report_call_graph;
pub mod report_resources;
mod reserved_use;
pub mod select_objects;
pub mod self_check;
mod stack_limit;
pub mod strip_debug;
pub mod strip_unused_variables;
mod suggest;
pub mod symbol_resolve;
pub mod threads;
mod undefined;
mod value_tables;
mod yields;

pub use analysis::Analyses;
pub use diagnostic::Diagnostic;
pub use diagnostic::Diagnostics;
pub use diagnostic::Severity;
pub use pass::Changed;
pub use pass::Pass;
pub use pass::PassCx;
pub use pass::PassError;
pub use pass::Statistics;
