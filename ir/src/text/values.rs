//! How values are written in the text form, both ways.

use std::borrow::Cow;

use cuweld_elf::symbol::Binding;
use cuweld_elf::symbol::SymbolType;

use super::fields::IdVisitor;
use super::fields::Row;
use super::fields::Spelling;
use super::lexer::Parsed;
use super::parse::Parser;
use super::print::Printer;
use super::quote::put;
use super::quote::put_name;
use super::quote::put_quoted;
use super::words;
use super::words::Words;
use crate::ids::*;
use crate::section::SectionInfo;
use crate::section::SectionKind;
use crate::symbol::SymbolRef;
use crate::table::EntityId;
use crate::table::IdRange;

/// A decimal number.
pub(super) struct Decimal;
/// A hexadecimal number.
pub(super) struct Hex;
/// A hexadecimal number that may have a sign.
pub(super) struct Signed;
/// A name, in quotes only where it needs them.
pub(super) struct Name;
/// A name in quotes.
pub(super) struct Quoted;
/// Bytes: hex, or a slice of an image.
pub(super) struct Bytes;
/// An id, which may be annotated with the name of what it refers to.
pub(super) enum Id<'n> {
    /// With the name, if there is one.
    Named,
    /// Without it.
    Bare,
    /// Without it if it is this one.
    BareIf(&'n [u8]),
}
/// A symbol, a section or `none`.
pub(super) struct Target;
/// A range of ids.
pub(super) struct Rows;
/// A value or `none`.
pub(super) struct OrNone<S>(pub(super) S);
/// A word of an enumeration.
pub(super) struct OneOf<T: 'static>(pub(super) Words<T>);
/// A word that stands for a number, or the number; then what it is.
pub(super) struct Known<T: 'static>(pub(super) Words<T>, pub(super) &'static str);
/// Flags joined by `|`.
pub(super) struct Flags(pub(super) Words<u64>);
/// A row in parentheses.
pub(super) struct Group;

/// A number with a word that two functions know; then what it is.
pub(super) struct Coded<T>(
    fn(T) -> Cow<'static, str>,
    fn(&str) -> Option<T>,
    &'static str,
);

pub(super) const SECTION_TYPE: Coded<u32> = Coded(
    words::section_type,
    words::section_type_value,
    "a section type",
);
pub(super) const RELOC_TYPE: Coded<u32> = Coded(
    words::reloc_name,
    words::reloc_value,
    "a relocation type such as R_CUDA_32",
);
pub(super) const BINDING: Known<Binding> = Known(words::BINDINGS, "a binding");
pub(super) const SYMBOL_TYPE: Known<SymbolType> = Known(words::SYMBOL_TYPES, "a symbol type");
pub(super) const FILE_TYPE: Known<u16> = Known(words::FILE_TYPES, "a file type");

impl<T: Copy + Into<u64> + TryFrom<u64>> Spelling<'_, T> for Decimal {
    fn print(&self, value: &T, out: &mut Printer<'_, '_>) {
        put!(out.out, "{}", (*value).into());
    }
    fn parse(&self, parser: &mut Parser<'_, '_, '_>) -> Parsed<T> {
        parser.cursor.narrow()
    }
}

impl<T: Copy + Into<u64> + TryFrom<u64>> Spelling<'_, T> for Hex {
    fn print(&self, value: &T, out: &mut Printer<'_, '_>) {
        put!(out.out, "{:#x}", (*value).into());
    }
    fn parse(&self, parser: &mut Parser<'_, '_, '_>) -> Parsed<T> {
        parser.cursor.narrow()
    }
}

impl Spelling<'_, i64> for Signed {
    fn print(&self, value: &i64, out: &mut Printer<'_, '_>) {
        let sign = if *value < 0 { "-" } else { "" };
        put!(out.out, "{sign}{:#x}", value.unsigned_abs());
    }
    fn parse(&self, parser: &mut Parser<'_, '_, '_>) -> Parsed<i64> {
        parser.cursor.signed()
    }
}

impl<'data> Spelling<'data, &'data [u8]> for Name {
    fn print(&self, value: &&'data [u8], out: &mut Printer<'_, 'data>) {
        put_name(&mut out.out, value);
    }
    fn parse(&self, parser: &mut Parser<'_, 'data, '_>) -> Parsed<&'data [u8]> {
        parser.name()
    }
}

impl<'data> Spelling<'data, &'data [u8]> for Quoted {
    fn print(&self, value: &&'data [u8], out: &mut Printer<'_, 'data>) {
        put_quoted(&mut out.out, value);
    }
    fn parse(&self, parser: &mut Parser<'_, 'data, '_>) -> Parsed<&'data [u8]> {
        parser.name()
    }
}

