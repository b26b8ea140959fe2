//! Creation of the symbols of variables, in nvlink's order.

use super::*;
use cuweld_elf::behaviours;
use cuweld_ir::section::ADDRESS_BANK;

impl Replay<'_, '_> {
    /// Creates P2: all other symbols in symbol order.
    pub(super) fn symbols(&mut self) {
        let mut compiler_constants = 0_u32;
        // Objects with Mercury before the first of SASS alone were made Mercury of all the same
        // [mercury-before-sass].
        let first_sass = self.first_sass;
        for index in 0..self.others.len() {
            let id = self.others[index];
            let symbol = &self.module.symbols[id];
            let is_converted = first_sass.is_some_and(|first| symbol.object < first);
            let is_constant = symbol.is_compiler_constant() && !self.is_address(symbol);
            compiler_constants += u32::from(is_constant);
            if let SymbolPlace::Section(section) = symbol.place {
                self.number_of_dead(section);
            }
            let Some(link) = symbol.link else {
                continue;
            };
            // Only an opt-in pass leaves out variables.
            if !self.module.link_symbols[link].live.is_live() {
                continue;
            }
            let Some(is_global) = self.symbol(link, id) else {
                continue;
            };
            if self.module.link_symbols[link].first != id {
                continue;
            }
            if is_global {
                self.out.global.push(OutSymbol::Link(link));
                continue;
            }
            let rule = &behaviours::mercury::MERCURY_CONSTANT_NAMES;
            let has_other_name =
                (self.out.capmerc || is_converted) && is_constant && self.module.toolkit.has(rule);
            let name = match symbol.place {
                // [mercury-constant-names]
                SymbolPlace::Section(section) if has_other_name => {
                    let bank = mercury_name(&self.module.sections[section]);
                    let number = format!(".{compiler_constants}");
                    self.arena.joined(&bank, number.as_bytes())
                }
                _ => symbol.name,
            };
            self.names.add(name, Named::Link(link));
            self.out.local.push(OutSymbol::Link(link));
        }
    }

    /// Returns `true` for an address that position-independent code loads: it keeps its name.
    fn is_address(&self, symbol: &Symbol<'_>) -> bool {
        let SymbolPlace::Section(section) = symbol.place else {
            return false;
        };
        self.module.sections[section].kind == SectionKind::ConstantBank(ADDRESS_BANK)
    }

    /// Creates the section that a symbol makes. Returns whether the symbol is global; `None` if
    /// there is none.
    fn symbol(&mut self, link: LinkSymbolId, id: SymbolId) -> Option<bool> {
        let relocatable = self.module.options.relocatable;
        let symbol = &self.module.symbols[id];
        match symbol.place {
            _ if symbol.is_dynamic_shared() || symbol.is_shared() && symbol.is_undefined() => {
                // Dynamic shared memory: a symbol only with -g or -r, but the section of shared
                // variables.
                if symbol.is_dynamic_shared() && self.module.began_dynamic(link) {
                    let ty = match relocatable {
                        true => sht::CUDA_SHARED,
                        false => sht::NOBITS,
                    };
                    let header = Header::new(ty, SectionFlags::WRITE | SectionFlags::ALLOC, 1);
                    self.named(MODULE_SHARED, header, Content::ModuleShared, true);
                }
                let made_by_compiler = symbol.other.contains(SymbolOther::COMPILER);
                let shown = self.shows_shared(link) && !made_by_compiler;
                let named =
                    symbol.is_dynamic_shared() && self.out.dynamic_names.has(made_by_compiler);
                let exists = relocatable || shown || named;
                exists.then(|| self.is_global(link, symbol))
            }
            // `.nv.ptx.const0.size`, which device runtime functions use: a symbol of relocatable
            // output only.
            SymbolPlace::Undefined
                if symbol.bind == Binding::LOCAL
                    && symbol.other.contains(SymbolOther::COMPILER)
                    && !relocatable =>
            {
                None
            }
            SymbolPlace::Undefined => Some(symbol.bind != Binding::LOCAL),
            SymbolPlace::Section(section) => {
                if !self.makes_section(link, id, section) {
                    return None;
                }
                let hidden = symbol.is_shared() && !self.shows_shared(link);
                let constant =
                    symbol.is_compiler_constant() && !self.module.shows_compiler_constants();
                let exists = (relocatable || !hidden) && !constant;
                exists.then(|| self.is_global(link, symbol))
            }
            _ => Some(self.is_global(link, symbol)),
        }
    }

    /// Creates the section of the output that a variable lies in. Returns `false` if the variable
    /// does not lie in one.
    fn makes_section(&mut self, link: LinkSymbolId, id: SymbolId, section: SectionId) -> bool {
        let row = &self.module.sections[section];
        let lost = row.owner.is_some_and(|owner| self.taken(owner).is_none());
        // Parameters and shared variables of discarded copies lie in the section of the one that
        // was taken, and so do parameters of one between the first and the last.
        let joined = match row.kind {
            SectionKind::FunctionConstants(0) => self.output_of(section).is_some(),
            SectionKind::KernelShared => lost && self.symbol_section(section),
            _ => false,
        };
        if lost && !joined && row.kind == SectionKind::KernelShared {
            // A variable of a kernel that is left out leaves the name of its section.
            self.unused_name(row.name);
        }
        let is_memory = matches!(row.kind, SectionKind::Global | SectionKind::GlobalInit);
        if is_memory && !self.took_memory(link, id) {
            // [discarded-makes-no-section]
            return false;
        }
        let makes = !lost && self.symbol_section(section);
        makes || joined
    }

    /// Returns `true` if a variable in global memory was part of the link at its turn. Only those
    /// make the section.
    fn took_memory(&self, link: LinkSymbolId, id: SymbolId) -> bool {
        let took = || {
            let mut took = HashSet::default();
            each_taken(self.module, |id, section| {
                let kind = self.module.sections[section].kind;
                if matches!(kind, SectionKind::Global | SectionKind::GlobalInit) {
                    took.insert(id);
                }
            });
            took
        };
        self.module.link_symbols[link].definition == Some(id)
            || self.took_memory.get_or_init(took).contains(&id)
    }
}
