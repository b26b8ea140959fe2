//! Renumbering: ids of a text that was edited by hand count up again.
//!
//! The text is parsed with ids that may be any numbers or names, each once in its table. What it says
//! by id is noted with its place; then rows get the numbers of their order, references follow, and
//! the ranges of objects and sections are those of the rows that stand in their blocks and below
//! their headings. All else stays, comments too. Linear in the size of the text, but for sorting.

use std::collections::BTreeMap;
use std::ops::Range;

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use super::ParseError;
use super::lexer::Parsed;
use super::lexer::Position;
use super::parse::Parser;
use super::quote::put;
use crate::arena::Arena;
use crate::ids::*;
use crate::table::EntityId;

/// The tables of which objects own ranges, in the order in which a row of ranges names them.
const OWNED: [&str; 8] = [
    SectionId::PREFIX,
    SymbolId::PREFIX,
    FunctionId::PREFIX,
    RelocId::PREFIX,
    AttributeId::PREFIX,
    CallId::PREFIX,
    PrototypeId::PREFIX,
    NoteId::PREFIX,
];

/// The tables of which sections have ranges, and the fields that name these.
const FIELDS: [(&str, &str); 2] = [
    (RelocId::PREFIX, "relocs"),
    (AttributeId::PREFIX, "attributes"),
];

/// Numbers the rows of an edited text anew.
///
/// Rows may have been deleted, added and moved within their blocks. Ids may be any numbers, or
/// names such as `%.new`; each stands for one row. The ranges of objects and sections need not be
/// right, and follow from where the rows stand. A reference to a row that is not there is an error,
/// and so is an output layout, whose rows name each other by place. A text that is right already
/// stays as it is.
pub fn renumber(text: &str) -> Result<String, ParseError> {
    let arena = Arena::new();
    let mut parser = Parser::new(text, &arena, &|_| None);
    parser.numbering = Some(Numbering::default());
    parser.text()?;
    match parser.numbering {
        Some(numbering) => numbering.apply(text),
        None => Ok(text.to_owned()),
    }
}

/// What a text says by id, while it is parsed.
#[derive(Default)]
pub(super) struct Numbering<'t> {
    rows: Vec<Definition<'t>>,
    references: Vec<Reference<'t>>,
    /// The rows of ranges of objects, by their place among the rows.
    owns: BTreeMap<usize, Range<usize>>,
    /// The headings that rows of a table stand below: references.
    headings: BTreeMap<&'static str, Option<usize>>,
    /// The object block that rows stand in, by its place among the rows.
    object: Option<usize>,
}

struct Definition<'t> {
    prefix: &'static str,
    key: &'t str,
    place: Range<usize>,
    position: Position,
    /// The object block, by its place among the rows.
    object: Option<usize>,
    /// The reference of the heading that names the section of the row.
    heading: Option<usize>,
    /// Values of the fields of ranges that the row has, by table.
    ranges: Vec<(&'static str, Range<usize>)>,
}

struct Reference<'t> {
    prefix: &'static str,
    key: &'t str,
    place: Range<usize>,
    position: Position,
}

impl<'t> Numbering<'t> {
    /// Notes the id that a row defines.
    pub(super) fn define(
        &mut self,
        prefix: &'static str,
        key: &'t str,
        place: Range<usize>,
        position: Position,
    ) {
        if prefix == ObjectId::PREFIX {
            self.start_block(Some(self.rows.len()));
        }
        self.rows.push(Definition {
            prefix,
            key,
            place,
            position,
            object: self.object,
            heading: self.headings.get(prefix).copied().flatten(),
            ranges: Vec::new(),
        });
    }

    /// Notes an id in a row.
    pub(super) fn refer(
        &mut self,
        prefix: &'static str,
        key: &'t str,
        place: Range<usize>,
        position: Position,
    ) {
        self.references.push(Reference {
            prefix,
            key,
            place,
            position,
        });
    }

    /// Notes a heading, which has just named its section if it names one.
    pub(super) fn heading(&mut self, prefix: &'static str, has_section: bool) {
        let last = self.references.len().checked_sub(1);
        self.headings.insert(prefix, last.filter(|_| has_section));
    }

    /// Begins the block of an object, or that of no object.
    pub(super) fn start_block(&mut self, object: Option<usize>) {
        self.object = object;
        self.headings.clear();
    }

