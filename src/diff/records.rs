//! Attribute records, relocations, notes, the call graph and prototypes.

use super::Category;
use super::Diff;
use super::Side;
use super::matching::match_rows;
use super::matching::ordinal;
use super::symbols::SymbolNames;
use crate::inspect::Name;
use crate::inspect::device_model::*;
use crate::inspect::text::AttributeText;

impl Diff {
    pub(super) fn attributes(&mut self, left: &[Attributes<'_>], right: &[Attributes<'_>]) {
        for pair in match_rows(left, right, |list| list.section).pairs {
            if let (Some(a), Some(b)) = (left.get(pair.left), right.get(pair.right)) {
                self.records(a, b);
            }
        }
    }

    fn records(&mut self, left: &Attributes<'_>, right: &Attributes<'_>) {
        let key = |record: &Attribute<'_>| {
            let ordinal = match record.value {
                AttributeValue::Parameter { ordinal, .. } => ordinal,
                _ => 0,
            };
            let about = about(left, record).map(|name| name.0.to_vec());
            (record.code.value, about, ordinal)
        };
        let matched = match_rows(&left.records, &right.records, key);
        let subject = |record: &Attribute<'_>, nth: usize| {
            let owner = left.function.or_else(|| about(left, record));
            let mercury = left.section.0.starts_with(b".nv.merc.");
            let section = if mercury {
                format!(" in {}", left.section)
            } else {
                String::new()
            };
            format!(
                "{}/{}{}{section}",
                owner.unwrap_or(left.section),
                record.code,
                ordinal(nth)
            )
        };
        let source_name = |record: &Attribute<'_>| {
            left.function
                .or_else(|| about(left, record))
                .and_then(|name| name.demangled())
        };
        let category = Category::Attribute;
        for pair in &matched.pairs {
            let rows = (left.records.get(pair.left), right.records.get(pair.right));
            let (Some(a), Some(b)) = rows else {
                continue;
            };
            let start = self.found.len();
            let subject = || subject(a, pair.nth);
            self.field(category, subject, "format", &a.format, &b.format);
            if a.value != b.value {
                // Symbols are compared by name: an index that moved with its symbol is none.
                let texts = (value_text(left, a), value_text(right, b));
                if texts.0 != texts.1 {
                    let (ours, theirs) = around_difference(&texts.0, &texts.1);
                    self.field(category, subject, "value", ours, theirs);
                }
            }
            for difference in self.found.iter_mut().skip(start) {
                difference.source_name = source_name(a);
            }
        }
        for index in &matched.only_left {
            if let Some(record) = left.records.get(*index) {
                let row = Side::Left(cut(&value_text(left, record), 0));
                self.lone(category, subject(record, 0), row).source_name = source_name(record);
            }
        }
        for index in &matched.only_right {
            if let Some(record) = right.records.get(*index) {
                let row = Side::Right(cut(&value_text(right, record), 0));
                self.lone(category, subject(record, 0), row).source_name = source_name(record);
            }
        }
        let name = |list: &Attributes<'_>, index: usize| match list.records.get(index) {
            Some(record) => subject(record, 0),
            None => String::new(),
        };
        self.order(
            &format!("records of {}", left.section),
            &matched,
            |index| name(left, index),
            |index| name(right, index),
        );
    }

    pub(super) fn relocations<'data>(&mut self, left: &DeviceElf<'data>, right: &DeviceElf<'data>) {
        let names = (SymbolNames::of(left), SymbolNames::of(right));
        let (left, right) = (&left.relocations, &right.relocations);
        for pair in match_rows(left, right, |list| list.section).pairs {
            if let (Some(a), Some(b)) = (left.get(pair.left), right.get(pair.right)) {
                self.relocation_rows(a, b, &names);
            }
        }
    }

    fn relocation_rows<'data>(
        &mut self,
        left: &Relocations<'data>,
        right: &Relocations<'data>,
        names: &(SymbolNames<'_, 'data>, SymbolNames<'_, 'data>),
    ) {
        let matched = match_rows(&left.rows, &right.rows, |row| row.offset);
        let section = left.section;
        let subject = |row: &Relocation<'_>, nth: usize| {
            format!("{section} at {:#x}{}", row.offset, ordinal(nth))
        };
        let category = Category::Relocation;
        for pair in &matched.pairs {
            let rows = (left.rows.get(pair.left), right.rows.get(pair.right));
            let (Some(a), Some(b)) = rows else {
                continue;
            };
            let subject = || subject(a, pair.nth);
            self.field(category, subject, "type", &a.ty, &b.ty);
            let symbol = (
                names.0.text(left.section_index, a.symbol),
                names.1.text(right.section_index, b.symbol),
            );
            self.field(category, subject, "symbol", symbol.0, symbol.1);
            let addend = (a.addend.unwrap_or(0), b.addend.unwrap_or(0));
            self.field(category, subject, "addend", addend.0, addend.1);
        }
        let describe = |row: &Relocation<'_>| format!("{} {}", row.ty, row.symbol.name);
        for index in &matched.only_left {
            if let Some(row) = left.rows.get(*index) {
                self.lone(category, subject(row, 0), Side::Left(describe(row)));
            }
        }
        for index in &matched.only_right {
            if let Some(row) = right.rows.get(*index) {
                self.lone(category, subject(row, 0), Side::Right(describe(row)));
            }
        }
        let name = |list: &Relocations<'_>, index: usize| match list.rows.get(index) {
            Some(row) => format!("{:#x}", row.offset),
            None => String::new(),
        };
        self.order(
            &format!("relocations of {section}"),
            &matched,
            |index| name(left, index),
            |index| name(right, index),
        );
    }

    pub(super) fn notes(&mut self, left: &[Note<'_>], right: &[Note<'_>]) {
        let matched = match_rows(left, right, |note| (note.section, note.ty.value));
        let subject =
            |note: &Note<'_>, nth: usize| format!("{} {}{}", note.section, note.ty, ordinal(nth));
        let category = Category::Note;
        for pair in &matched.pairs {
            let (Some(a), Some(b)) = (left.get(pair.left), right.get(pair.right)) else {
                continue;
            };
            let subject = || subject(a, pair.nth);
            self.field(category, subject, "owner", a.owner, b.owner);
            let (ours, theirs) = (note_fields(a.value), note_fields(b.value));
            let same_form = ours.len() == theirs.len();
            for ((field, left), (_, right)) in ours.into_iter().zip(theirs) {
                let field = if same_form { field } else { "form" };
                self.field(category, subject, field, left, right);
            }
        }
        let describe = |note: &Note<'_>| {
            let fields = note_fields(note.value).into_iter();
            let texts: Vec<String> = fields.map(|(_, text)| format!("'{text}'")).collect();
            texts.join(", ")
        };
        for index in &matched.only_left {
            if let Some(note) = left.get(*index) {
                self.lone(category, subject(note, 0), Side::Left(describe(note)));
            }
        }
        for index in &matched.only_right {
            if let Some(note) = right.get(*index) {
                self.lone(category, subject(note, 0), Side::Right(describe(note)));
            }
        }
    }

    pub(super) fn call_graph(&mut self, left: &[CallRow<'_>], right: &[CallRow<'_>]) {
        let matched = match_rows(left, right, call_key);
        let text = |row: &CallRow<'_>| {
            let (_, from, to) = call_key(row);
            format!("{} {from} -> {to}", row.group.name())
        };
        let category = Category::CallGraph;
        for index in &matched.only_left {
            if let Some(row) = left.get(*index) {
                self.lone(category, text(row), Side::Left(String::new()));
            }
        }
        for index in &matched.only_right {
            if let Some(row) = right.get(*index) {
                self.lone(category, text(row), Side::Right(String::new()));
            }
        }
        let name =
            |rows: &[CallRow<'_>], index: usize| rows.get(index).map_or_else(String::new, text);
        self.order(
            "rows of .nv.callgraph",
            &matched,
            |index| name(left, index),
            |index| name(right, index),
        );
    }

    pub(super) fn prototypes(&mut self, left: &[PrototypeRow<'_>], right: &[PrototypeRow<'_>]) {
        let matched = match_rows(left, right, |row| row.function.name);
        let category = Category::Prototype;
        for pair in &matched.pairs {
            if let (Some(a), Some(b)) = (left.get(pair.left), right.get(pair.right)) {
                let subject = || format!("{}{}", a.function.name, ordinal(pair.nth));
                let found = self.field(category, subject, "prototype", a.prototype, b.prototype);
                if let Some(difference) = found {
                    difference.source_name = a.function.name.demangled();
                }
            }
        }
        for index in &matched.only_left {
            if let Some(row) = left.get(*index) {
                let subject = row.function.name.to_string();
                self.lone(category, subject, Side::Left(row.prototype.to_string()));
            }
        }
        for index in &matched.only_right {
            if let Some(row) = right.get(*index) {
                let subject = row.function.name.to_string();
                self.lone(category, subject, Side::Right(row.prototype.to_string()));
            }
        }
        let name = |rows: &[PrototypeRow<'_>], index: usize| match rows.get(index) {
            Some(row) => row.function.name.to_string(),
            None => String::new(),
        };
        self.order(
            "rows of .nv.prototype",
            &matched,
            |index| name(left, index),
            |index| name(right, index),
        );
    }
}

