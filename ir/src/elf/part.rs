//! Rows on their way from files to the module.

use super::read_error::ReadError;
use crate::attribute::Attribute;
use crate::callgraph_record::CallRecord;
use crate::callgraph_record::PrototypeRecord;
use crate::function::Function;
use crate::note::Note;
use crate::object::Object;
use crate::reloc::Reloc;
use crate::section::Section;
use crate::symbol::Symbol;
use crate::symbol::SymbolRef;

/// The rows of objects in the order in which they were read, with ids that count from 0;
/// [`Module::append`](crate::Module::append) moves them up.
#[derive(Clone, Debug, Default)]
pub struct ObjectPart<'data> {
    /// The objects.
    pub objects: Vec<Object<'data>>,
    /// Their sections.
    pub sections: Vec<Section<'data>>,
    /// Their symbols.
    pub symbols: Vec<Symbol<'data>>,
    /// Their defined functions.
    pub functions: Vec<Function>,
    /// Their relocation rows.
    pub relocs: Vec<Reloc>,
    /// Their attribute records.
    pub attributes: Vec<Attribute<'data>>,
    /// References inside their attribute payloads.
    pub attribute_refs: Vec<SymbolRef>,
    /// Their call graph rows.
    pub calls: Vec<CallRecord<'data>>,
    /// Their prototype rows.
    pub prototypes: Vec<PrototypeRecord<'data>>,
    /// Their notes.
    pub notes: Vec<Note<'data>>,
}

/// How many rows the tables of a part have.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ends {
    pub(super) objects: usize,
    pub(super) sections: usize,
    pub(super) symbols: usize,
    pub(super) functions: usize,
    pub(super) relocs: usize,
    pub(super) attributes: usize,
    pub(super) attribute_refs: usize,
    pub(super) calls: usize,
    pub(super) prototypes: usize,
    pub(super) notes: usize,
}

impl Ends {
    /// Checks that ids can name all rows.
    pub(super) fn fit_ids(&self) -> Result<(), ReadError> {
        let most = self.sections.max(self.symbols).max(self.relocs);
        let most = most.max(self.attributes).max(self.attribute_refs);
        match u32::try_from(most.max(self.calls)) {
            Ok(_) => Ok(()),
            Err(_) => Err(ReadError::TooLarge),
        }
    }
}

impl ObjectPart<'_> {
    pub(super) fn ends(&self) -> Ends {
        Ends {
            objects: self.objects.len(),
            sections: self.sections.len(),
            symbols: self.symbols.len(),
            functions: self.functions.len(),
            relocs: self.relocs.len(),
            attributes: self.attributes.len(),
            attribute_refs: self.attribute_refs.len(),
            calls: self.calls.len(),
            prototypes: self.prototypes.len(),
            notes: self.notes.len(),
        }
    }

    pub(super) fn truncate(&mut self, ends: Ends) {
        self.objects.truncate(ends.objects);
        self.sections.truncate(ends.sections);
        self.symbols.truncate(ends.symbols);
        self.functions.truncate(ends.functions);
        self.relocs.truncate(ends.relocs);
        self.attributes.truncate(ends.attributes);
        self.attribute_refs.truncate(ends.attribute_refs);
        self.calls.truncate(ends.calls);
        self.prototypes.truncate(ends.prototypes);
        self.notes.truncate(ends.notes);
    }

    /// Forgets the rows, and keeps the room that they had.
    pub fn clear(&mut self) {
        self.truncate(Ends::default());
    }

    /// Makes room for the rows of files of `all` bytes, going by the `read` bytes of them whose
    /// rows are here.
    pub fn reserve(&mut self, read: u64, all: u64) {
        let share = Share { read, all };
        share.reserve(&mut self.objects);
        share.reserve(&mut self.sections);
        share.reserve(&mut self.symbols);
        share.reserve(&mut self.functions);
        share.reserve(&mut self.relocs);
        share.reserve_with(&mut self.attributes, spare_records);
        share.reserve(&mut self.attribute_refs);
        share.reserve(&mut self.calls);
        share.reserve(&mut self.prototypes);
        share.reserve(&mut self.notes);
    }
}

/// Returns the number of records for which passes need room beside `records`: they add two for each
/// kernel, of which compilers write a dozen.
pub(super) fn spare_records(records: usize) -> usize {
    records / 4
}

/// How much of all files was read.
#[derive(Clone, Copy)]
struct Share {
    read: u64,
    all: u64,
}

impl Share {
    /// Reserves room for the rows to come, and for some that passes add: a table that is too small
    /// is moved.
    fn reserve<T>(self, rows: &mut Vec<T>) {
        self.reserve_with(rows, |expected| expected / 16);
    }

    fn reserve_with<T>(self, rows: &mut Vec<T>, spare: fn(usize) -> usize) {
        let have = rows.len() as u128;
        let expected = have * u128::from(self.all) / u128::from(self.read.max(1));
        let more = usize::try_from(expected.saturating_sub(have));
        if let (Ok(more), Ok(expected)) = (more, usize::try_from(expected))
            && rows.capacity() - rows.len() < more
        {
            rows.reserve_exact(more.saturating_add(spare(expected)));
        }
    }
}
