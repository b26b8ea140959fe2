//! The output ELF as decided: sections, symbols, strings, offsets, program headers.
//!
//! Architecture Invariant: the writer ([`crate::elf::write()`]) only serialises a plan; every
//! decision was made by the producer of the plan (`layout-output` for links,
//! [`crate::elf::plan_object()`] for an object that is written again).

use std::ops::Range;

use cuweld_elf::symbol::Binding;
use cuweld_elf::symbol::SymbolOther;
use cuweld_elf::symbol::SymbolType;
use cuweld_elf::target::section_types::SectionFlags;

use crate::ids::*;

/// A complete plan of an output file.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct OutputLayout<'data> {
    /// `e_type`.
    pub e_type: u16,
    /// `e_flags`.
    pub e_flags: u32,
    /// `e_version` of a file with the legacy header, see [`Object::legacy`](crate::Object::legacy).
    pub legacy: Option<u32>,
    /// File offset in bytes of the section header table.
    pub shoff: u64,
    /// File offset in bytes of the program header table, 0 without one.
    pub phoff: u64,
    /// Index of the section name table.
    pub shstrndx: u32,
    /// Sections, the null section first.
    pub sections: Vec<PlanSection<'data>>,
    /// Symbols, the null symbol first.
    pub symbols: Vec<PlanSymbol>,
    /// Bytes of the section name table.
    pub section_names: Vec<u8>,
    /// Bytes of the symbol name table.
    pub symbol_names: Vec<u8>,
    /// Pieces of copied sections, ranges of which belong to [`PlanContent::Pieces`].
    pub pieces: Vec<PlanPiece>,
    /// Relocation rows, ranges of which belong to [`PlanContent::Relocs`].
    pub relocs: Vec<PlanReloc>,
    /// Program headers.
    pub segments: Vec<PlanSegment>,
    /// Size of the file in bytes.
    pub file_size: u64,
}

/// A section of the output.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct PlanSection<'data> {
    /// Its name; the bytes at `name_offset` of the section name table.
    pub name: &'data [u8],
    /// `sh_name`.
    pub name_offset: u32,
    /// `sh_type`.
    pub ty: u32,
    /// `sh_flags`.
    pub flags: SectionFlags,
    /// File offset in bytes.
    pub offset: u64,
    /// Size in bytes.
    pub size: u64,
    /// `sh_link`.
    pub link: u32,
    /// `sh_info`.
    pub info: u32,
    /// `sh_addralign`.
    pub align: u64,
    /// `sh_entsize`.
    pub entsize: u64,
    /// Where the bytes come from.
    pub content: PlanContent<'data>,
}

/// Where the bytes of an output section come from.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum PlanContent<'data> {
    /// Nothing in the file.
    #[default]
    None,
    /// These bytes.
    Bytes(&'data [u8]),
    /// Copies of input sections, with their fixups; a range of [`OutputLayout::pieces`]. Gaps are
    /// zero.
    Pieces(Range<u32>),
    /// Relocation rows; a range of [`OutputLayout::relocs`].
    Relocs(Range<u32>),
    /// Those of an earlier output section with this index, at the same offset of the file.
    Alias(u32),
    /// The section name table.
    SectionNames,
    /// The symbol name table.
    SymbolNames,
    /// The symbol table.
    Symbols,
}

/// A copy of an input section within an output section.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct PlanPiece {
    /// Offset in bytes in the output section.
    pub offset: u64,
    /// The input section.
    pub section: SectionId,
    /// The bytes that it copies, from the beginning; all if it is none.
    pub size: Option<u64>,
}

/// A symbol of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct PlanSymbol {
    /// `st_name`.
    pub name_offset: u32,
    /// Its binding.
    pub bind: Binding,
    /// Its type.
    pub ty: SymbolType,
    /// `st_other`.
    pub other: SymbolOther,
    /// `st_shndx`.
    pub shndx: u16,
    /// `st_value`.
    pub value: u64,
    /// `st_size`.
    pub size: u64,
}

/// A relocation row of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct PlanReloc {
    /// Offset in bytes in the output section.
    pub offset: u64,
    /// Type.
    pub ty: u32,
    /// Output symbol index.
    pub symbol: u32,
    /// Explicit addend; not written to REL sections.
    pub addend: i64,
}

/// A program header of the output. Virtual and physical addresses are 0, the alignment is 8.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct PlanSegment {
    /// `p_type`.
    pub ty: u32,
    /// `p_flags`.
    pub flags: u32,
    /// File offset in bytes.
    pub offset: u64,
    /// Bytes in the file.
    pub file_size: u64,
    /// Bytes in memory.
    pub mem_size: u64,
}
