//! The symbol table of the output: which symbols it has, their order and values.

use std::ops::Range;

use super::super::Content;
use super::super::OutId;
use super::super::OutSymbol;
use super::super::created::output_of;
use super::super::created::shared_output_of;
use super::super::strings::NO_OFFSET;
use super::Finish;
use super::HAS_SYMBOL;
use super::OutSection;
use super::is_missing;
use crate::link::place_memory::shared_relocatable;
use crate::link::place_memory::shared_variables::is_replaced;
use cuweld_elf::behaviours;
use cuweld_elf::known_symbols;
use cuweld_elf::mercury::Bank;
use cuweld_elf::raw::SHN_ABS;
use cuweld_elf::symbol::Binding;
use cuweld_elf::symbol::SymbolOther;
use cuweld_elf::symbol::SymbolType;
use cuweld_ir::LinkSymbol;
use cuweld_ir::LinkSymbolId;
use cuweld_ir::MergeEvent;
use cuweld_ir::MergeOutcome;
use cuweld_ir::Module;
use cuweld_ir::SectionKind;
use cuweld_ir::Symbol;
use cuweld_ir::SymbolPlace;
use cuweld_ir::plan::PlanSymbol;
use cuweld_ir::table::EntityId;
use foldhash::fast::FixedState;
use hashbrown::HashMap;