impl<'data> Spelling<'data, &'data [u8]> for Bytes {
    fn print(&self, value: &&'data [u8], out: &mut Printer<'_, 'data>) {
        out.images.put(&mut out.out, value, out.object);
    }
    fn parse(&self, parser: &mut Parser<'_, 'data, '_>) -> Parsed<&'data [u8]> {
        if parser.cursor.eat("x\"") {
            let mut bytes = Vec::new();
            parser.cursor.hex(&mut bytes)?;
            parser.cursor.expect("\"")?;
            return Ok(parser.arena.bytes(&bytes));
        }
        let position = parser.cursor.position();
        if parser.cursor.eat("hash:") {
            return Err(position.error("a hash stands for bytes that are not in the text"));
        }
        if !parser.cursor.at_id(ObjectId::PREFIX) {
            return Err(parser
                .cursor
                .expected("bytes such as `x\"00ff\"` or `@0[0x40..0x80]`"));
        }
        let object = ObjectId::new(parser.id_number(ObjectId::PREFIX)? as usize);
        parser.cursor.expect("[")?;
        let start: u64 = parser.cursor.number()?;
        parser.cursor.expect("..")?;
        let end: u64 = parser.cursor.number()?;
        parser.cursor.expect("]")?;
        if parser.numbering.is_some() {
            return Ok(b"");
        }
        let image = parser.module.objects.get(object).map(|row| row.image);
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

impl<K: EntityId> Spelling<'_, K> for Id<'_> {
    fn print(&self, value: &K, out: &mut Printer<'_, '_>) {
        match self {
            Id::BareIf(name) if out.module.name_of(*value) != *name => out.put_id(*value),
            Id::Named => out.put_id(*value),
            Id::Bare | Id::BareIf(_) => put!(out.out, "{value:?}"),
        }
    }
    fn parse(&self, parser: &mut Parser<'_, '_, '_>) -> Parsed<K> {
        parser.entity()
    }
    fn ids(&self, value: &mut K, ids: &mut impl IdVisitor) {
        ids.id(value);
    }
}

impl Spelling<'_, SymbolRef> for Target {
    fn print(&self, value: &SymbolRef, out: &mut Printer<'_, '_>) {
        match *value {
            SymbolRef::None => out.out.push_str("none"),
            SymbolRef::Symbol(id) => out.put_id(id),
            SymbolRef::Section(id) => out.put_id(id),
        }
    }
    fn parse(&self, parser: &mut Parser<'_, '_, '_>) -> Parsed<SymbolRef> {
        if parser.cursor.at_id(SymbolId::PREFIX) {
            Ok(SymbolRef::Symbol(parser.entity()?))
        } else if parser.cursor.at_id(SectionId::PREFIX) {
            Ok(SymbolRef::Section(parser.entity()?))
        } else if parser.cursor.eat_word("none") {
            Ok(SymbolRef::None)
        } else {
            Err(parser.cursor.expected("a symbol, a section or `none`"))
        }
    }
    fn ids(&self, value: &mut SymbolRef, ids: &mut impl IdVisitor) {
        ids.target(value);
    }
}

impl<K: EntityId> Spelling<'_, IdRange<K>> for Rows {
    fn print(&self, value: &IdRange<K>, out: &mut Printer<'_, '_>) {
        put!(out.out, "{value:?}");
    }
    fn parse(&self, parser: &mut Parser<'_, '_, '_>) -> Parsed<IdRange<K>> {
        parser.id_range()
    }
    fn ids(&self, value: &mut IdRange<K>, ids: &mut impl IdVisitor) {
        ids.range(value);
    }
}

impl<'data, T, S: Spelling<'data, T>> Spelling<'data, Option<T>> for OrNone<S> {
    fn print(&self, value: &Option<T>, out: &mut Printer<'_, 'data>) {
        match value {
            Some(value) => self.0.print(value, out),
            None => out.out.push_str("none"),
        }
    }
    fn parse(&self, parser: &mut Parser<'_, 'data, '_>) -> Parsed<Option<T>> {
        if parser.cursor.eat_word("none") {
            return Ok(None);
        }
        self.0.parse(parser).map(Some)
    }
    fn ids(&self, value: &mut Option<T>, ids: &mut impl IdVisitor) {
        if let Some(value) = value {
            self.0.ids(value, ids);
        }
    }
}

impl<T: Copy + PartialEq> Spelling<'_, T> for OneOf<T> {
    fn print(&self, value: &T, out: &mut Printer<'_, '_>) {
        // Every value is in its table, which the sample of the tests shows.
        out.out.push_str(self.0.word(*value).unwrap_or("?"));
    }
    fn parse(&self, parser: &mut Parser<'_, '_, '_>) -> Parsed<T> {
        parser.one_of(&self.0)
    }
}

impl<T: Copy + PartialEq + Into<u64> + TryFrom<u64>> Spelling<'_, T> for Known<T> {
    fn print(&self, value: &T, out: &mut Printer<'_, '_>) {
        match self.0.word(*value) {
            Some(word) => out.out.push_str(word),
            None => Hex.print(value, out),
        }
    }
    fn parse(&self, parser: &mut Parser<'_, '_, '_>) -> Parsed<T> {
        parser.known_by(|word| self.0.value(word), self.1)
    }
}

