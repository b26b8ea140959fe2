//! From `planned` on: what becomes of relocations. At each phase: patches and fixups.

use std::collections::BTreeMap;

use super::Checker;
use super::Rule;
use super::overlaps::overlapped_patches;
use crate::ids::RelocId;
use crate::module::Module;
use crate::module::Phase;
use crate::reloc::Reloc;
use crate::reloc::RelocAction;
use crate::section::SectionContent;
use crate::section::SectionInfo;
use crate::section::SectionKind;
use crate::symbol::SymbolRef;
use crate::table::EntityId;
use cuweld_elf::mercury::relocs::LINE_TABLE;
use cuweld_elf::mercury::relocs::counterparts;
use cuweld_elf::target::relocs::reloc_type;
use cuweld_elf::target::section_types::sht;

pub(super) fn check(checker: &mut Checker<'_, '_>) {
    let module = checker.module;
    for (id, reloc) in module.relocs.iter() {
        if reloc.plan == RelocAction::Unplanned {
            checker.report(Rule::PlanSet, id, "it is not planned");
            continue;
        }
        if reloc.plan == RelocAction::Gone {
            continue;
        }
        if !module.is_section_linked(reloc.section) {
            let what = "its section is not linked";
            checker.report(Rule::PlanGone, id, what);
        }
        if let Some(size) = patched_size(module, reloc)
            && matters(reloc.plan)
            && reloc.offset >= size
        {
            let what = format!("offset {:#x} in a section of {size:#x} bytes", reloc.offset);
            checker.report(Rule::PlanOffset, id, what);
        }
        let unified = |ty| reloc_type(ty).is_some_and(|row| row.plain.is_some());
        let executable = !module.options.relocatable;
        let fits = match reloc.plan {
            RelocAction::Keep { ty, .. } => !(executable && unified(ty)),
            RelocAction::Apply { ty, .. } => {
                let like = counterparts(ty, is_mercury_code(module, reloc));
                let ty = like.first().copied().unwrap_or(ty);
                reloc_type(ty).is_some_and(|row| row.field.is_some())
                    && !(executable && unified(ty))
            }
            _ => true,
        };
        if !fits {
            checker.report(Rule::PlanType, id, "its planned type cannot be written");
        }
        let is_rel = module.sections[reloc.section].ty == sht::REL;
        let in_form = match reloc.plan {
            RelocAction::Keep { rela, addend, .. } => rela || is_rel && addend == 0,
            RelocAction::Apply { in_place, .. } => !in_place || is_rel,
            _ => true,
        };
        if !in_form {
            checker.report(
                Rule::PlanForm,
                id,
                "its addend is lost, or none is in place",
            );
        }
        if matches!(reloc.plan, RelocAction::Keep { .. }) && refers_to_dead(module, reloc.target) {
            let what = "it refers to a function that the output lacks";
            checker.report(Rule::PlanTarget, id, what);
        }
    }
}

/// Returns `true` if a plan says something of the bytes at the relocation's offset.
fn matters(plan: RelocAction) -> bool {
    matches!(
        plan,
        RelocAction::Keep { .. } | RelocAction::Apply { .. } | RelocAction::Clear
    )
}

/// Returns the size in bytes of the section that a relocation applies to.
fn patched_size(module: &Module<'_>, reloc: &Reloc) -> Option<u64> {
    match module.sections[reloc.section].info {
        // Offsets in Mercury code count bytes of a form that no file holds.
        SectionInfo::Section(patched) if is_mercury_code(module, reloc) => module.sections[patched]
            .owner
            .map(|owner| module.functions[owner].merc_size),
        SectionInfo::Section(patched) => Some(module.sections[patched].size()),
        _ => None,
    }
}

/// Returns `true` if a relocation applies to Mercury code, which `mercury-encode` fills.
fn is_mercury_code(module: &Module<'_>, reloc: &Reloc) -> bool {
    match module.sections[reloc.section].info {
        SectionInfo::Section(patched) => module.sections[patched].kind == SectionKind::MercuryText,
        _ => false,
    }
}

