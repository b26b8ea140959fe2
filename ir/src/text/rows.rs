//! The rows that objects own, field by field.

use super::content::put_digest;
use super::fields::IdVisitor;
use super::fields::Part;
use super::fields::Row;
use super::fields::Spelling;
use super::fields::Visitor;
use super::fields::keyed_variants;
use super::lexer::Parsed;
use super::parse::Parser;
use super::print::Printer;
use super::quote::put_quoted;
use super::values::*;
use super::words;
use crate::callgraph_record::CallRecord;
use crate::callgraph_record::PrototypeRecord;
use crate::function::Function;
use crate::function::FunctionView;
use crate::note::Note;
use crate::object::Object;
use crate::placement::SharedFrame;
use crate::reloc::Reloc;
use crate::reloc::RelocAction;
use crate::section::Section;
use crate::section::SectionContent;
use crate::symbol::Symbol;
use crate::symbol::SymbolPlace;
use cuweld_elf::note_records::tool_info;
use cuweld_elf::note_records::tool_info_strings;
use std::borrow::Cow;

impl<'data> Row<'data> for Object<'data> {
    fn fields(&mut self, v: &mut impl Visitor<'data>) {
        v.word(&mut self.name, Name);
        v.sparse("member", &mut self.member, Name);
        v.field("type", &mut self.e_type, FILE_TYPE);
        v.field("flags", &mut self.e_flags, Hex);
        v.optional("legacy", &mut self.legacy, Decimal);
        v.optional("abi", &mut self.unusual_abi, Hex);
        v.field("state", &mut self.state, OneOf(words::OBJECT_STATES));
        v.flag("system-library", &mut self.system_library);
        v.flag("silent", &mut self.is_silent);
        v.sparse("origin", &mut self.origin, OneOf(words::OBJECT_ORIGINS));
        v.sparse("image", &mut self.image, Image);
    }
}

/// The image of an object, by its hash.
struct Image;

impl<'data> Spelling<'data, &'data [u8]> for Image {
    fn print(&self, value: &&'data [u8], out: &mut Printer<'_, 'data>) {
        put_digest(&mut out.out, value);
    }
    fn parse(&self, parser: &mut Parser<'_, 'data, '_>) -> Parsed<&'data [u8]> {
        // The bytes stand below the row, or are asked for once it is read.
        parser.input = Some(parser.digest()?);
        Ok(b"")
    }
}

impl<'data> Object<'data> {
    /// Visits the ranges of rows that the object owns.
    pub(crate) fn owned(&mut self, v: &mut impl Visitor<'data>) {
        v.owned(&mut self.sections);
        v.owned(&mut self.symbols);
        v.owned(&mut self.functions);
        v.owned(&mut self.relocs);
        v.owned(&mut self.attributes);
        v.owned(&mut self.calls);
        v.owned(&mut self.prototypes);
        v.owned(&mut self.notes);
    }
}

impl<'data> Row<'data> for Section<'data> {
    fn fields(&mut self, v: &mut impl Visitor<'data>) {
        v.word(&mut self.name, Name);
        v.word(&mut self.ty, SECTION_TYPE);
        v.sparse("flags", &mut self.flags, Flags(words::SECTION_FLAGS));
        v.sparse("align", &mut self.align, Decimal);
        v.sparse("entsize", &mut self.entsize, Decimal);
        v.optional("link", &mut self.link, Id::Named);
        v.sparse("info", &mut self.info, Info);
        v.part(&mut self.content, Content);
        v.sparse("relocs", &mut self.relocs, Rows);
        v.sparse("attributes", &mut self.attributes, Rows);
        v.sparse("kind", &mut self.kind, Kind);
        v.optional("owner", &mut self.owner, Id::Named);
        v.optional("place", &mut self.place, Hex);
        v.owner(&mut self.object);
    }
}

keyed_variants! {
    /// What a section holds.
    Content: SectionContent<'data>,
    "bytes" => Bytes(bytes: Bytes),
    "nobits" => NoBits(size: Hex),
    "decoded" => Decoded,
}

impl<'data> Row<'data> for Symbol<'data> {
    fn fields(&mut self, v: &mut impl Visitor<'data>) {
        v.word(&mut self.name, Name);
        v.word(&mut self.bind, BINDING);
        v.word(&mut self.ty, SYMBOL_TYPE);
        v.sparse("other", &mut self.other, Flags(words::SYMBOL_OTHERS));
        v.part(&mut self.place, Place);
        v.field("value", &mut self.value, Hex);
        v.field("size", &mut self.size, Hex);
        v.optional("function", &mut self.function, Id::Bare);
        // A symbol nearly always has the name of what it stands for.
        v.optional("link", &mut self.link, Id::BareIf(self.name));
        v.owner(&mut self.object);
    }
}

