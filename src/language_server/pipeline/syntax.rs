//! What stands where in a TOML text, also in one that does not parse.

use std::ops::Range;

use toml_parser::Source;
use toml_parser::parser::Event;
use toml_parser::parser::EventKind;
use toml_parser::parser::RecursionGuard;
use toml_parser::parser::parse_document;

/// How deep arrays and inline tables are looked into.
const MOST_DEPTH: u32 = 16;

/// A key, or a value that is no table and no array.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// The keys that lead to it: `pass`, `options`, `limit`. Elements of an array have those of the
    /// array.
    pub path: Vec<String>,
    /// The element of the array `pass` that it stands in.
    pub step: Option<usize>,
    /// Where it stands; of a string, with its quotes.
    pub place: Range<usize>,
    /// The value, without quotes and escapes; `None` for a key.
    pub value: Option<String>,
}

impl Item {
    /// Returns `true` if these keys lead to it.
    pub fn is_at(&self, path: &[&str]) -> bool {
        self.path
            .iter()
            .map(String::as_str)
            .eq(path.iter().copied())
    }
}

/// The keys and values of a text, in its order.
#[derive(Clone, Debug, Default)]
pub struct Syntax {
    items: Vec<Item>,
    /// Tables: the bytes of an inline one, and of one with a header from there to the next header.
    tables: Vec<(Range<usize>, Vec<String>)>,
}

impl Syntax {
    /// Reads a text as far as that goes.
    pub fn new(text: &str) -> Self {
        let source = Source::new(text);
        let tokens = source.lex().into_vec();
        let mut reader = Reader::new(source);
        let mut receive = |event: Event| reader.take(&event);
        let mut guarded = RecursionGuard::new(&mut receive, MOST_DEPTH);
        parse_document(&tokens, &mut guarded, &mut ());
        Syntax {
            items: reader.items,
            tables: reader.tables,
        }
    }

    /// Returns the keys that lead to the table at a byte.
    pub fn table_at(&self, offset: usize) -> &[String] {
        let inside = |(place, _): &&(Range<usize>, _)| place.start < offset && offset <= place.end;
        // The innermost begins last.
        let found = self
            .tables
            .iter()
            .filter(inside)
            .max_by_key(|(place, _)| place.start);
        found.map_or(&[], |(_, path)| path)
    }

    /// Returns the key or value at a byte, which may be its end.
    pub fn at(&self, offset: usize) -> Option<&Item> {
        let holds = |item: &&Item| (item.place.start..=item.place.end).contains(&offset);
        // Where two meet, the second begins.
        self.items.iter().rev().find(holds)
    }

    /// Returns the keys and values.
    pub fn items(&self) -> impl DoubleEndedIterator<Item = &Item> {
        self.items.iter()
    }

    /// Returns the values at these keys.
    pub fn values<'s>(&'s self, path: &'s [&'s str]) -> impl Iterator<Item = (&'s Item, &'s str)> {
        let found = self.items.iter().filter(|item| item.is_at(path));
        found.filter_map(|item| Some((item, item.value.as_deref()?)))
    }

    /// Returns the value at this key of a step.
    pub fn of_step<'s>(&'s self, step: usize, key: &str) -> Option<(&'s Item, &'s str)> {
        let mut found = self.items.iter().filter(|item| item.step == Some(step));
        found.find_map(|item| match item.is_at(&["pass", key]) {
            true => Some((item, item.value.as_deref()?)),
            false => None,
        })
    }
}

/// What is open while a text is read.
enum Open {
    Array(Vec<String>),
    /// With its index in [`Syntax::tables`].
    Table(Vec<String>, usize),
}

struct Reader<'t> {
    source: Source<'t>,
    items: Vec<Item>,
    tables: Vec<(Range<usize>, Vec<String>)>,
    /// The table of the last header.
    table: Vec<String>,
    /// Whether a header is being read.
    in_header: bool,
    /// Keys that were read and belong to no value yet.
    keys: Vec<String>,
    /// Keys that lead to the value that is read.
    value: Vec<String>,
    open: Vec<Open>,
    step: Option<usize>,
}

impl<'t> Reader<'t> {
    fn new(source: Source<'t>) -> Self {
        Reader {
            source,
            items: Vec::new(),
            tables: Vec::new(),
            table: Vec::new(),
            in_header: false,
            keys: Vec::new(),
            value: Vec::new(),
            open: Vec::new(),
            step: None,
        }
    }

    /// Returns the keys of the table that is read.
    fn base(&self) -> Vec<String> {
        let tables = self.open.iter().rev().find_map(|open| match open {
            Open::Table(path, _) => Some(path),
            Open::Array(_) => None,
        });
        match self.in_header {
            true => Vec::new(),
            false => tables.unwrap_or(&self.table).clone(),
        }
    }

    fn next_step(&mut self) {
        self.step = Some(self.step.map_or(0, |step| step + 1));
    }

