//! The rows of a text and the ids in them, found without parsing it: also those of a text that does
//! not parse, in an editor.
//!
//! A row is recognised by its first word or id alone. [`ids`] looks for ids where the grammar has
//! them: not in names, which may look like ids, and not in comments.

use std::collections::HashMap;
use std::ops::Range;

use super::quote::is_plain;
use crate::ids::*;
use crate::table::EntityId;

/// The tables: the prefix of their ids, and what the grammar calls a row.
const TABLES: [(&str, &str); 10] = [
    (ObjectId::PREFIX, "object"),
    (SectionId::PREFIX, "section"),
    (SymbolId::PREFIX, "symbol"),
    (LinkSymbolId::PREFIX, "link-symbol"),
    (FunctionId::PREFIX, "function"),
    (RelocId::PREFIX, "reloc"),
    (AttributeId::PREFIX, "attribute"),
    (CallId::PREFIX, "call"),
    (PrototypeId::PREFIX, "prototype"),
    (NoteId::PREFIX, "note"),
];

/// The id of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RowId {
    /// Its table, an index into [`TABLES`].
    table: u8,
    /// Its number.
    index: u32,
}

impl RowId {
    /// Parses an id that `text` begins with; returns also how many bytes it has.
    pub fn parse(text: &str) -> Option<(RowId, usize)> {
        let bytes = text.as_bytes();
        for (table, (prefix, _)) in (0..).zip(TABLES) {
            let Some(rest) = bytes.strip_prefix(prefix.as_bytes()) else {
                continue;
            };
            let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let end = prefix.len() + digits;
            if let Some(index) = text.get(prefix.len()..end).and_then(|it| it.parse().ok()) {
                return Some((RowId { table, index }, end));
            }
        }
        None
    }

    /// Returns what the grammar calls the row.
    pub fn row(self) -> &'static str {
        TABLES.get(usize::from(self.table)).map_or("", |it| it.1)
    }

    /// Returns the id of the same table with this number.
    pub fn with_index(self, index: u32) -> Self {
        RowId { index, ..self }
    }

    /// Returns its number.
    pub fn index(self) -> u32 {
        self.index
    }
}

impl std::fmt::Display for RowId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let prefix = TABLES.get(usize::from(self.table)).map_or("", |it| it.0);
        write!(f, "{prefix}{}", self.index)
    }
}

/// A row: a line that holds more than a comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row<'t> {
    /// Its line, counted from 0.
    pub line: usize,
    /// Where its first word begins, in bytes of the text.
    pub start: usize,
    /// The line from there to its end, with a comment if there is one.
    pub text: &'t str,
}

/// An id in a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdUse {
    /// The id; of a range, the first.
    pub id: RowId,
    /// The end of a range, which is not part of it.
    pub end: Option<u32>,
    /// Where it stands without its annotation, in bytes of the text.
    pub place: Range<usize>,
    /// Where the name after it stands.
    pub name: Option<Range<usize>>,
    /// Whether the row defines it.
    pub defines: bool,
}

impl IdUse {
    /// Returns `true` if this names the row with the id `other`.
    pub fn covers(&self, other: RowId) -> bool {
        let end = self.end.unwrap_or(self.id.index.saturating_add(1));
        self.id.table == other.table && (self.id.index..end).contains(&other.index)
    }
}

/// Returns the rows of a text.
pub fn rows(text: &str) -> impl Iterator<Item = Row<'_>> {
    let mut start = 0;
    text.split('\n')
        .enumerate()
        .filter_map(move |(line, whole)| {
            let line_start = start;
            start += whole.len() + 1;
            row_of_line(whole, line, line_start)
        })
}

/// Returns the row of one line, which begins at byte `line_start` of the text.
pub fn row_of_line(whole: &str, line: usize, line_start: usize) -> Option<Row<'_>> {
    let text = whole.trim_start_matches([' ', '\t', '\r']);
    let is_row = !text.is_empty() && !text.starts_with(';');
    is_row.then(|| Row {
        line,
        start: line_start + (whole.len() - text.len()),
        text: text.trim_end_matches(['\r', ' ', '\t']),
    })
}

