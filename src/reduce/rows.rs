//! A module in text form without some of its entities.
//!
//! Works on lines, not on the module: the IR has no way to remove a row, and the text form numbers
//! its entities from 0. A row that refers to an entity that goes, goes as well, and what is left is
//! numbered anew. The result may not be a module; the caller parses and verifies it.

use std::collections::BTreeSet;

/// What ids of entities begin with, in an order in which it pays to remove them: what takes most
/// with it first.
pub const KINDS: [&str; 10] = ["@", "fn", "#", "%", "$", "r", "a", "c", "p", "n"];

/// The lines of a module, with the ids in them.
#[derive(Clone, Debug)]
pub struct Rows {
    lines: Vec<Line>,
}

#[derive(Clone, Debug)]
struct Line {
    text: String,
    /// The id that the row defines.
    defines: Option<Id>,
    /// The object block it stands in.
    object: Option<usize>,
    /// The section that it was read from, which its heading names.
    under: Option<Id>,
    /// Where ids stand in the text.
    ids: Vec<Mention>,
}

/// Kind, as an index into [`KINDS`], and number.
type Id = (usize, usize);

#[derive(Clone, Copy, Debug)]
struct Mention {
    /// Where the number begins and ends.
    start: usize,
    end: usize,
    id: Id,
    /// How it is meant.
    role: Role,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// The row's own id.
    Definition,
    /// Another entity.
    Reference,
    /// The first of a range, or the one after its last.
    Bound,
}

impl Rows {
    /// Takes a text apart.
    pub fn new(text: &str) -> Self {
        let (mut object, mut under) = (None, None);
        let lines = text.lines().map(|text| {
            let ids = mentions(text);
            let first = text.split_whitespace().next().unwrap_or("");
            let begins_object = first == "object";
            if begins_object {
                object = ids.first().map(|mention| mention.id.1);
            }
            // As it is printed, only rows of an object stand to the right.
            if !text.is_empty() && !text.starts_with(' ') {
                under = None;
                object = object.filter(|_| begins_object);
            }
            match first {
                "relocs" | "attributes" | "notes" => under = ids.first().map(|mention| mention.id),
                "sections" | "symbols" | "functions" | "calls" | "prototypes" | "object"
                | "unowned" => under = None,
                _ => {}
            }
            let defines = ids.iter().find(|mention| mention.role == Role::Definition);
            Line {
                text: text.to_owned(),
                defines: defines.map(|mention| mention.id),
                object: object.filter(|_| !begins_object),
                under,
                ids,
            }
        });
        Rows {
            lines: lines.collect(),
        }
    }

    /// Returns the number of entities of a kind.
    pub fn count(&self, kind: usize) -> usize {
        let of_kind = |line: &&Line| line.defines.is_some_and(|(found, _)| found == kind);
        self.lines.iter().filter(of_kind).count()
    }

    /// Returns the text with only the entities `kept` of one kind, and those of the other kinds
    /// that refer to no entity that was removed.
    pub fn keep(&self, kind: usize, kept: &[usize]) -> String {
        let kept: BTreeSet<usize> = kept.iter().copied().collect();
        let mut gone: BTreeSet<Id> = self
            .lines
            .iter()
            .filter_map(|line| line.defines)
            .filter(|(found, number)| *found == kind && !kept.contains(number))
            .collect();
        // What refers to something that went goes, until nothing does.
        let mut stays = vec![true; self.lines.len()];
        loop {
            let mut changed = false;
            for (line, stays) in self.lines.iter().zip(&mut stays) {
                if *stays && line.goes(&gone) {
                    *stays = false;
                    gone.extend(line.defines);
                    changed = true;
                }
            }
            if !changed {
                break;
            }
        }
        let gone: Vec<Vec<usize>> = (0..KINDS.len())
            .map(|kind| {
                gone.range((kind, 0)..(kind + 1, 0))
                    .map(|id| id.1)
                    .collect()
            })
            .collect();
        let mut out = String::new();
        for (line, _) in self.lines.iter().zip(stays).filter(|(_, stays)| *stays) {
            line.renumber(&gone, &mut out);
        }
        out
    }
}

impl Line {
    fn goes(&self, gone: &BTreeSet<Id>) -> bool {
        self.under.is_some_and(|section| gone.contains(&section))
            || self
                .object
                .is_some_and(|object| gone.contains(&(0, object)))
            || self
                .ids
                .iter()
                .any(|mention| mention.role != Role::Bound && gone.contains(&mention.id))
    }

    /// Appends the line with numbers that count only what is left.
    fn renumber(&self, gone: &[Vec<usize>], out: &mut String) {
        let mut at = 0;
        for mention in &self.ids {
            let (kind, number) = mention.id;
            let before = gone[kind].partition_point(|gone| *gone < number);
            out.push_str(&self.text[at..mention.start]);
            out.push_str(&(number - before).to_string());
            at = mention.end;
        }
        out.push_str(&self.text[at..]);
        out.push('\n');
    }
}