keyed_variants! {
    /// Where a symbol is defined.
    Place: SymbolPlace,
    "undefined" => Undefined,
    "in" => Section(section: Id::Named),
    "common" => Common,
    "absolute" => Absolute,
    "reserved" => Reserved(index: Hex),
}

impl<'data> Row<'data> for Function {
    fn fields(&mut self, v: &mut impl Visitor<'data>) {
        v.word(&mut self.symbol, Id::Named);
        v.required("sass", &mut self.views.sass.text, Id::Named);
        v.optional("sass-info", &mut self.views.sass.info, Id::Named);
        v.part(&mut self.views.merc, MercView);
        v.field("fate", &mut self.fate, OneOf(words::FATES));
        v.sparse("remade", &mut self.remade, OneOf(words::REMADE));
        v.field("registers", &mut self.registers, Decimal);
        v.optional("shared", &mut self.shared, Group);
        v.optional("dynamic-shared", &mut self.dynamic_shared, Hex);
        v.optional("unnamed-shared", &mut self.unnamed_shared, Hex);
        v.sparse(
            "headers",
            &mut self.header_kinds,
            Flags(words::HEADER_KINDS),
        );
        v.sparse("stack-limit", &mut self.stack_limit, Decimal);
        v.sparse("flag-barriers", &mut self.flag_barriers, Decimal);
        v.sparse("merc-size", &mut self.merc_size, Hex);
        v.owner(&mut self.object);
    }
}

/// The Mercury view of a function.
struct MercView;

impl<'data> Part<'data, Option<FunctionView>> for MercView {
    fn keys(&self) -> &[&'static str] {
        &["merc", "merc-info"]
    }
    fn print(&self, value: &Option<FunctionView>, out: &mut Printer<'_, 'data>) {
        if let Some(view) = value {
            out.field("merc", &view.text, Id::Named);
            if let Some(info) = &view.info {
                out.field("merc-info", info, Id::Named);
            }
        }
    }
    fn parse(
        &self,
        key: &str,
        value: &mut Option<FunctionView>,
        parser: &mut Parser<'_, 'data, '_>,
    ) -> Parsed<()> {
        let section = parser.value(Id::Named)?;
        match (key, value) {
            ("merc", value) => {
                *value = Some(FunctionView {
                    text: section,
                    info: value.and_then(|view| view.info),
                });
            }
            (_, Some(view)) => view.info = Some(section),
            (_, None) => {
                return Err(parser
                    .cursor
                    .expected("the field `merc` before `merc-info`"));
            }
        }
        Ok(())
    }
    fn ids(&self, value: &mut Option<FunctionView>, ids: &mut impl IdVisitor) {
        if let Some(view) = value {
            ids.id(&mut view.text);
            OrNone(Id::Named).ids(&mut view.info, ids);
        }
    }
}

impl<'data> Row<'data> for SharedFrame {
    fn fields(&mut self, v: &mut impl Visitor<'data>) {
        v.field("size", &mut self.size, Hex);
        v.field("align", &mut self.align, Decimal);
        v.field("slots-align", &mut self.slots_align, Decimal);
        v.flag("present", &mut self.present);
    }
}

impl<'data> Row<'data> for Reloc {
    fn fields(&mut self, v: &mut impl Visitor<'data>) {
        v.heading(&mut self.section, Id::Named);
        v.word(&mut self.offset, Hex);
        v.word(&mut self.ty, RELOC_TYPE);
        v.word(&mut self.target, Target);
        v.sparse("addend", &mut self.addend, Signed);
        v.part(&mut self.plan, Plan);
    }
}

/// What becomes of a relocation.
struct Plan;

impl<'data> Part<'data, RelocAction> for Plan {
    fn keys(&self) -> &[&'static str] {
        &["keep", "apply", "clear", "drop", "gone"]
    }
    fn print(&self, value: &RelocAction, out: &mut Printer<'_, 'data>) {
        match *value {
            RelocAction::Unplanned => {}
            RelocAction::Keep { ty, addend, rela } => {
                out.field("keep", &Keep { ty, addend, rela }, Group);
            }
            RelocAction::Apply {
                ty,
                value,
                in_place,
            } => {
                out.field(
                    "apply",
                    &Apply {
                        ty,
                        value,
                        in_place,
                    },
                    Group,
                );
            }
            RelocAction::Clear => out.key("clear"),
            RelocAction::Drop => out.key("drop"),
            RelocAction::Gone => out.key("gone"),
        }
    }
    fn parse(
        &self,
        key: &str,
        plan: &mut RelocAction,
        parser: &mut Parser<'_, 'data, '_>,
    ) -> Parsed<()> {
        *plan = match key {
            "keep" => {
                let Keep { ty, addend, rela } = parser.value(Group)?;
                RelocAction::Keep { ty, addend, rela }
            }
            "apply" => {
                let Apply {
                    ty,
                    value,
                    in_place,
                } = parser.value(Group)?;
                RelocAction::Apply {
                    ty,
                    value,
                    in_place,
                }
            }
            "clear" => RelocAction::Clear,
            "drop" => RelocAction::Drop,
            _ => RelocAction::Gone,
        };
        Ok(())
    }
}

