//! Application of a batch of edits: rows come and go, then ids and ranges follow.

use std::fmt::Display;

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use super::EditError;
use super::Edits;
use super::arrange::range_after;
use super::erased::Erased;
use super::places::Places;
use super::places::Ranges;
use super::renumbering::Renumber;
use super::renumbering::Renumbering;
use crate::attribute::Attribute;
use crate::elf::has_section_symbol;
use crate::ids::*;
use crate::module::Module;
use crate::section::SectionInfo;
use crate::symbol::SymbolRef;
use crate::table::EntityId;
use crate::table::IdRange;
use crate::table::PrimaryMap;
use crate::text::fields::IdVisitor;
use crate::text::fields::Row;
use cuweld_elf::target::section_types::sht;

/// The upper byte of `e_flags` of objects that name the section of their note by its name alone.
const NOTE_BY_NAME: u32 = 0xff;

/// Applies edits to a module whose ids name rows. An error leaves the module half changed.
pub(super) fn apply<'data>(
    edits: Edits<'data>,
    module: &mut Module<'data>,
) -> Result<Renumbering, EditError> {
    let erased = Erased::new(module, &edits.erased);
    let Places {
        numbers,
        ranges,
        mut changed,
        unlike_file,
        ..
    } = Places::new(module, &edits, &erased);
    for (from, _) in &edits.replaced {
        if let Some(symbol) = module.symbols.get(*from) {
            changed[symbol.object.index()] = true;
        }
    }
    for (id, object) in module.objects.iter() {
        if changed[id.index()] && object.is_capmerc() {
            return Err(EditError::Mercury(id));
        }
    }
    replace_uses(module, &edits)?;
    forget_lists(module, &erased);
    let notes = note_sections(module);
    place_rows(module, edits, &numbers);
    renumber_rows(module, &numbers)?;
    object_ranges(module, &ranges);
    section_ranges(module);
    for (id, unlike_file) in module.objects.ids().zip(unlike_file) {
        if unlike_file {
            follow_file(module, id, notes[id.index()], &numbers);
        }
    }
    Ok(numbers)
}

/// Makes uses of symbols uses of others of the same object. What an edit adds is left as it is.
fn replace_uses(module: &mut Module<'_>, edits: &Edits<'_>) -> Result<(), EditError> {
    if edits.replaced.is_empty() {
        return Ok(());
    }
    let symbol = |id: SymbolId| {
        let added = id.index().checked_sub(module.symbols.len());
        match added {
            Some(added) => edits.symbols.get(added),
            None => module.symbols.get(id),
        }
    };
    let mut replaced: HashMap<SymbolRef, SymbolRef, FixedState> = HashMap::default();
    for (from, to) in &edits.replaced {
        let object = |id: SymbolId| symbol(id).map(|row| row.object);
        if object(*from) != object(*to) {
            return Err(EditError::OtherObject(from.to_string(), to.to_string()));
        }
        replaced.insert(SymbolRef::Symbol(*from), SymbolRef::Symbol(*to));
    }
    let replace = |target: &mut SymbolRef| {
        if let Some(to) = replaced.get(target) {
            *target = *to;
        }
    };
    for row in module.relocs.values_mut() {
        replace(&mut row.target);
    }
    module.attribute_refs.iter_mut().for_each(replace);
    for row in module.calls.values_mut() {
        replace(&mut row.from);
        replace(&mut row.to);
    }
    for row in module.prototypes.values_mut() {
        replace(&mut row.function);
    }
    Ok(())
}

/// Takes attribute lists that are erased from functions that stay.
fn forget_lists(module: &mut Module<'_>, erased: &Erased) {
    let is_gone = |section: &SectionId| erased.sections.get(section.index()) == Some(&true);
    for function in module.functions.values_mut() {
        let views = &mut function.views;
        for view in [Some(&mut views.sass), views.merc.as_mut()]
            .into_iter()
            .flatten()
        {
            view.info = view.info.filter(|info| !is_gone(info));
        }
    }
}

/// Returns the sections of CUDA's notes that the headers of objects name by number.
fn note_sections(module: &Module<'_>) -> Vec<Option<SectionId>> {
    let named = module
        .objects
        .values()
        .map(|object| match object.e_flags >> 24 {
            _ if object.legacy.is_some() => None,
            0 | NOTE_BY_NAME => None,
            index => object.sections.get(index as usize),
        });
    named.collect()
}

/// Puts rows into their places.
fn place_rows<'data>(module: &mut Module<'data>, edits: Edits<'data>, numbers: &Renumbering) {
    place_table(&mut module.sections, edits.sections, numbers);
    place_table(&mut module.symbols, edits.symbols, numbers);
    place_table(&mut module.functions, edits.functions, numbers);
    place_table(&mut module.relocs, edits.relocs, numbers);
    let calls = edits.calls.into_iter().map(|(_, row)| row);
    place_table(&mut module.calls, calls, numbers);
    let prototypes = edits.prototypes.into_iter().map(|(_, row)| row);
    place_table(&mut module.prototypes, prototypes, numbers);
    place_table(&mut module.notes, edits.notes, numbers);

    // References stand in the order of the records.
    let refs = std::mem::take(&mut module.attribute_refs);
    let table = std::mem::take(&mut module.attributes).into_rows();
    let own = |row: Attribute<'data>| {
        let range = row.refs.start as usize..row.refs.end as usize;
        let refs = refs.get(range).unwrap_or(&[]).to_vec();
        (row, refs)
    };
    let rows = table.into_iter().map(own).chain(edits.attributes);
    for (row, refs) in numbers.of::<AttributeId>().place(rows) {
        module.push_attribute(row, &refs);
    }
}

