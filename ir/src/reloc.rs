//! Relocations and the fixups that come of them.

use crate::ids::*;
use crate::symbol::SymbolRef;

/// A relocation row of an input object.
///
/// Its form (REL or RELA) and target section are those of the section that holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Reloc {
    /// The REL or RELA section that holds the row.
    pub section: SectionId,
    /// Offset in bytes in the target section.
    pub offset: u64,
    /// Relocation type, see [`cuweld_elf::target::relocs`].
    pub ty: u32,
    /// What it refers to.
    pub target: SymbolRef,
    /// Explicit addend; 0 for REL rows, whose addend is in place.
    pub addend: i64,
    /// What becomes of it; set by `plan-relocations`.
    pub plan: RelocAction,
}

/// What becomes of a relocation [kept-by-target].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum RelocAction {
    /// `plan-relocations` has not run.
    #[default]
    Unplanned,
    /// Written to the output for the driver.
    Keep {
        /// Type in the output: executables turn UNIFIED types into plain ones.
        ty: u32,
        /// Explicit addend, contribution offset included.
        addend: i64,
        /// Whether the output row is RELA: a REL row against a moved section becomes one.
        rela: bool,
    },
    /// The field is filled and the row leaves.
    Apply {
        /// Type after UNIFIED rewriting.
        ty: u32,
        /// S + A.
        value: u64,
        /// Whether the old field bits are added (REL).
        in_place: bool,
    },
    /// The field is cleared, as its function is gone, and the row leaves.
    Clear,
    /// The row leaves, the bytes stay.
    Drop,
    /// The row belongs to a section that is not linked.
    Gone,
}

/// A change of a field, applied by the writer while it copies the section. Rows are ordered: a
/// later fixup of the same bits wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Fixup {
    /// The input section whose bytes change.
    pub section: SectionId,
    /// Offset in bytes of the 64-bit little-endian word that holds the field.
    pub offset: u64,
    /// First bit of the field, counted from the least significant bit of the word at `offset`.
    pub bit: u8,
    /// Width of the field in bits, 1 to 64.
    pub width: u8,
    /// The new field value; only the low `width` bits count.
    pub value: u64,
    /// Whether the old field value is added first (REL addends live in place).
    pub add: bool,
    /// The relocation that asked for it; of instructions that yield in links of Mercury there is
    /// none.
    pub cause: Option<RelocId>,
}