impl<'t> Row<'t> {
    /// Returns its first word, or the id that it begins with.
    pub fn head(&self) -> &'t str {
        let length = match RowId::parse(self.text) {
            Some((_, length)) => length,
            None => word_length(self.text),
        };
        self.text.get(..length).unwrap_or("")
    }

    /// Returns the id that it defines.
    pub fn id(&self) -> Option<RowId> {
        self.id_and_end().map(|(id, _)| id)
    }

    /// Returns the id that it defines, and the byte of the row at which that ends.
    fn id_and_end(&self) -> Option<(RowId, usize)> {
        let text = match self.text.strip_prefix("object") {
            Some(rest) => rest.trim_start(),
            None => self.text,
        };
        let before = self.text.len() - text.len();
        let (id, length) = RowId::parse(text)?;
        let after = text.as_bytes().get(length);
        // An object's row begins with the word.
        let is_defined = (id.row() == "object") == (before != 0);
        let ends = after.is_none_or(u8::is_ascii_whitespace);
        (is_defined && ends).then_some((id, before + length))
    }

    /// Returns what the grammar calls the row: the table of its id, or its first word; nothing for
    /// lines of bytes and strings.
    pub fn word(&self) -> &'t str {
        match self.id() {
            Some(id) => id.row(),
            None if self.text.as_bytes().first().is_some_and(u8::is_ascii_digit) => "",
            None => self.head(),
        }
    }

    /// Returns the name that a row with an id gives what it defines, as it stands there.
    pub fn name(&self) -> Option<&'t str> {
        let (id, end) = self.id_and_end()?;
        if !matches!(id.row(), "object" | "section" | "symbol") {
            return None;
        }
        let mut scan = Scan::new(self.text);
        scan.at = end;
        scan.skip_blanks();
        let start = scan.at;
        scan.name();
        self.text
            .get(start..scan.at)
            .filter(|name| !name.is_empty())
    }
}

/// Returns a name as it is meant: without quotes and escapes. What is not UTF-8 is replaced.
pub fn unquoted(name: &str) -> String {
    let mut cursor = super::lexer::Cursor::new(name);
    match cursor.name() {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(_) => name.to_owned(),
    }
}

fn word_length(text: &str) -> usize {
    let is_word = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    text.as_bytes().iter().take_while(is_word).count()
}

/// Finds the ids of a row, from left to right.
pub fn ids(row: &Row<'_>) -> Vec<IdUse> {
    let mut scan = Scan::new(row.text);
    let mut found = Vec::new();
    let own = row.id();
    // Tokens before the name that the row gives.
    let named_after = match row.word() {
        "" | "option" | "lir" | "module" | "end" | "image" | "stopped" => return found,
        "section" | "symbol" | "note" => Some(1),
        "object" | "output-section" => Some(2),
        _ => None,
    };
    let mut tokens = 0;
    while scan.skip_separators() {
        if Some(tokens) == named_after {
            scan.name();
        } else if let Some(mut id) = scan.id() {
            id.defines = own == Some(id.id) && tokens <= 1 && found.is_empty();
            id.place = row.start + id.place.start..row.start + id.place.end;
            id.name = id
                .name
                .map(|name| row.start + name.start..row.start + name.end);
            found.push(id);
        } else {
            scan.token();
        }
        tokens += 1;
    }
    found
}

/// Goes along a row.
struct Scan<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Scan<'t> {
    fn new(text: &'t str) -> Self {
        Scan { text, at: 0 }
    }

    fn rest(&self) -> &'t [u8] {
        self.text.as_bytes().get(self.at..).unwrap_or(&[])
    }

    fn peek(&self) -> Option<u8> {
        self.rest().first().copied()
    }

    fn run(&mut self, keep: impl Fn(u8) -> bool) {
        self.at += self.rest().iter().take_while(|byte| keep(**byte)).count();
    }

    fn skip_blanks(&mut self) {
        self.run(|byte| byte.is_ascii_whitespace());
    }

    /// Goes to the next token; false at the end of the row and at a comment.
    fn skip_separators(&mut self) -> bool {
        self.run(|byte| {
            byte.is_ascii_whitespace()
                || matches!(
                    byte,
                    b'=' | b'(' | b')' | b'|' | b'/' | b'[' | b']' | b'-' | b'>'
                )
        });
        !matches!(self.peek(), None | Some(b';'))
    }

    /// Takes a name, plain or quoted.
    fn name(&mut self) {
        if self.peek() != Some(b'"') {
            return self.run(is_plain);
        }
        self.at += 1;
        loop {
            match self.rest() {
                [b'\\', _, ..] => self.at += 2,
                [b'"', ..] => {
                    self.at += 1;
                    return;
                }
                [_, ..] => self.at += 1,
                [] => return,
            }
        }
    }

    /// Takes the name after a colon, and returns its place.
    fn annotation(&mut self) -> Option<Range<usize>> {
        if self.peek() != Some(b':') {
            return None;
        }
        self.at += 1;
        let start = self.at;
        self.name();
        Some(start..self.at)
    }

    /// Takes an id with its annotation, or a range.
    fn id(&mut self) -> Option<IdUse> {
        let (id, length) = RowId::parse(self.text.get(self.at..)?)?;
        let start = self.at;
        let after = self.rest().get(length..).unwrap_or(&[]);
        let digits = |bytes: &[u8]| bytes.iter().take_while(|it| it.is_ascii_digit()).count();
        if let Some(end) = after.strip_prefix(b"..") {
            let stop = start + length + 2 + digits(end);
            let end = self.text.get(start + length + 2..stop)?.parse().ok()?;
            self.at = stop;
            return Some(IdUse {
                id,
                end: Some(end),
                place: start..stop,
                name: None,
                defines: false,
            });
        }
        // `a0x` is a word.
        if after
            .first()
            .is_some_and(|byte| is_plain(*byte) || *byte == b'-')
        {
            return None;
        }
        self.at += length;
        let place = start..self.at;
        let name = self.annotation();
        Some(IdUse {
            id,
            end: None,
            place,
            name,
            defines: false,
        })
    }

    /// Takes whatever stands here: a word, with the name that is its value if it has one, a number,
    /// or a string.
    fn token(&mut self) {
        if self.peek() == Some(b'"') {
            return self.name();
        }
        let start = self.at;
        self.run(|byte| is_plain(byte) || byte == b'-');
        let word = self.text.get(start..self.at).unwrap_or("");
        if matches!(word, "member" | "prototype") && self.peek() == Some(b'=') {
            self.at += 1;
            return self.name();
        }
        if self.annotation().is_none() && self.at == start {
            // Not a character that rows have: it is passed, whole.
            self.at += 1;
            while !self.text.is_char_boundary(self.at) {
                self.at += 1;
            }
        }
    }
}

