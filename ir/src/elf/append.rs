//! Appending: the rows of one object become rows of the module.

use super::part::Ends;
use super::part::ObjectPart;
use super::read_error::ReadError;
use crate::attribute::Attribute;
use crate::callgraph_record::CallRecord;
use crate::callgraph_record::PrototypeRecord;
use crate::function::Function;
use crate::function::FunctionView;
use crate::function::Views;
use crate::ids::*;
use crate::module::Module;
use crate::note::Note;
use crate::object::Object;
use crate::reloc::Reloc;
use crate::section::Section;
use crate::section::SectionInfo;
use crate::symbol::Symbol;
use crate::symbol::SymbolPlace;
use crate::symbol::SymbolRef;
use crate::table::EntityId;
use crate::table::PrimaryMap;

impl<'data> Module<'data> {
    /// Appends objects: their ids move up by the number of rows that the module has.
    ///
    /// Refused if a table would outgrow its `u32` ids.
    pub fn append(&mut self, part: ObjectPart<'data>) -> Result<(), ReadError> {
        if self.has_no_rows() {
            // The rows need not be copied: their ids count from 0 already.
            self.set_rows(part);
            return Ok(());
        }
        let mut rows = self.take_rows();
        let appended = rows.append(&part);
        self.set_rows(rows);
        appended
    }

    fn take_rows(&mut self) -> ObjectPart<'data> {
        ObjectPart {
            objects: std::mem::take(&mut self.objects).into_rows(),
            sections: std::mem::take(&mut self.sections).into_rows(),
            symbols: std::mem::take(&mut self.symbols).into_rows(),
            functions: std::mem::take(&mut self.functions).into_rows(),
            relocs: std::mem::take(&mut self.relocs).into_rows(),
            attributes: std::mem::take(&mut self.attributes).into_rows(),
            attribute_refs: std::mem::take(&mut self.attribute_refs),
            calls: std::mem::take(&mut self.calls).into_rows(),
            prototypes: std::mem::take(&mut self.prototypes).into_rows(),
            notes: std::mem::take(&mut self.notes).into_rows(),
        }
    }

    /// Takes over the rows of all objects, in place of those that it has.
    pub fn set_rows(&mut self, part: ObjectPart<'data>) {
        self.objects = PrimaryMap::from_rows(part.objects);
        self.sections = PrimaryMap::from_rows(part.sections);
        self.symbols = PrimaryMap::from_rows(part.symbols);
        self.functions = PrimaryMap::from_rows(part.functions);
        self.relocs = PrimaryMap::from_rows(part.relocs);
        self.attributes = PrimaryMap::from_rows(part.attributes);
        self.attribute_refs = part.attribute_refs;
        self.calls = PrimaryMap::from_rows(part.calls);
        self.prototypes = PrimaryMap::from_rows(part.prototypes);
        self.notes = PrimaryMap::from_rows(part.notes);
    }

    /// Returns `true` if no object has brought anything.
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

impl<'data> ObjectPart<'data> {
    /// Appends the rows of another part, whose ids move up.
    ///
    /// Refused if a table would outgrow its `u32` ids.
    pub fn append(&mut self, part: &ObjectPart<'data>) -> Result<(), ReadError> {
        let base = self.ends();
        let more = part.ends();
        Ends {
            sections: base.sections + more.sections,
            symbols: base.symbols + more.symbols,
            relocs: base.relocs + more.relocs,
            attributes: base.attributes + more.attributes,
            attribute_refs: base.attribute_refs + more.attribute_refs,
            calls: base.calls + more.calls,
            ..base
        }
        .fit_ids()?;
        let refs = base.attribute_refs as u32;
        self.objects
            .extend(part.objects.iter().map(|row| base.object_row(row)));
        self.sections
            .extend(part.sections.iter().map(|row| base.section_row(*row)));
        self.symbols
            .extend(part.symbols.iter().map(|row| base.symbol_row(*row)));
        self.functions
            .extend(part.functions.iter().map(|row| base.function_row(*row)));
        self.relocs.extend(part.relocs.iter().map(|row| Reloc {
            section: base.section(row.section),
            target: base.reference(row.target),
            ..*row
        }));
        self.attribute_refs
            .extend(part.attribute_refs.iter().map(|row| base.reference(*row)));
        self.attributes
            .extend(part.attributes.iter().map(|row| Attribute {
                section: row.section.map(|section| base.section(section)),
                refs: row.refs.start + refs..row.refs.end + refs,
                ..*row
            }));
        self.calls.extend(part.calls.iter().map(|row| CallRecord {
            from: base.reference(row.from),
            to: base.reference(row.to),
            ..*row
        }));
        self.prototypes
            .extend(part.prototypes.iter().map(|row| PrototypeRecord {
                function: base.reference(row.function),
                ..*row
            }));
        self.notes.extend(part.notes.iter().map(|row| Note {
            section: row.section.map(|section| base.section(section)),
            ..*row
        }));
        Ok(())
    }
}

impl Ends {
    fn object(&self, id: ObjectId) -> ObjectId {
        ObjectId::new(id.index() + self.objects)
    }
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

    fn object_row<'data>(&self, row: &Object<'data>) -> Object<'data> {
        Object {
            sections: row.sections.rebased(self.sections),
            symbols: row.symbols.rebased(self.symbols),
            functions: row.functions.rebased(self.functions),
            relocs: row.relocs.rebased(self.relocs),
            attributes: row.attributes.rebased(self.attributes),
            calls: row.calls.rebased(self.calls),
            prototypes: row.prototypes.rebased(self.prototypes),
            notes: row.notes.rebased(self.notes),
            ..row.clone()
        }
    }

    fn section_row<'data>(&self, row: Section<'data>) -> Section<'data> {
        Section {
            object: self.object(row.object),
            link: row.link.map(|id| self.section(id)),
            info: match row.info {
                SectionInfo::Section(id) => SectionInfo::Section(self.section(id)),
                SectionInfo::Symbol { symbol, high } => SectionInfo::Symbol {
                    symbol: self.symbol(symbol),
                    high,
                },
                other => other,
            },
            relocs: row.relocs.rebased_of_section(self.relocs),
            attributes: row.attributes.rebased_of_section(self.attributes),
            owner: row.owner.map(|id| self.function(id)),
            ..row
        }
    }

    fn symbol_row<'data>(&self, row: Symbol<'data>) -> Symbol<'data> {
        Symbol {
            object: self.object(row.object),
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
            object: self.object(row.object),
            symbol: self.symbol(row.symbol),
            views: Views {
                sass: view(row.views.sass),
                merc: row.views.merc.map(view),
            },
            ..row
        }
    }
}
