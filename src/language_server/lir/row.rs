//! A row of a module in text form as a place in a document.

use std::ops::Range;

use cuweld_ir::text::outline;
use cuweld_ir::text::outline::IdUse;
use cuweld_ir::text::outline::Outline;
use cuweld_ir::text::outline::Row;
use cuweld_ir::text::outline::RowId;

use crate::language_server::lines::Lines;

/// A module in text form.
#[derive(Clone, Copy)]
pub struct Text<'t> {
    /// The text.
    pub text: &'t str,
    /// Where its lines begin.
    pub lines: &'t Lines,
    /// Where its rows are.
    pub outline: &'t Outline,
}

impl<'t> Text<'t> {
    /// Returns the row in a line, counted from 0.
    pub fn row(&self, line: usize) -> Option<Row<'t>> {
        let bytes = self.lines.bytes(self.text, line);
        outline::row_of_line(self.text.get(bytes.clone())?, line, bytes.start)
    }

    /// Returns the row at a byte, if that is not in the blanks before it.
    pub fn row_at(&self, offset: usize) -> Option<Row<'t>> {
        let row = self.row(self.lines.line_of(offset))?;
        (row.start <= offset).then_some(row)
    }

    /// Returns the row that defines an id.
    pub fn definition(&self, id: RowId) -> Option<Row<'t>> {
        self.row(self.outline.line_of(id)?)
    }

    /// Returns the id at a byte of a row.
    pub fn id_at(&self, row: &Row<'_>, offset: usize) -> Option<IdUse> {
        outline::ids(row).into_iter().find(|used| {
            let end = used.name.as_ref().map_or(used.place.end, |name| name.end);
            (used.place.start..=end).contains(&offset)
        })
    }

    /// Returns what a row defines, by name: a row without a name of its own has that of its symbol.
    pub fn name_of(&self, row: &Row<'t>) -> Option<String> {
        let mut row = row.clone();
        // A resolved symbol or a function names a symbol first.
        for _ in 0..2 {
            if let Some(name) = row.name() {
                return Some(outline::unquoted(name));
            }
            if !matches!(row.word(), "function" | "link-symbol") {
                return None;
            }
            let symbol = outline::ids(&row).into_iter().find(|used| !used.defines)?;
            row = self.definition(symbol.id)?;
        }
        None
    }
}

/// Returns the bytes of a row without a comment.
pub fn place(row: &Row<'_>) -> Range<usize> {
    row.start..row.start + row.text.len()
}

/// Returns the word at a byte of a row, with its place: letters, digits and what joins them.
pub fn word_at<'t>(row: &Row<'t>, offset: usize) -> Option<(&'t str, Range<usize>)> {
    let at = offset.checked_sub(row.start)?;
    let bytes = row.text.as_bytes();
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let before = bytes
        .get(..at)?
        .iter()
        .rev()
        .take_while(|byte| is_word(byte));
    let start = at - before.count();
    let length = bytes
        .get(start..)?
        .iter()
        .take_while(|byte| is_word(byte))
        .count();
    let word = row.text.get(start..start + length)?;
    (!word.is_empty()).then_some((word, row.start + start..row.start + start + length))
}

/// Returns the key of the field whose value a byte of a row is in, or nothing.
pub fn key_before<'t>(row: &Row<'t>, word: &Range<usize>) -> Option<&'t str> {
    let before = row.text.get(..word.start.checked_sub(row.start)?)?;
    let field = before.rsplit([' ', '(']).next()?;
    let (key, _) = field.split_once('=')?;
    Some(key)
}