/// Where the rows of a text are.
#[derive(Clone, Debug, Default)]
pub struct Outline {
    /// Rows with ids in the order of their numbers, with their lines.
    tables: [Vec<(u32, u32)>; TABLES.len()],
    /// Lines of the other rows by their words, in order.
    others: HashMap<String, Vec<u32>>,
}

impl Outline {
    /// Finds the rows of a text, in time linear in its size.
    pub fn new(text: &str) -> Self {
        let mut outline = Outline::default();
        for row in rows(text) {
            // More lines than that have more bytes than the parser takes ids.
            let Ok(line) = u32::try_from(row.line) else {
                break;
            };
            match row.id() {
                Some(id) => {
                    if let Some(table) = outline.tables.get_mut(usize::from(id.table)) {
                        table.push((id.index, line));
                    }
                }
                None if row.word().is_empty() => {}
                None => match outline.others.get_mut(row.word()) {
                    Some(lines) => lines.push(line),
                    None => {
                        outline.others.insert(row.word().to_owned(), vec![line]);
                    }
                },
            }
        }
        for table in &mut outline.tables {
            table.sort();
        }
        outline
    }

    /// Returns the line of the row that defines an id, counted from 0; of several, the first.
    pub fn line_of(&self, id: RowId) -> Option<usize> {
        let table = self.tables.get(usize::from(id.table))?;
        let at = table.partition_point(|(index, _)| *index < id.index);
        let (index, line) = table.get(at)?;
        (*index == id.index).then_some(*line as usize)
    }

    /// Returns the line of the row that has this word and no id, the `index`th of them.
    pub fn line_of_word(&self, word: &str, index: usize) -> Option<usize> {
        let line = self.others.get(word)?.get(index)?;
        Some(*line as usize)
    }

    /// Returns the line of the row that a finding of the verifier is about.
    pub fn line_of_place(&self, place: &str) -> Option<usize> {
        if let Some((id, _)) = RowId::parse(place) {
            return self.line_of(id);
        }
        // All of these stand in one row.
        if place.starts_with("reference ") {
            return self.line_of_word("attribute-refs", 0);
        }
        for (what, word) in PLACES {
            if let Some(rest) = place.strip_prefix(what) {
                let number = rest.split_whitespace().next();
                // What follows may be a name.
                let index = number.and_then(|number| number.parse().ok());
                let line = self.line_of_word(word, index.unwrap_or(0));
                return line.or_else(|| self.line_of_word("plan", 0));
            }
        }
        None
    }
}

