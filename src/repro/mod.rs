//! Reproducers: a link as one file.
//!
//! A reproducer is a tar archive. `repro.json` says what was run, where, with which version;
//! `files/` holds every file that the link read, at its place in the file system. `cuweld replay`
//! puts them into a folder and runs the same command line there. Absolute paths are moved into the
//! folder: those of the arguments before the run, those of pipelines where they are used
//! (`src/replay_root.rs`).
//!
//! A reproducer may come from a stranger. It runs nothing that it brings or names, and changes
//! nothing outside its folder, unless whoever replays it says that it is trusted.

mod confine;
mod record;
mod replay;

pub use record::Recorder;
pub use record::finish;
pub use replay::Replay;

use serde::Deserialize;
use serde::Serialize;

/// The version of the archive's form.
const FORMAT: u32 = 1;

/// The name of the description in the archive.
const DESCRIPTION: &str = "repro.json";

/// The folder of files in the archive.
const FILES: &str = "files";

/// What a reproducer says of its link.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Description {
    /// The version of the archive's form.
    pub format: u32,
    /// The version of cuweld that wrote it.
    pub cuweld: String,
    /// The arguments after the program's name; those of nvlink's command line begin with `nvlink`.
    pub arguments: Vec<String>,
    /// The same link for nvlink, if that can be said.
    pub nvlink_arguments: Option<Vec<String>>,
    /// The folder it ran in.
    pub folder: String,
    /// Variables of the environment that cuweld looks at.
    pub environment: Vec<(String, String)>,
    /// The pipeline that was asked for, by name, file or passes; empty for the one that a link runs
    /// by itself.
    pub pipeline: String,
    /// The exit code.
    pub exit: u8,
}
