//! Why the finalizer refuses.

use cuweld_diagnostics::Code;
use cuweld_diagnostics::codes::input;
use cuweld_diagnostics::codes::mercury;
use cuweld_diagnostics::codes::usage;
use cuweld_elf::Target;
use cuweld_elf::finalize::Incompatible;
use cuweld_elf::mercury::capmerc::CapmercError;
use cuweld_elf::validate;
use cuweld_elf::validate::StructureError;
use thiserror::Error;

use crate::checks::self_check::SelfCheckError;

/// Options that contradict each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Conflict {
    /// `--cap-merc` asks for one kind, `--binary-kind` for another.
    #[error("--cap-merc and a --binary-kind that is not capmerc")]
    Kinds,
    /// A kind that the target does not have.
    #[error("Mercury, and a target below sm_100")]
    Target,
    /// The SASS view is an outcome of the self-check.
    #[error("--out-sass without --self-check")]
    OutSass,
    /// The SASS view is what is asked for, and Mercury too.
    #[error("--out-sass and --cap-merc or --binary-kind mercury")]
    OutSassKind,
    /// Copies are asked for and forbidden.
    #[error("--fastpath-off and --opportunistic-finalization-lvl 2 or more")]
    FastPath,
    /// There are levels 0 to 4.
    #[error("--opportunistic-finalization-lvl {0}, more than 4")]
    Level(u8),
}