/// The fields of [`RelocAction::Keep`].
#[derive(Clone, Default)]
struct Keep {
    ty: u32,
    addend: i64,
    rela: bool,
}

impl<'data> Row<'data> for Keep {
    fn fields(&mut self, v: &mut impl Visitor<'data>) {
        v.word(&mut self.ty, RELOC_TYPE);
        v.field("addend", &mut self.addend, Signed);
        v.flag("rela", &mut self.rela);
    }
}

/// The fields of [`RelocAction::Apply`].
#[derive(Clone, Default)]
struct Apply {
    ty: u32,
    value: u64,
    in_place: bool,
}

impl<'data> Row<'data> for Apply {
    fn fields(&mut self, v: &mut impl Visitor<'data>) {
        v.word(&mut self.ty, RELOC_TYPE);
        v.field("value", &mut self.value, Hex);
        v.flag("in-place", &mut self.in_place);
    }
}

impl<'data> Row<'data> for CallRecord<'data> {
    fn fields(&mut self, v: &mut impl Visitor<'data>) {
        v.word(&mut self.kind, OneOf(words::CALL_KINDS));
        let mut edge = (self.from, self.to);
        v.word(&mut edge, Edge);
        (self.from, self.to) = edge;
        v.sparse("prototype", &mut self.prototype, Name);
    }
}

impl<'data> Row<'data> for PrototypeRecord<'data> {
    fn fields(&mut self, v: &mut impl Visitor<'data>) {
        v.word(&mut self.function, Target);
        v.sparse("prototype", &mut self.prototype, Name);
    }
}

impl<'data> Row<'data> for Note<'data> {
    fn fields(&mut self, v: &mut impl Visitor<'data>) {
        v.heading(&mut self.section, OrNone(Id::Named));
        v.word(&mut self.owner, Quoted);
        v.field("type", &mut self.ty, Decimal);
        v.part(&mut self.desc, Description { ty: self.ty });
    }
}

/// The descriptor of a note. Those of CUDA's own notes are decoded if that loses nothing.
struct Description {
    ty: u32,
}

impl<'data> Part<'data, &'data [u8]> for Description {
    fn keys(&self) -> &[&'static str] {
        &["desc", "cuinfo", "tkinfo"]
    }
    fn print(&self, value: &&'data [u8], out: &mut Printer<'_, 'data>) {
        if let (1000, &[a, b, c, d, e, f, g, h]) = (self.ty, *value) {
            let info = CudaInfo {
                version: u16::from_le_bytes([a, b]),
                sm: u16::from_le_bytes([c, d]),
                toolkit: u32::from_le_bytes([e, f, g, h]),
            };
            return out.field("cuinfo", &info, Group);
        }
        if self.ty == 2000
            && let Some(strings) = tool_info_strings(value)
            && tool_info(strings) == *value
        {
            out.key("tkinfo=(");
            for (index, text) in strings.into_iter().enumerate() {
                out.out.push_str(if index == 0 { "" } else { " " });
                put_quoted(&mut out.out, text);
            }
            return out.out.push(')');
        }
        out.field("desc", value, Bytes);
    }
    fn parse(
        &self,
        key: &str,
        value: &mut &'data [u8],
        parser: &mut Parser<'_, 'data, '_>,
    ) -> Parsed<()> {
        *value = match key {
            "desc" => parser.value(Bytes)?,
            "cuinfo" => {
                let info: CudaInfo = parser.value(Group)?;
                let mut desc = Vec::with_capacity(8);
                desc.extend_from_slice(&info.version.to_le_bytes());
                desc.extend_from_slice(&info.sm.to_le_bytes());
                desc.extend_from_slice(&info.toolkit.to_le_bytes());
                parser.arena.bytes(&desc)
            }
            _ => {
                parser.cursor.expect("=")?;
                parser.cursor.expect("(")?;
                let mut strings: [Cow<'_, [u8]>; 5] = Default::default();
                for text in &mut strings {
                    *text = parser.cursor.name()?;
                }
                parser.cursor.expect(")")?;
                parser
                    .arena
                    .bytes(&tool_info(strings.each_ref().map(|text| &**text)))
            }
        };
        Ok(())
    }
}

/// The fields of a descriptor of `.note.nv.cuinfo`.
#[derive(Clone, Default)]
struct CudaInfo {
    version: u16,
    sm: u16,
    toolkit: u32,
}

impl<'data> Row<'data> for CudaInfo {
    fn fields(&mut self, v: &mut impl Visitor<'data>) {
        v.field("version", &mut self.version, Decimal);
        v.field("sm", &mut self.sm, Decimal);
        v.field("toolkit", &mut self.toolkit, Decimal);
    }
}