impl<T: Copy + TryFrom<u64>> Spelling<'_, T> for Coded<T> {
    fn print(&self, value: &T, out: &mut Printer<'_, '_>) {
        out.out.push_str(&self.0(*value));
    }
    fn parse(&self, parser: &mut Parser<'_, '_, '_>) -> Parsed<T> {
        parser.known_by(self.1, self.2)
    }
}

impl<T: Copy + Into<u64> + TryFrom<u64>> Spelling<'_, T> for Flags {
    fn print(&self, value: &T, out: &mut Printer<'_, '_>) {
        out.out.push_str(&words::flags(&self.0, (*value).into()));
    }
    fn parse(&self, parser: &mut Parser<'_, '_, '_>) -> Parsed<T> {
        let position = parser.cursor.position();
        let mut flags = 0;
        loop {
            flags |= parser.known_by(|word| self.0.value(word), "a flag")?;
            if !parser.cursor.eat("|") {
                break;
            }
        }
        T::try_from(flags)
            .map_err(|_| position.error(format!("expected fewer bits than in {flags:#x}")))
    }
}

impl<'data, R: Row<'data>> Spelling<'data, R> for Group {
    fn print(&self, value: &R, out: &mut Printer<'_, 'data>) {
        out.out.push('(');
        value.clone().fields(out);
        out.out.push(')');
    }
    fn parse(&self, parser: &mut Parser<'_, 'data, '_>) -> Parsed<R> {
        parser.group()
    }
    fn ids(&self, value: &mut R, ids: &mut impl IdVisitor) {
        value.fields(ids);
    }
}

/// What a section's header refers to.
pub(super) struct Info;

impl Spelling<'_, SectionInfo> for Info {
    fn print(&self, value: &SectionInfo, out: &mut Printer<'_, '_>) {
        match *value {
            SectionInfo::None => {}
            SectionInfo::Section(section) => out.put_id(section),
            SectionInfo::Symbol { symbol, high } => {
                out.put_id(symbol);
                put!(out.out, "/{high}");
            }
            SectionInfo::Raw(raw) => put!(out.out, "{raw:#x}"),
        }
    }
    fn parse(&self, parser: &mut Parser<'_, '_, '_>) -> Parsed<SectionInfo> {
        if parser.cursor.at_id(SectionId::PREFIX) {
            return Ok(SectionInfo::Section(parser.entity()?));
        }
        if parser.cursor.at_id(SymbolId::PREFIX) {
            let symbol = parser.entity()?;
            let high = match parser.cursor.eat("/") {
                true => parser.cursor.narrow()?,
                false => 0,
            };
            return Ok(SectionInfo::Symbol { symbol, high });
        }
        Ok(SectionInfo::Raw(parser.cursor.narrow()?))
    }
    fn ids(&self, value: &mut SectionInfo, ids: &mut impl IdVisitor) {
        match value {
            SectionInfo::Section(id) => ids.id(id),
            SectionInfo::Symbol { symbol, .. } => ids.id(symbol),
            SectionInfo::None | SectionInfo::Raw(_) => {}
        }
    }
}

/// The kind of a section, `word` or `word/bank`.
pub(super) struct Kind;

impl Spelling<'_, SectionKind> for Kind {
    fn print(&self, value: &SectionKind, out: &mut Printer<'_, '_>) {
        out.out.push_str(&words::section_kind(*value));
    }
    fn parse(&self, parser: &mut Parser<'_, '_, '_>) -> Parsed<SectionKind> {
        for (word, kind) in words::BANK_KINDS {
            if parser.cursor.eat_word(word) {
                parser.cursor.expect("/")?;
                return Ok(kind(parser.cursor.narrow()?));
            }
        }
        parser.one_of(&words::SECTION_KINDS)
    }
}

/// The caller and, after an arrow, the callee.
pub(super) struct Edge;

impl Spelling<'_, (SymbolRef, SymbolRef)> for Edge {
    fn print(&self, (from, to): &(SymbolRef, SymbolRef), out: &mut Printer<'_, '_>) {
        Target.print(from, out);
        if *to != SymbolRef::None {
            out.out.push_str(" -> ");
            Target.print(to, out);
        }
    }
    fn parse(&self, parser: &mut Parser<'_, '_, '_>) -> Parsed<(SymbolRef, SymbolRef)> {
        let from = Target.parse(parser)?;
        let to = match parser.cursor.eat("->") {
            true => Target.parse(parser)?,
            false => SymbolRef::None,
        };
        Ok((from, to))
    }
    fn ids(&self, (from, to): &mut (SymbolRef, SymbolRef), ids: &mut impl IdVisitor) {
        ids.target(from);
        ids.target(to);
    }
}
