//! A part of an image, with its owner.

use crate::inspect::Name;

/// A part of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part<'data> {
    /// Bytes in the image.
    pub file: u64,
    /// Bytes of memory that it takes when it is loaded or run.
    pub memory: u64,
    /// Where it is.
    pub place: Place,
    /// Where it begins in the section, in bytes.
    pub offset: u64,
    /// The symbol that it belongs to.
    pub symbol: Option<Name<'data>>,
    /// The function that it belongs to, by its index in [`Functions::list`](crate::inspect::Functions::list).
    pub function: Option<usize>,
}

/// What a part is a part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The file header.
    FileHeader,
    /// The program headers.
    ProgramHeaders,
    /// The section headers.
    SectionHeaders,
    /// The section with this index.
    Section(u32),
    /// Nothing: bytes between sections.
    Unmapped,
}
