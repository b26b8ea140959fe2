//! cuweld, the open CUDA device linker, as a library.
//!
//! - A [`Linker`] links bytes in memory, without files, environment or output of its own.
//! - [`link()`] links files, or bytes in memory, to a cubin. A [`Request`] says what and how; findings go to a
//!   [`Reporter`](diagnostics::Reporter).
//! - [`cli::main`] is a program of its own with every command of `cuweld` and passes that [`extend::Register`] adds;
//!   [`cuweld_passes`] says what a pass is, and [`cuweld_ir`] is what it works on.
//! - [`inspect`] shows what is in a file, [`size`] how large what of it is, [`diff`] how two cubins differ, and
//!   [`report`] all of it as a page.
//!
//! Two objects are linked in memory:
//!
//! ```
//! use cuweld::{Kind, Linker, Target};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let target = Target::parse("sm_90").ok_or("no such architecture")?;
//! let linked = Linker::new(target)
//!     .add(std::fs::read("examples/rdc/a.o")?, Kind::Object, "a.o")?
//!     .add(std::fs::read("examples/rdc/b.o")?, Kind::Object, "b.o")?
//!     .link()?;
//! assert!(linked.cubin.starts_with(b"\x7fELF"));
//! # Ok(())
//! # }
//! ```

mod chosen_toolkit;
pub mod cli;
mod compile;
mod controls;
pub mod diagnostics;
pub mod diff;
pub mod disasm;
mod dlink;
mod driver;
mod dump;
pub mod extend;
mod file_name;
mod gc_sections;
mod input;
pub mod inspect;
pub mod internals;
mod invariants;
mod jobs;
mod language_server;
mod limits;
mod linker;
mod map_file;
mod module_text;
mod new_pass;
mod output;
mod pass_case;
mod pipeline_files;
mod reduce;
mod registration;
mod replay_root;
pub mod report;
mod repro;
mod run;
pub mod size;
mod toolkit;
mod watch;

pub use compile::CompileOptions;
pub use compile::CompileTime;
pub use compile::LtoOptions;
pub use compile::NvvmOptions;
pub use compile::PtxasOptions;
pub use compile::ToolPaths;
pub use compile::ptxas::CompileError;
pub use compile::ptxas::Compiled;
pub use controls::Controls;
pub use controls::Crashes;
pub use controls::DumpChanged;
pub use controls::DumpFormat;
pub use controls::Dumping;
pub use controls::PassSelection;
pub use controls::Progress;
pub use controls::RemarkOptions;
pub use controls::StatisticsForm;
pub use controls::Watching;
pub use cuweld_elf::Target;
pub use cuweld_elf::behaviours::Release;
pub use cuweld_elf::toolkit::Toolkit;
pub use cuweld_ir::Arena;
pub use cuweld_ir::LinkOptions;
pub use cuweld_passes::instrument::Questions;
pub use cuweld_passes::reports::link_map::DropReason;
pub use cuweld_passes::reports::link_map::DroppedSection;
pub use cuweld_passes::reports::link_map::LinkMap;
pub use cuweld_passes::reports::link_map::MapInput;
pub use cuweld_passes::reports::link_map::MapPiece;
pub use cuweld_passes::reports::link_map::MapSection;
pub use cuweld_passes::reports::link_map::MapSymbol;
pub use cuweld_passes::reports::link_map::SymbolBinding;
pub use cuweld_passes::reports::link_map::SymbolKind;
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
pub use limits::Limits;
pub use linker::AddError;
pub use linker::Kind;
pub use linker::LinkError;
pub use linker::Linked;
pub use linker::Linker;
pub use linker::Look;
pub use linker::ModuleMemory;
pub use linker::Ran;
pub use linker::Statistics;
pub use output::OutputError;
pub use output::Replaced;
pub use registration::Registration;
pub use run::run_pipeline;