/// Why a file is not finalized. Texts are NVIDIA's where there are any.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum FinalizerError {
    /// Options that contradict each other.
    #[error("conflicting options provided for finalizer: {0}")]
    Conflict(Conflict),
    /// An option that only NVIDIA's code generator can do.
    #[error("{0} needs NVIDIA's finalizer, which has a code generator")]
    NeedsCodeGenerator(&'static str),
    /// The file is no ELF file.
    #[error("cubin not an elf?")]
    NotElf,
    /// The file is for another machine.
    #[error("cubin not a device elf?")]
    NotDeviceElf,
    /// The headers speak of what is not there.
    #[error("a damaged ELF file: {0}")]
    Damaged(StructureError),
    /// A damaged file that was to get Mercury.
    #[error("Invalid elf provided for mercury uplift.")]
    InvalidUplift,
    /// A file of SASS that was to get Mercury.
    #[error("Cannot target {target} when input '{input}' is SASS")]
    SassInput {
        /// The target.
        target: Target,
        /// The file.
        input: String,
    },
    /// Neither an object nor an executable.
    #[error("a file of type {0:#x}, which is neither an object nor an executable")]
    FileType(u16),
    /// Another generation of device ELF.
    #[error("unknown ELF type: OSABI {osabi:#x}, ABI version {version}")]
    UnknownElf {
        /// `e_ident[EI_OSABI]`.
        osabi: u8,
        /// `e_ident[EI_ABIVERSION]`.
        version: u8,
    },
    /// An object without Mercury.
    #[error("the file is not eligible for finalization: it holds no Mercury (e_flags {0:#x})")]
    NotEligible(u32),
    /// A linked file without Mercury.
    #[error("the file that was linked holds no Mercury (e_flags {0:#x})")]
    NotMercury(u32),
    /// The guard of the stage.
    #[error(transparent)]
    Stage(validate::FinalizerError),
    /// The version of the Mercury ISA.
    #[error("architecture version too high: {0:#x}, more than 0x101")]
    Version(u16),
    /// An SM for which there is no code generator.
    #[error("there is no code for sm_{0}")]
    UnknownSm(u16),
    /// The target does not take the code.
    #[error("the elf arch is not compatible with finalizer arch: sm_{from} for sm_{to}: {why}")]
    Incompatible {
        /// SM of the file.
        from: u16,
        /// SM of the target.
        to: u16,
        /// Why.
        why: Incompatible,
    },
    /// The target takes the code, but it has to be compiled anew.
    #[error("code of sm_{from} for sm_{to} needs NVIDIA's finalizer")]
    NeedsCompiler {
        /// SM of the file.
        from: u16,
        /// SM of the target.
        to: u16,
    },
    /// Mercury without SASS.
    #[error("SASS generation failed: the file holds Mercury alone, which needs NVIDIA's finalizer")]
    BareMercury,
    /// Mercury code of another form.
    #[error("{section}: Mercury of another form: {error}")]
    Mercury {
        /// Its section.
        section: String,
        /// What is wrong.
        error: CapmercError,
    },
    /// The SASS view cannot be cut off.
    #[error("the SASS view cannot stand alone: {0}")]
    SassView(&'static str),
    /// There is no memory for the output.
    #[error("no memory for an output of {0} bytes")]
    Memory(usize),
    /// The self-check.
    #[error(transparent)]
    SelfCheck(#[from] SelfCheckError),
}

impl FinalizerError {
    /// Returns the code of its finding.
    pub fn diagnostic_code(&self) -> Code {
        match self {
            FinalizerError::Conflict(_) => usage::COMMAND_LINE,
            FinalizerError::NeedsCodeGenerator(_) | FinalizerError::NeedsCompiler { .. } => {
                mercury::NEEDS_FINALIZER
            }
            FinalizerError::SelfCheck(_) => input::SELF_CHECK,
            _ => input::FINALIZER,
        }
    }

    /// Returns NVIDIA's return code; `None` for inputs that NVIDIA's finalizer takes and ours does
    /// not.
    pub fn code(&self) -> Option<u32> {
        Some(match self {
            FinalizerError::NotEligible(_) => 4,
            FinalizerError::NotMercury(_) => 5,
            FinalizerError::NotElf
            | FinalizerError::NotDeviceElf
            | FinalizerError::Damaged(_)
            | FinalizerError::InvalidUplift
            | FinalizerError::FileType(_)
            | FinalizerError::UnknownSm(_)
            | FinalizerError::Stage(_)
            | FinalizerError::BareMercury
            | FinalizerError::Mercury { .. } => 6,
            FinalizerError::UnknownElf { .. } => 7,
            FinalizerError::Memory(_) => 11,
            FinalizerError::SelfCheck(error) => error.code(),
            FinalizerError::Version(_) => 25,
            FinalizerError::Incompatible { why, .. } => why.code(),
            FinalizerError::Conflict(_)
            | FinalizerError::NeedsCodeGenerator(_)
            | FinalizerError::SassInput { .. }
            | FinalizerError::NeedsCompiler { .. }
            | FinalizerError::SassView(_) => return None,
        })
    }

    /// Returns the meaning of one of NVIDIA's return codes, 0 included.
    pub fn meaning(code: u32) -> Option<&'static str> {
        Some(match code {
            0 => "success",
            4 => "the file is not eligible for finalization",
            5 => "the file that was linked holds no Mercury",
            6 => "internal error",
            7 => "unknown ELF type",
            11 => "no memory",
            17 => "self-check: contents of sections differ",
            18 => "self-check: relocations differ",
            19 => "self-check: symbols or sections differ",
            25 => "architecture version too high",
            _ => return None,
        })
    }

    /// Returns nvlink's message for a file with this name.
    pub fn nvlinks_message(&self, name: &str) -> String {
        match self {
            FinalizerError::Stage(_) => "Internal error".to_owned(),
            FinalizerError::BareMercury => "Internal error: unexpected reloc".to_owned(),
            FinalizerError::NeedsCompiler { .. }
            | FinalizerError::NeedsCodeGenerator(_)
            | FinalizerError::SassInput { .. } => self.to_string(),
            _ => format!("Internal FNLZR error '{name}'"),
        }
    }

    /// Returns the notes on that message, a line each.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if let Some(code) = self.code() {
            let meaning = Self::meaning(code).map_or(String::new(), |text| format!(" ({text})"));
            notes.push(format!("finalizer code {code}{meaning}: {self}"));
        }
        if let FinalizerError::SelfCheck(error) = self {
            notes.extend(error.notes());
        }
        notes
    }
}
