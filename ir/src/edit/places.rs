//! Where the rows of each table stand after a batch of edits.

use std::collections::BTreeMap;
use std::ops::Range;

use super::Edits;
use super::arrange::Place;
use super::arrange::arrange;
use super::arrange::ranges;
use super::erased::Erased;
use super::renumbering::Renumbering;
use crate::ids::*;
use crate::module::Module;
use crate::object::Object;
use crate::symbol::Symbol;
use crate::table::EntityId;
use crate::table::IdRange;

/// The new numbers of all rows.
pub(super) struct Places<'m, 'data> {
    module: &'m Module<'data>,
    pub(super) numbers: Renumbering,
    pub(super) ranges: Ranges,
    /// The objects that get or lose rows.
    pub(super) changed: Vec<bool>,
    /// The objects whose sections or symbols are no longer those of their file.
    pub(super) unlike_file: Vec<bool>,
}

/// The rows of each object, table by table.
#[derive(Default)]
pub(super) struct Ranges {
    pub(super) sections: Vec<Range<usize>>,
    pub(super) symbols: Vec<Range<usize>>,
    pub(super) functions: Vec<Range<usize>>,
    pub(super) relocs: Vec<Range<usize>>,
    pub(super) attributes: Vec<Range<usize>>,
    pub(super) calls: Vec<Range<usize>>,
    pub(super) prototypes: Vec<Range<usize>>,
    pub(super) notes: Vec<Range<usize>>,
}

impl<'m, 'data> Places<'m, 'data> {
    /// Finds the places. Linear in the rows of the module, apart from sorting new rows.
    pub(super) fn new(module: &'m Module<'data>, edits: &Edits<'data>, erased: &Erased) -> Self {
        let mut places = Places {
            module,
            numbers: Renumbering::default(),
            ranges: Ranges::default(),
            changed: vec![false; module.objects.len()],
            unlike_file: vec![false; module.objects.len()],
        };
        let last = usize::MAX;

        let of = places.of(|object| object.sections);
        let added = edits.sections.iter().map(|row| (row.object.index(), last));
        let added = sorted(&of, &vec![0; module.sections.len()], added);
        places.ranges.sections = places.table::<SectionId>(&of, &erased.sections, &added);
        places.unlike_file.clone_from(&places.changed);

        let of = places.of(|object| object.symbols);
        // Local symbols come first, as ELF wants them.
        let key = |row: &Symbol<'_>| usize::from(!row.is_local());
        let existing: Vec<usize> = module.symbols.values().map(key).collect();
        let added = edits
            .symbols
            .iter()
            .map(|row| (row.object.index(), key(row)));
        let added = sorted(&of, &existing, added);
        places.ranges.symbols = places.table::<SymbolId>(&of, &erased.symbols, &added);
        places.unlike_file.clone_from(&places.changed);

        let of = places.of(|object| object.functions);
        let place = |symbol| index(places.numbers.get(symbol));
        let existing = module.functions.values().map(|row| place(row.symbol));
        let existing: Vec<usize> = existing.collect();
        let added = edits.functions.iter();
        let added = added.map(|row| (row.object.index(), place(row.symbol)));
        let added = sorted(&of, &existing, added);
        places.ranges.functions = places.table::<FunctionId>(&of, &erased.functions, &added);

        let of = places.of(|object| object.relocs);
        let rows = module.relocs.values().map(|row| Some(row.section));
        let added = edits.relocs.iter().map(|row| Some(row.section));
        let added = places.in_sections(&of, edits, rows, added);
        places.ranges.relocs = places.table::<RelocId>(&of, &erased.relocs, &added);

        let of = places.of(|object| object.attributes);
        let rows = module.attributes.values().map(|row| row.section);
        let added = edits.attributes.iter().map(|(row, _)| row.section);
        let added = places.in_sections(&of, edits, rows, added);
        places.ranges.attributes = places.table::<AttributeId>(&of, &erased.attributes, &added);

        let of = places.of(|object| object.notes);
        let rows = module.notes.values().map(|row| row.section);
        let added = edits.notes.iter().map(|row| row.section);
        let added = places.in_sections(&of, edits, rows, added);
        places.ranges.notes = places.table::<NoteId>(&of, &erased.notes, &added);

        let of = places.of(|object| object.calls);
        let existing: Vec<usize> = module.calls.values().map(|row| row.kind as usize).collect();
        let added = edits.calls.iter();
        let added = added.map(|(object, row)| (object.index(), row.kind as usize));
        let added = sorted(&of, &existing, added);
        places.ranges.calls = places.table::<CallId>(&of, &erased.calls, &added);

        let of = places.of(|object| object.prototypes);
        let added = edits.prototypes.iter();
        let added = added.map(|(object, _)| (object.index(), last));
        let added = sorted(&of, &vec![0; module.prototypes.len()], added);
        places.ranges.prototypes = places.table::<PrototypeId>(&of, &erased.prototypes, &added);
        places
    }

