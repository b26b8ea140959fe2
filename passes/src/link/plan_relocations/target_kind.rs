//! What a relocation refers to, as far as the rules of `plan-relocations` distinguish.

use cuweld_diagnostics::codes::input;
use cuweld_diagnostics::codes::relocation;
use cuweld_elf::behaviours;
use cuweld_elf::known_symbols;
use cuweld_elf::symbol::Binding;
use cuweld_elf::symbol::SymbolType;
use cuweld_elf::target::section_types::is_rela;
use cuweld_elf::target::section_types::sht;
use cuweld_ir::FunctionId;
use cuweld_ir::LinkSymbol;
use cuweld_ir::LinkSymbolId;
use cuweld_ir::Module;
use cuweld_ir::Reloc;
use cuweld_ir::Section;
use cuweld_ir::SectionId;
use cuweld_ir::SectionKind;
use cuweld_ir::Symbol;
use cuweld_ir::SymbolId;
use cuweld_ir::SymbolPlace;
use cuweld_ir::SymbolRef;

use super::facts::Facts;
use super::facts::contribution;
use super::lines::LINE_TABLES;
use super::refusal::Refusal;

/// What a relocation refers to, as far as the rules distinguish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TargetKind {
    /// A live function.
    Function,
    /// A function that is not part of the output.
    DeadFunction,
    /// A copy of a weak function or variable that never was part of the link, seen from a line
    /// table; the symbol `__UFT_OFFSET` in a link without tables.
    DiscardedCopy,
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
    /// An object that nobody defines and that nvlink takes for one at -1: in executables a weak
    /// one, in relocatable output a strong one.
    Missing,
    /// An object that a later link may define; relocatable output only.
    Undefined,
    /// A unified table symbol in a link without tables; in relocatable output `__UFT_OFFSET`
    /// without a table of functions.
    UnifiedTable,
}

/// Returns `true` if a section of this name loses its rows for copies of weak functions that never
/// were part of the link [lines-of-discarded-copies].
pub(crate) fn loses_rows(module: &Module<'_>, name: &[u8]) -> bool {
    let rule = &behaviours::relocations::LINES_OF_DISCARDED_COPIES;
    (name == b".debug_frame" || LINE_TABLES.contains(&name)) && module.toolkit.has(rule)
}

pub(super) fn target_kind(
    reloc: &Reloc,
    patched: SectionId,
    in_line_table: bool,
    facts: &Facts<'_, '_>,
) -> Result<TargetKind, Refusal> {
    let module = facts.module;
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
        SymbolRef::Symbol(symbol) => symbol_kind(reloc, (symbol, patched), in_line_table, facts),
    }
}

fn symbol_kind(
    reloc: &Reloc,
    (id, patched): (SymbolId, SectionId),
    in_line_table: bool,
    facts: &Facts<'_, '_>,
) -> Result<TargetKind, Refusal> {
    let module = facts.module;
    let holder = &module.sections[reloc.section];
    // Most rows of line tables are of such copies where there are any: no row of theirs is looked
    // at. Those without addends are below.
    if in_line_table && facts.meanings.is_passed(id) && holder.ty != sht::REL {
        return Ok(TargetKind::DiscardedCopy);
    }
    let Some(link) = module.symbols[id].link else {
        return Ok(TargetKind::Nothing);
    };
    // A name without a type is that of another symbol [undeclared-names].
    let first = module.link_symbols[link].first;
    let id = match module.symbols[id].ty == SymbolType::NOTYPE {
        true => first,
        false => id,
    };
    let symbol = &module.symbols[id];
    let named = Named {
        module,
        facts,
        patched: &module.sections[patched],
        symbol,
        link: &module.link_symbols[link],
    };
    if symbol.is_function() {
        return named.function(holder, in_line_table);
    }
    if symbol.ty.is_header() {
        return named.header(link);
    }
    if symbol.ty == SymbolType::NOTYPE {
        return Ok(TargetKind::Nothing);
    }
    match named.link.definition {
        // [constants-size]
        None if module.options.relocatable && symbol.name != known_symbols::CONSTANTS_SIZE => {
            Ok(named.left_open(link))
        }
        None => named.undefined(),
        Some(definition)
            if in_line_table
                && !symbol.is_undefined()
                && definition != id
                && named.link.first != id =>
        {
            Ok(TargetKind::DiscardedCopy)
        }
        Some(definition) => named.variable(&module.symbols[definition]),
    }
}

/// The constants that all kernels see.
const BANK_3: &[u8] = b".nv.constant3";

/// A row against a symbol with a name in the link.
struct Named<'n, 'm, 'data> {
    module: &'n Module<'data>,
    facts: &'n Facts<'m, 'data>,
    /// The section that the row applies to.
    patched: &'n Section<'data>,
    symbol: &'n Symbol<'data>,
    link: &'n LinkSymbol,
}

