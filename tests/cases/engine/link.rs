//! What one link of the engine consists of, as data: steps, options, inputs and how each input is made. A plan draws it from a seed, the shrinker
//! takes parts away, and both are built and run the same way.

use std::fmt;
use std::sync::Arc;

use super::packaging::Codec;
use crate::mutate::mutation::Kind;

/// A link of one or two steps. The output of the first is an input of the second.
#[derive(Clone, Debug)]
pub struct Link {
    /// The target.
    pub arch: String,
    /// How it is counted.
    pub mode: Mode,
    /// One call of the linker each.
    pub steps: Vec<Step>,
}

/// How a link is counted in the summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mode {
    /// Cubins to an executable.
    Executable,
    /// With fatbins, host objects or archives among the inputs.
    Packaged,
    /// `-r`, and its output linked again.
    Relocatable,
    /// A generated object with one field changed.
    MutatedProgram,
    /// An object of `tests/links` with one field changed.
    MutatedFixture,
}

impl Mode {
    /// All of them, in the order of the summary.
    pub const ALL: [Mode; 5] = [
        Mode::Executable,
        Mode::Packaged,
        Mode::Relocatable,
        Mode::MutatedProgram,
        Mode::MutatedFixture,
    ];

    /// Whether an input was changed.
    pub fn is_mutated(self) -> bool {
        matches!(self, Mode::MutatedProgram | Mode::MutatedFixture)
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Mode::Executable => "executable",
            Mode::Packaged => "packaged",
            Mode::Relocatable => "relocatable",
            Mode::MutatedProgram => "mutated program",
            Mode::MutatedFixture => "mutated fixture",
        })
    }
}

/// One call of the linker.
#[derive(Clone, Debug)]
pub struct Step {
    /// Options, without the target.
    pub options: Vec<String>,
    /// Inputs in link order.
    pub inputs: Vec<Input>,
    /// Inputs from this one on are members of an archive.
    pub archive_from: Option<usize>,
}

/// One input file.
#[derive(Clone, Debug)]
pub struct Input {
    /// Its name without extension.
    pub name: String,
    /// The device code.
    pub code: Code,
    /// What is changed in it: kind and seed of the change.
    pub change: Option<(Kind, u32)>,
    /// What it is packed in.
    pub wrap: Wrap,
}

/// Where device code comes from.
#[derive(Clone, Debug)]
pub enum Code {
    /// A source that is compiled.
    Source(Source),
    /// A committed object.
    File {
        /// Where it lies in `tests/links`.
        origin: String,
        /// Its bytes.
        bytes: Arc<Vec<u8>>,
    },
    /// The output of the step before.
    Previous,
}

/// A source, and how it is compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Its file name: `m0.ptx`, or `.cu`.
    pub file: String,
    /// Its text.
    pub text: Arc<str>,
    /// The text of `program.h`, for C++.
    pub header: Option<Arc<str>>,
    /// Options of ptxas or nvcc.
    pub options: Vec<String>,
}

impl Source {
    /// The architecture that it is compiled for: its own, or that of the link.
    pub fn arch<'a>(&'a self, target: &'a str) -> &'a str {
        let mut own = self
            .options
            .iter()
            .filter_map(|option| option.strip_prefix("-arch="));
        own.next().unwrap_or(target)
    }

    /// Whether nvcc compiles it.
    pub fn is_cxx(&self) -> bool {
        self.file.ends_with(".cu")
    }
}

/// What device code is packed in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wrap {
    /// A cubin.
    Cubin,
    /// A fatbin file.
    Fatbin(Codec),
    /// A host object with the six lists of host references, or without any.
    Host(Codec, Option<[Vec<u8>; 6]>),
}

impl Wrap {
    /// The extension of the file.
    pub fn extension(&self) -> &'static str {
        match self {
            Wrap::Cubin => "cubin",
            Wrap::Fatbin(_) => "fatbin",
            Wrap::Host(..) => "o",
        }
    }
}

impl Input {
    /// The architecture of its device code.
    pub fn arch<'a>(&'a self, target: &'a str) -> &'a str {
        match &self.code {
            Code::Source(source) => source.arch(target),
            _ => target,
        }
    }

    /// The name of the file.
    pub fn file(&self) -> String {
        format!("{}.{}", self.name, self.wrap.extension())
    }
}
