//! Passes that every link runs: the rules of nvlink, in the order of the pipeline files.

pub mod callgraph_dce;
pub(crate) mod classify;
pub mod constant_bank_dedup;
pub mod emit;
pub mod layout_output;
pub mod mercury_encode;
pub mod mercury_schedule;
pub mod merge_metadata;
pub mod place_memory;
pub mod plan_relocations;
pub mod propagate_resources;
pub mod relocate;
pub mod select_objects;
pub mod symbol_resolve;
