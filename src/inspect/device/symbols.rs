//! Symbol tables, and references to their symbols.

use cuweld_elf::raw::RawSymbol;
use cuweld_elf::raw::SHN_ABS;
use cuweld_elf::raw::SHN_COMMON;
use cuweld_elf::raw::SHN_LORESERVE;
use cuweld_elf::raw::SHN_XINDEX;
use cuweld_elf::raw::string_at;
use cuweld_elf::symbol::SymbolType;
use cuweld_elf::target::section_types::sht;
use zerocopy::FromBytes;
use zerocopy::little_endian::U32;

use super::Decoder;
use crate::inspect::code_names;
use crate::inspect::device_model::*;
use crate::inspect::error::SectionDamage;
use crate::inspect::name::Name;

/// Names of all symbols, by the index of their table's section.
#[derive(Default)]
pub(super) struct Symbols<'data> {
    tables: Vec<(u32, Vec<Name<'data>>)>,
}

impl<'data> Symbols<'data> {
    /// Adds a table; tables come in the order of their sections.
    pub(super) fn add(&mut self, section: u32, symbols: &[Symbol<'data>]) {
        let names = symbols.iter().map(|symbol| symbol.name).collect();
        self.tables.push((section, names));
    }

    /// Returns the names of the table that is this section.
    pub(super) fn table(&self, section: u32) -> Option<&[Name<'data>]> {
        let found = self
            .tables
            .binary_search_by_key(&section, |(index, _)| *index);
        let (_, names) = self.tables.get(found.ok()?)?;
        Some(names)
    }

    /// Returns a symbol of the table in a section.
    pub(super) fn find(&self, section: u32, index: u32) -> Option<SymbolUse<'data>> {
        let name = *self.table(section)?.get(index as usize)?;
        Some(SymbolUse { index, name })
    }
}

impl<'data> Decoder<'data> {
    pub(super) fn symbol_table(
        &mut self,
        section: &Section<'data>,
        sections: &[Section<'data>],
    ) -> Vec<Symbol<'data>> {
        let bytes = self.take(section);
        let rows = self.rows::<RawSymbol>(section.index, bytes);
        let Some(names) = self.view.bytes_at(section.link) else {
            self.damage(section.index, SectionDamage::Link("string table"));
            return Vec::new();
        };
        let extended = sections
            .iter()
            .find(|other| other.ty.value == sht::SYMTAB_SHNDX && other.link == section.index)
            .and_then(|other| <[U32]>::ref_from_bytes(other.contents).ok())
            .unwrap_or_default();
        let mut unnamed = None;
        let mut symbols = Vec::with_capacity(rows.len());
        for (index, row) in rows.iter().enumerate() {
            // [index-of-tentative]
            let is_section = matches!(row.ty(), SymbolType::SECTION | SymbolType::FUNC)
                && sections.len() > SHN_COMMON.into();
            let mut name = Name(string_at(names, row.name.get()).unwrap_or_else(|| {
                unnamed.get_or_insert(index);
                b""
            }));
            let place = match row.shndx.get() {
                0 => Place::Undefined,
                SHN_ABS => Place::Absolute,
                SHN_COMMON if !is_section => Place::Common,
                shndx @ (..SHN_LORESERVE | SHN_XINDEX | SHN_COMMON) => {
                    let index = match shndx {
                        SHN_XINDEX => extended.get(index).map_or(u32::MAX, |word| word.get()),
                        _ => shndx.into(),
                    };
                    match sections.get(index as usize) {
                        Some(section) => Place::In {
                            index,
                            name: section.name,
                        },
                        None => Place::Reserved(index),
                    }
                }
                reserved => Place::Reserved(reserved.into()),
            };
            let (binding, ty) = (row.binding(), row.ty());
            if let Place::In { name: section, .. } = place
                && ty == SymbolType::SECTION
                && name.is_empty()
            {
                name = section;
            }
            symbols.push(Symbol {
                index: index as u32,
                name,
                demangled: Demangled(name),
                value: row.value.get(),
                size: row.size.get(),
                binding: code_names::binding(binding),
                ty: code_names::symbol_type(ty),
                other: row.other,
                other_names: code_names::SYMBOL_OTHER
                    .into_iter()
                    .filter(|(bit, _)| row.other().contains(*bit))
                    .map(|(_, name)| name)
                    .collect(),
                section: place,
            });
        }
        // One finding for a table whose strings are gone.
        if let Some(row) = unnamed {
            self.damage(section.index, SectionDamage::String { row });
        }
        symbols
    }
}
