//! Parsing: values of fields, names, references and bytes.

use super::lexer::Parsed;
use super::parse::Parser;
use super::words::Words;
use crate::ids::ObjectId;
use crate::ids::SectionId;
use crate::ids::SymbolId;
use crate::symbol::SymbolRef;
use crate::table::EntityId;
use crate::table::IdRange;

impl<'data> Parser<'_, 'data, '_> {
    /// The id that a row defines, which is the next of its table.
    pub(super) fn defined<K: EntityId>(&mut self, next: usize) -> Parsed<K> {
        let position = self.cursor.position();
        let index = self.cursor.id(K::PREFIX)?;
        if index as usize != next {
            let prefix = K::PREFIX;
            return Err(position.error(format!(
                "expected row `{prefix}{next}`, found `{prefix}{index}`"
            )));
        }
        Ok(K::new(next))
    }

    /// A reference, with or without the name of what it refers to.
    pub(super) fn entity<K: EntityId>(&mut self) -> Parsed<K> {
        let position = self.cursor.position();
        let index = self.cursor.id(K::PREFIX)?;
        let name = if self.cursor.eat(":") {
            Some(self.cursor.name()?)
        } else {
            None
        };
        self.references.entity(position, K::PREFIX, index, name);
        Ok(K::new(index as usize))
    }

    /// The value of a field that is a reference.
    pub(super) fn entity_value<K: EntityId>(&mut self) -> Parsed<K> {
        self.cursor.expect("=")?;
        self.entity()
    }

    pub(super) fn target(&mut self) -> Parsed<SymbolRef> {
        if self.cursor.at_id(SymbolId::PREFIX) {
            Ok(SymbolRef::Symbol(self.entity()?))
        } else if self.cursor.at_id(SectionId::PREFIX) {
            Ok(SymbolRef::Section(self.entity()?))
        } else if self.cursor.eat_word("none") {
            Ok(SymbolRef::None)
        } else {
            Err(self.cursor.expected("a symbol, a section or `none`"))
        }
    }

    pub(super) fn optional_section(&mut self) -> Parsed<Option<SectionId>> {
        if self.cursor.eat_word("none") {
            Ok(None)
        } else {
            self.entity().map(Some)
        }
    }

    pub(super) fn id_range<K: EntityId>(&mut self) -> Parsed<IdRange<K>> {
        let position = self.cursor.position();
        if !self.cursor.at_id(K::PREFIX) {
            return Err(self
                .cursor
                .expected(&format!("a range such as `{}0..1`", K::PREFIX)));
        }
        self.cursor.eat(K::PREFIX);
        let (start, end) = self.cursor.range()?;
        self.references.length(position, K::PREFIX, end);
        Ok(IdRange::new(start as usize, end as usize))
    }

    /// A name, copied into the arena.
    pub(super) fn name(&mut self) -> Parsed<&'data [u8]> {
        Ok(self.arena.bytes(&self.cursor.name()?))
    }

    pub(super) fn number_value(&mut self) -> Parsed<u64> {
        self.cursor.expect("=")?;
        self.cursor.number()
    }

    pub(super) fn narrow_value<T: TryFrom<u64>>(&mut self) -> Parsed<T> {
        self.cursor.expect("=")?;
        self.cursor.narrow()
    }

    pub(super) fn at_digit(&mut self) -> bool {
        self.cursor.peek().is_some_and(|byte| byte.is_ascii_digit())
    }

    /// A word that stands for a value.
    pub(super) fn one_of<T: Copy + PartialEq>(&mut self, words: &Words<T>) -> Parsed<T> {
        let value = words.value(self.cursor.peek_word());
        let value =
            value.ok_or_else(|| self.cursor.expected(&format!("one of {}", words.list())))?;
        self.cursor.word("a word")?;
        Ok(value)
    }

    /// A word that stands for a number, or the number.
    pub(super) fn known<T: Copy + PartialEq + TryFrom<u64>>(
        &mut self,
        words: &Words<T>,
        what: &str,
    ) -> Parsed<T> {
        self.known_by(|word| words.value(word), what)
    }

    /// A word that a function knows, or a number.
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

    /// The value of a field of flags joined by `|`.
    pub(super) fn flags<T: TryFrom<u64>>(&mut self, words: &Words<u64>) -> Parsed<T> {
        self.cursor.expect("=")?;
        let position = self.cursor.position();
        let mut flags = 0;
        loop {
            flags |= self.known(words, "a flag")?;
            if !self.cursor.eat("|") {
                break;
            }
        }
        T::try_from(flags)
            .map_err(|_| position.error(format!("expected fewer bits than in {flags:#x}")))
    }

    /// Bytes: hex, or a slice of an image.
    pub(super) fn content(&mut self) -> Parsed<&'data [u8]> {
        self.cursor.expect("=")?;
        if self.cursor.eat("x\"") {
            let mut bytes = Vec::new();
            self.cursor.hex(&mut bytes)?;
            self.cursor.expect("\"")?;
            return Ok(self.arena.bytes(&bytes));
        }
        let position = self.cursor.position();
        if self.cursor.eat("hash:") {
            return Err(position.error("a hash stands for bytes that are not in the text"));
        }
        if !self.cursor.at_id(ObjectId::PREFIX) {
            return Err(self
                .cursor
                .expected("bytes such as `x\"00ff\"` or `@0[0x40..0x80]`"));
        }
        let object = ObjectId::new(self.cursor.id(ObjectId::PREFIX)? as usize);
        self.cursor.expect("[")?;
        let start: u64 = self.cursor.number()?;
        self.cursor.expect("..")?;
        let end: u64 = self.cursor.number()?;
        self.cursor.expect("]")?;
        let image = self.module.objects.get(object).map(|row| row.image);
        let image =
            image.ok_or_else(|| position.error(format!("object {object} does not stand above")))?;
        let range = usize::try_from(start).ok().zip(usize::try_from(end).ok());
        range
            .and_then(|(start, end)| image.get(start..end))
            .ok_or_else(|| {
                position.error(format!(
                    "{start:#x}..{end:#x} is no range of the image, which has {:#x} bytes",
                    image.len()
                ))
            })
    }
}
