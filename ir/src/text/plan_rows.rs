//! The rows of the output layout, field by field.

use std::ops::Range;

use super::fields::IdVisitor;
use super::fields::Part;
use super::fields::Row;
use super::fields::Spelling;
use super::fields::Visitor;
use super::fields::keyed_variants;
use super::lexer::Parsed;
use super::parse::Parser;
use super::print::Printer;
use super::quote::put;
use super::references::Claim;
use super::values::*;
use super::words;
use crate::plan::OutputLayout;
use crate::plan::PlanContent;
use crate::plan::PlanPiece;
use crate::plan::PlanReloc;
use crate::plan::PlanSection;
use crate::plan::PlanSegment;
use crate::plan::PlanSymbol;

impl<'data> Row<'data> for OutputLayout<'data> {
    fn fields(&mut self, v: &mut impl Visitor<'data>) {
        v.field("type", &mut self.e_type, FILE_TYPE);
        v.field("flags", &mut self.e_flags, Hex);
        v.optional("legacy", &mut self.legacy, Decimal);
        v.field("shoff", &mut self.shoff, Hex);
        v.field("phoff", &mut self.phoff, Hex);
        v.field("shstrndx", &mut self.shstrndx, Decimal);
        v.field("file-size", &mut self.file_size, Hex);
    }
}

impl<'data> Row<'data> for PlanSection<'data> {
    fn fields(&mut self, v: &mut impl Visitor<'data>) {
        v.word(&mut self.name, Name);
        v.field("name", &mut self.name_offset, Hex);
        v.field("type", &mut self.ty, SECTION_TYPE);
        v.sparse("flags", &mut self.flags, Flags(words::SECTION_FLAGS));
        v.field("offset", &mut self.offset, Hex);
        v.field("size", &mut self.size, Hex);
        v.field("link", &mut self.link, Decimal);
        v.field("info", &mut self.info, Hex);
        v.field("align", &mut self.align, Decimal);
        v.field("entsize", &mut self.entsize, Decimal);
        v.part(&mut self.content, Content);
    }
}

keyed_variants! {
    /// What an output section holds.
    Content: PlanContent<'data>,
    "no-bytes" => None,
    "bytes" => Bytes(bytes: Bytes),
    "pieces" => Pieces(range: Numbers(Claim::PlanPieces)),
    "relocs" => Relocs(range: Numbers(Claim::PlanRelocs)),
    "alias" => Alias(section: Decimal),
    "section-names" => SectionNames,
    "symbol-names" => SymbolNames,
    "symbols" => Symbols,
}

/// A range of rows of the plan, which have numbers and no ids; and the claim that there are so
/// many.
struct Numbers(fn(u32) -> Claim<'static>);

impl Spelling<'_, Range<u32>> for Numbers {
    fn print(&self, value: &Range<u32>, out: &mut Printer<'_, '_>) {
        put!(out.out, "{}..{}", value.start, value.end);
    }
    fn parse(&self, parser: &mut Parser<'_, '_, '_>) -> Parsed<Range<u32>> {
        let position = parser.cursor.position();
        let (start, end) = parser.cursor.range()?;
        parser.references.claim(position, self.0(end));
        Ok(start..end)
    }
}

impl<'data> Row<'data> for PlanPiece {
    fn fields(&mut self, v: &mut impl Visitor<'data>) {
        v.field("offset", &mut self.offset, Hex);
        v.required("section", &mut self.section, Id::Named);
        v.optional("size", &mut self.size, Hex);
    }
}

impl<'data> Row<'data> for PlanSymbol {
    fn fields(&mut self, v: &mut impl Visitor<'data>) {
        v.field("name", &mut self.name_offset, PlanName);
        v.field("bind", &mut self.bind, HalfByte(BINDING));
        v.field("type", &mut self.ty, HalfByte(SYMBOL_TYPE));
        v.sparse("other", &mut self.other, Flags(words::SYMBOL_OTHERS));
        v.field("section", &mut self.shndx, SectionIndex);
        v.field("value", &mut self.value, Hex);
        v.field("size", &mut self.size, Hex);
    }
}

/// An offset into the symbol names of the plan, annotated with the name.
struct PlanName;

impl Spelling<'_, u32> for PlanName {
    fn print(&self, value: &u32, out: &mut Printer<'_, '_>) {
        Hex.print(value, out);
        out.put_annotation(out.plan_name(*value));
    }
    fn parse(&self, parser: &mut Parser<'_, '_, '_>) -> Parsed<u32> {
        let position = parser.cursor.position();
        let offset = parser.cursor.narrow()?;
        if let Some(name) = parser.annotation()? {
            parser
                .references
                .claim(position, Claim::PlanName { offset, name });
        }
        Ok(offset)
    }
}

/// An output symbol, annotated with its name.
struct PlanSymbolNumber;

impl Spelling<'_, u32> for PlanSymbolNumber {
    fn print(&self, value: &u32, out: &mut Printer<'_, '_>) {
        Decimal.print(value, out);
        out.put_annotation(out.plan_name(out.plan_name_offset(*value)));
    }
    fn parse(&self, parser: &mut Parser<'_, '_, '_>) -> Parsed<u32> {
        let position = parser.cursor.position();
        let symbol = parser.cursor.narrow()?;
        let name = parser.annotation()?;
        let claim = Claim::PlanSymbol {
            index: symbol,
            name,
        };
        parser.references.claim(position, claim);
        Ok(symbol)
    }
}

/// A number of at most 4 bits.
struct HalfByte<S>(S);

impl<'data, T: Copy + Into<u64>, S: Spelling<'data, T>> Spelling<'data, T> for HalfByte<S> {
    fn print(&self, value: &T, out: &mut Printer<'_, 'data>) {
        self.0.print(value, out);
    }
    fn parse(&self, parser: &mut Parser<'_, 'data, '_>) -> Parsed<T> {
        let position = parser.cursor.position();
        match self.0.parse(parser)? {
            value if value.into() < 16 => Ok(value),
            _ => Err(position.error("expected a number of at most 4 bits")),
        }
    }
}

/// The number of a section, or one of those with a word.
struct SectionIndex;

impl Spelling<'_, u16> for SectionIndex {
    fn print(&self, value: &u16, out: &mut Printer<'_, '_>) {
        match words::RESERVED_INDICES.word(*value) {
            Some(word) => out.out.push_str(word),
            None => Decimal.print(value, out),
        }
    }
    fn parse(&self, parser: &mut Parser<'_, '_, '_>) -> Parsed<u16> {
        Known(words::RESERVED_INDICES, "ABS, COMMON").parse(parser)
    }
}

impl<'data> Row<'data> for PlanReloc {
    fn fields(&mut self, v: &mut impl Visitor<'data>) {
        v.field("offset", &mut self.offset, Hex);
        v.field("type", &mut self.ty, RELOC_TYPE);
        v.field("symbol", &mut self.symbol, PlanSymbolNumber);
        v.sparse("addend", &mut self.addend, Signed);
    }
}

impl<'data> Row<'data> for PlanSegment {
    fn fields(&mut self, v: &mut impl Visitor<'data>) {
        v.field(
            "type",
            &mut self.ty,
            Known(words::SEGMENT_TYPES, "a segment type"),
        );
        v.field("flags", &mut self.flags, Flags(words::SEGMENT_FLAGS));
        v.field("offset", &mut self.offset, Hex);
        v.field("file-size", &mut self.file_size, Hex);
        v.field("mem-size", &mut self.mem_size, Hex);
    }
}
