//! Parsing: values of fields, names, references and bytes.

use std::borrow::Cow;

use super::fields::Spelling;
use super::lexer::Parsed;
use super::parse::Parser;
use super::references::Claim;
use super::words::Words;
use crate::table::EntityId;
use crate::table::IdRange;

impl<'t, 'data> Parser<'t, 'data, '_> {
    /// Parses the id that a row defines, which is the next of its table.
    pub(super) fn defined<K: EntityId>(&mut self, next: usize) -> Parsed<K> {
        let position = self.cursor.position();
        if let Some(numbering) = &mut self.numbering {
            let (key, place) = self.cursor.id_key(K::PREFIX)?;
            numbering.define(K::PREFIX, key, place, position);
            return Ok(K::new(next));
        }
        let index = self.cursor.id(K::PREFIX)?;
        if index as usize != next {
            let prefix = K::PREFIX;
            return Err(position.misnumbered(format!(
                "expected row `{prefix}{next}`, found `{prefix}{index}`"
            )));
        }
        Ok(K::new(next))
    }

    /// Parses a reference, with or without the name of what it refers to.
    pub(super) fn entity<K: EntityId>(&mut self) -> Parsed<K> {
        let position = self.cursor.position();
        let index = self.id_number(K::PREFIX)?;
        let name = self.annotation()?;
        if self.numbering.is_some() {
            return Ok(K::new(0));
        }
        let claim = Claim::Entity {
            prefix: K::PREFIX,
            index,
            name,
        };
        self.references.claim(position, claim);
        Ok(K::new(index as usize))
    }

    /// Parses the id of a reference, and returns its number.
    pub(super) fn id_number(&mut self, prefix: &'static str) -> Parsed<u32> {
        let position = self.cursor.position();
        let Some(numbering) = &mut self.numbering else {
            return self.cursor.id(prefix);
        };
        let (key, place) = self.cursor.id_key(prefix)?;
        numbering.refer(prefix, key, place, position);
        Ok(0)
    }

    /// Parses the name after a reference, if one stands there.
    pub(super) fn annotation(&mut self) -> Parsed<Option<Cow<'t, [u8]>>> {
        match self.cursor.eat(":") {
            true => self.cursor.name().map(Some),
            false => Ok(None),
        }
    }

    /// Parses the value of a field.
    pub(super) fn value<T>(&mut self, spelling: impl Spelling<'data, T>) -> Parsed<T> {
        self.cursor.expect("=")?;
        spelling.parse(self)
    }

    pub(super) fn id_range<K: EntityId>(&mut self) -> Parsed<IdRange<K>> {
        let position = self.cursor.position();
        if !self.cursor.at_id(K::PREFIX) {
            return Err(self
                .cursor
                .expected(&format!("a range such as `{}0..1`", K::PREFIX)));
        }
        let place = self.cursor.offset();
        self.cursor.eat(K::PREFIX);
        let (start, end) = self.cursor.range()?;
        let prefix = K::PREFIX;
        if let Some(numbering) = &mut self.numbering {
            numbering.range(prefix, place..self.cursor.end());
            return Ok(IdRange::default());
        }
        self.references
            .claim(position, Claim::Length { prefix, end });
        Ok(IdRange::new(start as usize, end as usize))
    }

    /// Parses a name and copies it into the arena.
    pub(super) fn name(&mut self) -> Parsed<&'data [u8]> {
        Ok(self.arena.bytes(&self.cursor.name()?))
    }

    pub(super) fn at_digit(&mut self) -> bool {
        self.cursor.peek().is_some_and(|byte| byte.is_ascii_digit())
    }

    /// Parses a word that stands for a value.
    pub(super) fn one_of<T: Copy + PartialEq>(&mut self, words: &Words<T>) -> Parsed<T> {
        let value = words.value(self.cursor.peek_word());
        let value =
            value.ok_or_else(|| self.cursor.expected(&format!("one of {}", words.list())))?;
        self.cursor.word("a word")?;
        Ok(value)
    }

    /// Parses a word that a function knows, or a number.
    pub(super) fn known_by<T: TryFrom<u64>>(
        &mut self,
        value: impl Fn(&str) -> Option<T>,
        what: &str,
    ) -> Parsed<T> {
        if self.at_digit() {
            return self.cursor.narrow();
        }
        let Some(value) = value(self.cursor.peek_word()) else {
            return Err(self.cursor.expected(&format!("{what} or a number")));
        };
        self.cursor.word(what)?;
        Ok(value)
    }
}
