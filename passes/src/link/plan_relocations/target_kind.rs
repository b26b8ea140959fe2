//! What a relocation refers to, as far as the rules of `plan-relocations` distinguish.

use cuweld_diagnostics::codes::input;
use cuweld_diagnostics::codes::relocation;
use cuweld_elf::behaviours;
use cuweld_elf::known_symbols;
use cuweld_elf::symbol::Binding;
use cuweld_elf::symbol::SymbolOther;
use cuweld_elf::symbol::SymbolType;
use cuweld_elf::target::section_types::is_rela;
use cuweld_elf::target::section_types::sht;
use cuweld_ir::FunctionId;
use cuweld_ir::LinkSymbol;
use cuweld_ir::Module;
use cuweld_ir::Reloc;
use cuweld_ir::SectionId;
use cuweld_ir::SectionKind;
use cuweld_ir::Symbol;
use cuweld_ir::SymbolId;
use cuweld_ir::SymbolPlace;
use cuweld_ir::SymbolRef;

use super::facts::Facts;
use super::facts::contribution;
use super::refusal::Refusal;

/// What a relocation refers to, as far as the rules distinguish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TargetKind {
    /// A live function.
    Function,
    /// A function that is not part of the output.
    DeadFunction,
    /// A copy of a weak function or variable that never was part of the link, seen from a line table;
    /// the symbol `__UFT_OFFSET` in a link without tables.
    LosingCopy,
    /// Global memory.
    Global,
    /// Reserved shared memory, left to the driver.
    ReservedShared,
    /// A value that is known: a constant, a section, an object elsewhere. Shared variables too, but
    /// these are not in the output.
    Known { value: u64, emitted: bool },
    /// A texture, sampler or surface with the offset of its slot, which executables have.
    Header { slot: Option<u64> },
    /// Symbol 0, or an untyped symbol.
    Nothing,
    /// An object that nobody defines and that nvlink takes for one at -1: in executables a weak one, in
    /// relocatable output a strong one.
    Missing,
    /// An object that a later link may define; relocatable output only.
    Undefined,
    /// A unified table symbol in a link without tables; in relocatable output `__UFT_OFFSET` without a table of functions.
    UnifiedTable,
}

/// The sections that lose their rows for copies of weak functions that never were part of the link, by
/// name [lines-of-discarded-copies].
pub(super) const LINE_TABLES: [&[u8]; 3] =
    [b".debug_frame", b".debug_line", b".nv_debug_line_sass"];

pub(super) fn target_kind(
    module: &Module<'_>,
    reloc: &Reloc,
    patched: SectionId,
    in_line_table: bool,
    facts: &Facts<'_, '_>,
) -> Result<TargetKind, Refusal> {
    match reloc.target {
        SymbolRef::None => Ok(TargetKind::Nothing),
        SymbolRef::Section(section) => Ok(match module.sections[section].kind {
            // Variables with unified addresses too: only `-r` links them.
            SectionKind::Global | SectionKind::GlobalInit | SectionKind::Unified => {
                TargetKind::Global
            }
            // Merged record by record, so that no place of the output is that of the input.
            SectionKind::ToolInfo
            | SectionKind::CudaInfo
            | SectionKind::Info
            | SectionKind::FunctionInfo
            | SectionKind::Compat
            | SectionKind::CallGraph
            | SectionKind::Prototypes
            | SectionKind::RelAction => {
                return Err(Refusal::Unsupported(relocation::METADATA));
            }
            SectionKind::ModuleShared | SectionKind::KernelShared => {
                return Err(Refusal::Unsupported(relocation::SHARED_SECTION));
            }
            // Compilers refer to the constants in it.
            SectionKind::FunctionConstants(_) => {
                return Err(Refusal::Unsupported(relocation::CONSTANTS_SECTION));
            }
            _ => TargetKind::Known {
                value: contribution(
                    module,
                    facts.in_view(&module.sections[reloc.section], section),
                )
                .wrapping_add(facts.frame_shift(module, reloc, section)?),
                emitted: module.sections[section].owner.is_none_or(|owner| {
                    let link = module.symbols[module.functions[owner].symbol].link;
                    link.is_some_and(|link| module.link_symbols[link].live.is_live())
                }),
            },
        }),
        SymbolRef::Symbol(symbol) => {
            symbol_kind(module, reloc, (symbol, patched), in_line_table, facts)
        }
    }
}