    /// Notes the value of a field of a section.
    pub(super) fn range(&mut self, prefix: &'static str, value: Range<usize>) {
        if let Some(row) = self.rows.last_mut() {
            row.ranges.push((prefix, value));
        }
    }

    /// Notes the ranges of the object whose row was read last.
    pub(super) fn owns(&mut self, place: Range<usize>) {
        if let Some(row) = self.rows.len().checked_sub(1) {
            self.owns.insert(row, place);
        }
    }

    /// Returns the text with new numbers.
    fn apply(&self, text: &str) -> Parsed<String> {
        let numbers = self.numbers()?;
        let mut changes: Vec<(Range<usize>, String)> = Vec::new();
        for (row, number) in self.rows.iter().zip(&numbers.of_rows) {
            changes.push((row.place.clone(), format!("{}{number}", row.prefix)));
        }
        let mut sections = Vec::with_capacity(self.references.len());
        for reference in &self.references {
            let Some(row) = numbers.known.get(&(reference.prefix, reference.key)) else {
                let id = format!("{}{}", reference.prefix, reference.key);
                let what = format!("`{id}` is not defined: no row has this id");
                return Err(reference.position.error(what));
            };
            let number = numbers.of_rows.get(*row).copied().unwrap_or(0);
            changes.push((
                reference.place.clone(),
                format!("{}{number}", reference.prefix),
            ));
            sections.push(*row);
        }
        self.object_ranges(text, &numbers, &mut changes);
        self.section_ranges(text, &numbers, &sections, &mut changes)?;
        changes.sort_by_key(|(place, _)| (place.start, place.end));
        let mut out = String::with_capacity(text.len());
        let mut end = 0;
        for (place, new) in changes {
            out.push_str(text.get(end..place.start).unwrap_or(""));
            out.push_str(&new);
            end = end.max(place.end);
        }
        out.push_str(text.get(end..).unwrap_or(""));
        Ok(out)
    }

    /// Numbers the rows of each table in their order.
    fn numbers(&self) -> Parsed<Numbers<'t>> {
        let mut numbers = Numbers::default();
        let mut counts: HashMap<&str, usize, FixedState> = HashMap::default();
        for (place, row) in self.rows.iter().enumerate() {
            let count = counts.entry(row.prefix).or_default();
            numbers.of_rows.push(*count);
            *count += 1;
            let id = (row.prefix, row.key);
            if let Some(first) = numbers.known.insert(id, place) {
                let line = self.rows.get(first).map_or(0, |row| row.position.line);
                let what = format!(
                    "`{}{}` is defined twice, first in line {line}",
                    row.prefix, row.key
                );
                return Err(row.position.error(what));
            }
        }
        Ok(numbers)
    }

    /// Says which rows each object owns.
    fn object_ranges(
        &self,
        text: &str,
        numbers: &Numbers<'_>,
        changes: &mut Vec<(Range<usize>, String)>,
    ) {
        let mut ends: BTreeMap<&str, usize> = BTreeMap::new();
        let mut owned: BTreeMap<usize, BTreeMap<&str, Range<usize>>> = BTreeMap::new();
        for (row, number) in self.rows.iter().zip(&numbers.of_rows) {
            if let Some(object) = row.object {
                let ranges = owned.entry(object).or_default();
                let range = ranges.entry(row.prefix).or_insert(*number..*number);
                range.end = number + 1;
            }
        }
        let objects = self.rows.iter().enumerate();
        for (place, row) in objects.filter(|(_, row)| row.prefix == ObjectId::PREFIX) {
            let old = self.owns.get(&place).cloned();
            let old_text = old.clone().and_then(|old| text.get(old)).unwrap_or("");
            let mut new = String::from("owns");
            for prefix in OWNED {
                let range = owned.get(&place).and_then(|ranges| ranges.get(prefix));
                match range {
                    Some(range) => {
                        put!(new, " {prefix}{}..{}", range.start, range.end);
                        ends.insert(prefix, range.end);
                    }
                    // An object without rows of a table may say where they would be.
                    None if has_empty(old_text, prefix) => {
                        let end = ends.get(prefix).copied().unwrap_or(0);
                        put!(new, " {prefix}{end}..{end}");
                    }
                    None => {}
                }
            }
            match old {
                Some(old) if new == "owns" => changes.push((whole_line(text, old), String::new())),
                Some(old) => changes.push((old, new)),
                None if new == "owns" => {}
                None => {
                    let end = line_end(text, row.place.end);
                    changes.push((end..end, format!("\n  {new}")));
                }
            }
        }
    }

    /// Says which rows each section has. Rows of one section stand together.
    fn section_ranges(
        &self,
        text: &str,
        numbers: &Numbers<'_>,
        sections: &[usize],
        changes: &mut Vec<(Range<usize>, String)>,
    ) -> Parsed<()> {
        let mut ranges: BTreeMap<(usize, &str), Range<usize>> = BTreeMap::new();
        for (row, number) in self.rows.iter().zip(&numbers.of_rows) {
            let Some(section) = row.heading.and_then(|heading| sections.get(heading)) else {
                continue;
            };
            let range = ranges
                .entry((*section, row.prefix))
                .or_insert(*number..*number);
            if range.end != *number {
                let what = "rows of this section stand further up, too: put them together";
                return Err(row.position.error(what));
            }
            range.end = number + 1;
        }
        let rows = self.rows.iter().enumerate();
        for (place, row) in rows.filter(|(_, row)| row.prefix == SectionId::PREFIX) {
            for (prefix, field) in FIELDS {
                let new = ranges.get(&(place, prefix));
                let new = new.map(|range| format!("{prefix}{}..{}", range.start, range.end));
                let old = row.ranges.iter().find(|(known, _)| *known == prefix);
                match (old, new) {
                    (Some((_, old)), Some(new)) => changes.push((old.clone(), new)),
                    (Some((_, old)), None) => {
                        changes.push((whole_field(text, old.clone()), String::new()));
                    }
                    (None, Some(new)) => {
                        let end = content_end(text, row.place.end);
                        changes.push((end..end, format!(" {field}={new}")));
                    }
                    (None, None) => {}
                }
            }
        }
        Ok(())
    }
}

