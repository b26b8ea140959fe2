//! Writing: a plan becomes bytes. Nothing is decided here.

mod fixups;
mod stream;

pub use stream::StreamError;
pub use stream::write_in_order;

use std::ops::Range;

use thiserror::Error;
use zerocopy::IntoBytes;

use self::fixups::Patches;
use super::encode::raw_symbol;
use crate::ids::SectionId;
use crate::module::Module;
use crate::plan::OutputLayout;
use crate::plan::PlanContent;
use crate::plan::PlanPiece;
use crate::plan::PlanReloc;
use crate::plan::PlanSection;
use crate::plan::PlanSegment;
use crate::reloc::Fixup;
use crate::section::SectionContent;
use cuweld_elf::raw::*;
use cuweld_elf::target::section_types::sht;
use cuweld_elf::validate::MERCURY_FLAG;

/// Why a plan cannot be written: a bug of its producer, or a limit of the format.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum WriteError {
    /// A section's bytes do not lie within the planned file.
    #[error("output section {section} '{name}': {what}")]
    Section {
        /// Output index.
        section: usize,
        /// Its name.
        name: String,
        /// What is wrong.
        what: &'static str,
    },
    /// A fixup lies outside its section, or its field outside a 64-bit word.
    #[error("a fixup of {width} bits at bit {bit} of {offset:#x} lies outside section {section}")]
    Fixup {
        /// The patched input section.
        section: SectionId,
        /// Its offset.
        offset: u64,
        /// First bit of its field.
        bit: u8,
        /// Width of its field.
        width: u8,
    },
    /// Patches are not sorted by section, so that they cannot be found.
    #[error("the fixups are not sorted by section")]
    FixupOrder,
    /// A piece names an input section that does not exist.
    #[error("a piece copies {section}, which is no section")]
    Piece {
        /// What it names.
        section: SectionId,
    },
    /// A table of headers does not lie within the planned file.
    #[error("the {table} header table at {offset:#x} reaches past the end of the file")]
    Headers {
        /// Which table.
        table: &'static str,
        /// Its planned offset.
        offset: u64,
    },
    /// More segments than the file header can number.
    #[error("the output has {0} segments, more than 65535")]
    TooManySegments(usize),
    /// The index of the section name table does not fit into the file header.
    #[error("the section name table has index {0}, which names no section")]
    NameTable(u32),
    /// The file would not fit into memory.
    #[error("the output of {0} bytes is too large")]
    TooLarge(u64),
    /// More sections than `e_shnum` can hold, of which the null section does not hold the number.
    #[error("the output has {0} sections, which the null section does not say")]
    TooManySections(usize),
}

/// Serialises a plan of this module.
pub fn write(module: &Module<'_>, plan: &OutputLayout<'_>) -> Result<Vec<u8>, WriteError> {
    let size = usize::try_from(plan.file_size).map_err(|_| WriteError::TooLarge(plan.file_size))?;
    let mut fixups = Patches::new(module)?;
    // Only to learn whether there is so much: the pages of what is allocated as zero need not be
    // written.
    Vec::<u8>::new()
        .try_reserve_exact(size)
        .map_err(|_| WriteError::TooLarge(plan.file_size))?;
    let mut out = vec![0; size];
    put(&mut out, 0, &file_header(plan)?).ok_or(WriteError::TooLarge(plan.file_size))?;
    for (index, row) in plan.sections.iter().enumerate() {
        section(&mut out, module, plan, &mut fixups, index, row)?;
    }
    header_tables(&mut out, plan)?;
    Ok(out)
}

/// Returns `true` if a section has bytes of its own in the file.
fn is_stored(content: &PlanContent<'_>) -> bool {
    !matches!(content, PlanContent::None | PlanContent::Alias(_))
}

fn put(out: &mut [u8], offset: u64, bytes: &[u8]) -> Option<()> {
    let start = usize::try_from(offset).ok()?;
    out.get_mut(start..start.checked_add(bytes.len())?)?
        .copy_from_slice(bytes);
    Some(())
}

