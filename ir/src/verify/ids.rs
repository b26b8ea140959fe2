//! What everything else relies on: ids name rows, and objects own ranges of the tables.

use std::fmt::Display;

use super::Checker;
use super::Rule;
use crate::table::EntityId;
use crate::table::IdRange;
use crate::table::PrimaryMap;
use crate::text::fields::IdVisitor;
use crate::text::fields::Ids;
use crate::text::fields::Row;
use crate::text::fields::Visitor;

pub(super) fn check(checker: &mut Checker<'_, '_>) {
    input_rows(checker);
    link_rows(checker);
    if checker.errors.is_empty() {
        object_ranges(checker);
    }
}

/// Looks up the ids in rows with ids.
fn table<'data, K: EntityId + Display, R: Row<'data>>(
    checker: &mut Checker<'_, 'data>,
    rows: &PrimaryMap<K, R>,
) {
    for (id, row) in rows.iter() {
        look_up(checker, id, |ids| row.clone().fields(ids));
    }
}

/// Looks up the ids in rows without ids, whose places are `what` and a number.
fn list<'data, R: Row<'data>>(checker: &mut Checker<'_, 'data>, what: &str, rows: &[R]) {
    for (index, row) in rows.iter().enumerate() {
        look_up(checker, format_args!("{what} {index}"), |ids| {
            row.clone().fields(ids);
        });
    }
}

/// Reports the ids that name no row.
fn look_up<'m, 'data>(
    checker: &mut Checker<'m, 'data>,
    place: impl Display,
    visit: impl FnOnce(&mut Ids<'m, 'data>),
) {
    let mut ids = Ids::new(checker.module);
    visit(&mut ids);
    for what in ids.missing {
        checker.report(Rule::IdsInRange, &place, what);
    }
}

fn input_rows(checker: &mut Checker<'_, '_>) {
    let module = checker.module;
    for (id, object) in module.objects.iter() {
        look_up(checker, id, |ids| object.clone().owned(ids));
    }
    table(checker, &module.sections);
    table(checker, &module.symbols);
    table(checker, &module.functions);
    table(checker, &module.relocs);
    let refs = module.attribute_refs.len();
    for (id, attribute) in module.attributes.iter() {
        look_up(checker, id, |ids| {
            if let Some(mut section) = attribute.section {
                ids.id(&mut section);
            }
            let range = &attribute.refs;
            if range.start > range.end || range.end as usize > refs {
                ids.missing(range);
            }
        });
    }
    for (index, target) in module.attribute_refs.iter().enumerate() {
        look_up(checker, format_args!("reference {index}"), |ids| {
            ids.target(&mut { *target })
        });
    }
    table(checker, &module.calls);
    table(checker, &module.prototypes);
    table(checker, &module.notes);
}

fn link_rows(checker: &mut Checker<'_, '_>) {
    let module = checker.module;
    table(checker, &module.link_symbols);
    list(checker, "merge event", &module.merge_log);
    list(checker, "bank piece", &module.bank_pieces);
    list(checker, "pool part", &module.pool_parts);
    list(checker, "header slot", &module.header_slots);
    list(checker, "merged list", &module.merged_info);
    look_up(checker, "merged compat records", |ids| {
        ids.list(&mut module.merged_compat.clone());
    });
    look_up(checker, "merged notes", |ids| {
        ids.list(&mut module.merged_notes.clone());
    });
    list(checker, "fixup", &module.fixups);
    if let Some(plan) = &module.plan {
        list(checker, "output piece", &plan.pieces);
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
    if next != module.rows_of(K::PREFIX) && !tail {
        let what = "no object owns it";
        checker.report(Rule::ObjectRanges, format!("{prefix}{next}"), what);
    }
}
