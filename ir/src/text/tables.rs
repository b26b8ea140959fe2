//! The tables of a module by the prefix of their ids: how many rows they have, and what these are
//! called.

use crate::ids::*;
use crate::module::Module;
use crate::table::EntityId;

impl<'data> Module<'data> {
    /// Returns the number of rows of the table whose ids have this prefix.
    pub(crate) fn rows_of(&self, prefix: &str) -> usize {
        match prefix {
            ObjectId::PREFIX => self.objects.len(),
            SectionId::PREFIX => self.sections.len(),
            SymbolId::PREFIX => self.symbols.len(),
            LinkSymbolId::PREFIX => self.link_symbols.len(),
            FunctionId::PREFIX => self.functions.len(),
            RelocId::PREFIX => self.relocs.len(),
            AttributeId::PREFIX => self.attributes.len(),
            CallId::PREFIX => self.calls.len(),
            PrototypeId::PREFIX => self.prototypes.len(),
            NoteId::PREFIX => self.notes.len(),
            _ => 0,
        }
    }

    /// Returns the name that the text form annotates an id with; empty for a row without a name and
    /// for an id that does not exist.
    pub(crate) fn name_of<K: EntityId>(&self, id: K) -> &'data [u8] {
        self.name_at(K::PREFIX, id.index())
    }

    /// Returns the name of the row with this index in the table whose ids have this prefix.
    pub(crate) fn name_at(&self, prefix: &str, index: usize) -> &'data [u8] {
        let symbol = match prefix {
            SectionId::PREFIX => {
                let section = self.sections.get(SectionId::new(index));
                return section.map_or(b"", |row| row.name);
            }
            SymbolId::PREFIX => Some(SymbolId::new(index)),
            LinkSymbolId::PREFIX => self
                .link_symbols
                .get(LinkSymbolId::new(index))
                .map(|row| row.first),
            FunctionId::PREFIX => self
                .functions
                .get(FunctionId::new(index))
                .map(|row| row.symbol),
            _ => None,
        };
        let symbol = symbol.and_then(|id| self.symbols.get(id));
        symbol.map_or(b"", |row| row.name)
    }
}
