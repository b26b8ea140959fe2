//! What the created sections hold: pieces of input sections, relocation rows, sizes.

use cuweld_ir::Module;
use cuweld_ir::RelocPlan;
use cuweld_ir::Section;
use cuweld_ir::SectionId;
use cuweld_ir::SectionInfo;
use cuweld_ir::SectionKind;
use cuweld_ir::SymbolPlace;
use cuweld_ir::attribute::UNIFIED_ENTRY_SIZE;
use cuweld_ir::plan::PlanPiece;
use cuweld_ir::table::EntityId;
use cuweld_ir::target::section_types::is_unified_entries;
use cuweld_ir::target::toolkit;

use super::Content;
use super::Created;
use super::Grouped;
use super::OutId;
use super::OutSection;
use super::bank_pool::has_pool;
use super::constant_merge::ConstantMerge;
use super::constant_rows::of_bank;
use super::constant_rows::patches_constants;
use super::creation::output_of;
use super::resolved::is_recorded;
use crate::place_memory::headers::SLOT_SIZE;
use crate::place_memory::shared::DYNAMIC_ALIGN;
use crate::place_memory::shared::declares_dynamic;
use crate::place_memory::shared::merged_align;
use crate::place_memory::shared_relocatable;

/// Gives sections their pieces, relocation rows and sizes, and removes those that stay empty.
pub(super) fn fill(module: &Module<'_>, out: &mut Created<'_>, merge: &ConstantMerge) {
    let own_constants = Grouped::by(module.functions.len(), &module.bank_pieces, |piece| {
        piece.kernel.index()
    });
    for index in 0..out.sections.len() {
        match out.sections[index].content {
            Content::Constants(link, bank) => {
                let Some(function) = module.link_function(link) else {
                    continue;
                };
                if has_pool(module, function, bank) {
                    out.sections[index].size = module.pool_size(bank);
                    continue;
                }
                for index_of_piece in own_constants.of(function.index()) {
                    let piece = &module.bank_pieces[*index_of_piece as usize];
                    if piece.bank == bank {
                        if piece.size != 0 {
                            let all = module.sections[piece.section].size();
                            let size = Some(piece.size).filter(|size| *size != all);
                            let piece = PlanPiece {
                                size,
                                ..whole(piece.offset, piece.section)
                            };
                            out.add_piece(index, piece);
                        }
                        let section = &mut out.sections[index];
                        section.align = section.align.max(piece.align);
                        section.size = section.size.max(module.bank_size(piece));
                    }
                }
                if bank == 0
                    && module.functions[function].header_kinds != 0
                    && let Some(last) = module.header_slots.last()
                {
                    let section = &mut out.sections[index];
                    let start = if out.capmerc { module.header_base() } else { 0 };
                    let end = last.offset.saturating_add(SLOT_SIZE).saturating_sub(start);
                    section.size = section.size.max(end);
                }
            }
            Content::KernelShared(link) => {
                let frame = module
                    .link_function(link)
                    .and_then(|function| module.functions[function].shared);
                if let Some(frame) = frame.filter(|frame| frame.present) {
                    out.sections[index].size = frame.size;
                    out.sections[index].align = frame.align;
                } else {
                    out.sections[index].removed = true;
                }
            }
            Content::ReservedShared => {
                let all = module.sections.values();
                let sizes = all
                    .filter(|section| section.kind == SectionKind::ReservedShared)
                    .map(Section::size);
                let start = match module.options.relocatable {
                    true => 0,
                    false => toolkit::RESERVED_SHARED_START,
                };
                let size = sizes.max().unwrap_or(0);
                out.sections[index].size = size.saturating_add(start);
            }
            _ => {}
        }
    }
    module_shared(module, out);
    concatenated(module, out, merge);
    out.piece_order.group(out.sections.len());
    relocs(module, out);
}

