//! Instructions that yield, in executables of Mercury: they become ones that do nothing, as by the
//! rows that SASS alone has.

use std::collections::HashSet;

use cuweld_elf::target::relocs::NO_OPERATION;
use cuweld_elf::target::relocs::YIELD_OPCODE;
use cuweld_elf::target::relocs::YIELD_PREDICATE;
use cuweld_elf::target::relocs::reloc_type;
use cuweld_elf::target::section_types::sht;
use cuweld_ir::Fixup;
use cuweld_ir::Module;
use cuweld_ir::OutputLayout;
use cuweld_ir::SectionId;
use cuweld_ir::plan::PlanContent;
use foldhash::fast::FixedState;

use crate::analyses::yields;

/// Adds the fixups of linked code. Code without a section of rows in the output stays
/// [mercury-yields-with-rows].
pub(super) fn add(module: &Module<'_>, fixups: &mut Vec<Fixup>) {
    if module.options.relocatable || yields::stay(module) {
        return;
    }
    let changes = [
        (YIELD_OPCODE, u64::from(NO_OPERATION)),
        (YIELD_PREDICATE, 0),
    ];
    let patched = module.plan.as_ref().map(patched).unwrap_or_default();
    for (id, function) in module.functions.iter() {
        let text = function.views.sass.text;
        if !patched.contains(&text) || !module.is_function_live(id) || module.is_alias(id) {
            continue;
        }
        for place in yields::places(module.sections[text].bytes()) {
            for (ty, value) in changes {
                let Some(field) = reloc_type(ty).and_then(|row| row.field) else {
                    continue;
                };
                fixups.push(Fixup {
                    section: text,
                    offset: place.saturating_add(u64::from(field.bit / 64 * 8)),
                    bit: field.bit % 64,
                    width: field.width,
                    value,
                    add: false,
                    cause: None,
                });
            }
        }
    }
}

/// Returns the input sections of which the output has relocations, be it an empty section of them.
fn patched(plan: &OutputLayout<'_>) -> HashSet<SectionId, FixedState> {
    let holders = plan.sections.iter();
    let holders = holders.filter(|section| matches!(section.ty, sht::REL | sht::RELA));
    let targets = holders.filter_map(|holder| plan.sections.get(holder.info as usize));
    let ranges = targets.filter_map(|target| match &target.content {
        PlanContent::Pieces(range) => Some(range.start as usize..range.end as usize),
        _ => None,
    });
    let pieces = ranges.filter_map(|range| plan.pieces.get(range));
    pieces.flatten().map(|piece| piece.section).collect()
}