/// Returns the function that a record of the file's own list is about, which tells it from others
/// of its code.
fn about<'data>(list: &Attributes<'data>, record: &Attribute<'data>) -> Option<Name<'data>> {
    match &record.value {
        AttributeValue::Payload { symbols, .. } if list.function.is_none() => match symbols[..] {
            [symbol] => Some(symbol.name),
            _ => None,
        },
        _ => None,
    }
}

/// Returns the value without the symbol that the record is about.
fn value_text(list: &Attributes<'_>, record: &Attribute<'_>) -> String {
    match (about(list, record), &record.value) {
        (Some(_), AttributeValue::Payload { words, bytes, .. }) => {
            AttributeText(&AttributeValue::Payload {
                symbols: Vec::new(),
                words: words.clone(),
                bytes: *bytes,
            })
            .to_string()
        }
        (_, value) => AttributeText(value).to_string(),
    }
}

/// How many words of a long list are shown.
const SHOWN_WORDS: usize = 16;

/// Returns the words of a text from one on, as many as are shown.
fn cut(text: &str, from: usize) -> String {
    let mut words = text.split(' ').skip(from);
    let shown: Vec<&str> = words.by_ref().take(SHOWN_WORDS).collect();
    let before = if from == 0 { "" } else { "... " };
    match words.count() {
        0 => format!("{before}{}", shown.join(" ")),
        more => format!("{before}{} and {more} more", shown.join(" ")),
    }
}

