//! Parsing the rows that objects own.

use super::lexer::Parsed;
use super::lexer::Position;
use super::parse::Parser;
use super::parse::unknown;
use super::words;
use crate::attribute::Attribute;
use crate::callgraph_record::CallRecord;
use crate::callgraph_record::PrototypeRecord;
use crate::function::Fate;
use crate::function::Function;
use crate::function::FunctionView;
use crate::function::Views;
use crate::ids::*;
use crate::note::Note;
use crate::placement::SharedFrame;
use crate::reloc::Reloc;
use crate::reloc::RelocPlan;
use crate::section::Section;
use crate::section::SectionContent;
use crate::section::SectionInfo;
use crate::section::SectionKind;
use crate::symbol::Symbol;
use crate::symbol::SymbolPlace;
use crate::symbol::SymbolRef;
use crate::table::EntityId;
use crate::table::IdRange;
use cuweld_elf::note_records::tool_info;

impl<'data> Parser<'_, 'data, '_> {
    /// Reads a row that begins with the id it defines; false if no such row comes next.
    pub(super) fn entity_row(&mut self) -> Parsed<bool> {
        if self.cursor.at_id(RelocId::PREFIX) {
            self.reloc()?;
        } else if self.cursor.at_id(SymbolId::PREFIX) {
            self.symbol()?;
        } else if self.cursor.at_id(AttributeId::PREFIX) {
            self.attribute()?;
        } else if self.cursor.at_id(SectionId::PREFIX) {
            self.section()?;
        } else if self.cursor.at_id(LinkSymbolId::PREFIX) {
            self.link_symbol()?;
        } else if self.cursor.at_id(FunctionId::PREFIX) {
            self.function()?;
        } else if self.cursor.at_id(CallId::PREFIX) {
            self.call()?;
        } else if self.cursor.at_id(PrototypeId::PREFIX) {
            self.prototype()?;
        } else if self.cursor.at_id(NoteId::PREFIX) {
            self.note()?;
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    /// The object of a row: the one it names, or the block it stands in.
    fn owner(&self, position: Position, named: Option<ObjectId>) -> Parsed<ObjectId> {
        named
            .or(self.object)
            .ok_or_else(|| position.error("expected the field `object`, as no object owns the row"))
    }

    fn section(&mut self) -> Parsed<()> {
        let start = self.cursor.position();
        self.defined::<SectionId>(self.module.sections.len())?;
        let name = self.name()?;
        let ty = self.known_by(words::section_type_value, "a section type")?;
        let mut row = Section {
            object: ObjectId::new(0),
            name,
            ty,
            flags: 0,
            align: 0,
            entsize: 0,
            link: None,
            info: SectionInfo::None,
            content: SectionContent::Decoded,
            relocs: IdRange::default(),
            attributes: IdRange::default(),
            kind: SectionKind::Unclassified,
            owner: None,
            place: None,
        };
        let (mut object, mut has_content) = (None, false);
        while let Some((position, key)) = self.cursor.field()? {
            match key {
                "flags" => row.flags = self.flags(&words::SECTION_FLAGS)?,
                "align" => row.align = self.number_value()?,
                "entsize" => row.entsize = self.number_value()?,
                "link" => row.link = Some(self.entity_value()?),
                "info" => row.info = self.section_info()?,
                "bytes" => row.content = SectionContent::Bytes(self.content()?),
                "nobits" => row.content = SectionContent::NoBits(self.number_value()?),
                "decoded" => row.content = SectionContent::Decoded,
                "relocs" => row.relocs = self.range_value()?,
                "attributes" => row.attributes = self.range_value()?,
                "kind" => row.kind = self.section_kind()?,
                "owner" => row.owner = Some(self.entity_value()?),
                "place" => row.place = Some(self.number_value()?),
                "object" => object = Some(self.entity_value()?),
                _ => {
                    let known = "flags, align, entsize, link, info, bytes, nobits, decoded, \
                                 relocs, attributes, kind, owner, place, object";
                    return Err(unknown(position, key, known));
                }
            }
            has_content |= matches!(key, "bytes" | "nobits" | "decoded");
        }
        if !has_content {
            return Err(self
                .cursor
                .expected("one of the fields bytes, nobits, decoded"));
        }
        row.object = self.owner(start, object)?;
        self.module.sections.push(row);
        Ok(())
    }

    fn range_value<K: EntityId>(&mut self) -> Parsed<IdRange<K>> {
        self.cursor.expect("=")?;
        self.id_range()
    }

    fn section_info(&mut self) -> Parsed<SectionInfo> {
        self.cursor.expect("=")?;
        if self.cursor.at_id(SectionId::PREFIX) {
            return Ok(SectionInfo::Section(self.entity()?));
        }
        if self.cursor.at_id(SymbolId::PREFIX) {
            let symbol = self.entity()?;
            let high = if self.cursor.eat("/") {
                self.cursor.narrow()?
            } else {
                0
            };
            return Ok(SectionInfo::Symbol { symbol, high });
        }
        Ok(SectionInfo::Raw(self.cursor.narrow()?))
    }

    fn section_kind(&mut self) -> Parsed<SectionKind> {
        self.cursor.expect("=")?;
        for (word, kind) in words::BANK_KINDS {
            if self.cursor.eat_word(word) {
                self.cursor.expect("/")?;
                return Ok(kind(self.cursor.narrow()?));
            }
        }
        self.one_of(&words::SECTION_KINDS)
    }

    fn symbol(&mut self) -> Parsed<()> {
        let start = self.cursor.position();
        self.defined::<SymbolId>(self.module.symbols.len())?;
        let name = self.name()?;
        let bind = self.known(&words::BINDINGS, "a binding")?;
        let ty = self.known(&words::SYMBOL_TYPES, "a symbol type")?;
        let (mut other, mut place, mut value, mut size) = (0, None, 0, 0);
        let (mut function, mut link, mut object) = (None, None, None);
        while let Some((position, key)) = self.cursor.field()? {
            match key {
                "other" => other = self.flags(&words::SYMBOL_OTHERS)?,
                "undefined" => place = Some(SymbolPlace::Undefined),
                "in" => place = Some(SymbolPlace::Section(self.entity_value()?)),
                "common" => place = Some(SymbolPlace::Common),
                "absolute" => place = Some(SymbolPlace::Absolute),
                "reserved" => place = Some(SymbolPlace::Reserved(self.narrow_value()?)),
                "value" => value = self.number_value()?,
                "size" => size = self.number_value()?,
                "function" => function = Some(self.entity_value()?),
                "link" => link = Some(self.entity_value()?),
                "object" => object = Some(self.entity_value()?),
                _ => {
                    let known = "other, undefined, in, common, absolute, reserved, value, size, \
                                 function, link, object";
                    return Err(unknown(position, key, known));
                }
            }
        }
        let Some(place) = place else {
            return Err(self
                .cursor
                .expected("one of the fields undefined, in, common, absolute, reserved"));
        };
        let object = self.owner(start, object)?;
        let row = Symbol {
            object,
            name,
            bind,
            ty,
            other,
            place,
            value,
            size,
            function,
            link,
        };
        self.module.symbols.push(row);
        Ok(())
    }

    fn function(&mut self) -> Parsed<()> {
        let start = self.cursor.position();
        self.defined::<FunctionId>(self.module.functions.len())?;
        let symbol = self.entity()?;
        let (mut sass, mut sass_info, mut merc, mut merc_info) = (None, None, None, None);
        let (mut fate, mut registers) = (Fate::Candidate, 0);
        let (mut shared, mut dynamic_shared, mut object) = (None, None, None);
        let (mut header_kinds, mut merc_size, mut flag_barriers) = (0, 0, 0);
        let mut stack_limit = 0;
        while let Some((position, key)) = self.cursor.field()? {
            match key {
                "sass" => sass = Some(self.entity_value()?),
                "sass-info" => sass_info = Some(self.entity_value()?),
                "merc" => merc = Some(self.entity_value()?),
                "merc-info" => merc_info = Some(self.entity_value()?),
                "fate" => {
                    self.cursor.expect("=")?;
                    fate = self.one_of(&words::FATES)?;
                }
                "registers" => registers = self.narrow_value()?,
                "shared" => shared = Some(self.shared_frame()?),
                "dynamic-shared" => dynamic_shared = Some(self.number_value()?),
                "headers" => header_kinds = self.flags(&words::HEADER_KINDS)?,
                "merc-size" => merc_size = self.number_value()?,
                "flag-barriers" => flag_barriers = self.narrow_value()?,
                "stack-limit" => stack_limit = self.narrow_value()?,
                "object" => object = Some(self.entity_value()?),
                _ => {
                    let known = "sass, sass-info, merc, merc-info, fate, registers, shared, dynamic-shared, headers, merc-size, flag-barriers, stack-limit, object";
                    return Err(unknown(position, key, known));
                }
            }
        }
        let Some(text) = sass else {
            return Err(self.cursor.expected("the field `sass`"));
        };
        if merc.is_none() && merc_info.is_some() {
            return Err(self.cursor.expected("the field `merc` beside `merc-info`"));
        }
        self.module.functions.push(Function {
            object: self.owner(start, object)?,
            symbol,
            views: Views {
                sass: FunctionView {
                    text,
                    info: sass_info,
                },
                merc: merc.map(|text| FunctionView {
                    text,
                    info: merc_info,
                }),
            },
            fate,
            registers,
            stack_limit,
            shared,
            dynamic_shared,
            header_kinds,
            merc_size,
            flag_barriers,
        });
        Ok(())
    }

    fn shared_frame(&mut self) -> Parsed<SharedFrame> {
        self.cursor.expect("=")?;
        self.cursor.expect("(")?;
        let mut frame = SharedFrame {
            size: 0,
            align: 0,
            slots_align: 1,
            present: false,
        };
        while let Some((position, key)) = self.cursor.field()? {
            match key {
                "size" => frame.size = self.number_value()?,
                "align" => frame.align = self.number_value()?,
                "slots-align" => frame.slots_align = self.number_value()?,
                "present" => frame.present = true,
                _ => return Err(unknown(position, key, "size, align, slots-align, present")),
            }
        }
        self.cursor.expect(")")?;
        Ok(frame)
    }

    fn reloc(&mut self) -> Parsed<()> {
        let start = self.cursor.position();
        self.defined::<RelocId>(self.module.relocs.len())?;
        let Some(section) = self.reloc_section else {
            return Err(start.error("expected a heading `relocs #…` above the first row"));
        };
        let offset = self.cursor.number()?;
        let ty = self.reloc_type()?;
        let target = self.target()?;
        let mut row = Reloc {
            section,
            offset,
            ty,
            target,
            addend: 0,
            plan: RelocPlan::Unplanned,
        };
        while let Some((position, key)) = self.cursor.field()? {
            match key {
                "addend" => {
                    self.cursor.expect("=")?;
                    row.addend = self.cursor.signed()?;
                }
                "keep" => row.plan = self.keep()?,
                "apply" => row.plan = self.apply()?,
                "clear" => row.plan = RelocPlan::Clear,
                "drop" => row.plan = RelocPlan::Drop,
                "gone" => row.plan = RelocPlan::Gone,
                _ => {
                    return Err(unknown(
                        position,
                        key,
                        "addend, keep, apply, clear, drop, gone",
                    ));
                }
            }
        }
        self.module.relocs.push(row);
        Ok(())
    }

    pub(super) fn reloc_type(&mut self) -> Parsed<u32> {
        self.known_by(words::reloc_value, "a relocation type such as R_CUDA_32")
    }

    fn keep(&mut self) -> Parsed<RelocPlan> {
        self.cursor.expect("=")?;
        self.cursor.expect("(")?;
        let ty = self.reloc_type()?;
        let (mut addend, mut rela) = (0, false);
        while let Some((position, key)) = self.cursor.field()? {
            match key {
                "addend" => {
                    self.cursor.expect("=")?;
                    addend = self.cursor.signed()?;
                }
                "rela" => rela = true,
                _ => return Err(unknown(position, key, "addend, rela")),
            }
        }
        self.cursor.expect(")")?;
        Ok(RelocPlan::Keep { ty, addend, rela })
    }

    fn apply(&mut self) -> Parsed<RelocPlan> {
        self.cursor.expect("=")?;
        self.cursor.expect("(")?;
        let ty = self.reloc_type()?;
        let (mut value, mut in_place) = (0, false);
        while let Some((position, key)) = self.cursor.field()? {
            match key {
                "value" => value = self.number_value()?,
                "in-place" => in_place = true,
                _ => return Err(unknown(position, key, "value, in-place")),
            }
        }
        self.cursor.expect(")")?;
        Ok(RelocPlan::Apply {
            ty,
            value,
            in_place,
        })
    }

    fn attribute(&mut self) -> Parsed<()> {
        let start = self.cursor.position();
        self.defined::<AttributeId>(self.module.attributes.len())?;
        let Some(section) = self.attribute_section else {
            return Err(start.error("expected a heading `attributes …` above the first row"));
        };
        let format = self.known(&words::FORMATS, "a record format")?;
        let code = self.known_by(words::attribute_code_value, "an attribute code")?;
        let refs_start = self.module.attribute_refs.len();
        let (mut value, mut refs, mut bytes) = (0, None, None);
        let mut payload = Vec::new();
        while self.cursor.peek().is_some() {
            if self.at_digit() {
                payload.extend_from_slice(&self.cursor.narrow::<u32>()?.to_le_bytes());
                continue;
            }
            let position = self.cursor.position();
            match self.cursor.peek_word() {
                "value" => {
                    self.cursor.word("a field")?;
                    value = self.narrow_value()?;
                }
                "refs" => {
                    self.cursor.word("a field")?;
                    self.cursor.expect("=")?;
                    let (start, end) = self.cursor.range()?;
                    self.references.attribute_refs(position, end);
                    refs = Some(start..end);
                }
                "bytes" => {
                    self.cursor.word("a field")?;
                    bytes = Some(self.content()?);
                }
                "" | "none" if payload.is_empty() && bytes.is_none() => {
                    let target = self.target()?;
                    self.module.attribute_refs.push(target);
                }
                _ => {
                    let what = "references, then words, or one of the fields value, refs, bytes";
                    return Err(self.cursor.expected(what));
                }
            }
        }
        let refs_end = self.module.attribute_refs.len();
        if refs.is_some() && refs_end != refs_start {
            return Err(start.error("expected either references or the field `refs`"));
        }
        if bytes.is_some() && !payload.is_empty() {
            return Err(start.error("expected either words or the field `bytes`"));
        }
        // A text has fewer than 2^32 references, as it has fewer ids.
        let refs = refs.unwrap_or(refs_start as u32..refs_end as u32);
        let rest = match bytes {
            Some(bytes) => bytes,
            None => self.arena.bytes(&payload),
        };
        self.module.attributes.push(Attribute {
            section,
            format,
            code,
            value,
            refs,
            rest,
        });
        Ok(())
    }

    fn call(&mut self) -> Parsed<()> {
        self.defined::<CallId>(self.module.calls.len())?;
        let kind = self.one_of(&words::CALL_KINDS)?;
        let from = self.target()?;
        let to = if self.cursor.eat("->") {
            self.target()?
        } else {
            SymbolRef::None
        };
        let prototype = self.end_prototype()?;
        self.module.calls.push(CallRecord {
            kind,
            from,
            to,
            prototype,
        });
        Ok(())
    }

    fn end_prototype(&mut self) -> Parsed<&'data [u8]> {
        let mut prototype = &b""[..];
        while let Some((position, key)) = self.cursor.field()? {
            if key != "prototype" {
                return Err(unknown(position, key, "prototype"));
            }
            self.cursor.expect("=")?;
            prototype = self.name()?;
        }
        Ok(prototype)
    }

    fn prototype(&mut self) -> Parsed<()> {
        self.defined::<PrototypeId>(self.module.prototypes.len())?;
        let function = self.target()?;
        let prototype = self.end_prototype()?;
        self.module.prototypes.push(PrototypeRecord {
            function,
            prototype,
        });
        Ok(())
    }

    fn note(&mut self) -> Parsed<()> {
        let start = self.cursor.position();
        self.defined::<NoteId>(self.module.notes.len())?;
        let Some(section) = self.note_section else {
            return Err(start.error("expected a heading `notes …` above the first row"));
        };
        let mut row = Note {
            section,
            owner: self.name()?,
            ty: 0,
            desc: b"",
        };
        while let Some((position, key)) = self.cursor.field()? {
            match key {
                "type" => row.ty = self.narrow_value()?,
                "desc" => row.desc = self.content()?,
                "cuinfo" => row.desc = self.cuda_info()?,
                "tkinfo" => row.desc = self.tool_info()?,
                _ => return Err(unknown(position, key, "type, desc, cuinfo, tkinfo")),
            }
        }
        self.module.notes.push(row);
        Ok(())
    }

    fn cuda_info(&mut self) -> Parsed<&'data [u8]> {
        self.cursor.expect("=")?;
        self.cursor.expect("(")?;
        let (mut version, mut sm, mut toolkit) = (0u16, 0u16, 0u32);
        while let Some((position, key)) = self.cursor.field()? {
            match key {
                "version" => version = self.narrow_value()?,
                "sm" => sm = self.narrow_value()?,
                "toolkit" => toolkit = self.narrow_value()?,
                _ => return Err(unknown(position, key, "version, sm, toolkit")),
            }
        }
        self.cursor.expect(")")?;
        let mut desc = Vec::with_capacity(8);
        desc.extend_from_slice(&version.to_le_bytes());
        desc.extend_from_slice(&sm.to_le_bytes());
        desc.extend_from_slice(&toolkit.to_le_bytes());
        Ok(self.arena.bytes(&desc))
    }

    fn tool_info(&mut self) -> Parsed<&'data [u8]> {
        self.cursor.expect("=")?;
        self.cursor.expect("(")?;
        let mut strings: [String; 5] = Default::default();
        for text in &mut strings {
            *text = self.cursor.string()?;
        }
        self.cursor.expect(")")?;
        let [object, tool, version, branch, options] = &strings;
        Ok(self
            .arena
            .bytes(&tool_info(object, tool, version, branch, options)))
    }
}
