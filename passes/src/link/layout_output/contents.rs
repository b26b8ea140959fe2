//! What the created sections hold: pieces of input sections, relocation rows, sizes.

use cuweld_elf::target::section_types::is_unified_entries;
use cuweld_ir::Module;
use cuweld_ir::Reloc;
use cuweld_ir::RelocAction;
use cuweld_ir::Section;
use cuweld_ir::SectionId;
use cuweld_ir::SectionKind;
use cuweld_ir::SymbolPlace;
use cuweld_ir::attribute::UNIFIED_ENTRY_SIZE;
use cuweld_ir::plan::PlanPiece;
use cuweld_ir::table::EntityId;

use super::Content;
use super::Created;
use super::OutId;
use super::WithRows;
use super::bank_pool::has_pool;
use super::constant_rows::of_bank;
use super::created::output_of;
use super::resolved::is_recorded;
use crate::link::place_memory::constant_merge::ConstantMerge;
use crate::link::place_memory::constants_again;
use crate::link::place_memory::dynamic_align::DYNAMIC_ALIGN;
use crate::link::place_memory::headers::SLOT_SIZE;
use crate::link::place_memory::shared::declares_dynamic;
use crate::link::place_memory::shared::merged_align;
use crate::link::place_memory::shared_relocatable;
use crate::link::place_memory::slots_end::slots_end;

/// Gives the section of a kernel that was created its pieces and its size, or removes it.
pub(super) fn of_kernel(module: &Module<'_>, out: &mut Created<'_>, id: OutId) {
    match out.sections[id].content {
        Content::Constants(link, bank) => {
            let Some(function) = module.link_function(link) else {
                return;
            };
            if has_pool(module, function, bank) {
                let parts = module.pool(bank).iter();
                let aligns = parts.map(|part| module.sections[part.section].align);
                let section = &mut out.sections[id];
                section.size = module.pool_size(bank);
                section.align = aligns.fold(section.align, u64::max);
                return;
            }
            for index in 0..out.banks.of(function.index()).len() {
                let piece = out.banks.of(function.index())[index];
                let piece = &module.bank_pieces[piece as usize];
                if piece.bank != bank {
                    continue;
                }
                if piece.size != 0 {
                    let all = module.sections[piece.section].size();
                    let size = Some(piece.size).filter(|size| *size != all);
                    let piece = PlanPiece {
                        size,
                        ..whole(piece.offset, piece.section)
                    };
                    out.add_piece(id, piece);
                }
                let section = &mut out.sections[id];
                section.align = section.align.max(piece.align);
                section.size = section.size.max(module.bank_size(piece));
            }
            if bank == 0
                && module.functions[function].header_kinds != 0
                && let Some(last) = module.header_slots.last()
            {
                let start = if out.capmerc { module.header_base() } else { 0 };
                let end = last.offset.saturating_add(SLOT_SIZE).saturating_sub(start);
                let section = &mut out.sections[id];
                section.size = section.size.max(end);
            }
        }
        Content::KernelShared(link) => {
            let frame = module
                .link_function(link)
                .and_then(|function| module.functions[function].shared);
            let section = &mut out.sections[id];
            match frame.filter(|frame| frame.present) {
                Some(frame) => (section.size, section.align) = (frame.size, frame.align),
                None => section.removed = true,
            }
        }
        _ => {}
    }
}

/// Returns the size of the reserved block of shared memory, as the file shows it.
pub(super) fn reserved_size(module: &Module<'_>) -> u64 {
    let all = module.sections.values();
    let sizes = all
        .filter(|section| section.kind == SectionKind::ReservedShared)
        .map(Section::size);
    let start = match module.options.relocatable {
        true => 0,
        false => module.toolkit.reserved_shared_start,
    };
    sizes.max().unwrap_or(0).saturating_add(start)
}

/// Gives other sections their pieces, relocation rows and sizes, and removes those that stay empty.
pub(super) fn fill(module: &Module<'_>, out: &mut Created<'_>, merge: &ConstantMerge) {
    module_shared(module, out);
    concatenated(module, out, merge);
    out.piece_order.group(out.sections.len());
    relocs(module, out);
}

/// Keeps the section of module-wide shared variables, empty, as the mark of dynamic shared memory,
/// which nvlink tells by its alignment [dynamic-shared-by-alignment].
fn module_shared(module: &Module<'_>, out: &mut Created<'_>) {
    let sections = out.special(|content| content == Content::ModuleShared);
    let sections: Vec<OutId> = sections.collect();
    if sections.is_empty() {
        return;
    }
    if module.options.relocatable {
        let (size, align) = shared_relocatable::module_section(module);
        for id in sections {
            let section = &mut out.sections[id];
            (section.size, section.align) = (size, align);
        }
        return;
    }
    let frames = module
        .functions
        .values()
        .filter_map(|function| function.shared);
    // Without kernels the variables of device functions are in slots all the same.
    let of_slots = || match slots_end(module) {
        0 => 1,
        _ => merged_align(module),
    };
    let slots_align = frames.map(|frame| frame.slots_align).max();
    let slots_align = slots_align.unwrap_or_else(of_slots);
    let dynamic = declares_dynamic(module) && slots_align <= DYNAMIC_ALIGN;
    let slots = match module.shows_shared_variables() {
        true => slots_end(module),
        false => 0,
    };
    for id in sections {
        let section = &mut out.sections[id];
        section.removed = !dynamic && slots == 0;
        section.align = DYNAMIC_ALIGN;
        if module.shows_shared_variables() {
            let of_slots = if slots > 0 { merged_align(module) } else { 1 };
            section.align = if dynamic { DYNAMIC_ALIGN } else { 1 }.max(of_slots);
            section.size = slots.saturating_add(module.reserved_shared_size());
        }
    }
}