/// The new numbers of rows.
#[derive(Default)]
struct Numbers<'t> {
    /// By place among the rows.
    of_rows: Vec<usize>,
    /// Places among the rows, by table and old id.
    known: HashMap<(&'static str, &'t str), usize, FixedState>,
}

/// Returns `true` if a row of ranges names an empty range of a table.
fn has_empty(owns: &str, prefix: &str) -> bool {
    let ranges = owns
        .split_whitespace()
        .filter_map(|word| word.strip_prefix(prefix));
    let mut bounds = ranges.filter_map(|range| range.split_once(".."));
    bounds
        .any(|(start, end)| start == end && start.starts_with(|digit: char| digit.is_ascii_digit()))
}

/// Returns the end of a line.
fn line_end(text: &str, from: usize) -> usize {
    let rest = text.get(from..).unwrap_or("");
    from + rest.find('\n').unwrap_or(rest.len())
}

/// Returns where the content of a line ends, before blanks and a comment.
fn content_end(text: &str, from: usize) -> usize {
    let line = text.get(from..line_end(text, from)).unwrap_or("");
    let (mut quoted, mut escaped, mut end) = (false, false, from);
    for (at, byte) in line.bytes().enumerate() {
        if !quoted && byte == b';' {
            break;
        }
        if byte == b'"' && !escaped {
            quoted = !quoted;
        }
        escaped = quoted && byte == b'\\' && !escaped;
        if !byte.is_ascii_whitespace() {
            end = from + at + 1;
        }
    }
    end
}

/// Returns a field with this value, with the blanks before it.
fn whole_field(text: &str, value: Range<usize>) -> Range<usize> {
    let before = text.get(..value.start).unwrap_or("");
    let key = before.trim_end().trim_end_matches('=').trim_end();
    let key = key.trim_end_matches(|part: char| part.is_ascii_lowercase());
    key.trim_end_matches([' ', '\t']).len()..value.end
}

/// Returns the line of a row with its end, if nothing else stands in it.
fn whole_line(text: &str, row: Range<usize>) -> Range<usize> {
    let before = text.get(..row.start).unwrap_or("");
    let start = before.trim_end_matches([' ', '\t']).len();
    let end = line_end(text, row.end);
    let rest = text.get(row.end..end).unwrap_or("");
    match rest.trim().is_empty() {
        true => start..(end + 1).min(text.len()),
        false => row,
    }
}