    /// Returns the rows that each object has in a table before the edits.
    fn of<K: EntityId>(&self, range: impl Fn(&Object<'data>) -> IdRange<K>) -> Vec<Range<usize>> {
        ranges(self.module.objects.values().as_slice(), range)
    }

    /// Gives the rows of a table their numbers. Returns the rows that each object has then.
    fn table<K: EntityId>(
        &mut self,
        of: &[Range<usize>],
        gone: &[bool],
        added: &[Place],
    ) -> Vec<Range<usize>> {
        let stays = |row: usize| gone.get(row) == Some(&false);
        let arranged = arrange(gone.len(), of, stays, added);
        for (changed, more) in self.changed.iter_mut().zip(&arranged.changed) {
            *changed |= more;
        }
        self.numbers.set::<K>(arranged.numbers);
        arranged.ranges
    }

    /// Returns the places of new rows that stand in sections, in a table in the order of sections.
    fn in_sections(
        &self,
        of: &[Range<usize>],
        edits: &Edits<'data>,
        rows: impl Iterator<Item = Option<SectionId>>,
        added: impl Iterator<Item = Option<SectionId>>,
    ) -> Vec<Place> {
        let number = |section: Option<SectionId>| {
            section.map_or(usize::MAX, |section| index(self.numbers.get(section)))
        };
        let existing: Vec<usize> = rows.map(number).collect();
        let object = |section: SectionId| {
            let own = self.module.sections.len();
            let row = match section.index().checked_sub(own) {
                Some(added) => edits.sections.get(added),
                None => self.module.sections.get(section),
            };
            row.map_or(usize::MAX, |row| row.object.index())
        };
        let added = added.map(|section| (section.map_or(usize::MAX, object), number(section)));
        sorted(of, &existing, added)
    }
}

fn index<K: EntityId>(id: Option<K>) -> usize {
    id.map_or(usize::MAX, K::index)
}

/// Returns the places of new rows, given as object and key, in a table whose rows stand in the order
/// of their keys within an object: each comes after the last row whose key is not greater.
fn sorted(
    of: &[Range<usize>],
    existing: &[usize],
    added: impl Iterator<Item = (usize, usize)>,
) -> Vec<Place> {
    let mut ends: BTreeMap<usize, BTreeMap<usize, usize>> = BTreeMap::new();
    let place = |(object, key): (usize, usize)| {
        let range = of.get(object).cloned().unwrap_or(0..0);
        let ends = ends.entry(object).or_insert_with(|| {
            let keys = existing.get(range.clone()).unwrap_or(&[]);
            range
                .clone()
                .zip(keys)
                .map(|(row, key)| (*key, row + 1))
                .collect()
        });
        let before = ends.range(..=key).next_back();
        Place {
            object,
            before: before.map_or(range.start, |(_, end)| *end),
            key,
        }
    };
    added.map(place).collect()
}