/// What the verifier calls rows without ids, and their words. A longer name stands before one that it
/// begins with.
const PLACES: [(&str, &str); 22] = [
    ("stopped", "stopped"),
    ("merge event", "merge"),
    ("bank piece", "bank-piece"),
    ("pool part", "pool-part"),
    ("header slot", "header-slot"),
    ("merged compat records", "merged-compat"),
    ("merged notes", "merged-notes"),
    ("merged lists", "merged-info"),
    ("merged list", "merged-info"),
    ("fixup", "fixup"),
    ("output piece", "piece"),
    ("output section", "output-section"),
    ("output symbols", "output-symbol"),
    ("output symbol", "output-symbol"),
    ("output relocations", "output-reloc"),
    ("output relocation", "output-reloc"),
    ("segment", "segment"),
    ("symbol names", "symbol-names"),
    ("image", "image"),
    ("plan", "plan"),
    ("section headers", "plan"),
    ("program headers", "plan"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::parse::claimed_ids;

    const LINKED: &str = include_str!("../../tests/fixtures/linked.lir");

    fn id(text: &str) -> RowId {
        RowId::parse(text).unwrap().0
    }

    #[test]
    fn ids_are_those_that_the_parser_reads() {
        let tricky = "lir 1\nmodule phase=lowered target=sm_90 bytes=full ; %9\n\n\
            object @0 \"a \\\"%1\\\" b\" member=r7 type=REL flags=0x0 state=candidate\n\
            owns #0..2 %0..2 fn0..1\n\
            #0 #1 PROGBITS align=4 info=%1:fn0/3 bytes=x\"00\" ; #0\n\
            #1 \"#0\" PROGBITS info=#0:#1 bytes=x\"\"\n\
            %0 fn0 GLOBAL FUNC in=#0 value=0x0 size=0x1 function=fn0\n\
            %1 $0 GLOBAL NOTYPE undefined value=0x0 size=0x0\n\
            fn0 %0:fn0 sass=#0\nend\n"
            .replace("info=%1:fn0", "info=%0:fn0")
            .replace("#0:#1", "#0:\"#1\"")
            .replace("#0 #1 P", "#0 \"#1\" P");
        let arena = crate::Arena::new();
        let sample = crate::text::tests::printed_sample(&arena);
        for text in [LINKED, &tricky, &sample] {
            let mut claimed = claimed_ids(text);
            claimed.sort();
            let mut found = Vec::new();
            for row in rows(text) {
                let column = |at: usize| at + 1 - text[..at].rfind('\n').map_or(0, |at| at + 1);
                // A slice of an image is read with the object at hand.
                let is_slice = |used: &IdUse| text[used.place.end..].starts_with('[');
                let used = ids(&row).into_iter();
                let used = used.filter(|used| !used.defines && !is_slice(used));
                found.extend(used.map(|used| (row.line + 1, column(used.place.start))));
            }
            found.sort();
            assert_eq!(found, claimed);
        }
    }

    #[test]
    fn rows_are_found_by_id_and_by_word() {
        let outline = Outline::new(LINKED);
        let lines: Vec<&str> = LINKED.lines().collect();
        let begins = |line: Option<usize>, what: &str| {
            let line = lines[line.unwrap()].trim_start();
            assert!(line.starts_with(what), "{line}");
        };
        begins(outline.line_of(id("@0")), "object @0 a.cubin");
        begins(outline.line_of(id("#7")), "#7 .nv.constant2.helper");
        begins(outline.line_of(id("fn1")), "fn1 %1:helper");
        begins(outline.line_of(id("n2")), "n2 ");
        begins(outline.line_of(id("$3")), "$3 %3:room");
        begins(outline.line_of_word("merged-info", 1), "merged-info fn0");
        begins(outline.line_of_place("fixup 0"), "fixup #3");
        begins(
            outline.line_of_place("output section 2 .x"),
            "output-section 2",
        );
        begins(outline.line_of_place("#3:.text.kernel"), "#3 .text.kernel");
        assert_eq!(outline.line_of(id("fn2")), None);
        assert_eq!(outline.line_of_place("else"), None);
    }

    #[test]
    fn rows_say_what_they_are() {
        let words = |line| row_of_line(line, 0, 0).map(|row| (row.word(), row.name()));
        assert_eq!(
            words("  #3 .text.k PROGBITS"),
            Some(("section", Some(".text.k")))
        );
        assert_eq!(words("%3 \"a b\" WEAK"), Some(("symbol", Some("\"a b\""))));
        assert_eq!(words("object @1 a.o"), Some(("object", Some("a.o"))));
        assert_eq!(words("objects @1 a.o").unwrap().0, "objects");
        assert_eq!(words("a0 SVAL"), Some(("attribute", None)));
        assert_eq!(words("attributes #0").unwrap().0, "attributes");
        assert_eq!(words("0x40: 0a"), Some(("", None)));
        assert_eq!(words(" ; #0"), None);
        assert_eq!(words("\r"), None);
        assert_eq!(unquoted("\"a\\\"\\x41\""), "a\"A");
    }

    #[test]
    fn damaged_rows_are_passed() {
        for line in [
            "%1 \"é\\",
            "r0 ü é=%1:\"",
            "#99999999999 x",
            "@",
            "object @",
            "fn0 %0:",
        ] {
            if let Some(row) = row_of_line(line, 0, 0) {
                ids(&row);
                row.name();
                row.word();
            }
        }
        let row = row_of_line("r0 ü é=%1:k", 0, 0).unwrap();
        assert_eq!(ids(&row).last().unwrap().id, id("%1"));
        let range = row_of_line("owns #0..5", 0, 0).unwrap();
        assert!(ids(&range)[0].covers(id("#4")) && !ids(&range)[0].covers(id("#5")));
    }
}
