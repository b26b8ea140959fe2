//! What can be written at a place of a module.

use std::ops::Range;

use cuweld_ir::text::outline::Row;
use cuweld_ir::text::outline::RowId;
use cuweld_ir::text::vocabulary;

use super::row::Text;
use super::row::key_before;
use super::row::word_at;
use crate::language_server::proposal::Proposal;

/// The most ids that are proposed.
const MOST_IDS: u32 = 200;

/// Returns fields, their values, or ids, whichever fit.
pub fn complete(text: &Text<'_>, offset: usize) -> Vec<Proposal> {
    let Some(row) = text.row_at(offset) else {
        return Vec::new();
    };
    let before = row.text.get(..offset - row.start).unwrap_or("");
    if let Some(prefix) = before
        .chars()
        .last()
        .filter(|last| matches!(last, '%' | '#' | '$' | '@'))
    {
        return ids(text, &prefix.to_string(), offset);
    }
    // A word begins at the cursor, or ends there.
    let place = match word_at(&row, offset) {
        Some((_, place)) if place.start < offset => place.start..offset,
        _ => offset..offset,
    };
    if place.start == row.start {
        return Vec::new();
    }
    words(&row, &place)
}

fn words(row: &Row<'_>, place: &Range<usize>) -> Vec<Proposal> {
    let kind = row.word();
    let key = key_before(row, place);
    let proposal = |(word, meaning): (&str, &str)| Proposal {
        word: word.to_owned(),
        detail: meaning.to_owned(),
        text: String::new(),
        place: place.clone(),
        insert: word.to_owned(),
    };
    if let Some(key) = key {
        let values = vocabulary::values(kind, key).iter().copied();
        return values.map(proposal).collect();
    }
    let fields = vocabulary::fields(kind).into_iter();
    let has = |key: &str| {
        row.text
            .split(' ')
            .any(|field| field.split('=').next() == Some(key))
    };
    let missing = fields.filter(|(key, _)| !has(key));
    // Words that stand without a key.
    let values = vocabulary::values(kind, "").iter().copied();
    values.chain(missing).map(proposal).collect()
}

/// Returns the ids of a table, with their names, and what stands in the row.
fn ids(text: &Text<'_>, prefix: &str, offset: usize) -> Vec<Proposal> {
    let Some((first, _)) = RowId::parse(&format!("{prefix}0")) else {
        return Vec::new();
    };
    let ids = (0..MOST_IDS).map_while(|index| {
        let id = first.with_index(index);
        Some((id, text.definition(id)?))
    });
    let proposals = ids.map(|(id, row)| {
        let name = text.name_of(&row).unwrap_or_default();
        Proposal {
            word: id.to_string(),
            detail: cuweld_demangle::demangle(name.as_bytes()).unwrap_or(name),
            text: String::new(),
            place: offset - prefix.len()..offset,
            insert: id.to_string(),
        }
    });
    proposals.collect()
}
