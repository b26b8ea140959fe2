//! What the parser and the verifier say of a module, at its rows.

use std::cell::Cell;
use std::ops::Range;

use cuweld_ir::Arena;
use cuweld_ir::text;
use cuweld_ir::text::ParseError;
use cuweld_ir::text::outline::Outline;
use cuweld_ir::text::outline::row_of_line;
use cuweld_ir::verify;

use crate::language_server::files::Folders;
use crate::language_server::finding::Finding;
use crate::language_server::lines::Lines;

/// The most findings of the verifier that are shown.
const MOST_FINDINGS: usize = 100;

/// The most bytes of a module that are looked at.
pub const MOST_BYTES: usize = 256 << 20;

/// Parses and verifies a text.
pub fn check(text: &str, folders: &Folders) -> Vec<Finding> {
    if text.len() > MOST_BYTES {
        let message = format!("the text has more than {MOST_BYTES} bytes and is not checked");
        return vec![Finding::information(0..0, message)];
    }
    let lines = Lines::new(text);
    let arena = Arena::new();
    let is_away = Cell::new(false);
    let parsed = text::parse(text, &arena, &|key| {
        let image = folders.image(key, &arena);
        is_away.set(image.is_none());
        image
    });
    let module = match parsed {
        Ok(module) => module,
        Err(error) => {
            let place = place_of(&error, text, &lines);
            let is_hash = error.message.starts_with("this dump holds hashes");
            // Neither is a mistake in the text.
            return vec![match is_away.get() || is_hash {
                true => Finding::information(place, error.message),
                false => Finding::error(place, error.message),
            }];
        }
    };
    let errors = verify(&module);
    if errors.is_empty() {
        return Vec::new();
    }
    let outline = Outline::new(text);
    let mut findings = Vec::new();
    for error in errors.iter().take(MOST_FINDINGS) {
        let line = outline.line_of_place(&error.place);
        let place = line_place(
            text,
            &lines,
            line.or_else(|| outline.line_of_word("module", 0)),
        );
        let message = format!("{}: {}\n\n{}", error.place, error.what, error.rule.doc());
        findings.push(Finding {
            code: Some(error.rule.name()),
            ..Finding::error(place, message)
        });
    }
    if let Some(more) = errors
        .len()
        .checked_sub(MOST_FINDINGS)
        .filter(|more| *more > 0)
    {
        let place = line_place(text, &lines, outline.line_of_word("module", 0));
        findings.push(Finding::error(
            place,
            format!("{more} more findings are not shown"),
        ));
    }
    findings
}

/// Returns the place of what the parser did not expect: up to the next blank.
fn place_of(error: &ParseError, text: &str, lines: &Lines) -> Range<usize> {
    let line = lines.bytes(text, error.line.saturating_sub(1));
    let start = (line.start + error.column.saturating_sub(1)).min(line.end);
    let start = (line.start..=start)
        .rev()
        .find(|at| text.is_char_boundary(*at));
    let start = start.unwrap_or(line.start);
    let rest = text.get(start..line.end).unwrap_or("");
    let length = rest.find([' ', '\t', ')']).unwrap_or(rest.len());
    match rest.chars().next() {
        // Nothing of a row stands there: the end of the row is shown.
        None => line.end..line.end,
        Some(first) => start..start + length.max(first.len_utf8()),
    }
}

/// Returns the place of the row in a line.
fn line_place(text: &str, lines: &Lines, line: Option<usize>) -> Range<usize> {
    let line = line.unwrap_or(0);
    let bytes = lines.bytes(text, line);
    let whole = text.get(bytes.clone()).unwrap_or("");
    match row_of_line(whole, line, bytes.start) {
        Some(row) => row.start..row.start + row.text.len(),
        None => bytes,
    }
}
