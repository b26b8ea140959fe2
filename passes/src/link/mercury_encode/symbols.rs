//! Symbol tables of both views.

use cuweld_diagnostics::codes::mercury;
use cuweld_elf::behaviours;
use cuweld_elf::known_symbols;
use cuweld_elf::mercury::HEADER_INDICES;
use cuweld_elf::raw::SHN_COMMON;
use cuweld_elf::raw::SHN_LORESERVE;
use cuweld_elf::raw::SHN_XINDEX;
use cuweld_elf::symbol::Binding;
use cuweld_elf::symbol::SymbolOther;
use cuweld_elf::symbol::SymbolType;
use cuweld_elf::target::section_types::SectionFlags;
use cuweld_elf::target::section_types::sht;
use cuweld_ir::elf::encode::append_symbol;
use cuweld_ir::plan::PlanContent;
use cuweld_ir::plan::PlanSection;
use cuweld_ir::plan::PlanSymbol;
use cuweld_ir::table::EntityId;

use super::Encode;
use super::Refusal;
use super::second::RESERVED_SHARED;
use super::second::Second;

impl<'data> Encode<'_, 'data> {
    /// Returns the output symbol indices of the SECTION symbols of kernels' parameters, by
    /// function: after all others, but for those of sections that the view has too.
    pub(super) fn parameter_symbols_by_function(&self) -> Vec<u32> {
        let mut found = vec![0; self.module.functions.len()];
        for (place, (function, _)) in self.parameters.iter().enumerate() {
            found[function.index()] = (self.plan.symbols.len() + place) as u32;
        }
        for (index, symbol) in self.plan.symbols.iter().enumerate() {
            let section = self.plan.sections.get(usize::from(symbol.shndx));
            if let (Binding::LOCAL, SymbolType::SECTION, Some(section)) =
                (symbol.bind, symbol.ty, section)
                && is_parameter_bank(section.name)
                && symbol.shndx < SHN_LORESERVE
                && let Some(Some(function)) = self.functions.get(section.info as usize)
            {
                found[function.index()] = index as u32;
            }
        }
        found
    }

    /// Adds `.nv.merc.symtab`, with a table of section indices if there is one. Their rows come
    /// later.
    pub(super) fn mercury_symbol_table(&mut self) {
        self.added_mercury_table();
        self.plan.sections.push(PlanSection {
            name: b".nv.merc.symtab",
            name_offset: 0,
            ty: sht::CUDA_MERCURY_SYMTAB,
            flags: SectionFlags::MERCURY,
            offset: 0,
            size: 0,
            link: 2,
            info: 0,
            align: 8,
            entsize: 24,
            content: PlanContent::None,
        });
    }

    /// Makes the rows of `.nv.merc.symtab` of the table that was laid out, then the table of the
    /// SASS view: constant banks under their SASS names, and the parameters of kernels. `banks` says
    /// which sections are constant banks.
    pub(super) fn symbol_tables(&mut self, banks: &[bool]) {
        let relocatable = self.module.options.relocatable;
        let rule = &behaviours::mercury::MERCURY_EARLY_ALIASES;
        let has_early = self.module.toolkit.has(rule);
        let mut rows = Vec::with_capacity(self.plan.symbols.len() * 24);
        let mut sass_indices = self.classic_rows();
        sass_indices.resize(self.plan.symbols.len(), 0);
        let mut mercury_indices = Vec::with_capacity(sass_indices.len());
        let mut places = Vec::with_capacity(sass_indices.len());
        // Whether a symbol of the code in each section was seen.
        let mut has_name = vec![false; self.view];
        for (index, row) in sass_indices.iter_mut().enumerate() {
            let symbol = &mut self.plan.symbols[index];
            let start = symbol.name_offset as usize;
            let name = self.plan.symbol_names.get(start..).unwrap_or(&[]);
            // The SASS view of relocatable output has the types of the Mercury view.
            if known_symbols::is_of_driver(name) || relocatable && symbol.ty == SymbolType::OBJECT {
                symbol.ty = SymbolType::CUDA_OBJECT;
            }
            let place = match symbol.shndx {
                SHN_XINDEX => *row,
                shndx => shndx.into(),
            };
            places.push(place);
            let symbol = *symbol;
            let (shndx, other) = match symbol.shndx {
                // [mercury-tentative]
                SHN_COMMON => (SHN_COMMON, *row),
                _ => self.index_fields(self.twin_of(place), *row),
            };
            mercury_indices.push(other);
            if *row == u32::from(SHN_COMMON) && symbol.shndx == SHN_COMMON {
                let what = mercury::SYMBOL_SECTION;
                self.refusals.push(Refusal::new(what, None));
            }
            let mut twin = PlanSymbol { shndx, ..symbol };
            let section = self.plan.sections[..self.view].get(place as usize);
            let is_bank = banks.get(place as usize) == Some(&true);
            match symbol.ty {
                SymbolType::FUNC => {
                    if let Some(function) = self.functions.get(place as usize).copied().flatten() {
                        let code = &self.plan.sections[place as usize];
                        let is_first = !std::mem::replace(&mut has_name[place as usize], true);
                        let is_alias = code.info as usize != index;
                        // [function-aliases] [mercury-early-aliases]
                        twin.size = match is_alias {
                            true => 0,
                            false => self.module.functions[function].merc_size,
                        };
                        if is_alias {
                            let size = if is_first && has_early { code.size } else { 0 };
                            self.plan.symbols[index].size = size;
                        }
                    }
                }
                SymbolType::OBJECT => {
                    twin.ty = SymbolType::CUDA_OBJECT;
                    // An undefined variable is one of global memory.
                    let space = match place {
                        0 => SymbolOther::GLOBAL,
                        _ if is_bank => SymbolOther::CONSTANT,
                        _ => section.map_or(SymbolOther::empty(), space_of),
                    };
                    twin.other |= space;
                    if space == SymbolOther::RESERVED && !relocatable {
                        let start = self.module.toolkit.reserved_shared_start;
                        twin.value = symbol.value.saturating_sub(start);
                    }
                    // The Mercury view has no reserved block.
                    if space == SymbolOther::SHARED && !relocatable {
                        let reserved = self.module.target.reserved_shared_size();
                        twin.value = symbol.value.wrapping_sub(reserved);
                    }
                }
                _ if known_symbols::is_reserved_shared_symbol(name) => twin.value = 0,
                _ => {}
            }
            append_symbol(&mut rows, &twin);
        }
        let mut sections = self.plan.sections[..self.view].iter();
        let table = sections.position(|section| section.content == PlanContent::Symbols);
        let first_global = table.map_or(0, |table| self.plan.sections[table].info);
        self.renamed_symbols(banks, &places);
        self.parameter_symbols(&mut sass_indices);
        self.index_rows(&sass_indices, mercury_indices);
        if let Some(table) = table {
            let section = &mut self.plan.sections[table];
            section.size = self.plan.symbols.len() as u64 * 24;
            // Local symbols stand at the end.
            if self.plan.symbols.len() > places.len() {
                section.info = self.plan.symbols.len() as u32;
            }
        }
        let section = &mut self.plan.sections[self.mercury_symbols as usize];
        section.size = rows.len() as u64;
        section.info = first_global;
        section.content = PlanContent::Bytes(self.arena.bytes(&rows));
        for section in &mut self.plan.sections {
            match section.content {
                PlanContent::SectionNames => section.size = self.plan.section_names.len() as u64,
                PlanContent::SymbolNames => section.size = self.plan.symbol_names.len() as u64,
                _ => {}
            }
        }
    }

    /// Gives SECTION symbols of constant banks the names of the SASS view. `places` holds the
    /// section of each symbol.
    fn renamed_symbols(&mut self, banks: &[bool], places: &[u32]) {
        let mut names = vec![None; banks.len()];
        // [compiler-constant-sections]
        let rule = &behaviours::mercury::COMPILER_CONSTANT_SECTIONS;
        let kept = match self.module.toolkit.has(rule) {
            true => Second::Constants(sht::CUDA_MERCURY_CONSTANT_OPTIMIZER),
            false => Second::None,
        };
        for (index, is_bank) in banks.iter().enumerate() {
            if *is_bank && self.second[index] != kept {
                let name = self.plan.sections[index].name;
                names[index] = Some(self.append_symbol_name(name));
            }
        }
        for (symbol, place) in self.plan.symbols.iter_mut().zip(places) {
            if symbol.bind == Binding::LOCAL
                && symbol.ty == SymbolType::SECTION
                && let Some(Some(offset)) = names.get(*place as usize)
            {
                symbol.name_offset = *offset;
            }
        }
    }

    fn parameter_symbols(&mut self, indices: &mut Vec<u32>) {
        for (_, section) in std::mem::take(&mut self.parameters) {
            let name = self.plan.sections[section as usize].name;
            let name_offset = self.append_symbol_name(name);
            let (shndx, row) = self.index_fields(section, 0);
            indices.push(row);
            self.plan.symbols.push(PlanSymbol {
                name_offset,
                ty: SymbolType::SECTION,
                shndx,
                ..PlanSymbol::default()
            });
        }
    }
}

/// Returns `true` if a section of the SASS view holds a kernel's parameters.
pub(super) fn is_parameter_bank(name: &[u8]) -> bool {
    name.strip_prefix(HEADER_INDICES.sass)
        .is_some_and(|rest| rest.starts_with(b"."))
}

/// Returns the bits of `st_other` that say in which memory a variable of no constant bank lies,
/// which the SASS view of an executable does not have.
fn space_of(section: &PlanSection<'_>) -> SymbolOther {
    match section.name {
        b".nv.global" | b".nv.global.init" => SymbolOther::GLOBAL,
        b".nv_debug.shared" => SymbolOther::SHARED,
        RESERVED_SHARED => SymbolOther::RESERVED,
        name if name.starts_with(b".nv.shared.") => SymbolOther::SHARED,
        _ => SymbolOther::empty(),
    }
}
