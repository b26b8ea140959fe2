//! Where rows are defined and named, and the outline of a module.

use std::ops::Range;

use cuweld_ir::text::outline;
use cuweld_ir::text::outline::RowId;

use super::row::Text;
use super::row::place;

/// The most places that are listed.
const MOST_PLACES: usize = 10_000;

/// Returns where the row is that an id at a byte names; of a range, the first.
pub fn definition(text: &Text<'_>, offset: usize) -> Option<Range<usize>> {
    let row = text.row_at(offset)?;
    let used = text.id_at(&row, offset)?;
    let found = text.definition(used.id)?;
    let own = outline::ids(&found).into_iter().find(|used| used.defines);
    Some(own.map_or(place(&found), |used| used.place))
}

/// Returns the places that name the row of the id at a byte, and the row itself if it is asked for.
/// Ranges name all rows that they hold.
pub fn references(text: &Text<'_>, offset: usize, with_definition: bool) -> Vec<Range<usize>> {
    let target = |offset| -> Option<RowId> {
        let row = text.row_at(offset)?;
        Some(text.id_at(&row, offset)?.id)
    };
    let Some(target) = target(offset) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for row in outline::rows(text.text) {
        let ids = outline::ids(&row).into_iter();
        let named = ids.filter(|used| used.covers(target) && (with_definition || !used.defines));
        found.extend(named.map(|used| used.place));
        if found.len() >= MOST_PLACES {
            break;
        }
    }
    found
}

/// What a symbol of the outline is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An object, or the rows that the linker owns.
    Object,
    /// A part of the module: resolved symbols, the plan.
    Part,
    /// A section.
    Section,
    /// A function.
    Function,
    /// A resolved symbol.
    Symbol,
}

/// A symbol of the outline.
#[derive(Debug)]
pub struct Symbol {
    /// Its name.
    pub name: String,
    /// Its id.
    pub detail: String,
    /// What it is.
    pub kind: Kind,
    /// Its row, or the rows of its block.
    pub place: Range<usize>,
    /// Its row.
    pub row: Range<usize>,
    /// What it holds.
    pub children: Vec<Symbol>,
}

/// Returns the objects with their sections and functions, the resolved symbols and the plan.
pub fn symbols(text: &Text<'_>) -> Vec<Symbol> {
    let mut symbols: Vec<Symbol> = Vec::new();
    let mut count = 0;
    for row in outline::rows(text.text) {
        let row_place = place(&row);
        let block = |name: &str, kind| Symbol {
            name: name.to_owned(),
            detail: String::new(),
            kind,
            place: row_place.clone(),
            row: row_place.clone(),
            children: Vec::new(),
        };
        match row.word() {
            "object" => {
                let name = text.name_of(&row).filter(|name| !name.is_empty());
                symbols.push(Symbol {
                    detail: row.id().map_or(String::new(), |id| id.to_string()),
                    ..block(name.as_deref().unwrap_or("object"), Kind::Object)
                });
            }
            "unowned" => symbols.push(block("unowned", Kind::Object)),
            "link-symbols" => symbols.push(block("link-symbols", Kind::Part)),
            "plan" => symbols.push(block("plan", Kind::Part)),
            "bank-pieces" | "pool-parts" | "header-slots" | "merged" | "merge-log" | "fixups" => {
                symbols.push(block(row.word(), Kind::Part));
            }
            word @ ("section" | "function" | "link-symbol") if count < MOST_PLACES => {
                let Some((parent, id)) = symbols.last_mut().zip(row.id()) else {
                    continue;
                };
                count += 1;
                let name = text.name_of(&row).unwrap_or_default();
                let shown = cuweld_demangle::demangle(name.as_bytes()).unwrap_or(name);
                let kind = match word {
                    "section" => Kind::Section,
                    "function" => Kind::Function,
                    _ => Kind::Symbol,
                };
                parent.children.push(Symbol {
                    detail: id.to_string(),
                    // The protocol has no symbols without a name.
                    ..block(if shown.is_empty() { word } else { &shown }, kind)
                });
            }
            "end" => break,
            _ => {}
        }
        if let Some(open) = symbols.last_mut() {
            open.place.end = row_place.end;
        }
    }
    symbols
}

/// Returns the lines, first and last, of blocks that can be folded: objects, and what a heading
/// stands above.
pub fn folds(text: &Text<'_>) -> Vec<(usize, usize)> {
    let mut folds = Vec::new();
    // Open blocks with how deep they are and their first line: an object is 0, a heading 1.
    let mut open: Vec<(usize, usize)> = Vec::new();
    let mut last = 0;
    let mut close = |open: &mut Vec<(usize, usize)>, depth: usize, last: usize| {
        while let Some((_, first)) = open.pop_if(|(at, _)| *at >= depth) {
            if first < last {
                folds.push((first, last));
            }
        }
    };
    for row in outline::rows(text.text) {
        let depth = match row.word() {
            "object" | "unowned" | "link-symbols" | "plan" | "merge-log" | "bank-pieces"
            | "pool-parts" | "header-slots" | "merged" | "fixups" | "end" => Some(0),
            "sections" | "symbols" | "functions" | "relocs" | "attributes" | "calls"
            | "prototypes" | "notes" | "section-names" | "symbol-names" | "output-sections"
            | "pieces" | "output-symbols" | "output-relocs" | "segments" | "image-bytes" => Some(1),
            _ => None,
        };
        if let Some(depth) = depth {
            close(&mut open, depth, last);
            open.push((depth, row.line));
        }
        last = row.line;
    }
    close(&mut open, 0, last);
    folds
}