fn place_table<K: EntityId, V>(
    table: &mut PrimaryMap<K, V>,
    added: impl IntoIterator<Item = V>,
    numbers: &Renumbering,
) {
    let rows = std::mem::take(table).into_rows();
    let placed = numbers.of::<K>().place(rows.into_iter().chain(added));
    *table = PrimaryMap::from_rows(placed);
}

/// Gives all ids their new numbers.
fn renumber_rows(module: &mut Module<'_>, numbers: &Renumbering) -> Result<(), EditError> {
    table(&mut module.sections, numbers)?;
    table(&mut module.symbols, numbers)?;
    table(&mut module.functions, numbers)?;
    table(&mut module.relocs, numbers)?;
    table(&mut module.calls, numbers)?;
    table(&mut module.prototypes, numbers)?;
    table(&mut module.notes, numbers)?;
    for index in 0..module.attributes.len() {
        let id = AttributeId::new(index);
        let refs = module.attributes[id].refs.clone();
        let refs = refs.start as usize..refs.end as usize;
        let section = &mut module.attributes[id].section;
        visit(id, numbers, |ids| {
            section.iter_mut().for_each(|id| ids.id(id))
        })?;
        let refs = module.attribute_refs.get_mut(refs).unwrap_or_default();
        visit(id, numbers, |ids| {
            refs.iter_mut().for_each(|target| ids.target(target))
        })?;
    }
    // What passes before `resolved` may have made.
    for (index, fixup) in module.fixups.iter_mut().enumerate() {
        visit(format_args!("fixup {index}"), numbers, |ids| {
            fixup.fields(ids)
        })?;
    }
    Ok(())
}

fn table<'data, K: EntityId + Display, R: Row<'data>>(
    rows: &mut PrimaryMap<K, R>,
    numbers: &Renumbering,
) -> Result<(), EditError> {
    for (id, row) in rows.ids().zip(rows.values_mut()) {
        visit(id, numbers, |ids| row.fields(ids))?;
    }
    Ok(())
}

/// Gives the ids of a row their new numbers.
fn visit(
    by: impl Display,
    numbers: &Renumbering,
    row: impl FnOnce(&mut Renumber<'_>),
) -> Result<(), EditError> {
    let mut ids = Renumber::new(numbers);
    row(&mut ids);
    match ids.lost {
        None => Ok(()),
        Some((row, true)) => Err(EditError::StillUsed {
            row,
            by: by.to_string(),
        }),
        Some((row, false)) => Err(EditError::NoRow {
            row,
            by: by.to_string(),
        }),
    }
}

/// Gives objects the ranges that their rows have now.
fn object_ranges(module: &mut Module<'_>, ranges: &Ranges) {
    for (object, id) in module.objects.values_mut().zip(0..) {
        set(&mut object.sections, &ranges.sections, id);
        set(&mut object.symbols, &ranges.symbols, id);
        set(&mut object.functions, &ranges.functions, id);
        set(&mut object.relocs, &ranges.relocs, id);
        set(&mut object.attributes, &ranges.attributes, id);
        set(&mut object.calls, &ranges.calls, id);
        set(&mut object.prototypes, &ranges.prototypes, id);
        set(&mut object.notes, &ranges.notes, id);
    }
}

fn set<K: EntityId>(range: &mut IdRange<K>, ranges: &[std::ops::Range<usize>], object: usize) {
    if let Some(after) = ranges.get(object) {
        *range = range_after(*range, after);
    }
}

/// Gives sections the ranges of the relocations and records that name them.
fn section_ranges(module: &mut Module<'_>) {
    let of_relocs = module.relocs.iter().map(|(id, row)| (row.section, id));
    let relocs = spans(module.sections.len(), of_relocs);
    let of_records = module.attributes.iter();
    let of_records = of_records.filter_map(|(id, row)| Some((row.section?, id)));
    let attributes = spans(module.sections.len(), of_records);
    let rows = module.sections.values_mut().zip(relocs).zip(attributes);
    for ((section, relocs), attributes) in rows {
        (section.relocs, section.attributes) = (relocs, attributes);
    }
}

/// Returns the range from the first to the last row of each section.
fn spans<K: EntityId>(
    sections: usize,
    rows: impl Iterator<Item = (SectionId, K)>,
) -> Vec<IdRange<K>> {
    let mut spans = vec![IdRange::default(); sections];
    for (section, row) in rows {
        if let Some(span) = spans.get_mut(section.index()) {
            let start = if span.is_empty() {
                row.index()
            } else {
                span.start()
            };
            *span = IdRange::new(start, row.index() + 1);
        }
    }
    spans
}

/// Makes what an object says of its file fit its sections and symbols: it is not the file's image
/// any more, its header names its note, and its symbol table says where global symbols begin.
fn follow_file(
    module: &mut Module<'_>,
    id: ObjectId,
    note: Option<SectionId>,
    numbers: &Renumbering,
) {
    let object = &mut module.objects[id];
    object.image = b"";
    if let Some(note) = note {
        let place = numbers
            .get(note)
            .and_then(|note| object.sections.ordinal(note));
        let place = place.and_then(|place| u8::try_from(place).ok());
        object.e_flags = object.e_flags & 0x00ff_ffff | u32::from(place.unwrap_or(0)) << 24;
    }
    let (sections, symbols) = (object.sections, object.symbols);
    let named = module.sections[sections]
        .iter()
        .filter(|row| has_section_symbol(row));
    let local = module.symbols[symbols].iter().filter(|row| row.is_local());
    let first_global = 1 + named.count() + local.count();
    for section in sections.iter() {
        let section = &mut module.sections[section];
        if section.ty == sht::SYMTAB {
            section.info = SectionInfo::Raw(first_global as u32);
        }
    }
}
