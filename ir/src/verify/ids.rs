//! What everything else relies on: ids name rows, and objects own ranges of the tables.

use super::Checker;
use super::Rule;
use crate::ids::*;
use crate::module::Module;
use crate::section::SectionInfo;
use crate::symbol::SymbolPlace;
use crate::symbol::SymbolRef;
use crate::table::EntityId;
use crate::table::IdRange;

pub(super) fn check(checker: &mut Checker<'_, '_>) {
    input_rows(checker);
    link_rows(checker);
    if checker.errors.is_empty() {
        object_ranges(checker);
    }
}

/// Reports ids of one row that name nothing.
struct Row<'c, 'm, 'data> {
    checker: &'c mut Checker<'m, 'data>,
}

impl Row<'_, '_, '_> {
    fn missing(&mut self, what: impl std::fmt::Debug) {
        // `row!` fills in the place.
        let what = format!("{what:?} names no row");
        self.checker.report(Rule::IdsInRange, "", what);
    }

    fn id<K: EntityId>(&mut self, id: K) {
        if id.index() >= length::<K>(self.checker.module) {
            self.missing(id);
        }
    }

    fn optional<K: EntityId>(&mut self, id: Option<K>) {
        if let Some(id) = id {
            self.id(id);
        }
    }

    fn range<K: EntityId>(&mut self, range: IdRange<K>) {
        if range.end() > length::<K>(self.checker.module) || range.start() > range.end() {
            self.missing(range);
        }
    }

    fn target(&mut self, target: SymbolRef) {
        match target {
            SymbolRef::None => {}
            SymbolRef::Symbol(id) => self.id(id),
            SymbolRef::Section(id) => self.id(id),
        }
    }
}

/// How many rows the table of these ids has.
fn length<K: EntityId>(module: &Module<'_>) -> usize {
    match K::PREFIX {
        ObjectId::PREFIX => module.objects.len(),
        SectionId::PREFIX => module.sections.len(),
        SymbolId::PREFIX => module.symbols.len(),
        LinkSymbolId::PREFIX => module.link_symbols.len(),
        FunctionId::PREFIX => module.functions.len(),
        RelocId::PREFIX => module.relocs.len(),
        AttributeId::PREFIX => module.attributes.len(),
        CallId::PREFIX => module.calls.len(),
        PrototypeId::PREFIX => module.prototypes.len(),
        NoteId::PREFIX => module.notes.len(),
        _ => 0,
    }
}

/// Checks the ids of a row; its place is written only if one is wrong.
macro_rules! row {
    ($checker:expr, $place:expr, |$row:ident| $check:block) => {{
        let before = $checker.errors.len();
        let mut $row = Row {
            checker: &mut *$checker,
        };
        $check
        if let Some(found) = $checker.errors.get_mut(before..) {
            for error in found {
                error.place = $place.to_string();
            }
        }
    }};
}

fn input_rows(checker: &mut Checker<'_, '_>) {
    let module = checker.module;
    for (id, object) in module.objects.iter() {
        row!(checker, id, |row| {
            row.range(object.sections);
            row.range(object.symbols);
            row.range(object.functions);
            row.range(object.relocs);
            row.range(object.attributes);
            row.range(object.calls);
            row.range(object.prototypes);
            row.range(object.notes);
        });
    }
    for (id, section) in module.sections.iter() {
        row!(checker, id, |row| {
            row.id(section.object);
            row.optional(section.link);
            row.optional(section.owner);
            row.range(section.relocs);
            row.range(section.attributes);
            match section.info {
                SectionInfo::Section(id) => row.id(id),
                SectionInfo::Symbol { symbol, .. } => row.id(symbol),
                SectionInfo::None | SectionInfo::Raw(_) => {}
            }
        });
    }
    for (id, symbol) in module.symbols.iter() {
        row!(checker, id, |row| {
            row.id(symbol.object);
            row.optional(symbol.function);
            row.optional(symbol.link);
            if let SymbolPlace::Section(section) = symbol.place {
                row.id(section);
            }
        });
    }
    for (id, function) in module.functions.iter() {
        row!(checker, id, |row| {
            row.id(function.object);
            row.id(function.symbol);
            for view in [Some(function.views.sass), function.views.merc] {
                row.optional(view.map(|view| view.text));
                row.optional(view.and_then(|view| view.info));
            }
        });
    }
    for (id, reloc) in module.relocs.iter() {
        row!(checker, id, |row| {
            row.id(reloc.section);
            row.target(reloc.target);
        });
    }
    let refs = module.attribute_refs.len();
    for (id, attribute) in module.attributes.iter() {
        row!(checker, id, |row| {
            row.optional(attribute.section);
            let range = &attribute.refs;
            if range.start > range.end || range.end as usize > refs {
                row.missing(range);
            }
        });
    }
    for (index, target) in module.attribute_refs.iter().enumerate() {
        row!(checker, format_args!("reference {index}"), |row| {
            row.target(*target);
        });
    }
    for (id, call) in module.calls.iter() {
        row!(checker, id, |row| {
            row.target(call.from);
            row.target(call.to);
        });
    }
    for (id, prototype) in module.prototypes.iter() {
        row!(checker, id, |row| {
            row.target(prototype.function);
        });
    }
    for (id, note) in module.notes.iter() {
        row!(checker, id, |row| {
            row.optional(note.section);
        });
    }
}