/// Returns the ids in a line. A plain name may look like an id that begins with a letter, so that
/// these count only where the grammar has them: first in the line, after `=` or `..`, and in rows
/// that list them.
fn mentions(line: &str) -> Vec<Mention> {
    let bytes = line.as_bytes();
    let end_of = |mut at: usize| {
        while bytes.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        at
    };
    let first = line.len() - line.trim_start().len();
    let word = line.trim_start();
    let lists = ["owns ", "merged-", "bank-piece ", "patch "]
        .iter()
        .any(|row| word.starts_with(row));
    let mut found: Vec<Mention> = Vec::new();
    let (mut at, mut quoted) = (first, false);
    while at < bytes.len() {
        let byte = bytes[at];
        if quoted {
            at += if byte == b'\\' { 2 } else { 1 };
            quoted = byte != b'"';
            continue;
        }
        if byte == b'"' {
            (at, quoted) = (at + 1, true);
            continue;
        }
        let before = at.checked_sub(1).map(|at| bytes[at]);
        // The name after a reference is an annotation.
        if byte == b':' {
            at += 1;
            while bytes
                .get(at)
                .is_some_and(|byte| !matches!(byte, b' ' | b'/' | b'"' | b')'))
            {
                at += 1;
            }
            continue;
        }
        let begins = at == first || matches!(before, Some(b' ' | b'=' | b'('));
        let kind = KINDS.iter().position(|kind| {
            let letters = kind.as_bytes()[0].is_ascii_alphabetic();
            let allowed = begins && (!letters || at == first || before == Some(b'=') || lists);
            let digits = at + kind.len();
            let end = end_of(digits);
            let ends = bytes
                .get(end)
                .is_none_or(|byte| matches!(byte, b' ' | b':' | b'.' | b'/' | b'[' | b')'));
            allowed && line[at..].starts_with(kind) && end > digits && ends
        });
        let Some(kind) = kind else {
            at += 1;
            continue;
        };
        let start = at + KINDS[kind].len();
        let end = end_of(start);
        let number = |from: usize, to: usize| line[from..to].parse().unwrap_or(usize::MAX);
        let is_range = line[end..].starts_with("..");
        let defines = at == first || word.starts_with("object ") && found.is_empty();
        let role = match (is_range, defines) {
            (true, _) => Role::Bound,
            (false, true) => Role::Definition,
            (false, false) => Role::Reference,
        };
        found.push(Mention {
            start,
            end,
            id: (kind, number(start, end)),
            role,
        });
        at = end;
        if is_range {
            let (start, end) = (end + 2, end_of(end + 2));
            if end > start {
                found.push(Mention {
                    start,
                    end,
                    id: (kind, number(start, end)),
                    role: Role::Bound,
                });
            }
            at = end;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use cuweld_ir::Arena;
    use cuweld_ir::text;

    use super::*;

    /// Checks that every entity of the example of docs/framework/lir.md can be removed with what
    /// refers to it.
    #[test]
    fn what_is_left_parses() {
        let page = include_str!("../../docs/framework/lir.md");
        let example = page
            .split("```lir\n")
            .nth(1)
            .unwrap()
            .split("```")
            .next()
            .unwrap();
        let rows = Rows::new(example);
        let parses = |text: &str| text::parse(text, &Arena::new(), &|_| None).map(|_| ());
        for (kind, name) in KINDS.iter().enumerate() {
            let all: Vec<usize> = (0..rows.count(kind)).collect();
            assert_eq!(rows.keep(kind, &all), example, "{name}");
            for without in &all {
                let kept: Vec<usize> = all.iter().copied().filter(|n| n != without).collect();
                let text = rows.keep(kind, &kept);
                // The null section and the object hold the others' tables.
                if let Err(error) = parses(&text) {
                    panic!("without {name}{without}: {error}\n{text}");
                }
                assert!(Rows::new(&text).count(kind) < all.len());
            }
        }
    }

    #[test]
    fn names_that_look_like_ids_are_names() {
        let ids = |line: &str| -> Vec<(&str, usize, Role)> {
            let name = |mention: Mention| (KINDS[mention.id.0], mention.id.1, mention.role);
            mentions(line).into_iter().map(name).collect()
        };
        use Role::{Bound, Definition, Reference};
        assert_eq!(
            ids("    %0 a1 GLOBAL FUNC in=#3:.text.a1 function=fn2 link=$0"),
            [
                ("%", 0, Definition),
                ("#", 3, Reference),
                ("fn", 2, Reference),
                ("$", 0, Reference)
            ]
        );
        assert_eq!(
            ids("  owns #0..5 r1..2"),
            [
                ("#", 0, Bound),
                ("#", 5, Bound),
                ("r", 1, Bound),
                ("r", 2, Bound)
            ]
        );
        assert_eq!(
            ids("    #1 \"r1 %4\" CUDA_INFO attributes=a0..2 bytes=@0[0x10..0x20]"),
            [
                ("#", 1, Definition),
                ("a", 0, Bound),
                ("a", 2, Bound),
                ("@", 0, Reference)
            ]
        );
        assert_eq!(
            ids("    c0 direct %0:r1 -> %1:c2"),
            [
                ("c", 0, Definition),
                ("%", 0, Reference),
                ("%", 1, Reference)
            ]
        );
    }
}
