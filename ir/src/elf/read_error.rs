//! Why a device ELF cannot be read.

use std::borrow::Cow;

use cuweld_elf::validate::StructureError;
use thiserror::Error;

/// Why a device ELF cannot be read. Always the input's fault.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ReadError {
    /// Layers 1 and 2 of validation.
    #[error(transparent)]
    Structure(#[from] StructureError),
    /// `e_machine` is not CUDA's.
    #[error("the machine is {0}, not CUDA's 190")]
    Machine(u16),
    /// `e_version` is not that of ELF, in a file with the header of CUDA 13.
    #[error("its version is {0}, not 1")]
    Version(u32),
    /// It has a header alone.
    #[error("it has no sections")]
    NoSections,
    /// A section that cannot be decoded.
    #[error("section {index} '{name}': {what}")]
    Section {
        /// Index of the section.
        index: u32,
        /// Its name.
        name: String,
        /// What is wrong.
        what: Cow<'static, str>,
    },
    /// The file has more rows than `u32` ids can name.
    #[error("the file is too large: more than 4294967295 rows")]
    TooLarge,
}
