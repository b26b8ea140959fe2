//! Records of `.nv.info*` and `.nv.compat`.

use std::ops::Range;

use crate::ids::*;

/// Record formats (byte 0 of a record).
pub mod format {
    /// No value.
    pub const NVAL: u8 = 1;
    /// A byte.
    pub const BVAL: u8 = 2;
    /// A half word.
    pub const HVAL: u8 = 3;
    /// A length and a payload.
    pub const SVAL: u8 = 4;
}

/// The code of rows of `.nv.uft.entry` and `.nv.udt.entry`, which are kept as records too: not
/// NVIDIA's, and not in the file.
pub const UNIFIED_ENTRY: u8 = 0xfe;

/// Bytes of such a row: the words symbol, flags, value of the symbol, zero, and an identifier of 16
/// bytes [unified-rows].
pub const UNIFIED_ENTRY_SIZE: usize = 32;

/// One type-length-value record.
///
/// A payload whose leading words are symbol indices keeps them as references; `rest` is what
/// follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attribute<'data> {
    /// The section it was read from; `None` for records that the linker created.
    pub section: Option<SectionId>,
    /// Format, see [`mod@format`].
    pub format: u8,
    /// Code, see [`cuweld_elf::target::attributes`].
    pub code: u8,
    /// Bytes 2..3: the value of N, B and H records; unused for S records.
    pub value: u16,
    /// The leading symbol indices of the payload, as a range of [`crate::Module::attribute_refs`].
    pub refs: Range<u32>,
    /// The rest of the payload.
    pub rest: &'data [u8],
}

impl Attribute<'_> {
    /// Returns the little-endian word at this index of `rest`.
    pub fn word(&self, index: usize) -> Option<u32> {
        let bytes = self.rest.get(index * 4..index * 4 + 4)?;
        Some(u32::from_le_bytes(bytes.try_into().ok()?))
    }
}

/// The output list of one `.nv.info` or `.nv.info.F`, in output order; made by `merge-metadata`.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct MergedInfo {
    /// The function whose `.nv.info.F` it is; `None` for the module-wide `.nv.info`.
    pub function: Option<FunctionId>,
    /// The records.
    pub records: Vec<AttributeId>,
}
