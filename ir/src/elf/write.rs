//! Writing: a plan becomes bytes. Nothing is decided here.

use thiserror::Error;
use zerocopy::IntoBytes;

use super::raw::*;
use crate::ids::SectionId;
use crate::module::Module;
use crate::plan::ElfPlan;
use crate::plan::PlanContent;
use crate::reloc::Patch;
use crate::section::SectionContent;
use crate::target::section_types::sht;

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
    /// A patch lies outside its section.
    #[error("a patch at {offset:#x} lies outside section {section}")]
    Patch {
        /// The patched input section.
        section: SectionId,
        /// Its offset.
        offset: u64,
    },
    /// The file would not fit into memory.
    #[error("the output of {0} bytes is too large")]
    TooLarge(u64),
    /// More sections than the header form written here can number.
    #[error("the output has {0} sections, more than 65279")]
    TooManySections(usize),
}

/// Serialises a plan of this module.
pub fn write(module: &Module<'_>, plan: &ElfPlan<'_>) -> Result<Vec<u8>, WriteError> {
    let size = usize::try_from(plan.file_size).map_err(|_| WriteError::TooLarge(plan.file_size))?;
    if plan.sections.len() >= SHN_LORESERVE.into() {
        return Err(WriteError::TooManySections(plan.sections.len()));
    }
    let mut out = vec![0; size];
    file_header(&mut out, plan)?;
    for index in 0..plan.sections.len() {
        section(&mut out, module, plan, index)?;
    }
    header_tables(&mut out, plan)?;
    Ok(out)
}

fn put(out: &mut [u8], offset: u64, bytes: &[u8]) -> Option<()> {
    let start = usize::try_from(offset).ok()?;
    out.get_mut(start..start.checked_add(bytes.len())?)?
        .copy_from_slice(bytes);
    Some(())
}

fn file_header(out: &mut [u8], plan: &ElfPlan<'_>) -> Result<(), WriteError> {
    let mut ident = [0; 16];
    ident[..9].copy_from_slice(&[0x7f, b'E', b'L', b'F', 2, 1, 1, OSABI_CUDA, ABI_VERSION]);
    let header = FileHeader {
        ident,
        e_type: plan.e_type.into(),
        machine: EM_CUDA.into(),
        version: 1.into(),
        entry: 0.into(),
        phoff: plan.phoff.into(),
        shoff: plan.shoff.into(),
        flags: plan.e_flags.into(),
        ehsize: 64.into(),
        phentsize: 56.into(),
        phnum: (plan.segments.len() as u16).into(),
        shentsize: 64.into(),
        shnum: (plan.sections.len() as u16).into(),
        shstrndx: (plan.shstrndx as u16).into(),
    };
    put(out, 0, header.as_bytes()).ok_or(WriteError::TooLarge(plan.file_size))
}

fn section(
    out: &mut [u8],
    module: &Module<'_>,
    plan: &ElfPlan<'_>,
    index: usize,
) -> Result<(), WriteError> {
    let row = &plan.sections[index];
    let error = |what| WriteError::Section {
        section: index,
        name: String::from_utf8_lossy(row.name).into_owned(),
        what,
    };
    if matches!(row.content, PlanContent::None) {
        return Ok(());
    }
    let start = usize::try_from(row.offset).map_err(|_| error("its offset is too large"))?;
    let size = usize::try_from(row.size).map_err(|_| error("its size is too large"))?;
    let target = start
        .checked_add(size)
        .and_then(|end| out.get_mut(start..end))
        .ok_or_else(|| error("it reaches past the end of the file"))?;
    let copy = |target: &mut [u8], bytes: &[u8]| {
        if target.len() != bytes.len() {
            return Err(error("its size is not that of its contents"));
        }
        target.copy_from_slice(bytes);
        Ok(())
    };
    match &row.content {
        PlanContent::None => Ok(()),
        PlanContent::Bytes(bytes) => copy(target, bytes),
        PlanContent::SectionNames => copy(target, &plan.section_names),
        PlanContent::SymbolNames => copy(target, &plan.symbol_names),
        PlanContent::Symbols => {
            let rows = plan.symbols.iter().map(|symbol| RawSymbol {
                name: symbol.name_offset.into(),
                info: symbol.info,
                other: symbol.other,
                shndx: symbol.shndx.into(),
                value: symbol.value.into(),
                size: symbol.size.into(),
            });
            fill(target, rows).ok_or_else(|| error("its size is not that of its symbols"))
        }
        PlanContent::Relocs(range) => {
            let rows = plan
                .relocs
                .get(range.start as usize..range.end as usize)
                .ok_or_else(|| error("its relocations are out of range"))?;
            let filled = if row.ty == sht::REL {
                fill(
                    target,
                    rows.iter().map(|reloc| RawRel {
                        offset: reloc.offset.into(),
                        ty: reloc.ty.into(),
                        symbol: reloc.symbol.into(),
                    }),
                )
            } else {
                fill(
                    target,
                    rows.iter().map(|reloc| RawRela {
                        offset: reloc.offset.into(),
                        ty: reloc.ty.into(),
                        symbol: reloc.symbol.into(),
                        addend: reloc.addend.into(),
                    }),
                )
            };
            filled.ok_or_else(|| error("its size is not that of its relocations"))
        }
        PlanContent::Pieces(range) => {
            let pieces = plan
                .pieces
                .get(range.start as usize..range.end as usize)
                .ok_or_else(|| error("its pieces are out of range"))?;
            for piece in pieces {
                let SectionContent::Bytes(bytes) = module.sections[piece.section].content else {
                    continue;
                };
                let at =
                    usize::try_from(piece.offset).map_err(|_| error("a piece is out of range"))?;
                let part = at
                    .checked_add(bytes.len())
                    .and_then(|end| target.get_mut(at..end))
                    .ok_or_else(|| error("a piece is out of range"))?;
                part.copy_from_slice(bytes);
                for patch in patches_of(module, piece.section) {
                    apply(part, patch).ok_or(WriteError::Patch {
                        section: piece.section,
                        offset: patch.offset,
                    })?;
                }
            }
            Ok(())
        }
    }
}

