//! What could not be read.

use cuweld_elf::mercury::capmerc::CapmercError;
use cuweld_elf::validate::StructureError;
use serde::Serialize;
use serde::Serializer;
use serde::ser::SerializeStruct;
use thiserror::Error;

use crate::input::decompress::DecompressError;
use crate::input::fatbin::FatbinError;

/// Why a part of a file could not be read. The rest was.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum InspectError {
    /// The operating system refused.
    #[error("cannot read the file: {0}")]
    Io(String),
    /// Neither an archive, an ELF file, a fatbin nor PTX.
    #[error("not an archive, ELF file, fatbin or PTX text")]
    UnknownFormat,
    /// A damaged member header, or a member that is cut off.
    #[error("the archive is damaged or cut off after member {0}")]
    Archive(usize),
    /// Wrappings within wrappings.
    #[error("nested too deep")]
    TooDeep,
    /// The structure of an ELF file.
    #[error(transparent)]
    Structure(#[from] StructureError),
    /// A section of a device ELF.
    #[error("section {index} '{name}': {what}")]
    Section {
        /// Its index.
        index: u32,
        /// Its name.
        name: String,
        /// What is wrong.
        what: SectionDamage,
    },
    /// The headers of a fatbin.
    #[error(transparent)]
    Fatbin(#[from] FatbinError),
    /// Packed data.
    #[error(transparent)]
    Decompress(#[from] DecompressError),
    /// All members together unpack to more than any real file does.
    #[error("not unpacked: the members before it have too many bytes already")]
    TooMuchData,
    /// Findings that are not listed.
    #[error("{0} more parts could not be read")]
    More(usize),
}

/// What is wrong with a section.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SectionDamage {
    /// Its bytes lie outside of the file.
    #[error("its {size:#x} bytes at {offset:#x} reach past the end of the file")]
    Range {
        /// `sh_offset`.
        offset: u64,
        /// `sh_size`.
        size: u64,
    },
    /// Its name does.
    #[error("its name is outside the section name table")]
    Name,
    /// Too many tables overlap for all of them to be decoded.
    #[error("not decoded: tables lie over each other")]
    Overlap,
    /// Its size does not fit its rows.
    #[error("its size is no multiple of {0}")]
    RowSize(usize),
    /// The table it refers to is none.
    #[error("its link names no {0}")]
    Link(&'static str),
    /// A row refers to a symbol that does not exist.
    #[error("row {row} refers to symbol {symbol}, which is none")]
    Symbol {
        /// The row.
        row: usize,
        /// The index.
        symbol: u32,
    },
    /// A row refers to a string that does not exist.
    #[error("a string of row {row} is outside the string table")]
    String {
        /// The row.
        row: usize,
    },
    /// A record is cut off.
    #[error("the record at {0:#x} reaches past its end")]
    Record(u64),
    /// A call graph row without a group, or of a group that is unknown.
    #[error("row {0} stands in no known group")]
    Group(usize),
    /// Mercury code of another form than is known.
    #[error("Mercury of another form: {0}")]
    Mercury(CapmercError),
}

impl InspectError {
    /// Returns a word for the kind of error, which stays the same when messages change.
    pub fn kind(&self) -> &'static str {
        match self {
            InspectError::Io(_) => "io",
            InspectError::UnknownFormat => "unknown-format",
            InspectError::Archive(_) => "archive",
            InspectError::TooDeep => "too-deep",
            InspectError::Structure(_) => "structure",
            InspectError::Section { .. } => "section",
            InspectError::Fatbin(_) => "fatbin",
            InspectError::Decompress(_) => "decompress",
            InspectError::TooMuchData => "too-much-data",
            InspectError::More(_) => "more",
        }
    }
}

impl Serialize for InspectError {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("InspectError", 2)?;
        fields.serialize_field("kind", self.kind())?;
        fields.serialize_field("message", &self.to_string())?;
        fields.end()
    }
}