/// Returns two different texts; of long ones the part that differs.
fn around_difference(left: &str, right: &str) -> (String, String) {
    let common = left.split(' ').zip(right.split(' '));
    let common = common.take_while(|(a, b)| a == b).count();
    let from = if common < SHOWN_WORDS / 2 { 0 } else { common };
    (cut(left, from), cut(right, from))
}

fn note_fields(value: NoteValue<'_>) -> Vec<(&'static str, String)> {
    match value {
        NoteValue::Tool {
            object,
            tool,
            version,
            build,
            options,
        } => vec![
            ("object", object.to_string()),
            ("tool", tool.to_string()),
            ("version", version.to_string()),
            ("build", build.to_string()),
            ("options", options.to_string()),
        ],
        NoteValue::CudaInfo {
            version,
            virtual_sm,
            toolkit,
        } => vec![
            ("version", version.to_string()),
            ("virtual SM", virtual_sm.to_string()),
            ("toolkit", toolkit.to_string()),
        ],
        NoteValue::Other(bytes) => vec![("descriptor", bytes.to_string())],
    }
}

fn call_key<'data>(row: &CallRow<'data>) -> (usize, Name<'data>, Name<'data>) {
    let to = match row.to {
        CallTarget::Function(symbol) => symbol.name,
        CallTarget::Prototype(prototype) => prototype,
    };
    (row.group as usize, row.from.name, to)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lists_show_where_they_differ() {
        let list = |last: u32| -> String {
            let words: Vec<String> = (0..40).map(|word| word.to_string()).collect();
            format!("{} {last}", words.join(" "))
        };
        assert_eq!(
            around_difference(&list(7), &list(8)),
            ("... 7".to_owned(), "... 8".to_owned())
        );
        let (left, right) = around_difference(&format!("9 {}", list(7)), "8");
        assert!(
            left.starts_with("9 0 1 ") && left.ends_with("14 and 26 more"),
            "{left}"
        );
        assert_eq!(right, "8");
    }
}
