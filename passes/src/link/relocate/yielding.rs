//! Instructions that yield, in executables of Mercury: they become ones that do nothing, as by the
//! rows that SASS alone has.

use cuweld_elf::target::relocs::NO_OPERATION;
use cuweld_elf::target::relocs::YIELD_OPCODE;
use cuweld_elf::target::relocs::YIELD_PREDICATE;
use cuweld_elf::target::relocs::reloc_type;
use cuweld_ir::Fixup;
use cuweld_ir::Module;

use crate::analyses::yields;

/// Adds the fixups of linked code.
pub(super) fn add(module: &Module<'_>, fixups: &mut Vec<Fixup>) {
    if module.options.relocatable || yields::stay(module) {
        return;
    }
    let changes = [
        (YIELD_OPCODE, u64::from(NO_OPERATION)),
        (YIELD_PREDICATE, 0),
    ];
    for (id, function) in module.functions.iter() {
        if !module.is_function_live(id) || module.is_alias(id) {
            continue;
        }
        let text = function.views.sass.text;
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
