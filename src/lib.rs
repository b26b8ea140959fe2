//! cuweld, the open CUDA device linker, as a library.
//!
//! - [`link()`] links files, or bytes in memory, to a cubin. A [`Request`] says what and how; findings go to a
//!   [`Reporter`](diagnostics::Reporter).
//! - [`cli::main`] is a program of its own with every command of `cuweld` and passes that [`extend::Register`] adds;
//!   [`cuweld_passes`] says what a pass is, and [`cuweld_ir`] is what it works on.
//! - [`inspect`] shows what is in a file, and [`diff`] how two cubins differ.
//!
//! Two objects are linked in memory:
//!
//! ```
//! use cuweld::diagnostics::{Reporter, Style};
//! use cuweld::{Arena, Controls, DiscoverOptions, InputArena, Request, Target, link};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let (a, b) = (std::fs::read("examples/rdc/a.o")?, std::fs::read("examples/rdc/b.o")?);
//! let names = ["a.o".to_owned(), "b.o".to_owned()];
//! let inputs = InputArena::of_files([("a.o", a), ("b.o", b)]);
//! let target = Target::parse("sm_90").ok_or("no such architecture")?;
//! let controls = Controls::default();
//! let request = Request::new(DiscoverOptions::new(target, &names), &controls);
//!
//! let mut messages = Vec::new();
//! let mut reporter = Reporter::new(&mut messages, Style::Native);
//! let arena = Arena::new();
//! let outcome = link(&request, &inputs, &arena, &mut reporter)?;
//! let cubin = outcome.output.ok_or("the link failed")?.image()?.into_owned();
//! assert!(cubin.starts_with(b"\x7fELF"));
//! # Ok(())
//! # }
//! ```

mod chosen_toolkit;
pub mod cli;
mod compile;
mod controls;
pub mod diagnostics;
pub mod diff;
mod driver;
mod dump;
pub mod extend;
mod file_name;
mod input;
pub mod inspect;
pub mod internals;
mod invariants;
mod jobs;
mod limits;
mod output;
mod pipeline_files;
mod reduce;
mod registration;
mod replay_root;
mod repro;
mod run;
mod toolkit;
mod watch;

pub use compile::CompileOptions;
pub use compile::CompileTime;
pub use compile::LtoOptions;
pub use compile::NvvmOptions;
pub use compile::PtxasOptions;
pub use compile::ToolPaths;
pub use controls::Controls;
pub use controls::DumpChanged;
pub use controls::DumpFormat;
pub use controls::Dumping;
pub use controls::PassSelection;
pub use controls::StatisticsForm;
pub use controls::Watching;
pub use cuweld_elf::Target;
pub use cuweld_ir::Arena;
pub use cuweld_ir::LinkOptions;
pub use cuweld_passes::instrument::Questions;
pub use cuweld_passes::threads::Threads;
pub use driver::Hooks;
pub use driver::LinkOutcome;
pub use driver::LinkedFile;
pub use driver::Request;
pub use driver::link;
pub use input::CpuArch;
pub use input::DiscoverOptions;
pub use input::EarlyErrors;
pub use input::InputArena;
pub use output::OutputError;
pub use output::Replaced;
pub use run::run_pipeline;
