//! cuweld, the open CUDA device linker.
//!
//! The command lines, input discovery, pipeline loading, diagnostics and output live here; the
//! linker IR is [`cuweld_ir`], the passes are [`cuweld_passes`].

pub mod cli;
pub mod compile;
pub mod diagnostics;
pub mod diff;
pub mod driver;
pub mod dump;
pub mod extend;
pub mod input;
pub mod inspect;
mod invariants;
pub mod jobs;
pub mod output;
pub mod pipeline_files;
pub mod reduce;
pub mod registration;
mod replay_root;
pub mod repro;
pub mod run;
pub mod toolkit;
pub mod watch;