fn symbol_kind(
    module: &Module<'_>,
    reloc: &Reloc,
    (id, patched): (SymbolId, SectionId),
    in_line_table: bool,
    facts: &Facts<'_, '_>,
) -> Result<TargetKind, Refusal> {
    // Most rows of line tables are of such copies where there are any: no row of theirs is looked at. Those without addends are below.
    if in_line_table
        && facts.meanings.is_passed(id)
        && module.sections[reloc.section].ty != sht::REL
    {
        return Ok(TargetKind::LosingCopy);
    }
    let symbol = &module.symbols[id];
    let Some(link) = symbol.link else {
        return Ok(TargetKind::Nothing);
    };
    let link = &module.link_symbols[link];
    if symbol.is_function() {
        let losing = symbol
            .function
            .filter(|id| module.functions[*id].fate.is_non_prevailing());
        if in_line_table && let Some(loser) = losing {
            let holder = &module.sections[reloc.section];
            // From sm_90 on all rows are RELA; what nvlink does to REL rows of copies was not understood.
            if holder.ty == sht::REL && module.target.has_compat() {
                return Err(Refusal::Unsupported(relocation::DISCARDED_REL));
            }
            // Line tables of a copy that never was part of the link lose their rows; other debug sections
            // keep them, pointing at the copy that won. A copy that was replaced loses them too, but only
            // RELA rows, and only if its code, or that of another replaced copy, had relocations
            // [lines-of-discarded-copies].
            if !module.functions[loser].fate.ever_prevailed()
                || is_rela(holder.ty) && facts.is_relocated(loser)
            {
                return Ok(TargetKind::LosingCopy);
            }
        }
        return Ok(if link.live.is_live() {
            TargetKind::Function
        } else {
            TargetKind::DeadFunction
        });
    }
    if symbol.ty.is_header() {
        // [relocatable-without-slots]
        if module.options.relocatable {
            return Ok(TargetKind::Header { slot: None });
        }
        let slot = symbol.link.and_then(|link| facts.slots.get(&link));
        return match slot {
            Some(slot) => Ok(TargetKind::Header { slot: Some(*slot) }),
            None => Err(Refusal::Unsupported(relocation::UNSLOTTED_TEXTURE)),
        };
    }
    if symbol.ty == SymbolType::NOTYPE {
        return Ok(TargetKind::Nothing);
    }
    // With -g shared variables that have an address are in the symbol table.
    let shown = module.shows_shared_variables() && link.value.is_some();
    let Some(definition) = link.definition else {
        // [constants-size]
        if module.options.relocatable && symbol.name != known_symbols::CONSTANTS_SIZE {
            return Ok(undefined_kind(facts, module, symbol, link, patched));
        }
        return Ok(if symbol.is_shared() {
            let section = &module.sections[patched];
            if section.owner.is_none()
                && !matches!(section.name, b".debug_info" | b".nv.merc.debug_info")
            {
                return Err(Refusal::Unsupported(relocation::DYNAMIC_SHARED_DATA));
            }
            // `-preserve-relocs` names the symbol, which is gone without a reserved block [preserved-without-reserve].
            let has_place = |owner: FunctionId| module.functions[owner].dynamic_shared.is_some();
            if !section.owner.is_some_and(has_place)
                && module.options.preserve_relocs
                && !module.shows_dynamic_shared()
                && facts.has_shared_slots()
            {
                if module.reserved_shared_size() == 0 {
                    return Err(Refusal::Internal(input::DELETED_SYMBOL));
                }
                if section.owner.is_none() {
                    return Err(Refusal::Unsupported(relocation::PRESERVED_DYNAMIC_SHARED));
                }
            }
            TargetKind::Known {
                value: dynamic_shared(module, patched, link.value),
                emitted: shown,
            }
        } else if known_symbols::is_reserved_shared_symbol(symbol.name) {
            TargetKind::ReservedShared
        } else if symbol.name == known_symbols::UNIFIED_FUNCTIONS_OFFSET {
            TargetKind::LosingCopy
        } else if known_symbols::is_unified_table_symbol(symbol.name) {
            TargetKind::UnifiedTable
        } else if symbol.other.space() == SymbolOther::GLOBAL {
            TargetKind::Global
        } else if symbol.name == known_symbols::CONSTANTS_SIZE {
            // [constants-size]
            TargetKind::Known {
                value: facts.end(BANK_3).unwrap_or(u64::MAX),
                emitted: false,
            }
        } else {
            TargetKind::Missing
        });
    };
    if module.sections[patched].kind == SectionKind::Debug
        && module.sections[patched].name != b".debug_info"
        && !symbol.is_undefined()
        && definition != id
        && link.first != id
    {
        return Ok(TargetKind::LosingCopy);
    }
    // [unplaced-shared]
    let unplaced = if symbol.is_shared() { u64::MAX } else { 0 };
    let value = link.value.unwrap_or(unplaced);
    let definition = &module.symbols[definition];
    let of_loser = |section: SectionId| {
        let owner = module.sections[section].owner;
        owner.is_some_and(|owner| module.functions[owner].fate.is_non_prevailing())
    };
    if let SymbolPlace::Section(section) = definition.place
        && definition.is_compiler_constant()
        && of_loser(section)
    {
        // Only the code of the copy has such references, and goes with it.
        return Err(Refusal::Unsupported(relocation::DISCARDED_CONSTANTS));
    }
    let known = TargetKind::Known {
        value,
        emitted: module.shows_compiler_constants() || !definition.is_compiler_constant(),
    };
    Ok(match definition.place {
        SymbolPlace::Common => TargetKind::Global,
        SymbolPlace::Section(section) => match module.sections[section].kind {
            // Variables with unified addresses too: only `-r` links them.
            SectionKind::Global | SectionKind::GlobalInit | SectionKind::Unified => {
                TargetKind::Global
            }
            SectionKind::ModuleShared | SectionKind::KernelShared
                if module.options.relocatable
                    && (definition.bind == Binding::WEAK
                        || !module
                            .toolkit
                            .has(&behaviours::memory::RELOCATABLE_SHARED_FILLED_IN)) =>
            {
                // [weak-left-open]
                TargetKind::Undefined
            }
            // Relocatable output places no shared memory, yet nvlink fills in the symbol's value, which
            // is the alignment [relocatable-shared-filled-in].
            SectionKind::ModuleShared | SectionKind::KernelShared if module.options.relocatable => {
                TargetKind::Known {
                    value: link.value.unwrap_or(definition.value),
                    emitted: true,
                }
            }
            // `-preserve-relocs` names the symbol, which has no place (as above).
            SectionKind::ModuleShared | SectionKind::KernelShared
                if module.symbols[link.first].is_dynamic_shared()
                    && module.options.preserve_relocs
                    && !module.shows_dynamic_shared()
                    && module.reserved_shared_size() == 0
                    && facts.has_shared_slots() =>
            {
                return Err(Refusal::Internal(input::DELETED_SYMBOL));
            }
            SectionKind::ModuleShared | SectionKind::KernelShared => TargetKind::Known {
                value,
                emitted: shown,
            },
            // [reserved-shared-left-open]
            SectionKind::ReservedShared
                if module.sections[patched].kind == SectionKind::MercuryText
                    || module.options.relocatable =>
            {
                TargetKind::ReservedShared
            }
            SectionKind::ReservedShared => TargetKind::Known {
                value: module.toolkit.reserved_shared_start,
                emitted: true,
            },
            // [weak-left-open]
            _ if module.options.relocatable && definition.bind == Binding::WEAK => {
                TargetKind::Undefined
            }
            _ => known,
        },
        _ => known,
    })
}

