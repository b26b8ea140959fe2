//! What a row, an id or a word of a module means.

use std::fmt::Write as _;
use std::ops::Range;

use cuweld_ir::Phase;
use cuweld_ir::text::outline::Row;
use cuweld_ir::text::outline::RowId;
use cuweld_ir::text::vocabulary;
use cuweld_ir::verify::Rule;
use cuweld_passes::registry::Registry;

use super::row::Text;
use super::row::key_before;
use super::row::word_at;

/// The page that has the grammar.
const PAGE: &str = include_str!("../../../docs/framework/lir.md");

/// The most bytes of a row that are shown.
const MOST_BYTES: usize = 600;

/// Describes what stands at a byte, and returns where that begins and ends.
pub fn hover(
    text: &Text<'_>,
    offset: usize,
    registry: &Registry,
) -> Option<(String, Range<usize>)> {
    let row = text.row_at(offset)?;
    if let Some(used) = text.id_at(&row, offset) {
        let shown = match (used.defines, used.end) {
            (true, _) => {
                let phase = phase_of(text).unwrap_or(Phase::Checked);
                named(text, used.id, &row) + &about_row(row.word(), phase)
            }
            (false, None) => {
                let found = text.definition(used.id)?;
                format!(
                    "{}```lir\n{}\n```\n",
                    named(text, used.id, &found),
                    shortened(found.text)
                )
            }
            (false, Some(end)) => range(text, used.id, end),
        };
        return Some((shown, used.place));
    }
    let (word, place) = word_at(&row, offset)?;
    let is_head = place.start == row.start;
    let shown = match is_head {
        true => {
            let phase = phase_of(text).unwrap_or(Phase::Checked);
            format!("**{word}**\n\n{}", about_row(heading(word), phase))
        }
        false => about_word(&row, word, &place, registry)?,
    };
    Some((shown, place))
}

/// Returns the row that a word is about: headings only help the eye.
fn heading(word: &str) -> &str {
    let rows = [
        "section",
        "symbol",
        "function",
        "call",
        "prototype",
        "link-symbol",
        "bank-piece",
        "pool-part",
        "header-slot",
        "fixup",
        "output-section",
        "piece",
        "output-symbol",
        "output-reloc",
        "segment",
    ];
    let single = word
        .strip_suffix('s')
        .filter(|single| rows.contains(single));
    match (single, word) {
        (Some(single), _) => single,
        (None, "merge-log") => "merge",
        _ => word,
    }
}

/// Returns the phase that the module's row names.
pub fn phase_of(text: &Text<'_>) -> Option<Phase> {
    let row = text.row(text.outline.line_of_word("module", 0)?)?;
    let (_, rest) = row.text.split_once("phase=")?;
    Phase::from_name(rest.split_whitespace().next()?)
}

/// Returns a heading: an id with its kind, its name, and the object that it belongs to.
fn named(text: &Text<'_>, id: RowId, row: &Row<'_>) -> String {
    let mut shown = format!("**{id}** — {}", row.word());
    if let Some(name) = text.definition(id).and_then(|row| text.name_of(&row)) {
        let _ = write!(shown, " `{name}`");
        if let Some(demangled) = cuweld_demangle::demangle(name.as_bytes()) {
            let _ = write!(shown, "\n\n`{demangled}`");
        }
    }
    if let Some(object) = object_of(text, row) {
        let _ = write!(shown, "\n\nof {object}");
    }
    shown + "\n\n"
}

/// Returns the object in whose block a row stands; rows of the whole link stand in none.
fn object_of(text: &Text<'_>, row: &Row<'_>) -> Option<String> {
    let of_link = matches!(row.word(), "object" | "link-symbol");
    let unowned = text.outline.line_of_word("unowned", 0);
    if of_link || unowned.is_some_and(|line| line < row.line) {
        return None;
    }
    let (first, _) = RowId::parse("@0")?;
    let begins = |index| text.outline.line_of(first.with_index(index));
    // Blocks stand in the order of their ids.
    let (mut index, mut step) = (0, 1 << 20);
    while step > 0 {
        match begins(index + step).is_some_and(|line| line <= row.line) {
            true => index += step,
            false => step /= 2,
        }
    }
    begins(index).filter(|line| *line <= row.line)?;
    let name = text.name_of(&text.definition(first.with_index(index))?)?;
    Some(format!("`@{index}` {name}"))
}

/// Lists the rows of a range.
fn range(text: &Text<'_>, first: RowId, end: u32) -> String {
    const SHOWN: u32 = 8;
    let count = end.saturating_sub(first.index());
    let mut shown = format!("{count} rows\n\n```lir\n");
    for index in first.index()..end.min(first.index().saturating_add(SHOWN)) {
        if let Some(row) = text.definition(first.with_index(index)) {
            let _ = writeln!(shown, "{}", shortened(row.text));
        }
    }
    if count > SHOWN {
        shown += "; …\n";
    }
    shown + "```\n"
}