impl Named<'_, '_, '_> {
    fn function(&self, holder: &Section<'_>, in_line_table: bool) -> Result<TargetKind, Refusal> {
        let module = self.module;
        let fate = |function: FunctionId| module.functions[function].fate;
        let is_discarded = |function: &FunctionId| fate(*function).is_non_prevailing();
        if in_line_table && let Some(discarded) = self.symbol.function.filter(is_discarded) {
            // From sm_90 on all rows are RELA; what nvlink does to REL rows of copies was not
            // understood.
            if holder.ty == sht::REL && module.target.has_compat() {
                return Err(Refusal::Unsupported(relocation::DISCARDED_REL));
            }
            // Line tables of a copy that never was part of the link lose their rows; other debug
            // sections keep them, pointing at the copy that won. A copy that was replaced loses
            // them too, but only RELA rows and all where the first are, and only if its code, or that of
            // another replaced copy, had relocations [lines-of-discarded-copies].
            let loses_rows = self.facts.is_relocated(discarded)
                && (is_rela(holder.ty) || self.facts.begins_with_rela(holder));
            if !fate(discarded).ever_prevailed() || loses_rows {
                return Ok(TargetKind::DiscardedCopy);
            }
        }
        Ok(match self.link.live.is_live() {
            true => TargetKind::Function,
            false => TargetKind::DeadFunction,
        })
    }

    fn header(&self, link: LinkSymbolId) -> Result<TargetKind, Refusal> {
        // [relocatable-without-slots]
        if self.module.options.relocatable {
            return Ok(TargetKind::Header { slot: None });
        }
        match self.facts.slots.get(&link) {
            Some(slot) => Ok(TargetKind::Header { slot: Some(*slot) }),
            None => Err(Refusal::Unsupported(relocation::UNSLOTTED_TEXTURE)),
        }
    }

    /// Returns `true` if shared variables that have an address are in the symbol table, as with -g.
    fn is_shown(&self) -> bool {
        self.module.shows_shared_variables() && self.link.value.is_some()
    }

    /// Classifies an object that nothing defines, in an executable.
    fn undefined(&self) -> Result<TargetKind, Refusal> {
        let name = self.symbol.name;
        Ok(if self.symbol.is_shared() {
            return self.dynamic_shared();
        } else if known_symbols::is_of_driver(name) {
            TargetKind::ReservedShared
        } else if name == known_symbols::UNIFIED_FUNCTIONS_OFFSET {
            TargetKind::DiscardedCopy
        } else if known_symbols::is_unified_table_symbol(name) {
            TargetKind::UnifiedTable
        } else if self.symbol.is_global_memory() {
            TargetKind::Global
        } else if name == known_symbols::CONSTANTS_SIZE {
            // [constants-size]
            TargetKind::Known {
                value: self.facts.end(BANK_3).unwrap_or(u64::MAX),
                emitted: false,
            }
        } else {
            TargetKind::Missing
        })
    }

    /// Classifies a reference to dynamic shared memory in an executable.
    fn dynamic_shared(&self) -> Result<TargetKind, Refusal> {
        let (module, section) = (self.module, self.patched);
        let owner = section.owner;
        let place = owner.and_then(|owner| module.functions[owner].dynamic_shared);
        let is_debug_info = matches!(section.name, b".debug_info" | b".nv.merc.debug_info");
        if owner.is_none() && !is_debug_info {
            return Err(Refusal::Unsupported(relocation::DYNAMIC_SHARED_DATA));
        }
        let is_dynamic = self
            .symbol
            .link
            .is_some_and(|link| module.is_dynamic_shared(link));
        // One with a size is an undefined name, which ends the link later.
        if place.is_none() && is_dynamic && self.names_hidden_slots() {
            if self.has_no_reserve() {
                return Err(Refusal::Internal(input::DELETED_SYMBOL));
            }
            if owner.is_none() {
                return Err(Refusal::Unsupported(relocation::PRESERVED_DYNAMIC_SHARED));
            }
        }
        Ok(TargetKind::Known {
            // With `-g` the address of the name, otherwise as the code of the section's owner sees
            // it [unplaced-shared].
            value: self.link.value.or(place).unwrap_or(u64::MAX),
            emitted: self.is_shown(),
        })
    }

    /// Returns `true` if `-preserve-relocs` names a symbol of dynamic shared memory that
    /// executables do not have. It is gone without a reserved block [preserved-without-reserve].
    fn names_hidden_slots(&self) -> bool {
        self.module.options.preserve_relocs
            && !self.module.shows_dynamic_shared()
            && self.facts.has_shared_slots()
    }

    /// Returns `true` if no reserved block is added to the address of dynamic shared memory. The
    /// Mercury view has none.
    fn has_no_reserve(&self) -> bool {
        self.facts.capmerc || self.module.reserved_shared_size() == 0
    }

    /// Classifies an object that nothing defines, in relocatable output.
    fn left_open(&self, link: LinkSymbolId) -> TargetKind {
        let symbol = self.symbol;
        let is_reserved = known_symbols::is_of_driver(symbol.name);
        if symbol.name == known_symbols::UNIFIED_FUNCTIONS_OFFSET
            && !self.facts.has_unified_functions()
        {
            TargetKind::UnifiedTable
        } else if self.facts.capmerc && is_reserved {
            TargetKind::ReservedShared
        } else if symbol.is_global_memory() {
            TargetKind::Global
        } else if self.module.is_dynamic_shared(link) {
            // Whether this row's own symbol has a size or not [dynamic-by-first-name].
            self.dynamic_shared_left_open()
        } else if symbol.bind == Binding::WEAK
            || is_reserved
            || known_symbols::is_unified_table_symbol(symbol.name)
            || symbol.is_shared() && !self.fills_in_shared()
        {
            TargetKind::Undefined
        } else {
            TargetKind::Missing
        }
    }

    /// Returns `true` if relocatable output has values for addresses of shared memory.
    fn fills_in_shared(&self) -> bool {
        let filled_in = &behaviours::memory::RELOCATABLE_SHARED_FILLED_IN;
        self.module.toolkit.has(filled_in)
    }

    /// Classifies a reference to dynamic shared memory in relocatable output. Code of kernels keeps
    /// its references, to a symbol of the kernel's own; any other reference takes the value of its
    /// symbol [dynamic-shared-instance].
    fn dynamic_shared_left_open(&self) -> TargetKind {
        let has_own = |owner: FunctionId| self.module.functions[owner].dynamic_shared.is_some();
        let keeps = self.patched.kind.is_code() && self.patched.owner.is_some_and(has_own);
        if self.symbol.bind == Binding::WEAK
            || keeps && !self.module.shows_dynamic_shared()
            || !self.fills_in_shared()
        {
            return TargetKind::Undefined;
        }
        let first = &self.module.symbols[self.link.first];
        TargetKind::Known {
            value: self.link.value.unwrap_or(first.value),
            emitted: true,
        }
    }

    /// Classifies an object that has a definition.
    fn variable(&self, definition: &Symbol<'_>) -> Result<TargetKind, Refusal> {
        use SectionKind::*;
        let module = self.module;
        let is_relocatable = module.options.relocatable;
        let is_weak = definition.bind == Binding::WEAK;
        // [preserved-unreferenced-shared]
        if self
            .symbol
            .link
            .is_some_and(|link| self.facts.is_lost(link))
        {
            return Err(Refusal::Internal(input::DELETED_SYMBOL));
        }
        // [unplaced-shared]
        let unplaced = if self.symbol.is_shared() { u64::MAX } else { 0 };
        let value = self.link.value.unwrap_or(unplaced);
        let known = |value, emitted| TargetKind::Known { value, emitted };
        let is_constant = definition.is_compiler_constant();
        let constant = known(value, module.shows_compiler_constants() || !is_constant);
        let section = match definition.place {
            SymbolPlace::Section(section) => &module.sections[section],
            SymbolPlace::Common => return Ok(TargetKind::Global),
            _ => return Ok(constant),
        };
        let of_loser = |owner: FunctionId| module.functions[owner].fate.is_non_prevailing();
        if is_constant && section.owner.is_some_and(of_loser) {
            // Only the code of the copy has such references, and goes with it.
            return Err(Refusal::Unsupported(relocation::DISCARDED_CONSTANTS));
        }
        Ok(match (section.kind, is_relocatable) {
            // Variables with unified addresses too: only `-r` links them.
            (Global | GlobalInit | Unified, _) => TargetKind::Global,
            // [weak-left-open]
            (ModuleShared | KernelShared, true) if is_weak || !self.fills_in_shared() => {
                TargetKind::Undefined
            }
            // Relocatable output places no shared memory, yet nvlink fills in the symbol's value,
            // which is the alignment [relocatable-shared-filled-in].
            (ModuleShared | KernelShared, true) => {
                known(self.link.value.unwrap_or(definition.value), true)
            }
            // `-preserve-relocs` names the symbol, which has no place.
            (ModuleShared | KernelShared, false)
                if module.symbols[self.link.first].is_dynamic_shared()
                    && self.has_no_reserve()
                    && self.names_hidden_slots() =>
            {
                return Err(Refusal::Internal(input::DELETED_SYMBOL));
            }
            (ModuleShared | KernelShared, false) => known(value, self.is_shown()),
            // [reserved-shared-left-open]
            (ReservedShared, true) => TargetKind::ReservedShared,
            (ReservedShared, false) if self.patched.kind == MercuryText => {
                TargetKind::ReservedShared
            }
            (ReservedShared, false) => known(module.reserved_variable_place(definition), true),
            // [weak-left-open]
            (_, true) if is_weak => TargetKind::Undefined,
            _ => constant,
        })
    }
}
