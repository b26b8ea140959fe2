//! Reading a row by its declaration.

use super::fields::Keys;
use super::fields::Part;
use super::fields::Row;
use super::fields::Spelling;
use super::fields::Visitor;
use super::lexer::Parsed;
use super::lexer::Position;
use super::parse::Parser;
use super::values::Id;
use crate::ids::ObjectId;
use crate::object::Object;
use crate::table::EntityId;
use crate::table::IdRange;

/// Takes the fields of a row as they come.
///
/// Fields in the order of the declaration are all taken by one visit; while others are left, the
/// row is visited again.
struct Reading<'p, 't, 'data, 'r> {
    parser: &'p mut Parser<'t, 'data, 'r>,
    /// Whether this is the first visit, which takes the words.
    is_first: bool,
    /// The field that is to be taken next, once the words are; `None` inside at the end of the row.
    next: Option<Option<(Position, &'t str)>>,
    /// Whether this visit took a field.
    took: bool,
    /// Parts that a row must have: how many this visit met, and which have been read, by bit.
    required: u32,
    read: u32,
    /// The first of them that has not been read.
    missing: Option<String>,
    /// The object that the row names.
    owner: Option<ObjectId>,
    /// Whether the row has an object at all.
    is_unowned: bool,
    result: Parsed<()>,
}

impl<'t, 'data> Parser<'t, 'data, '_> {
    /// Reads the words and fields of a row that begins at `start`.
    pub(super) fn fields<R: Row<'data>>(&mut self, start: Position, row: &mut R) -> Parsed<()> {
        let mut reading = Reading::new(self);
        while !reading.visit(|reading| row.fields(reading))? {
            reading.is_first = false;
            if let Some(Some((position, key))) = reading.next
                && !reading.took
            {
                let mut keys = Keys::default();
                row.fields(&mut keys);
                let known = keys.0.join(", ");
                let what = format!("expected one of the fields {known}, found `{key}`");
                return Err(position.error(what));
            }
        }
        if let Some(missing) = reading.missing {
            return Err(self.cursor.expected(&missing));
        }
        if reading.is_unowned {
            return Err(start.error("expected the field `object`, as no object owns the row"));
        }
        Ok(())
    }

    /// Reads the ranges of rows that an object owns.
    pub(super) fn owned(&mut self, object: &mut Object<'data>) -> Parsed<()> {
        let mut reading = Reading::new(self);
        while reading.parser.cursor.peek().is_some() {
            reading.visit(|reading| object.owned(reading))?;
            if !reading.took {
                let what = "a range such as `n0..1`";
                return Err(reading.parser.cursor.expected(what));
            }
        }
        Ok(())
    }

    /// Reads a row in parentheses.
    pub(super) fn group<R: Row<'data>>(&mut self) -> Parsed<R> {
        self.cursor.expect("(")?;
        let start = self.cursor.position();
        let mut row = R::default();
        self.fields(start, &mut row)?;
        self.cursor.expect(")")?;
        Ok(row)
    }
}

impl<'p, 't, 'data, 'r> Reading<'p, 't, 'data, 'r> {
    fn new(parser: &'p mut Parser<'t, 'data, 'r>) -> Self {
        Reading {
            parser,
            is_first: true,
            next: None,
            took: false,
            required: 0,
            read: 0,
            missing: None,
            owner: None,
            is_unowned: false,
            result: Ok(()),
        }
    }

    /// Lets a row show its fields. Returns `true` if none is left in the text.
    fn visit(&mut self, show: impl FnOnce(&mut Self)) -> Parsed<bool> {
        (self.took, self.required) = (false, 0);
        (self.missing, self.is_unowned) = (None, false);
        show(self);
        std::mem::replace(&mut self.result, Ok(()))?;
        Ok(self.next.flatten().is_none())
    }

    /// Takes the next field if it has one of the keys, by `take`.
    fn next_field(
        &mut self,
        keys: &[&str],
        take: impl FnOnce(&mut Parser<'t, 'data, 'r>, &str) -> Parsed<()>,
    ) -> Parsed<bool> {
        let next = match self.next {
            Some(next) => next,
            None => *self.next.insert(self.parser.cursor.field()?),
        };
        match next {
            Some((_, key)) if keys.contains(&key) => {
                take(self.parser, key)?;
                self.next = None;
                self.took = true;
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// Takes all fields with one of the keys that come next. Returns `true` if there are any.
    fn take(
        &mut self,
        keys: &[&str],
        mut take: impl FnMut(&mut Parser<'t, 'data, 'r>, &str) -> Parsed<()>,
    ) -> bool {
        let mut found = false;
        while self.result.is_ok() {
            match self.next_field(keys, &mut take) {
                Ok(true) => found = true,
                Ok(false) => break,
                Err(error) => self.result = Err(error),
            }
        }
        found
    }

    /// Reads what stands at the cursor.
    fn at_cursor<T>(
        &mut self,
        read: impl FnOnce(&mut Parser<'t, 'data, 'r>) -> Parsed<T>,
    ) -> Option<T> {
        if self.result.is_err() {
            return None;
        }
        match read(self.parser) {
            Ok(value) => Some(value),
            Err(error) => {
                self.result = Err(error);
                None
            }
        }
    }
}

impl<'data> Visitor<'data> for Reading<'_, '_, 'data, '_> {
    fn word<T>(&mut self, value: &mut T, spelling: impl Spelling<'data, T>) {
        if self.is_first
            && let Some(word) = self.at_cursor(|parser| spelling.parse(parser))
        {
            *value = word;
        }
    }

    fn part<T>(&mut self, value: &mut T, part: impl Part<'data, T>) {
        let found = self.take(part.keys(), |parser, key| part.parse(key, value, parser));
        if !part.is_required() {
            return;
        }
        let bit = 1 << self.required;
        self.required += 1;
        self.read |= if found { bit } else { 0 };
        if self.read & bit == 0 && self.missing.is_none() {
            self.missing = Some(match part.keys() {
                [key] => format!("the field `{key}`"),
                keys => format!("one of the fields {}", keys.join(", ")),
            });
        }
    }

    fn owner(&mut self, object: &mut ObjectId) {
        let mut named = self.owner;
        self.take(&["object"], |parser, _| {
            named = Some(parser.value(Id::Named)?);
            Ok(())
        });
        self.owner = named;
        match named.or(self.parser.object) {
            Some(owner) => *object = owner,
            None => self.is_unowned = true,
        }
    }

    fn list<K: EntityId>(&mut self, ids: &mut Vec<K>) {
        while self.result.is_ok() && self.parser.cursor.peek().is_some() {
            ids.extend(self.at_cursor(Parser::entity::<K>));
        }
    }

    fn owned<K: EntityId>(&mut self, range: &mut IdRange<K>) {
        if self.result.is_ok() && self.parser.cursor.at_id(K::PREFIX) {
            self.took = true;
            if let Some(owned) = self.at_cursor(Parser::id_range) {
                *range = owned;
            }
        }
    }
}