/// Writes rows one after the other; `None` if they do not fill the target exactly.
fn fill<T: IntoBytes + zerocopy::Immutable>(
    target: &mut [u8],
    rows: impl ExactSizeIterator<Item = T>,
) -> Option<()> {
    if target.len() != rows.len() * size_of::<T>() {
        return None;
    }
    for (slot, row) in target.chunks_exact_mut(size_of::<T>()).zip(rows) {
        slot.copy_from_slice(row.as_bytes());
    }
    Some(())
}

/// The patches of a section, in order. Patches are sorted by section (an invariant of `Planned`).
fn patches_of<'m>(module: &'m Module<'_>, section: SectionId) -> &'m [Patch] {
    let patches = &module.patches;
    let start = patches.partition_point(|patch| patch.section < section);
    let length = patches[start..].partition_point(|patch| patch.section == section);
    &patches[start..start + length]
}

/// Fills the field of a patch. A field that runs over the end of the section is cut, as nvlink does
/// (`relocs.md` section 3); `None` only if it begins past the end.
fn apply(bytes: &mut [u8], patch: &Patch) -> Option<()> {
    let start = usize::try_from(patch.offset).ok()?;
    if start >= bytes.len() {
        return None;
    }
    let end = bytes.len().min(start + 8);
    let site = &mut bytes[start..end];
    let mut word = [0; 8];
    word[..site.len()].copy_from_slice(site);
    let old = u64::from_le_bytes(word);
    let mask = if patch.width >= 64 {
        u64::MAX
    } else {
        (1 << patch.width) - 1
    };
    let value = if patch.add {
        (old >> patch.bit).wrapping_add(patch.value) & mask
    } else {
        patch.value & mask
    };
    let new = old & !(mask << patch.bit) | value << patch.bit;
    let length = site.len();
    site.copy_from_slice(&new.to_le_bytes()[..length]);
    Some(())
}

fn header_tables(out: &mut [u8], plan: &ElfPlan<'_>) -> Result<(), WriteError> {
    let too_large = || WriteError::TooLarge(plan.file_size);
    for (index, row) in plan.sections.iter().enumerate() {
        let header = SectionHeader {
            name: row.name_offset.into(),
            ty: row.ty.into(),
            flags: row.flags.into(),
            addr: 0.into(),
            offset: row.offset.into(),
            size: row.size.into(),
            link: row.link.into(),
            info: row.info.into(),
            align: row.align.into(),
            entsize: row.entsize.into(),
        };
        put(out, plan.shoff + 64 * index as u64, header.as_bytes()).ok_or_else(too_large)?;
    }
    for (index, row) in plan.segments.iter().enumerate() {
        let header = ProgramHeader {
            ty: row.ty.into(),
            flags: row.flags.into(),
            offset: row.offset.into(),
            vaddr: 0.into(),
            paddr: 0.into(),
            filesz: row.file_size.into(),
            memsz: row.mem_size.into(),
            align: 8.into(),
        };
        put(out, plan.phoff + 56 * index as u64, header.as_bytes()).ok_or_else(too_large)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::RelocId;
    use crate::table::EntityId;

    fn patch(bit: u8, width: u8, value: u64, add: bool) -> Patch {
        let (section, cause) = (SectionId::new(0), RelocId::new(0));
        Patch {
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
        apply(&mut bytes, &patch(20, 16, 0x1234, false)).unwrap();
        assert_eq!(
            bytes,
            [
                0xff, 0xff, 0xff, 0x4f, 0x23, 0xf1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff
            ]
        );
        let mut bytes = [0; 12];
        apply(&mut bytes, &patch(0, 64, u64::MAX, false)).unwrap();
        assert_eq!(bytes[..10], [0, 255, 255, 255, 255, 255, 255, 255, 255, 0]);
    }

    #[test]
    fn addends_in_place_are_added_within_the_field() {
        let mut bytes = [0x11; 12];
        apply(&mut bytes, &patch(8, 8, 0xff, true)).unwrap();
        assert_eq!(bytes[..4], [0x11, 0x11, 0x10, 0x11]);
    }

    #[test]
    fn a_field_over_the_end_is_cut_and_one_past_it_refused() {
        let mut bytes = [0; 3];
        apply(&mut bytes, &patch(0, 32, 0xaabb_ccdd, false)).unwrap();
        assert_eq!(bytes, [0, 0xdd, 0xcc]);
        assert_eq!(apply(&mut [0], &patch(0, 32, 1, false)), None);
    }
}
