//! Symbols of an object, and what each index of its symbol table refers to.

use cuweld_elf::mercury::Bank;
use cuweld_elf::symbol::SymbolType;
use zerocopy::IntoBytes;

use super::*;

impl<'data> Reader<'_, 'data> {
    pub(super) fn symbols(&mut self) -> Result<(), ReadError> {
        let (first, second) = {
            let mut tables = self.symbol_tables(sht::SYMTAB);
            (tables.next(), tables.next())
        };
        let Some((table, header)) = first else {
            return Ok(());
        };
        if let Some((second, _)) = second {
            return Err(self.error(second, "a second symbol table"));
        }
        let names = self.bytes(header.link.get() as usize);
        let rows = <[RawSymbol]>::ref_from_bytes(self.bytes(table))
            .map_err(|_| self.error(table, "its size is no multiple of 24"))?;
        let extended = self.extended_indices(table)?;
        let object = self.object();
        self.symbol_refs.reserve(rows.len());
        for (index, row) in rows.iter().enumerate() {
            let (bind, ty) = (row.binding(), row.ty());
            let place = match row.shndx.get() {
                0 => SymbolPlace::Undefined,
                // [index-of-tentative]
                SHN_COMMON if matches!(ty, SymbolType::SECTION | SymbolType::FUNC) => {
                    let section = self.section_id(SHN_COMMON.into());
                    section.map_or(SymbolPlace::Common, SymbolPlace::Section)
                }
                // nvlink writes the parameters of a kernel for sm_100 and up so.
                SHN_LORESERVE if self.section_id(SHN_LORESERVE.into()).is_some() => {
                    let section = self.section_id(SHN_LORESERVE.into());
                    section.map_or(SymbolPlace::Reserved(SHN_LORESERVE), SymbolPlace::Section)
                }
                SHN_ABS => SymbolPlace::Absolute,
                SHN_COMMON => SymbolPlace::Common,
                shndx @ (..SHN_LORESERVE | SHN_XINDEX) => {
                    let section = if shndx == SHN_XINDEX {
                        extended.get(index).map_or(u32::MAX, |word| word.get())
                    } else {
                        shndx.into()
                    };
                    let Some(section) = self.section_id(section) else {
                        let what = format!("symbol {index} is in section {section}, which is none");
                        return Err(self.error(table, what));
                    };
                    SymbolPlace::Section(section)
                }
                reserved => SymbolPlace::Reserved(reserved),
            };
            let name_outside = |reader: &Self| {
                let what = format!("the name of symbol {index} is outside the string table");
                reader.error(table, what)
            };
            if index == 0 {
                if row.as_bytes().iter().any(|byte| *byte != 0) {
                    return Err(self.error(table, "symbol 0 is not empty"));
                }
                self.symbol_refs.push(SymbolRef::None);
                continue;
            }
            if ty == SymbolType::SECTION {
                let SymbolPlace::Section(section) = place else {
                    return Err(self.error(table, format!("SECTION symbol {index} has no section")));
                };
                if row.value.get() != 0 || row.size.get() != 0 || !row.other().is_empty() {
                    let what = format!("SECTION symbol {index} has a value, a size or flags");
                    return Err(self.error(table, what));
                }
                if !is_at(
                    names,
                    row.name.get(),
                    self.part.sections[section.index()].name,
                ) {
                    let Some(name) = string_at(names, row.name.get()) else {
                        return Err(name_outside(self));
                    };
                    // Compilers since CUDA 13.5 name banks as the Mercury view does.
                    let is_bank = Bank::of_name(name).is_some_and(|(bank, function)| {
                        let section = self.part.sections[section.index()].name;
                        section.strip_prefix(bank.sass) == Some(function)
                    });
                    if !is_bank {
                        return Err(self.error(
                            table,
                            format!("SECTION symbol {index} has another name than its section"),
                        ));
                    }
                }
                self.symbol_refs.push(SymbolRef::Section(section));
                continue;
            }
            let Some(name) = string_at(names, row.name.get()) else {
                return Err(name_outside(self));
            };
            let id = SymbolId::new(self.part.symbols.len());
            self.symbol_refs.push(SymbolRef::Symbol(id));
            let function = match place {
                SymbolPlace::Section(text) if ty == SymbolType::FUNC => {
                    let function = FunctionId::new(self.part.functions.len());
                    self.part.functions.push(Function {
                        object,
                        symbol: id,
                        views: Views {
                            sass: FunctionView { text, info: None },
                            merc: None,
                        },
                        remade: crate::function::Remade::No,
                        fate: Fate::Candidate,
                        registers: 0,
                        stack_limit: 0,
                        shared: None,
                        dynamic_shared: None,
                        unnamed_shared: None,
                        header_kinds: 0,
                        merc_size: 0,
                        flag_barriers: 0,
                    });
                    Some(function)
                }
                _ => None,
            };
            self.part.symbols.push(Symbol {
                object,
                name,
                bind,
                ty,
                other: row.other(),
                place,
                value: row.value.get(),
                size: row.size.get(),
                function,
                link: None,
            });
        }
        Ok(())
    }

    /// Reads where the functions' Mercury code is: `.nv.merc.symtab` has the rows of `.symtab` in
    /// the same places, with the sections and sizes of the Mercury view.
    pub(super) fn mercury_symbols(&mut self) -> Result<(), ReadError> {
        for at in 0..self.symbol_tables.len() {
            let table = self.symbol_tables[at];
            if self.headers.sections[table].ty.get() != sht::CUDA_MERCURY_SYMTAB {
                continue;
            }
            let rows = <[RawSymbol]>::ref_from_bytes(self.bytes(table))
                .map_err(|_| self.error(table, "its size is no multiple of 24"))?;
            let extended = self.extended_indices(table)?;
            for (index, (row, target)) in rows.iter().zip(self.symbol_refs.iter()).enumerate() {
                let SymbolRef::Symbol(symbol) = target else {
                    continue;
                };
                let function = self.part.symbols[symbol.index()].function;
                let place = match (row.shndx.get(), extended.get(index)) {
                    (SHN_XINDEX, Some(place)) => place.get(),
                    (place, _) => place.into(),
                };
                let text = self.section_id(place);
                if let (Some(function), Some(text)) = (function, text)
                    && self.part.sections[text.index()].ty == sht::CUDA_CAPMERC
                {
                    let function = &mut self.part.functions[function.index()];
                    function.views.merc = Some(FunctionView { text, info: None });
                    function.merc_size = row.size.get();
                }
            }
        }
        Ok(())
    }

    pub(super) fn extended_indices(
        &self,
        symtab: usize,
    ) -> Result<&'data [zerocopy::little_endian::U32], ReadError> {
        let mut tables = self.symbol_tables(sht::SYMTAB_SHNDX);
        let found = tables.find(|(_, header)| header.link.get() as usize == symtab);
        let Some((index, _)) = found else {
            return Ok(&[]);
        };
        <[zerocopy::little_endian::U32]>::ref_from_bytes(self.bytes(index))
            .map_err(|_| self.error(index, "its size is no multiple of 4"))
    }

    pub(super) fn symbol_ref(&self, index: u32) -> Option<SymbolRef> {
        self.symbol_refs.get(index as usize).copied()
    }
}