fn file_header(plan: &OutputLayout<'_>) -> Result<[u8; 64], WriteError> {
    let mut ident = [0; 16];
    let (osabi, abi) = match plan.legacy {
        Some(_) => (OSABI_LEGACY, ABI_VERSION_LEGACY),
        None => (OSABI_CUDA, ABI_VERSION),
    };
    ident[..9].copy_from_slice(&[0x7f, b'E', b'L', b'F', 2, 1, 1, osabi, abi]);
    let segments = u16::try_from(plan.segments.len())
        .map_err(|_| WriteError::TooManySegments(plan.segments.len()))?;
    let first = plan.sections.first();
    let sections = match plan.sections.len() {
        count if count <= SHN_LORESERVE.into() => count as u16,
        count if first.is_some_and(|null| null.size == count as u64) => 0,
        count => return Err(WriteError::TooManySections(count)),
    };
    if plan.shstrndx as usize >= plan.sections.len().max(1) {
        return Err(WriteError::NameTable(plan.shstrndx));
    }
    let names = match u16::try_from(plan.shstrndx) {
        Ok(index) if index < SHN_LORESERVE => index,
        _ if first.is_some_and(|null| null.link == plan.shstrndx) => SHN_XINDEX,
        _ => return Err(WriteError::NameTable(plan.shstrndx)),
    };
    let header = FileHeader {
        ident,
        e_type: plan.e_type.into(),
        machine: EM_CUDA.into(),
        version: plan.legacy.unwrap_or(1).into(),
        entry: 0.into(),
        phoff: plan.phoff.into(),
        shoff: plan.shoff.into(),
        flags: plan.e_flags.into(),
        ehsize: 64.into(),
        // nvlink leaves it out of files with Mercury that have no program headers.
        phentsize: match segments {
            0 if plan.legacy.is_none() && plan.e_flags & MERCURY_FLAG != 0 => 0.into(),
            _ => 56.into(),
        },
        phnum: segments.into(),
        shentsize: 64.into(),
        shnum: sections.into(),
        shstrndx: names.into(),
    };
    let mut bytes = [0; 64];
    bytes.copy_from_slice(header.as_bytes());
    Ok(bytes)
}

/// Returns a function that builds an error about a section.
fn section_error(index: usize, row: &PlanSection<'_>) -> impl Fn(&'static str) -> WriteError {
    move |what| WriteError::Section {
        section: index,
        name: String::from_utf8_lossy(row.name).into_owned(),
        what,
    }
}

fn section(
    out: &mut [u8],
    module: &Module<'_>,
    plan: &OutputLayout<'_>,
    fixups: &mut Patches<'_>,
    index: usize,
    row: &PlanSection<'_>,
) -> Result<(), WriteError> {
    let error = section_error(index, row);
    if !is_stored(&row.content) {
        return Ok(());
    }
    let start = usize::try_from(row.offset).map_err(|_| error("its offset is too large"))?;
    let size = usize::try_from(row.size).map_err(|_| error("its size is too large"))?;
    let target = start
        .checked_add(size)
        .and_then(|end| out.get_mut(start..end))
        .ok_or_else(|| error("it reaches past the end of the file"))?;
    fill_section(target, module, plan, fixups, index, row)
}