fn link_rows(checker: &mut Checker<'_, '_>) {
    let module = checker.module;
    for (id, link) in module.link_symbols.iter() {
        row!(checker, id, |row| {
            row.id(link.first);
            row.optional(link.definition);
            row.optional(link.kernel);
        });
    }
    for (index, event) in module.merge_log.iter().enumerate() {
        row!(checker, format_args!("merge event {index}"), |row| {
            row.id(event.newcomer);
            row.id(event.prevailing);
        });
    }
    for (index, piece) in module.bank_pieces.iter().enumerate() {
        row!(checker, format_args!("bank piece {index}"), |row| {
            row.id(piece.kernel);
            row.id(piece.section);
        });
    }
    for (index, part) in module.pool_parts.iter().enumerate() {
        row!(checker, format_args!("pool part {index}"), |row| {
            row.id(part.section);
        });
    }
    for (index, slot) in module.header_slots.iter().enumerate() {
        row!(checker, format_args!("header slot {index}"), |row| {
            row.id(slot.symbol);
        });
    }
    for (index, list) in module.merged_info.iter().enumerate() {
        row!(checker, format_args!("merged list {index}"), |row| {
            row.optional(list.function);
            for record in &list.records {
                row.id(*record);
            }
        });
    }
    row!(checker, "merged compat records", |row| {
        for record in &module.merged_compat {
            row.id(*record);
        }
    });
    row!(checker, "merged notes", |row| {
        for note in &module.merged_notes {
            row.id(*note);
        }
    });
    for (index, patch) in module.patches.iter().enumerate() {
        row!(checker, format_args!("patch {index}"), |row| {
            row.id(patch.section);
            if let Some(cause) = patch.cause {
                row.id(cause);
            }
        });
    }
    for (index, piece) in module.plan.iter().flat_map(|plan| &plan.pieces).enumerate() {
        row!(checker, format_args!("output piece {index}"), |row| {
            row.id(piece.section);
        });
    }
}

fn object_ranges(checker: &mut Checker<'_, '_>) {
    partition(checker, |object| object.sections, false);
    partition(checker, |object| object.symbols, false);
    partition(checker, |object| object.functions, false);
    partition(checker, |object| object.relocs, false);
    partition(checker, |object| object.attributes, true);
    partition(checker, |object| object.calls, false);
    partition(checker, |object| object.prototypes, false);
    partition(checker, |object| object.notes, true);
}

/// Checks the ranges of all objects in one table; `tail` says whether the linker's rows may follow.
fn partition<'data, K: EntityId>(
    checker: &mut Checker<'_, 'data>,
    range: impl Fn(&crate::object::Object<'data>) -> IdRange<K>,
    tail: bool,
) {
    let module = checker.module;
    let prefix = K::PREFIX;
    let mut next = 0;
    for (id, object) in module.objects.iter() {
        let range = range(object);
        if range.is_empty() {
            continue;
        }
        if range.start() != next {
            let what = format!("its range {range:?} does not begin at {prefix}{next}");
            checker.report(Rule::ObjectRanges, id, what);
        }
        next = range.end();
    }
    if next != length::<K>(module) && !tail {
        let what = "no object owns it";
        checker.report(Rule::ObjectRanges, format!("{prefix}{next}"), what);
    }
}
