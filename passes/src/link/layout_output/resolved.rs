//! Resolved relocations: what `-preserve-relocs` says of rows that were applied.

use cuweld_elf::target::relocs::reloc_type;
use cuweld_ir::Module;
use cuweld_ir::Reloc;
use cuweld_ir::SectionInfo;
use cuweld_ir::SymbolPlace;
use cuweld_ir::SymbolRef;

use super::Created;
use super::created::output_of;

/// Returns `true` if a row that is applied is shown. Not shown are references to textures, samplers
/// and surfaces unless `-r`, to dynamic shared memory unless `-g` or `-r` gives it symbols, and to
/// constants whose section became part of kernels' banks [preserved-rows].
pub(super) fn is_recorded(module: &Module<'_>, out: &Created<'_>, reloc: &Reloc) -> bool {
    let Some(id) = reloc.target.symbol() else {
        return true;
    };
    let symbol = &module.symbols[id];
    // A reference that no kernel gives a place has that of the symbol.
    let has_place = || match module.sections[reloc.section].info {
        SectionInfo::Section(patched) => module.sections[patched]
            .owner
            .is_some_and(|owner| module.functions[owner].dynamic_shared.is_some()),
        _ => false,
    };
    let dynamic = symbol.link.is_none_or(|link| {
        module.is_dynamic_shared(link) && has_place()
            || module.began_dynamic(link) && !out.shows_reserve
    });
    let shown = module.options.relocatable || module.shows_dynamic_shared();
    let dynamic = dynamic && symbol.is_shared() && !shown;
    let lost = match symbol.place {
        SymbolPlace::Section(section) => {
            symbol.is_compiler_constant() && output_of(module, out, section).is_none()
        }
        _ => false,
    };
    let makes_slot = reloc_type(reloc.ty).is_some_and(|row| row.makes_slot);
    let slot = symbol.ty.is_header() && makes_slot && !module.options.relocatable;
    !slot && !dynamic && !lost
}

/// Returns the addend of a row in its section of resolved relocations: that of the row with the
/// place of the section it is counted from, or what the field holds, in units of the field.
pub(super) fn resolved_addend(module: &Module<'_>, reloc: &Reloc, ty: u32, in_place: bool) -> i64 {
    if in_place {
        return held_addend(module, reloc, ty);
    }
    let moved = match reloc.target {
        SymbolRef::Section(section) => module.sections[section].place.unwrap_or(0),
        _ => 0,
    };
    reloc.addend.wrapping_add(moved as i64)
}

/// Returns the addend in the field of a row, without that of the bank number.
fn held_addend(module: &Module<'_>, reloc: &Reloc, ty: u32) -> i64 {
    let SectionInfo::Section(patched) = module.sections[reloc.section].info else {
        return 0;
    };
    let field = reloc_type(ty).and_then(|row| row.field);
    let bytes = usize::try_from(reloc.offset)
        .ok()
        .and_then(|offset| module.sections[patched].bytes().get(offset..));
    match (field, bytes) {
        (Some(field), Some(bytes)) => field.read(bytes) as i64,
        _ => 0,
    }
}