/// Writes the contents of a section.
fn fill_section(
    target: &mut [u8],
    module: &Module<'_>,
    plan: &OutputLayout<'_>,
    fixups: &mut Patches<'_>,
    index: usize,
    row: &PlanSection<'_>,
) -> Result<(), WriteError> {
    let error = section_error(index, row);
    let copy = |target: &mut [u8], bytes: &[u8]| {
        if target.len() != bytes.len() {
            return Err(error("its size is not that of its contents"));
        }
        target.copy_from_slice(bytes);
        Ok(())
    };
    match &row.content {
        PlanContent::None | PlanContent::Alias(_) => Ok(()),
        PlanContent::Bytes(bytes) => copy(target, bytes),
        PlanContent::SectionNames => copy(target, &plan.section_names),
        PlanContent::SymbolNames => copy(target, &plan.symbol_names),
        PlanContent::Symbols => {
            let rows = plan.symbols.iter().map(raw_symbol);
            fill(target, rows).ok_or_else(|| error(SYMBOLS_MISFIT))
        }
        PlanContent::Relocs(range) => {
            let rows = reloc_rows(plan, range).ok_or_else(|| error(RELOCS_OUTSIDE))?;
            fill_relocs(target, row.ty, rows).ok_or_else(|| error(RELOCS_MISFIT))
        }
        PlanContent::Pieces(range) => {
            for piece in pieces(plan, range).ok_or_else(|| error(PIECES_OUTSIDE))? {
                let Some(bytes) = piece_bytes(module, piece, &error)? else {
                    continue;
                };
                let part = usize::try_from(piece.offset)
                    .ok()
                    .and_then(|at| target.get_mut(at..at.checked_add(bytes.len())?))
                    .ok_or_else(|| error(PIECE_OUTSIDE))?;
                part.copy_from_slice(bytes);
                apply_all(part, 0, fixups.of(piece.section))?;
            }
            Ok(())
        }
    }
}

const SYMBOLS_MISFIT: &str = "its size is not that of its symbols";
const RELOCS_MISFIT: &str = "its size is not that of its relocations";
const RELOCS_OUTSIDE: &str = "its relocations are out of range";
const PIECES_OUTSIDE: &str = "its pieces are out of range";
const PIECE_OUTSIDE: &str = "a piece is out of range";

fn reloc_rows<'p>(plan: &'p OutputLayout<'_>, range: &Range<u32>) -> Option<&'p [PlanReloc]> {
    plan.relocs.get(range.start as usize..range.end as usize)
}

fn pieces<'p>(plan: &'p OutputLayout<'_>, range: &Range<u32>) -> Option<&'p [PlanPiece]> {
    plan.pieces.get(range.start as usize..range.end as usize)
}

/// Returns the bytes that a piece copies; `None` of a section without bytes.
fn piece_bytes<'data>(
    module: &Module<'data>,
    piece: &PlanPiece,
    error: impl Fn(&'static str) -> WriteError,
) -> Result<Option<&'data [u8]>, WriteError> {
    let id = piece.section;
    let input = module.sections.get(id);
    let input = input.ok_or(WriteError::Piece { section: id })?;
    let SectionContent::Bytes(bytes) = input.content else {
        return Ok(None);
    };
    match piece.size {
        Some(size) => usize::try_from(size)
            .ok()
            .and_then(|size| bytes.get(..size))
            .map(Some)
            .ok_or_else(|| error("a piece is larger than its section")),
        None => Ok(Some(bytes)),
    }
}

/// Encodes relocations; `None` if they do not fill the target exactly.
fn fill_relocs(target: &mut [u8], ty: u32, rows: &[PlanReloc]) -> Option<()> {
    if ty == sht::REL {
        return fill(
            target,
            rows.iter().map(|reloc| RawRel {
                offset: reloc.offset.into(),
                ty: reloc.ty.into(),
                symbol: reloc.symbol.into(),
            }),
        );
    }
    fill(
        target,
        rows.iter().map(|reloc| RawRela {
            offset: reloc.offset.into(),
            ty: reloc.ty.into(),
            symbol: reloc.symbol.into(),
            addend: reloc.addend.into(),
        }),
    )
}

/// Writes rows one after the other; `None` if they do not fill the target exactly.
fn fill<T: IntoBytes + zerocopy::Immutable>(
    target: &mut [u8],
    rows: impl ExactSizeIterator<Item = T>,
) -> Option<()> {
    if Some(target.len()) != rows.len().checked_mul(size_of::<T>()) {
        return None;
    }
    for (slot, row) in target.chunks_exact_mut(size_of::<T>()).zip(rows) {
        slot.copy_from_slice(row.as_bytes());
    }
    Some(())
}

