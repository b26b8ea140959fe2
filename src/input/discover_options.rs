//! What the walk over the inputs is asked to do.

use cuweld_elf::toolkit::Toolkit;

use super::Target;
use super::library_search::CpuArch;
use super::library_search::SearchPath;
use crate::limits::Limits;

/// What to discover.
#[derive(Clone, Copy, Debug)]
pub struct DiscoverOptions<'a> {
    /// The toolkit whose linker the link stands in for.
    pub toolkit: &'static Toolkit,
    /// The link's target.
    pub target: Target,
    /// Positional inputs.
    pub inputs: &'a [String],
    /// Names given by `-l`.
    pub libraries: &'a [String],
    /// Folders given by `-L`.
    pub library_paths: &'a [String],
    /// The value of `LIBRARY_PATH`; the environment itself is not read.
    pub env_library_path: Option<&'a str>,
    /// The host that libraries must be for.
    pub cpu_arch: CpuArch,
    /// `-lto` is given: LTO-IR comes before ELF and PTX.
    pub lto: bool,
    /// A register file is asked for, with which fatbins without code for the target are as if they
    /// were not given [host-lists-count].
    pub registers: bool,
    /// Lose code where nvlink loses it without a message (docs/deviations.md).
    pub strict: bool,
    /// Which warnings are errors.
    pub errors: EarlyErrors,
    /// How much may be unpacked and looked for.
    pub limits: Limits,
}

/// Errors while inputs are read. They do not end nvlink's walk, but the next input that is more
/// than a cubin does [errors-while-reading].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EarlyErrors {
    /// There was one before any input.
    pub before: bool,
    /// That an input has no code for the target is one.
    pub arch_not_found: bool,
    /// That a library is passed over is one.
    pub skipped_library: bool,
    /// Whether they are none any more after the first PTX.
    pub until_ptx: bool,
}

impl<'a> DiscoverOptions<'a> {
    /// Makes options for positional inputs alone.
    pub fn new(target: Target, inputs: &'a [String]) -> Self {
        DiscoverOptions {
            toolkit: Default::default(),
            target,
            inputs,
            libraries: &[],
            library_paths: &[],
            env_library_path: None,
            cpu_arch: CpuArch::default(),
            lto: false,
            registers: false,
            strict: false,
            errors: EarlyErrors::default(),
            limits: Limits::default(),
        }
    }

    /// Returns where libraries are looked for.
    pub(crate) fn search_path(&self) -> SearchPath<'a> {
        SearchPath {
            folders: self.library_paths,
            environment: self.env_library_path,
            cpu_arch: self.cpu_arch,
        }
    }
}
