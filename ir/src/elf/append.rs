//! Appending: the rows of one object become rows of the module.

use super::read::ObjectPart;
use super::read::ReadError;
use crate::attribute::Attribute;
use crate::callgraph_record::CallRecord;
use crate::callgraph_record::PrototypeRecord;
use crate::function::Function;
use crate::function::FunctionView;
use crate::function::Views;
use crate::ids::*;
use crate::module::Module;
use crate::note::Note;
use crate::reloc::Reloc;
use crate::section::Section;
use crate::section::SectionInfo;
use crate::symbol::Symbol;
use crate::symbol::SymbolPlace;
use crate::symbol::SymbolRef;
use crate::table::EntityId;
use crate::table::PrimaryMap;

impl<'data> Module<'data> {
    /// Appends an object: its ids move up by the number of rows that the module has.
    ///
    /// Refused if a table would outgrow its `u32` ids.
    pub fn append(&mut self, part: ObjectPart<'data>) -> Result<ObjectId, ReadError> {
        let fits = |have: usize, more: usize| {
            u32::try_from(have + more)
                .map(|_| ())
                .map_err(|_| ReadError::TooLarge)
        };
        fits(self.sections.len(), part.sections.len())?;
        fits(self.symbols.len(), part.symbols.len())?;
        fits(self.relocs.len(), part.relocs.len())?;
        fits(self.attributes.len(), part.attributes.len())?;
        fits(self.attribute_refs.len(), part.attribute_refs.len())?;
        fits(self.calls.len(), part.calls.len())?;
        let Some(mut object) = part.object else {
            return Err(ReadError::TooLarge);
        };
        let id = self.objects.next_id();
        if self.has_no_rows() {
            // The rows need not be copied: their ids count from 0 already.
            self.sections = PrimaryMap::from_rows(part.sections);
            self.symbols = PrimaryMap::from_rows(part.symbols);
            self.functions = PrimaryMap::from_rows(part.functions);
            self.relocs = PrimaryMap::from_rows(part.relocs);
            self.attributes = PrimaryMap::from_rows(part.attributes);
            self.attribute_refs = part.attribute_refs;
            self.calls = PrimaryMap::from_rows(part.calls);
            self.prototypes = PrimaryMap::from_rows(part.prototypes);
            self.notes = PrimaryMap::from_rows(part.notes);
            self.objects.push(object);
            return Ok(id);
        }
        let base = Bases {
            object: id,
            sections: self.sections.len(),
            symbols: self.symbols.len(),
            functions: self.functions.len(),
            relocs: self.relocs.len(),
            attributes: self.attributes.len(),
            refs: self.attribute_refs.len() as u32,
        };
        object.sections = object.sections.rebased(base.sections);
        object.symbols = object.symbols.rebased(base.symbols);
        object.functions = object.functions.rebased(base.functions);
        object.relocs = object.relocs.rebased(base.relocs);
        object.attributes = object.attributes.rebased(base.attributes);
        object.calls = object.calls.rebased(self.calls.len());
        object.prototypes = object.prototypes.rebased(self.prototypes.len());
        object.notes = object.notes.rebased(self.notes.len());
        self.objects.push(object);
        self.sections
            .extend(part.sections.into_iter().map(|row| base.section_row(row)));
        self.symbols
            .extend(part.symbols.into_iter().map(|row| base.symbol_row(row)));
        self.functions
            .extend(part.functions.into_iter().map(|row| base.function_row(row)));
        self.relocs.extend(part.relocs.into_iter().map(|row| Reloc {
            section: base.section(row.section),
            target: base.reference(row.target),
            ..row
        }));
        self.attribute_refs.extend(
            part.attribute_refs
                .into_iter()
                .map(|row| base.reference(row)),
        );
        self.attributes
            .extend(part.attributes.into_iter().map(|row| Attribute {
                section: row.section.map(|section| base.section(section)),
                refs: row.refs.start + base.refs..row.refs.end + base.refs,
                ..row
            }));
        self.calls
            .extend(part.calls.into_iter().map(|row| CallRecord {
                from: base.reference(row.from),
                to: base.reference(row.to),
                ..row
            }));
        self.prototypes
            .extend(part.prototypes.into_iter().map(|row| PrototypeRecord {
                function: base.reference(row.function),
                ..row
            }));
        self.notes.extend(part.notes.into_iter().map(|row| Note {
            section: row.section.map(|section| base.section(section)),
            ..row
        }));
        Ok(id)
    }

    /// Whether no object has brought anything.
    fn has_no_rows(&self) -> bool {
        self.objects.is_empty()
            && self.sections.is_empty()
            && self.symbols.is_empty()
            && self.functions.is_empty()
            && self.relocs.is_empty()
            && self.attributes.is_empty()
            && self.attribute_refs.is_empty()
            && self.calls.is_empty()
            && self.prototypes.is_empty()
            && self.notes.is_empty()
    }
}

/// Where an appended object's rows begin.
struct Bases {
    object: ObjectId,
    sections: usize,
    symbols: usize,
    functions: usize,
    relocs: usize,
    attributes: usize,
    refs: u32,
}

impl Bases {
    fn section(&self, id: SectionId) -> SectionId {
        SectionId::new(id.index() + self.sections)
    }

    fn symbol(&self, id: SymbolId) -> SymbolId {
        SymbolId::new(id.index() + self.symbols)
    }

    fn function(&self, id: FunctionId) -> FunctionId {
        FunctionId::new(id.index() + self.functions)
    }

    fn reference(&self, reference: SymbolRef) -> SymbolRef {
        match reference {
            SymbolRef::None => SymbolRef::None,
            SymbolRef::Symbol(id) => SymbolRef::Symbol(self.symbol(id)),
            SymbolRef::Section(id) => SymbolRef::Section(self.section(id)),
        }
    }

    fn section_row<'data>(&self, row: Section<'data>) -> Section<'data> {
        Section {
            object: self.object,
            link: row.link.map(|id| self.section(id)),
            info: match row.info {
                SectionInfo::Section(id) => SectionInfo::Section(self.section(id)),
                SectionInfo::Symbol { symbol, high } => SectionInfo::Symbol {
                    symbol: self.symbol(symbol),
                    high,
                },
                other => other,
            },
            relocs: row.relocs.rebased(self.relocs),
            attributes: row.attributes.rebased(self.attributes),
            owner: row.owner.map(|id| self.function(id)),
            ..row
        }
    }

    fn symbol_row<'data>(&self, row: Symbol<'data>) -> Symbol<'data> {
        Symbol {
            object: self.object,
            place: match row.place {
                SymbolPlace::Section(id) => SymbolPlace::Section(self.section(id)),
                other => other,
            },
            function: row.function.map(|id| self.function(id)),
            ..row
        }
    }

    fn function_row(&self, row: Function) -> Function {
        let view = |view: FunctionView| FunctionView {
            text: self.section(view.text),
            info: view.info.map(|id| self.section(id)),
        };
        Function {
            object: self.object,
            symbol: self.symbol(row.symbol),
            views: Views {
                sass: view(row.views.sass),
                merc: row.views.merc.map(view),
            },
            ..row
        }
    }
}
