//! Frames of both views: the rules for the unwinder of a function are the same, each at a place of
//! its view's code.

use std::ops::Bound;

use zerocopy::FromBytes;

use super::Findings;
use super::Rule;
use super::View;
use super::ViewSection;
use super::view::rows;
use crate::mercury::capmerc::INSTRUCTION;
use crate::mercury::frames;
use crate::mercury::frames::Step;
use crate::raw::RawRela;
use crate::target::section_types::is_rela;

/// The entries of a section of frames.
struct Entries<'v> {
    bytes: &'v [u8],
    starts: Vec<u64>,
}

impl<'v> Entries<'v> {
    fn new(section: &ViewSection<'v>) -> Self {
        Entries {
            bytes: section.bytes,
            starts: frames::entries(section.bytes),
        }
    }

    fn entry(&self, index: usize) -> Option<&'v [u8]> {
        let start = *self.starts.get(index)? as usize;
        let next = self.starts.get(index + 1).map(|next| *next as usize);
        self.bytes.get(start..next.unwrap_or(self.bytes.len()))
    }

    /// Returns the CIE that an entry names; `None` where it names none.
    fn cie(&self, entry: &[u8]) -> Option<&'v [u8]> {
        let number = self.starts.binary_search(&pointer(entry)?).ok()?;
        self.entry(number).filter(|cie| is_cie(cie))
    }
}

/// Returns the field of an entry that names its CIE. That of the Mercury view counts in the object
/// that the entry came from.
fn pointer(entry: &[u8]) -> Option<u64> {
    let field = entry.get(frames::CIE_POINTER as usize..)?;
    Some(u64::read_from_prefix(field).ok()?.0)
}

fn is_cie(entry: &[u8]) -> bool {
    pointer(entry) == Some(u64::MAX)
}

/// Compares the frames of the views, where both have as many.
pub(super) fn check(view: &View<'_>, findings: &mut Findings) {
    let section = |name: &[u8]| {
        view.sections
            .iter()
            .position(|section| section.name == name)
    };
    let sections = section(b".debug_frame").zip(section(b".nv.merc.debug_frame"));
    let Some((index, twin)) = sections else {
        return;
    };
    let sass = &view.sections[index];
    let (own, other) = (Entries::new(sass), Entries::new(&view.sections[twin]));
    if own.starts.len() != other.starts.len() {
        return;
    }
    let (Some(own_rows), Some(other_rows)) =
        (functions(view, index, &own), functions(view, twin, &other))
    else {
        let what = "a row is not that of a field of an entry";
        findings.report(Rule::FramePairs, sass.name, 0, what);
        return;
    };
    let pairs = || own.starts.iter().zip(&other.starts);
    // Of links of objects for several targets the views have frames of other functions.
    let symbol = |rows: &[Row], start: u64| named(rows, start).map(|row| row.symbol);
    if pairs().any(|(own, other)| symbol(&own_rows, *own) != symbol(&other_rows, *other)) {
        return;
    }
    for (number, (start, _)) in pairs().enumerate() {
        let Some((first, second)) = own.entry(number).zip(other.entry(number)) else {
            continue;
        };
        let fits = match (is_cie(first), is_cie(second)) {
            (true, true) => is_same_cie(first, second),
            (false, false) => own.cie(first).is_some_and(|cie| {
                // Of several copies the first has the rules of all, the others have those of
                // Mercury [mercury-frames-of-replaced-copies].
                let is_one = named(&own_rows, *start).and_then(|function| function.size);
                !frames::advances_by(cie, frames::SASS_UNIT)
                    || is_one.is_none_or(|size| is_same_frame(first, second, size))
            }),
            _ => false,
        };
        if !fits {
            let what = "the entry does not stand for that of the Mercury view";
            findings.report(Rule::FramePairs, sass.name, *start, what);
            return;
        }
    }
}

/// A row that names the function of an entry.
struct Row {
    at: u64,
    symbol: u32,
    /// Bytes of the function, if it has one frame.
    size: Option<u64>,
}

/// Returns the rows that name functions, by their places; `None` if there is a row that is not of
/// the CIE of an entry, of its function or of the function's size.
fn functions(view: &View<'_>, frames: usize, entries: &Entries<'_>) -> Option<Vec<Row>> {
    let relocs = view
        .sections
        .iter()
        .find(|row| is_rela(row.ty()) && row.header.info.get() as usize == frames);
    let Some(relocs) = relocs else {
        return Some(Vec::new());
    };
    let table = view.section(relocs.header.link.get());
    let symbols = table.map_or(&[][..], |table| view.symbols(table));
    let mut seen = vec![0_u8; symbols.len()];
    let mut found = Vec::with_capacity(entries.starts.len());
    for row in rows::<RawRela>(relocs.bytes) {
        let (at, symbol) = (row.offset.get(), row.symbol.get());
        let after = entries.starts.partition_point(|start| *start <= at);
        let start = *entries.starts.get(after.checked_sub(1)?)?;
        match at - start {
            frames::FUNCTION if row.addend.get() == 0 => {
                let seen = seen.get_mut(symbol as usize)?;
                *seen = seen.saturating_add(1);
                let size = None;
                found.push(Row { at, symbol, size });
            }
            frames::CIE_POINTER | frames::RANGE => {}
            _ => return None,
        }
    }
    for row in &mut found {
        let symbol = row.symbol as usize;
        if seen.get(symbol) == Some(&1) {
            row.size = symbols.get(symbol).map(|symbol| symbol.size.get());
        }
    }
    found.sort_by_key(|row| row.at);
    Some(found)
}

/// Returns the row that names the function of the entry at an offset.
fn named(rows: &[Row], start: u64) -> Option<&Row> {
    let at = start + frames::FUNCTION;
    let found = rows.binary_search_by_key(&at, |row| row.at).ok()?;
    rows.get(found)
}

/// Returns `true` if CIEs are the same but for the unit of advances.
fn is_same_cie(first: &[u8], second: &[u8]) -> bool {
    let unit = frames::CIE_UNIT;
    let is_same = |range: (Bound<usize>, Bound<usize>)| first.get(range) == second.get(range);
    is_same((Bound::Unbounded, Bound::Excluded(unit)))
        && is_same((Bound::Excluded(unit), Bound::Unbounded))
}

/// Returns `true` if the second of two frames has the rules of the first in the same order, and
/// those of the first are at instructions of code of `size` bytes. Rules of places at which no
/// instruction begins are in the Mercury view alone.
fn is_same_frame(first: &[u8], second: &[u8], size: u64) -> bool {
    let address = |frame| <[u8]>::get(frame, frames::FUNCTION as usize..frames::RANGE as usize);
    let steps = |frame| {
        let instructions: &[u8] = <[u8]>::get(frame, frames::INSTRUCTIONS as usize..)?;
        frames::steps(instructions).collect::<Option<Vec<Step<'_>>>>()
    };
    let is_one_address = address(first) == address(second);
    let (Some(first), Some(second)) = (steps(first), steps(second)) else {
        return false;
    };
    let mut at = 0_u64;
    let is_within = first.iter().all(|step| match step {
        Step::Advance(units) => {
            at += u64::from(*units) * u64::from(frames::SASS_UNIT);
            at.is_multiple_of(INSTRUCTION) && at <= size
        }
        Step::Rule(_) => true,
    });
    let is_rule = |step: &&Step<'_>| matches!(step, Step::Rule(rule) if **rule != [0]);
    let mut twins = second.iter();
    let mut rules = first.iter().filter(is_rule);
    is_one_address && is_within && rules.all(|rule| twins.any(|twin| twin == rule))
}