fn shortened(text: &str) -> String {
    let end = (0..=MOST_BYTES.min(text.len()))
        .rev()
        .find(|at| text.is_char_boundary(*at));
    match text.get(..end.unwrap_or(0)) {
        Some(start) if start.len() < text.len() => format!("{start}…"),
        _ => text.to_owned(),
    }
}

/// Describes a kind of row: what it is, its grammar, and the rules of the verifier about it that hold
/// in a phase.
fn about_row(row: &str, phase: Phase) -> String {
    let mut shown = vocabulary::row(row).unwrap_or_default().to_owned();
    if let Some(grammar) = grammar(row) {
        let _ = write!(shown, "\n\n```text\n{grammar}\n```");
    }
    let rules = Rule::ALL.iter().filter(|rule| rule.rows().contains(&row));
    let rules = rules.filter(|rule| rule.from_phase() <= phase && !is_over(**rule, phase));
    let mut rules = rules.peekable();
    if rules.peek().is_some() {
        shown += "\n\nThe verifier checks:\n";
    }
    for rule in rules {
        let _ = write!(shown, "\n- `{}`: {}", rule.name(), rule.doc());
    }
    shown + "\n"
}

/// Returns `true` if a rule is about fields that belong to a later phase than this one or those before
/// it.
fn is_over(rule: Rule, phase: Phase) -> bool {
    let until = rule
        .name()
        .strip_prefix("early-")
        .and_then(Phase::from_name);
    until.is_some_and(|until| until <= phase)
}

/// Returns the production of a row, from the page.
fn grammar(row: &str) -> Option<String> {
    let (_, rest) = PAGE.split_once("\n## Grammar\n")?;
    let (_, block) = rest.split_once("\n```\n")?;
    let (block, _) = block.split_once("\n```\n")?;
    let is_start = |line: &&str| {
        line.split(" = ")
            .next()
            .is_some_and(|name| name.trim() == row)
    };
    let in_plan = |line: &&str| {
        line.trim_start_matches([' ', '{'])
            .starts_with(&format!("\"{row}\""))
    };
    let mut lines = block.lines().skip_while(|line| !is_start(line));
    let Some(first) = lines.next() else {
        // Rows of the plan are parts of its production.
        let line = block.lines().find(in_plan)?;
        return Some(line.trim().to_owned());
    };
    let rest = lines.take_while(|line| line.starts_with(' '));
    // Of the plan itself the first line is enough.
    let rest = rest.take(if row == "plan" { 0 } else { usize::MAX });
    let lines: Vec<&str> = std::iter::once(first).chain(rest).collect();
    Some(lines.join("\n"))
}

/// Describes a field or a word of a row.
fn about_word(
    row: &Row<'_>,
    word: &str,
    place: &Range<usize>,
    registry: &Registry,
) -> Option<String> {
    let kind = row.word();
    if let Some(text) = vocabulary::reloc_type(word) {
        return Some(format!("**{word}** — a relocation type\n\n{text}"));
    }
    if matches!(kind, "attribute")
        && let Some(text) = vocabulary::attribute(word)
    {
        return Some(format!("**{word}** — an attribute\n\n{text}"));
    }
    let key = key_before(row, place).unwrap_or("");
    if let Some(text) = vocabulary::value(kind, key, word) {
        let mut shown = format!("**{word}** — {text}");
        if key == "phase" {
            shown += &about_phase(word, registry);
        }
        return Some(shown);
    }
    let text = vocabulary::field(kind, word)?;
    Some(format!("`{word}` of a row `{kind}`: {text}"))
}

/// Names the passes that establish a phase and those that can run on it.
fn about_phase(word: &str, registry: &Registry) -> String {
    let Some(phase) = Phase::from_name(word) else {
        return String::new();
    };
    let mut shown = String::new();
    let establishing = registry
        .iter()
        .filter(|info| info.establishes == Some(phase));
    let names: Vec<String> = establishing
        .map(|info| format!("`{}`", info.name))
        .collect();
    if !names.is_empty() {
        let _ = write!(shown, "\n\nestablished by {}", names.join(", "));
    }
    let requiring = registry.iter().filter(|info| info.requires == phase);
    let names: Vec<String> = requiring.map(|info| format!("`{}`", info.name)).collect();
    if !names.is_empty() {
        let _ = write!(shown, "\n\nrequired by {}", names.join(", "));
    }
    shown + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_objects_have_their_grammar() {
        let rows = [
            "object",
            "section",
            "symbol",
            "function",
            "reloc",
            "attribute",
            "call",
            "prototype",
            "note",
            "link-symbol",
            "merge",
            "bank-piece",
            "pool-part",
            "header-slot",
            "fixup",
            "plan",
            "output-section",
            "piece",
            "output-symbol",
            "output-reloc",
            "segment",
            "module",
            "image",
        ];
        for row in rows {
            assert!(
                grammar(row).is_some_and(|text| text.contains(row)),
                "{row}: {:?}",
                grammar(row)
            );
            let about = about_row(row, Phase::Checked);
            assert!(about.lines().count() > 2, "{about}");
        }
        assert_eq!(grammar("nothing"), None);
        assert_eq!(heading("sections"), "section");
        assert_eq!(heading("relocs"), "relocs");
    }
}
