//! Resolved relocations: what `-preserve-relocs` says of rows that were applied.

use cuweld_elf::known_symbols;
use cuweld_elf::target::relocs::reloc_type;
use cuweld_ir::Module;
use cuweld_ir::Reloc;
use cuweld_ir::SectionInfo;
use cuweld_ir::Symbol;
use cuweld_ir::SymbolPlace;
use cuweld_ir::SymbolRef;

use super::Created;
use super::created::output_of;
use crate::link::place_memory::slots_end::slots_end;

/// Returns `true` if a row that is applied is shown. Not shown are references to the size of
/// constants, to textures, samplers and surfaces unless `-r`, to dynamic shared memory unless `-g`
/// or `-r` gives it symbols, to shared variables that no code of an executable refers to, and to
/// constants whose section became part of kernels' banks [preserved-rows].
pub(super) fn is_recorded(module: &Module<'_>, out: &Created<'_>, reloc: &Reloc) -> bool {
    if out.capmerc {
        return is_recorded_beside_mercury(module, reloc, out.dynamic_names);
    }
    let Some(id) = reloc.target.symbol() else {
        return true;
    };
    let symbol = &module.symbols[id];
    let lost = match symbol.place {
        SymbolPlace::Section(section) => {
            symbol.is_compiler_constant() && output_of(module, out, section).is_none()
        }
        SymbolPlace::Undefined => symbol.name == known_symbols::CONSTANTS_SIZE,
        _ => false,
    };
    let makes_slot = reloc_type(reloc.ty).is_some_and(|row| row.makes_slot);
    let slot = symbol.ty.is_header() && makes_slot && !module.options.relocatable;
    let unreferenced = symbol
        .link
        .is_some_and(|link| out.unreferenced_shared.binary_search(&link).is_ok());
    let hidden = slot || lost || unreferenced;
    !hidden && !names_hidden_dynamic(module, reloc, symbol, out.dynamic_names)
}

/// Returns `true` if a row of either view is shown where objects have Mercury: there only those
/// of code that refer to shared memory are [preserved-mercury-rows].
pub(crate) fn is_recorded_beside_mercury(
    module: &Module<'_>,
    reloc: &Reloc,
    shown: DynamicNames,
) -> bool {
    let symbol = reloc.target.symbol().map(|id| &module.symbols[id]);
    let applies_to_code = match module.sections[reloc.section].info {
        SectionInfo::Section(patched) => module.sections[patched].kind.is_code(),
        _ => false,
    };
    symbol.is_some_and(|symbol| {
        applies_to_code && symbol.is_shared() && !names_hidden_dynamic(module, reloc, symbol, shown)
    })
}

/// Returns `true` if a row names dynamic shared memory that has no symbol.
fn names_hidden_dynamic(
    module: &Module<'_>,
    reloc: &Reloc,
    symbol: &Symbol<'_>,
    shown: DynamicNames,
) -> bool {
    // A reference that no kernel gives a place has that of the symbol.
    let has_place = || match module.sections[reloc.section].info {
        SectionInfo::Section(patched) => module.sections[patched]
            .owner
            .is_some_and(|owner| module.functions[owner].dynamic_shared.is_some()),
        _ => false,
    };
    let dynamic = symbol.link.is_none_or(|link| {
        module.is_dynamic_shared(link) && has_place()
            || module.began_dynamic(link) && !shown.by_reserve
    });
    if symbol.name == known_symbols::DYNAMIC_SHARED_INSTANCE
        && !module.options.relocatable
        && !shown.instance_rows
    {
        return true;
    }
    let always = module.options.relocatable || module.shows_dynamic_shared();
    dynamic && symbol.is_shared() && !always
}

/// Which names of dynamic shared memory have symbols for `-preserve-relocs` alone.
#[derive(Clone, Copy, Default)]
pub(crate) struct DynamicNames {
    /// Those of the program: because the reserved block is added to their address, which is -1
    /// without `-g`. The Mercury view has no such block [dynamic-shared-symbols].
    by_reserve: bool,
    /// The one that relocatable output gives each kernel. Without `-preserve-relocs` an executable
    /// never has it [preserved-symbols].
    instance: bool,
    /// Whether rows that refer to it are shown: not where it is a symbol for the reserved block
    /// alone [preserved-symbols].
    instance_rows: bool,
}

impl DynamicNames {
    /// Finds which these are in a module whose memory is placed.
    pub(crate) fn of(module: &Module<'_>) -> Self {
        if !module.options.preserve_relocs {
            return DynamicNames::default();
        }
        let has_slots = slots_end(module) != 0;
        let has_reserve = !module.is_capmerc() && module.reserved_shared_size() != 0;
        let shows = module.shows_dynamic_shared();
        let instance_rows = has_slots && (has_reserve || shows);
        DynamicNames {
            by_reserve: has_slots && has_reserve,
            instance: instance_rows || has_reserve && shows,
            instance_rows,
        }
    }

    /// Returns `true` if a name that the compiler made, or one of the program, has a symbol.
    pub(super) fn has(self, made_by_compiler: bool) -> bool {
        match made_by_compiler {
            true => self.instance,
            false => self.by_reserve,
        }
    }
}

/// Returns the addend of a row in its section of resolved relocations: that of the row with the
/// place of the section it is counted from, or what the field holds, in units of the field.
pub(crate) fn resolved_addend(module: &Module<'_>, reloc: &Reloc, ty: u32, in_place: bool) -> i64 {
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