fn refers_to_dead(module: &Module<'_>, target: SymbolRef) -> bool {
    let SymbolRef::Symbol(symbol) = target else {
        return false;
    };
    let symbol = &module.symbols[symbol];
    let live = symbol.link.map(|link| module.link_symbols[link].live);
    symbol.is_function() && live.is_some_and(|live| !live.is_live())
}

pub(super) fn check_fixups(checker: &mut Checker<'_, '_>) {
    let module = checker.module;
    let capmerc = module.is_capmerc();
    let mut patched = vec![false; module.relocs.len()];
    let overlapped: BTreeMap<usize, RelocId> = overlapped_patches(module).into_iter().collect();
    for (index, fixup) in module.fixups.iter().enumerate() {
        let place = || format!("fixup {index}");
        let before = index
            .checked_sub(1)
            .and_then(|before| module.fixups.get(before));
        if before.is_some_and(|before| before.section > fixup.section) {
            checker.report(
                Rule::FixupOrder,
                place(),
                "the fixup before it is of a later section",
            );
        }
        let size = match module.sections[fixup.section].content {
            SectionContent::Bytes(bytes) => bytes.len() as u64,
            _ => 0,
        };
        let end = u32::from(fixup.bit) + u32::from(fixup.width);
        if fixup.width == 0 || end > 64 || fixup.offset >= size {
            let what = format!(
                "{} bits at bit {} of offset {:#x}, the section has {size:#x} bytes",
                fixup.width, fixup.bit, fixup.offset
            );
            checker.report(Rule::FixupField, place(), what);
        }
        let patched_section = &module.sections[fixup.section];
        let Some(cause_id) = fixup.cause else {
            // Instructions that yield have no rows in the Mercury view.
            if capmerc && patched_section.kind != SectionKind::Text {
                let what = "no relocation asks for it, and it is not in code that has Mercury";
                checker.report(Rule::FixupCause, place(), what);
            }
            if let Some(reloc) = overlapped.get(&index).filter(|_| !capmerc) {
                let what = format!("it is a patch of bits that {reloc} changes");
                checker.report(Rule::FixupCause, place(), what);
            }
            continue;
        };
        let cause = &module.relocs[cause_id];
        // Some fields lie in the second word of an instruction.
        let in_second = cause.offset.checked_add(8) == Some(fixup.offset);
        let asks = matches!(cause.plan, RelocAction::Apply { .. } | RelocAction::Clear)
            && (cause.offset == fixup.offset || in_second);
        patched[cause_id.index()] |= asks;
        // A reference to a texture moves the other operands of the code that read its slots.
        let symbol = cause.target.symbol().map(|symbol| &module.symbols[symbol]);
        let moves = capmerc && symbol.is_some_and(|symbol| symbol.ty.is_header());
        let named = module.sections[cause.section].info;
        // A row of the Mercury view gives tables of switches in the SASS view their entries.
        let owner = patched_section.owner;
        let is_twin = matches!(named, SectionInfo::Section(twin)
            if owner.is_some()
                && module.sections[twin].kind == SectionKind::MercuryTwin
                && module.sections[twin].owner == owner);
        let fills = cause.ty == LINE_TABLE && cause.offset == fixup.offset && is_twin;
        if !fills && (!(asks || moves) || named != SectionInfo::Section(fixup.section)) {
            let what = format!("{cause_id} does not ask for it");
            checker.report(Rule::FixupCause, place(), what);
        }
    }
    if module.phase < Phase::Relocated {
        return;
    }
    for ((id, reloc), patched) in module.relocs.iter().zip(patched) {
        if matches!(reloc.plan, RelocAction::Apply { .. } | RelocAction::Clear)
            && !patched
            && !is_mercury_code(module, reloc)
        {
            checker.report(Rule::Patched, id, "it has no fixup");
        }
    }
}
