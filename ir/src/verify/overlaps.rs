//! Patches that change what a relocation changes, too.

use crate::ids::*;
use crate::module::Module;
use crate::reloc::Fixup;
use crate::reloc::RelocAction;
use crate::section::SectionInfo;
use crate::table::EntityId;
use cuweld_elf::mercury::capmerc::INSTRUCTION;
use cuweld_elf::target::relocs::changed_bits;
use cuweld_elf::target::section_types::SectionFlags;
use cuweld_elf::target::section_types::is_relocs;

/// Bits of a word of data.
const WORD: u64 = 64;

/// Returns the patches of a module that change bits which a relocation changes, too, by their place
/// among the fixups.
pub(crate) fn overlapped_patches(module: &Module<'_>) -> Vec<(usize, RelocId)> {
    match module.fixups.iter().any(|fixup| fixup.cause.is_none()) {
        true => overlaps(module, &module.fixups),
        false => Vec::new(),
    }
}

/// Bits that a relocation changes, counted from the start of the section that it applies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Changed {
    section: SectionId,
    start: u64,
    end: u64,
    reloc: RelocId,
}

/// The most bits that a relocation changes in one field.
const LONGEST: u64 = 8 * INSTRUCTION;

/// Returns the fixups without a cause that change the same bits as a relocation.
pub(crate) fn overlaps(module: &Module<'_>, fixups: &[Fixup]) -> Vec<(usize, RelocId)> {
    let patches = || (0..).zip(fixups).filter(|(_, fixup)| fixup.cause.is_none());
    let mut is_patched = vec![false; module.sections.len()];
    for (_, fixup) in patches() {
        if let Some(is_patched) = is_patched.get_mut(fixup.section.index()) {
            *is_patched = true;
        }
    }
    let mut changed = Vec::new();
    for section in module.sections.values().filter(|row| is_relocs(row.ty)) {
        if let SectionInfo::Section(patched) = section.info
            && is_patched.get(patched.index()) == Some(&true)
        {
            changed.extend(
                section
                    .relocs
                    .iter()
                    .flat_map(|id| bits(module, patched, id)),
            );
        }
    }
    changed.sort_unstable();
    let overlap = |(place, fixup): (usize, &Fixup)| {
        let start = fixup
            .offset
            .saturating_mul(8)
            .saturating_add(fixup.bit.into());
        let end = start.saturating_add(fixup.width.into());
        let first = (fixup.section, start.saturating_sub(LONGEST));
        let first = changed.partition_point(|row| (row.section, row.start) < first);
        let mut near = changed.get(first..).unwrap_or(&[]).iter();
        let meets = |row: &&Changed| row.start < end && row.end > start;
        let found = near
            .by_ref()
            .take_while(|row| row.section == fixup.section && row.start < end)
            .find(meets)?;
        Some((place, found.reloc))
    };
    patches().filter_map(overlap).collect()
}

/// Returns the bits that a relocation changes: of types whose fields are not known all of an
/// instruction, or a word of data.
fn bits(module: &Module<'_>, section: SectionId, id: RelocId) -> Vec<Changed> {
    let Some(reloc) = module.relocs.get(id) else {
        return Vec::new();
    };
    if matches!(reloc.plan, RelocAction::Drop | RelocAction::Gone) {
        return Vec::new();
    }
    let at = reloc.offset.saturating_mul(8);
    let changed = |start: u64, width: u64| Changed {
        section,
        start: at.saturating_add(start),
        end: at.saturating_add(start).saturating_add(width),
        reloc: id,
    };
    let fields = changed_bits(reloc.ty);
    if !fields.is_empty() {
        let fields = fields.iter();
        return fields
            .map(|field| changed(field.bit.into(), field.width.into()))
            .collect();
    }
    let is_code = module.sections[section]
        .flags
        .contains(SectionFlags::EXECINSTR);
    let rest = INSTRUCTION - reloc.offset % INSTRUCTION;
    vec![changed(0, if is_code { rest * 8 } else { WORD })]
}