/// Fills the fields of fixups in the bytes of their section from `start` on.
pub(crate) fn apply_all(
    bytes: &mut [u8],
    start: usize,
    fixups: &[Fixup],
) -> Result<(), WriteError> {
    for fixup in fixups {
        let offset = fixup.offset.checked_sub(start as u64);
        offset
            .and_then(|offset| apply(bytes, &Fixup { offset, ..*fixup }))
            .ok_or(WriteError::Fixup {
                section: fixup.section,
                offset: fixup.offset,
                bit: fixup.bit,
                width: fixup.width,
            })?;
    }
    Ok(())
}

/// Fills the field of a fixup. A field that runs over the end of the section is cut, as nvlink
/// does; `None` only if it begins past the end or does not lie within a word.
fn apply(bytes: &mut [u8], fixup: &Fixup) -> Option<()> {
    if fixup.width == 0 || u32::from(fixup.bit) + u32::from(fixup.width) > 64 {
        return None;
    }
    let site = bytes.get_mut(usize::try_from(fixup.offset).ok()?..)?;
    let length = site.len().min(8);
    let site = site.get_mut(..length).filter(|site| !site.is_empty())?;
    let mut word = [0; 8];
    word.get_mut(..length)?.copy_from_slice(site);
    let old = u64::from_le_bytes(word);
    let mask = u64::MAX >> (64 - u32::from(fixup.width));
    let value = if fixup.add {
        (old >> fixup.bit).wrapping_add(fixup.value) & mask
    } else {
        fixup.value & mask
    };
    let new = old & !(mask << fixup.bit) | value << fixup.bit;
    site.copy_from_slice(new.to_le_bytes().get(..length)?);
    Some(())
}

/// Returns the place of a row of a table of headers.
fn row_offset(table: u64, size: u64, index: usize) -> Option<u64> {
    table.checked_add(size.checked_mul(index as u64)?)
}

fn section_header(row: &PlanSection<'_>) -> SectionHeader {
    SectionHeader {
        name: row.name_offset.into(),
        ty: row.ty.into(),
        flags: row.flags.bits().into(),
        addr: 0.into(),
        offset: row.offset.into(),
        size: row.size.into(),
        link: row.link.into(),
        info: row.info.into(),
        align: row.align.into(),
        entsize: row.entsize.into(),
    }
}

fn program_header(row: &PlanSegment) -> ProgramHeader {
    ProgramHeader {
        ty: row.ty.into(),
        flags: row.flags.into(),
        offset: row.offset.into(),
        vaddr: 0.into(),
        paddr: 0.into(),
        filesz: row.file_size.into(),
        memsz: row.mem_size.into(),
        align: 8.into(),
    }
}