impl<'data> Finish<'_, 'data> {
    /// Gives symbols their indices, with the marks of all sections; returns that of the first
    /// symbol of the global part.
    pub(super) fn number_symbols(&mut self, marks: &[u8]) -> u32 {
        let mut next = 1;
        for index in 0..self.out.local.len() {
            match self.out.local[index] {
                OutSymbol::Link(link) => self.symbol_index[link.index()] = next,
                OutSymbol::Section(id) if marks[id as OutId] & HAS_SYMBOL != 0 => {
                    self.section_symbol[id as OutId] = next;
                }
                OutSymbol::Section(_) => continue,
                OutSymbol::DynamicShared(kernel) => self.dynamic_symbol[kernel.index()] = next,
                OutSymbol::Unnamed(object) => {
                    self.unnamed_symbol.insert(object, next);
                }
            }
            next += 1;
        }
        let first_global = next;
        for symbol in &self.out.global {
            match *symbol {
                OutSymbol::Link(link) if self.is_emitted(link) => {
                    self.symbol_index[link.index()] = next;
                }
                OutSymbol::DynamicShared(kernel) => self.dynamic_symbol[kernel.index()] = next,
                _ => continue,
            }
            next += 1;
        }
        first_global
    }

    /// Returns `true` if a section has a symbol. Sections without bytes have none.
    pub(super) fn has_symbol(&self, section: &OutSection<'_>) -> bool {
        let always = matches!(
            section.content,
            Content::ToolInfo | Content::CudaInfo | Content::CallGraph | Content::RelAction
        );
        let holds_something = match section.content {
            Content::ModuleShared | Content::KernelShared(_) if self.module.options.relocatable => {
                !shared_relocatable::is_empty(section.size, section.align)
            }
            // The Mercury view has no reserved block.
            Content::ModuleShared | Content::KernelShared(_) if self.out.capmerc => {
                section.size > self.module.reserved_shared_size()
            }
            _ => section.size > 0,
        };
        !section.removed && (always || holds_something)
    }

    /// Returns `true` if the output shows a symbol of the global list.
    pub(super) fn is_emitted(&self, link: LinkSymbolId) -> bool {
        if self.module.options.relocatable {
            return true;
        }
        let row = &self.module.link_symbols[link];
        let symbol = &self.module.symbols[row.first];
        symbol.is_function()
            || row.definition.is_some()
            || symbol.is_shared()
            || symbol.ty.is_header()
            || self.module.options.allow_undefined_globals && symbol.is_global_memory()
            || known_symbols::is_of_driver(symbol.name)
    }

    /// Returns the number of symbols that are listed, whether they are emitted or not.
    pub(super) fn listed_symbols(&self) -> usize {
        self.out.local.len() + self.out.global.len()
    }

    /// Makes the rows of the symbols at these places of both lists, with rows of `.symtab_shndx` if
    /// there is one. The null symbol comes with the first.
    pub(super) fn symbols(
        &self,
        range: Range<usize>,
        symbols: &mut Vec<PlanSymbol>,
        index_rows: &mut Vec<u32>,
    ) {
        let none = PlanSymbol::default();
        let has_index_rows = self.out.needs_index_table();
        symbols.reserve_exact(range.len() + 1);
        let mut put = |(symbol, index_row): (PlanSymbol, u32)| {
            symbols.push(symbol);
            if has_index_rows {
                index_rows.push(index_row);
            }
        };
        if range.start == 0 {
            let value = self.null_symbol;
            put((PlanSymbol { value, ..none }, 0));
        }
        for index in range {
            let symbol = match index.checked_sub(self.out.local.len()) {
                None => self.out.local[index],
                Some(index) => self.out.global[index],
            };
            match symbol {
                OutSymbol::Link(link) if self.symbol_index[link.index()] != 0 => {
                    put(self.link_symbol(link));
                }
                OutSymbol::Section(id) if self.section_symbol[id as OutId] != 0 => {
                    let (shndx, index_row) = self.symbol_section(Some(id as OutId));
                    let symbol = PlanSymbol {
                        name_offset: self.strings.of_section_symbol(id as OutId),
                        ty: SymbolType::SECTION,
                        shndx,
                        ..none
                    };
                    put((symbol, index_row));
                }
                OutSymbol::Section(_) | OutSymbol::Link(_) => {}
                OutSymbol::Unnamed(_) => {
                    let symbol = PlanSymbol {
                        name_offset: self.strings.in_symbols(b""),
                        ty: SymbolType::FUNC,
                        ..none
                    };
                    put((symbol, 0));
                }
                OutSymbol::DynamicShared(kernel) => {
                    let (shndx, index_row) = self.symbol_section(None);
                    let symbol = PlanSymbol {
                        name_offset: self
                            .strings
                            .in_symbols(known_symbols::DYNAMIC_SHARED_INSTANCE),
                        bind: Binding::WEAK,
                        ty: SymbolType::CUDA_OBJECT,
                        other: SymbolOther::SHARED | SymbolOther::COMPILER,
                        shndx,
                        value: self.module.functions[kernel].dynamic_shared.unwrap_or(0),
                        ..none
                    };
                    put((symbol, index_row));
                }
            }
        }
    }

    /// Returns the row of a resolved symbol, and its row of `.symtab_shndx`.
    pub(super) fn link_symbol(&self, link: LinkSymbolId) -> (PlanSymbol, u32) {
        let row = &self.module.link_symbols[link];
        let definition = row.definition.unwrap_or(row.first);
        let symbol = &self.module.symbols[definition];
        let relocatable = self.module.options.relocatable;
        let is_constants_size = symbol.name == known_symbols::CONSTANTS_SIZE;
        let ty = if symbol.ty == SymbolType::CUDA_OBJECT && !relocatable {
            SymbolType::OBJECT
        } else if is_constants_size {
            SymbolType::CUDA_OBJECT
        } else {
            symbol.ty
        };
        let first = &self.module.symbols[row.first];
        let defined = row.definition.is_some() || symbol.is_dynamic_shared();
        let shared = symbol.is_shared() && defined;
        let section = match symbol.place {
            _ if shared => shared_output_of(self.module, &self.out, link),
            SymbolPlace::Section(section) => output_of(self.module, &self.out, section),
            SymbolPlace::Common => self.out.by_name.get(&b".nv.global"[..]).copied(),
            SymbolPlace::Absolute | SymbolPlace::Undefined | SymbolPlace::Reserved(_) => None,
        };
        let in_reserved = match (section, symbol.place) {
            (Some(id), _) => self.out.reserved.contains(&id),
            (None, SymbolPlace::Section(input)) => {
                self.module.sections[input].kind == SectionKind::ReservedShared
            }
            _ => false,
        };
        let (shndx, index_row) = match symbol.place {
            SymbolPlace::Absolute if !shared => (SHN_ABS, 0),
            _ => self.symbol_section(section),
        };
        let plan = PlanSymbol {
            name_offset: match self.strings.of_link(link) {
                NO_OFFSET => 0,
                offset => offset,
            },
            bind: self.link_binding(row, symbol),
            ty,
            // In executables the memory space goes; what remains marks kernels, and managed
            // and unified variables [unified-by-first-symbol].
            other: {
                let unified = match symbol.is_function() {
                    true => SymbolOther::UNIFIED,
                    false => SymbolOther::UNIFIED_VARIABLE,
                };
                let other = (symbol.other - unified) | first.other & unified;
                match relocatable {
                    true => other,
                    false if self.is_marked(symbol) => {
                        (other - SymbolOther::SPACE) | SymbolOther::COMPILER
                    }
                    false => other - SymbolOther::SPACE,
                }
            },
            shndx,
            value: if is_constants_size {
                self.constants_size()
            } else if !relocatable && in_reserved {
                self.module.reserved_variable_place(symbol)
            } else {
                self.link_value(link, symbol, shared)
            },
            size: row.size,
        };
        (plan, index_row)
    }

    /// Returns the binding of a symbol of the link, whose prevailing definition is `symbol`.
    fn link_binding(&self, row: &LinkSymbol, symbol: &Symbol<'_>) -> Binding {
        let first = &self.module.symbols[row.first];
        let is_constants_size = symbol.name == known_symbols::CONSTANTS_SIZE;
        // [private-shared-local]
        let is_private = || {
            row.kernel.is_some()
                && symbol.is_shared()
                && !self.module.options.relocatable
                && self
                    .module
                    .toolkit
                    .has(&behaviours::symbols::PRIVATE_SHARED_LOCAL)
        };
        if row.internal || is_private() {
            Binding::LOCAL
        } else if symbol.is_dynamic_shared() || is_constants_size {
            first.bind
        } else if row.definition.is_none() && !symbol.is_function() {
            // A weak reference that nobody defines is created as a strong one.
            Binding::GLOBAL
        } else if symbol.place == SymbolPlace::Common {
            // [tentative-stays-weak]
            let find = || tentative_bindings(self.module);
            let known = self.tentative_bindings.get_or_init(find);
            let merged = symbol.link.and_then(|link| known.get(&link));
            merged.copied().unwrap_or(symbol.bind)
        } else {
            symbol.bind
        }
    }

    /// Returns the value of a symbol of the link outside the reserved block of shared memory.
    fn link_value(&self, link: LinkSymbolId, symbol: &Symbol<'_>, shared: bool) -> u64 {
        let row = &self.module.link_symbols[link];
        let options = &self.module.options;
        let missing = is_missing(row, symbol);
        let reserved = match shared && !options.relocatable {
            true => self.reserved_part(link),
            false => 0,
        };
        if options.relocatable && missing && !options.allow_undefined_globals {
            return u64::MAX;
        }
        let is_dynamic = self.module.symbols[row.first].is_dynamic_shared();
        if !options.relocatable && is_dynamic && row.value.is_none() {
            return u64::MAX.wrapping_add(reserved);
        }
        // An undefined name keeps what its first object says, but for `.nv.reservedSmem.cap`, of
        // which compilers before 12.8 say 0 [reserved-end-named]. A variable that `-r` left at -1
        // is at 0.
        let named = match symbol.name {
            _ if missing => 0,
            known_symbols::RESERVED_SHARED_CAP => known_symbols::RESERVED_SHARED_END,
            _ => symbol.value,
        };
        row.value.unwrap_or(named).saturating_add(reserved)
    }

    /// Returns the size in bytes of the reserved block as far as a symbol of shared memory shows
    /// it.
    ///
    /// Names of dynamic shared memory lack it if there is nothing else in their section, but not
    /// where the Mercury view, which never has it, is taken from this one. It is added once for
    /// each definition that had a place, and for the name of dynamic shared memory before them,
    /// which have none [dynamic-shared-symbols].
    fn reserved_part(&self, link: LinkSymbolId) -> u64 {
        let is_defined = self.module.link_symbols[link].definition.is_some();
        let times = if is_defined && !self.out.capmerc {
            let replaced = u64::from(is_replaced(&self.out.replaced_shared, link));
            match self.module.began_dynamic(link) {
                true if self.has_slots() => 2 + replaced,
                true => 0,
                false => 1 + replaced,
            }
        } else {
            u64::from(self.has_slots() || self.out.capmerc)
        };
        // Symbols of what has a Mercury view show the block although nothing is reserved
        // [reserved-in-symbols].
        times
            * match self.out.capmerc {
                true => self.module.target.reserved_shared_size(),
                false => self.module.reserved_shared_size(),
            }
    }

    /// Returns the size in bytes of constant variables; -1 without any [constants-size].
    fn constants_size(&self) -> u64 {
        let view = Bank::numbered(3).map_or(&b""[..], |bank| bank.name);
        let bank = [b".nv.constant3", view]
            .into_iter()
            .find_map(|name| self.out.by_name.get(name));
        let none = match self.module.options.allow_undefined_globals {
            true => 0,
            false => u64::MAX,
        };
        bank.map_or(none, |id| self.out.sections[*id].size)
    }

    /// Returns `true` if only `-preserve-relocs` shows a symbol: 1 in `st_other`
    /// [preserved-symbols].
    pub(super) fn is_marked(&self, symbol: &Symbol<'_>) -> bool {
        self.module.options.preserve_relocs
            && !self.module.shows_dynamic_shared()
            && symbol.is_shared()
    }
}

/// Returns the bindings of tentative variables with several definitions: that of the first, or
/// strong if a strong one gave its memory. Linear in the merge log.
fn tentative_bindings(module: &Module<'_>) -> HashMap<LinkSymbolId, Binding, FixedState> {
    let first = module.first_definitions().into_iter();
    let mut bindings: HashMap<_, _, _> = first
        .map(|(link, first)| (link, module.symbols[first].bind))
        .collect();
    let gave_memory = |event: &&MergeEvent| event.outcome == MergeOutcome::YieldsToTentative;
    for event in module.merge_log.iter().filter(gave_memory) {
        let newcomer = &module.symbols[event.newcomer];
        if let Some(link) = newcomer.link.filter(|_| newcomer.bind == Binding::GLOBAL) {
            bindings.insert(link, Binding::GLOBAL);
        }
    }
    bindings
}