    fn take(&mut self, event: &Event) {
        match event.kind() {
            EventKind::StdTableOpen | EventKind::ArrayTableOpen => {
                self.open.clear();
                self.keys.clear();
                self.in_header = true;
                let end = event.span().start();
                // Only the last table with a header goes on to the end.
                let open = self
                    .tables
                    .iter_mut()
                    .filter(|(place, _)| place.end == usize::MAX);
                open.for_each(|(place, _)| place.end = end);
            }
            EventKind::StdTableClose | EventKind::ArrayTableClose => {
                self.in_header = false;
                self.table = std::mem::take(&mut self.keys);
                let place = event.span().start()..usize::MAX;
                self.tables.push((place, self.table.clone()));
                let is_step = self.table.first().is_some_and(|key| key == "pass");
                match event.kind() {
                    EventKind::ArrayTableClose if is_step && self.table.len() == 1 => {
                        self.next_step();
                        // The keys of the header came before the step was known.
                        if let Some(item) = self.items.last_mut() {
                            item.step = self.step;
                        }
                    }
                    _ if !is_step => self.step = None,
                    _ => {}
                }
            }
            EventKind::SimpleKey => self.key(event),
            EventKind::KeyValSep => {
                self.value = self.base();
                self.value.append(&mut self.keys);
            }
            EventKind::ArrayOpen => self.open.push(Open::Array(self.value.clone())),
            EventKind::InlineTableOpen => {
                if self.value == ["pass"] {
                    self.next_step();
                }
                self.open
                    .push(Open::Table(self.value.clone(), self.tables.len()));
                let place = event.span().start()..usize::MAX;
                self.tables.push((place, self.value.clone()));
            }
            EventKind::ArrayClose | EventKind::InlineTableClose => {
                if let Some(Open::Table(_, index)) = self.open.pop()
                    && let Some((place, _)) = self.tables.get_mut(index)
                {
                    place.end = event.span().start();
                }
                self.keys.clear();
                if let Some(Open::Array(path)) = self.open.last() {
                    self.value = path.clone();
                }
            }
            EventKind::Scalar => self.scalar(event),
            EventKind::Newline if self.open.is_empty() && !self.in_header => self.keys.clear(),
            EventKind::ValueSep => self.keys.clear(),
            _ => {}
        }
    }

    fn key(&mut self, event: &Event) {
        let mut text = String::new();
        if let Some(raw) = self.source.get(event) {
            raw.decode_key(&mut text, &mut ());
        }
        self.keys.push(text);
        let mut path = self.base();
        path.extend(self.keys.iter().cloned());
        self.push(path, event, None);
    }

    fn scalar(&mut self, event: &Event) {
        let mut text = String::new();
        if let Some(raw) = self.source.get(event) {
            // What kind of value it is does not matter.
            let _ = raw.decode_scalar(&mut text, &mut ());
        }
        self.push(self.value.clone(), event, Some(text));
    }

    fn push(&mut self, path: Vec<String>, event: &Event, value: Option<String>) {
        let step = self
            .step
            .filter(|_| path.first().is_some_and(|key| key == "pass"));
        self.items.push(Item {
            path,
            step,
            place: event.span().start()..event.span().end(),
            value,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<String> {
        let shown = |item: &Item| {
            let step = item.step.map_or(String::new(), |step| format!("{step}:"));
            let value = item
                .value
                .as_ref()
                .map_or(String::new(), |it| format!("={it}"));
            format!("{step}{}{value}", item.path.join("."))
        };
        Syntax::new(text).items.iter().map(shown).collect()
    }

    #[test]
    fn both_forms_of_steps_are_read() {
        let block = "name = 'x'\n[[pass]]\nuse = 'a'\noptions = { n = 1, l = ['p', 'q'] }\n\n[[pass]]\nuse = \"b\"\n[pass.options]\nn = 2\n";
        let expected = [
            "name",
            "name=x",
            "0:pass",
            "0:pass.use",
            "0:pass.use=a",
            "0:pass.options",
            "0:pass.options.n",
            "0:pass.options.n=1",
            "0:pass.options.l",
            "0:pass.options.l=p",
            "0:pass.options.l=q",
            "1:pass",
            "1:pass.use",
            "1:pass.use=b",
            "1:pass",
            "1:pass.options",
            "1:pass.options.n",
            "1:pass.options.n=2",
        ];
        assert_eq!(shown(block), expected);
        let inline = "pass = [{ use = 'a', when = ['x'] }, { include.y = 'b' }]\nz = 1\n";
        let expected = [
            "pass",
            "0:pass.use",
            "0:pass.use=a",
            "0:pass.when",
            "0:pass.when=x",
            "1:pass.include",
            "1:pass.include.y",
            "1:pass.include.y=b",
            "z",
            "z=1",
        ];
        assert_eq!(shown(inline), expected);
    }

    #[test]
    fn what_does_not_parse_is_read_as_far_as_it_goes() {
        let found = shown("name = \n[[pass]]\nuse = \"a\nwhen\n[[pass]]\nuse = 'b'\n[[pass");
        assert!(found.contains(&"1:pass.use=b".to_owned()), "{found:?}");
        assert!(found.contains(&"0:pass.when".to_owned()), "{found:?}");
        for end in 0..60 {
            let text = "name = 'é'\n[[pass]]\nuse = \"a\\\"\"\noptions = { a = [1, { b = 2 }] }\n";
            if let Some(part) = text.get(..end) {
                Syntax::new(part);
            }
        }
        Syntax::new(&"a = [".repeat(10_000));
    }
}