fn header_tables(out: &mut [u8], plan: &OutputLayout<'_>) -> Result<(), WriteError> {
    let outside = |table, offset| WriteError::Headers { table, offset };
    for (index, row) in plan.sections.iter().enumerate() {
        let header = section_header(row);
        row_offset(plan.shoff, 64, index)
            .and_then(|offset| put(out, offset, header.as_bytes()))
            .ok_or(outside("section", plan.shoff))?;
    }
    for (index, row) in plan.segments.iter().enumerate() {
        let header = program_header(row);
        row_offset(plan.phoff, 56, index)
            .and_then(|offset| put(out, offset, header.as_bytes()))
            .ok_or(outside("program", plan.phoff))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::EntityId;

    fn fixup(bit: u8, width: u8, value: u64, add: bool) -> Fixup {
        let (section, cause) = (SectionId::new(0), None);
        Fixup {
            section,
            offset: 1,
            bit,
            width,
            value,
            add,
            cause,
        }
    }

    #[test]
    fn only_the_bits_of_the_field_change() {
        let mut bytes = [0xff; 12];
        apply(&mut bytes, &fixup(20, 16, 0x1234, false)).unwrap();
        assert_eq!(
            bytes,
            [
                0xff, 0xff, 0xff, 0x4f, 0x23, 0xf1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff
            ]
        );
        let mut bytes = [0; 12];
        apply(&mut bytes, &fixup(0, 64, u64::MAX, false)).unwrap();
        assert_eq!(bytes[..10], [0, 255, 255, 255, 255, 255, 255, 255, 255, 0]);
    }

    #[test]
    fn addends_in_place_are_added_within_the_field() {
        let mut bytes = [0x11; 12];
        apply(&mut bytes, &fixup(8, 8, 0xff, true)).unwrap();
        assert_eq!(bytes[..4], [0x11, 0x11, 0x10, 0x11]);
    }

    #[test]
    fn a_field_that_is_no_part_of_a_word_is_refused() {
        for (bit, width) in [(0, 0), (64, 1), (60, 5), (255, 255)] {
            assert_eq!(apply(&mut [0; 12], &fixup(bit, width, 1, false)), None);
        }
        assert_eq!(apply(&mut [0; 12], &fixup(60, 4, 1, false)), Some(()));
    }

    /// Builds a plan of nothing but a null section.
    fn smallest() -> OutputLayout<'static> {
        let null = PlanSection {
            name: b"",
            name_offset: 0,
            ty: 0,
            flags: Default::default(),
            offset: 0,
            size: 0,
            link: 0,
            info: 0,
            align: 0,
            entsize: 0,
            content: PlanContent::None,
        };
        OutputLayout {
            shoff: 64,
            file_size: 128,
            sections: vec![null],
            ..Default::default()
        }
    }

    #[test]
    fn what_a_plan_promises_is_not_trusted() {
        use crate::plan::PlanPiece;
        use crate::plan::PlanSegment;
        let mut module = Module::default();
        assert_eq!(
            write(&module, &smallest()).map(|image| image.len()),
            Ok(128)
        );
        let refused = |change: fn(&mut OutputLayout<'_>)| {
            let mut plan = smallest();
            change(&mut plan);
            write(&Module::default(), &plan).unwrap_err()
        };
        let segment = PlanSegment {
            ty: 1,
            flags: Default::default(),
            offset: 0,
            file_size: 0,
            mem_size: 0,
        };
        assert_eq!(
            refused(|plan| plan.shoff = u64::MAX - 32).to_string(),
            "the section header table at 0xffffffffffffffdf reaches past the end of the file"
        );
        let mut plan = smallest();
        plan.phoff = u64::MAX;
        plan.segments = vec![segment; 2];
        assert!(matches!(
            write(&module, &plan),
            Err(WriteError::Headers {
                table: "program",
                ..
            })
        ));
        plan.segments = vec![segment; 65_536];
        assert_eq!(
            write(&module, &plan),
            Err(WriteError::TooManySegments(65_536))
        );
        assert_eq!(refused(|plan| plan.shstrndx = 1), WriteError::NameTable(1));
        assert_eq!(
            refused(|plan| plan.file_size = u64::MAX),
            WriteError::TooLarge(u64::MAX)
        );
        let missing = refused(|plan| {
            plan.pieces = vec![PlanPiece {
                offset: 0,
                section: SectionId::new(7),
                size: None,
            }];
            plan.sections[0].content = PlanContent::Pieces(0..1);
        });
        assert_eq!(
            missing.to_string(),
            "a piece copies #7, which is no section"
        );
        module.fixups = vec![fixup(0, 1, 0, false), fixup(0, 1, 0, false)];
        module.fixups[0].section = SectionId::new(1);
        assert_eq!(write(&module, &smallest()), Err(WriteError::FixupOrder));
    }

    #[test]
    fn a_field_over_the_end_is_cut_and_one_past_it_refused() {
        let mut bytes = [0; 3];
        apply(&mut bytes, &fixup(0, 32, 0xaabb_ccdd, false)).unwrap();
        assert_eq!(bytes, [0, 0xdd, 0xcc]);
        assert_eq!(apply(&mut [0], &fixup(0, 32, 1, false)), None);
    }
}