/// Returns the piece that is a whole input section at an offset of its output section.
pub(super) fn whole(offset: u64, section: SectionId) -> PlanPiece {
    PlanPiece {
        offset,
        section,
        size: None,
    }
}

/// Returns `true` if the output has a section as it is, alone or as one of several.
pub(super) fn is_copied(section: &Section<'_>) -> bool {
    match section.kind {
        SectionKind::Local | SectionKind::Other => true,
        SectionKind::FunctionConstants(_)
        | SectionKind::KernelShared
        | SectionKind::ModuleShared
        | SectionKind::MercuryTwin
        | SectionKind::MercuryDebug => false,
        kind => section.owner.is_none() && kind.is_concatenated(),
    }
}

fn concatenated(module: &Module<'_>, out: &mut Created<'_>, merge: &ConstantMerge) {
    for index in 0..out.copied.len() {
        let id = out.copied[index];
        let section = &module.sections[id];
        let owned = section.owner.is_some();
        if !owned && section.place.is_none() || !module.is_section_linked(id) {
            continue;
        }
        let Some(target) = output_of(module, out, id) else {
            continue;
        };
        if is_unified_entries(section.ty) {
            let rows = section.attributes.len() * UNIFIED_ENTRY_SIZE;
            out.sections[target].size += rows as u64;
            continue;
        }
        if is_again(module, section.kind) {
            let output = &mut out.sections[target];
            output.size = module.pool_size(constants_again::BANK);
            output.align = constants_again::section_align(module);
            continue;
        }
        let moved = match module.options.strict {
            true => merge.moved.get(&id),
            false => None,
        };
        let place = match moved {
            Some(None) => continue,
            Some(Some(at)) => *at,
            None if owned => 0,
            None => section.place.unwrap_or(0),
        };
        let size = &mut out.sections[target].size;
        *size = (*size).max(place.saturating_add(section.size()));
        if section.size() > 0 {
            out.add_piece(target, whole(place, id));
        }
    }
    // Tentative definitions lie after the contributions of .nv.global.
    if let Some(global) = out.by_name.get(&b".nv.global"[..]).copied() {
        for link in module.link_symbols.values() {
            let common = link
                .definition
                .is_some_and(|definition| module.symbols[definition].place == SymbolPlace::Common);
            if common {
                let end = link.value.unwrap_or(0).saturating_add(link.size);
                let section = &mut out.sections[global];
                section.size = section.size.max(end);
            }
        }
    }
}

/// Returns `true` if sections of a kind are constants of the module that were laid out again,
/// variable by variable.
pub(super) fn is_again(module: &Module<'_>, kind: SectionKind) -> bool {
    kind == SectionKind::ConstantBank(constants_again::BANK)
        && !module.pool(constants_again::BANK).is_empty()
}

/// Puts kept rows at the front of their section's list, so that each list is the reverse of the
/// input.
fn relocs(module: &Module<'_>, out: &mut Created<'_>) {
    let records = module.options.preserve_relocs;
    for index in 0..out.with_rows.len() {
        let WithRows { id, patched, kept } = out.with_rows[index];
        let Some(target) = output_of(module, out, patched) else {
            continue;
        };
        // Kept rows without addends and with them.
        for (is_rela, count) in [false, true].into_iter().zip(kept) {
            if let Some(place) = out.relocs.get(target, is_rela).filter(|_| count != 0) {
                out.add_rows(place, id, count.into());
            }
        }
        // Applied ones that are shown.
        if records && let Some(place) = out.resolved_relocs.get(out.sections[target].name).copied()
        {
            let rows = module.relocs[module.sections[id].relocs].iter();
            let is_shown = |row: &&Reloc| {
                matches!(row.plan, RelocAction::Apply { .. }) && is_recorded(module, out, row)
            };
            let count = rows.filter(is_shown).count();
            if count != 0 {
                out.add_rows(place, id, count as u64);
            }
        }
    }
    out.row_sections.group(out.sections.len());
    if !out.capmerc {
        return;
    }
    for id in 0..out.sections.len() {
        if let Content::Relocs(target) = out.sections[id].content
            && let Some(rows) = of_bank(module, out, target as OutId)
        {
            let section = &mut out.sections[id];
            section.size = rows.len() as u64 * section.entsize;
            section.removed = rows.is_empty();
        }
    }
}
