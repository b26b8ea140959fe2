//! Opt-in passes: what a link does only when a user asks for it.

pub mod fold_identical_functions;
pub mod internalize;
pub(crate) mod opt_in;
pub mod order_functions;
pub mod rename_symbols;
pub mod strip_debug;
pub mod strip_unused_variables;