/// The constants that all kernels see.
const BANK_3: &[u8] = b".nv.constant3";

/// What an object is that nobody defines, in relocatable output.
fn undefined_kind(
    facts: &Facts<'_, '_>,
    module: &Module<'_>,
    symbol: &Symbol<'_>,
    link: &LinkSymbol,
    patched: SectionId,
) -> TargetKind {
    if symbol.name == known_symbols::UNIFIED_FUNCTIONS_OFFSET && !facts.has_unified_functions() {
        TargetKind::UnifiedTable
    } else if module.is_capmerc() && known_symbols::is_reserved_shared_symbol(symbol.name) {
        TargetKind::ReservedShared
    } else if symbol.other.space() == SymbolOther::GLOBAL {
        TargetKind::Global
    } else if symbol.is_dynamic_shared() {
        let section = &module.sections[patched];
        let user = section
            .owner
            .and_then(|owner| module.functions[owner].dynamic_shared);
        // Code of kernels keeps its references, to a symbol of the kernel's own; what else refers to the name
        // takes the value of its symbol [dynamic-shared-instance].
        let keeps = section.kind.is_code() && user.is_some();
        if symbol.bind == Binding::WEAK || keeps && !module.shows_dynamic_shared() {
            TargetKind::Undefined
        } else {
            TargetKind::Known {
                value: link.value.unwrap_or(symbol.value),
                emitted: true,
            }
        }
    } else if symbol.bind == Binding::WEAK || is_of_linker(symbol) {
        TargetKind::Undefined
    } else {
        TargetKind::Missing
    }
}

/// Whether a name is one that only a link to an executable gives a value.
fn is_of_linker(symbol: &Symbol<'_>) -> bool {
    known_symbols::is_unified_table_symbol(symbol.name)
        || known_symbols::is_reserved_shared_symbol(symbol.name)
}

/// The address of dynamic shared memory: with `-g` that of its name, otherwise as the code of the
/// function sees it that owns a section.
fn dynamic_shared(module: &Module<'_>, section: SectionId, named: Option<u64>) -> u64 {
    let owner = module.sections[section].owner;
    named
        .or_else(|| module.functions[owner?].dynamic_shared)
        // [unplaced-shared]
        .unwrap_or(u64::MAX)
}
