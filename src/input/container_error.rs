//! Why a container refuses a step, with nvlink's status codes.

use thiserror::Error;

use super::decompress::DecompressError;
use super::fatbin::FatbinError;

/// Why a step was refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ContainerError {
    /// Something that the step needs is not there.
    #[error("there is no {0}")]
    Missing(&'static str),
    /// A value that does not fit.
    #[error("{0}")]
    Invalid(String),
    /// The headers of a fatbin do not hold together.
    #[error(transparent)]
    Fatbin(#[from] FatbinError),
    /// A fatbin member has the SM number 0.
    #[error("the member at {offset:#x} has the SM number 0")]
    UnknownArch {
        /// Offset of the member in the fatbin.
        offset: u64,
    },
    /// No member of the fatbin fits the target.
    #[error("there is no member for the target")]
    NoMember {
        /// LTO-IR does, but was not asked for.
        only_ir: bool,
    },
    /// The member that fits cannot be unpacked.
    #[error("the member {member} at {offset:#x}: {error}")]
    Unpack {
        /// Such as `ELF sm_90`.
        member: String,
        /// Whether it is a device ELF.
        is_elf: bool,
        /// Offset of the member in the fatbin.
        offset: u64,
        /// What is wrong.
        error: DecompressError,
    },
    /// The device ELF that fits is no ELF64.
    #[error("the member {member} at {offset:#x} is not a 64-bit ELF file")]
    WordSize {
        /// Such as `ELF sm_90`.
        member: String,
        /// Offset of the member in the fatbin.
        offset: u64,
    },
    /// A step came after one that it has to precede.
    #[error("{step} has to come before {later}")]
    Order {
        /// The step.
        step: &'static str,
        /// What was done already.
        later: &'static str,
    },
    /// The compiler failed; its messages are with the container.
    #[error("the compiler failed")]
    Compiler,
}

impl ContainerError {
    /// nvlink's status code; 0 stands for success.
    pub fn status(&self) -> u8 {
        match self {
            ContainerError::Missing(_) | ContainerError::NoMember { .. } => 1,
            ContainerError::Invalid(_)
            | ContainerError::Fatbin(_)
            | ContainerError::UnknownArch { .. }
            | ContainerError::Unpack { .. }
            | ContainerError::WordSize { .. }
            | ContainerError::Order { .. } => 2,
            ContainerError::Compiler => 5,
        }
    }
}