/// The section of module-wide shared variables stays, empty, as the mark of dynamic shared memory, which nvlink tells by its
/// alignment (measured).
fn module_shared(module: &Module<'_>, out: &mut Created<'_>) {
    let is_one = |section: &&mut OutSection<'_>| section.content == Content::ModuleShared;
    let mut sections = out.sections.iter_mut().filter(is_one).peekable();
    if sections.peek().is_none() {
        return;
    }
    if module.options.relocatable {
        let (size, align) = shared_relocatable::module_section(module);
        return sections.for_each(|section| (section.size, section.align) = (size, align));
    }
    let frames = module
        .functions
        .values()
        .filter_map(|function| function.shared);
    let slots_align = frames.map(|frame| frame.slots_align).max().unwrap_or(1);
    let dynamic = declares_dynamic(module) && slots_align <= DYNAMIC_ALIGN;
    let slots = match module.shows_shared_variables() {
        true => slots_end(module),
        false => 0,
    };
    for section in sections {
        section.removed = !dynamic && slots == 0;
        section.align = DYNAMIC_ALIGN;
        if module.shows_shared_variables() {
            let of_slots = if slots > 0 { merged_align(module) } else { 1 };
            section.align = if dynamic { DYNAMIC_ALIGN } else { 1 }.max(of_slots);
            section.size = slots.saturating_add(module.reserved_shared_size());
        }
    }
}

/// The end of the shared variables that belong to no kernel alone, in bytes.
pub(super) fn slots_end(module: &Module<'_>) -> u64 {
    let links = module.link_symbols.values();
    links
        .filter(|link| link.kernel.is_none())
        .filter(|link| {
            link.definition
                .is_some_and(|definition| module.symbols[definition].is_shared())
        })
        .filter_map(|link| Some(link.value?.saturating_add(link.size)))
        .max()
        .unwrap_or(0)
}

/// A whole input section at an offset of its output section.
pub(super) fn whole(offset: u64, section: SectionId) -> PlanPiece {
    PlanPiece {
        offset,
        section,
        size: None,
    }
}

/// Whether the output has a section as it is, alone or as one of several.
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
    // Tentative definitions lie behind the contributions of .nv.global.
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

/// Kept rows go to the front of their section's list, so that each list is the reverse of the input.
fn relocs(module: &Module<'_>, out: &mut Created<'_>) {
    let records = module.options.preserve_relocs;
    for index in 0..out.with_rows.len() {
        let id = out.with_rows[index];
        let section = &module.sections[id];
        let SectionInfo::Section(target) = section.info else {
            continue;
        };
        if section.relocs.is_empty()
            || !module.is_section_linked(id)
            || patches_constants(module, target)
        {
            continue;
        }
        let Some(target) = output_of(module, out, target) else {
            continue;
        };
        // Kept rows without addends and with them, and applied ones that are shown.
        let mut counts = [0_u64; 3];
        for reloc in &module.relocs[section.relocs] {
            match reloc.plan {
                RelocPlan::Keep { rela, .. } => counts[usize::from(rela)] += 1,
                RelocPlan::Apply { .. } if records && is_recorded(module, out, reloc) => {
                    counts[2] += 1;
                }
                _ => {}
            }
        }
        let resolved = match records {
            true => out.resolved_relocs.get(out.sections[target].name).copied(),
            false => None,
        };
        let places = [
            out.relocs.get(target, false),
            out.relocs.get(target, true),
            resolved,
        ];
        for (place, count) in places.into_iter().zip(counts) {
            if let Some(place) = place.filter(|_| count != 0) {
                out.row_sections.push(place, id);
                let section = &mut out.sections[place];
                section.size += count * section.entsize;
            }
        }
    }
    out.row_sections.group(out.sections.len());
    for id in 0..out.sections.len() {
        match out.sections[id].content {
            Content::Relocs(target) => {
                if let Some(rows) = of_bank(module, out, target as OutId) {
                    let section = &mut out.sections[id];
                    section.size = rows.len() as u64 * section.entsize;
                }
            }
            Content::ResolvedRelocs(_) => {}
            _ => continue,
        }
        let section = &mut out.sections[id];
        section.removed = section.size == 0;
    }
}
