//! Reading: the bytes of one device ELF become the rows of one object.
//!
//! Names and contents stay slices of the image. Tables that other rows refer to by index (symbols,
//! relocations, attribute records, notes, the call graph) are decoded, so that every reference in
//! the IR is an id.

use std::borrow::Cow;

use thiserror::Error;
use zerocopy::FromBytes;

use super::note_records::split_notes;
use super::raw::*;
use super::validate::Headers;
use super::validate::StructureError;
use super::validate::validate_extent;
use super::validate::validate_structure;
use crate::attribute::Attribute;
use crate::attribute::format;
use crate::callgraph_record::CallKind;
use crate::callgraph_record::CallRecord;
use crate::callgraph_record::PrototypeRecord;
use crate::function::Function;
use crate::function::FunctionState;
use crate::function::FunctionView;
use crate::function::Views;
use crate::ids::*;
use crate::note::Note;
use crate::object::Object;
use crate::object::ObjectState;
use crate::reloc::Reloc;
use crate::reloc::RelocPlan;
use crate::section::Section;
use crate::section::SectionContent;
use crate::section::SectionInfo;
use crate::section::SectionKind;
use crate::symbol::Symbol;
use crate::symbol::SymbolPlace;
use crate::symbol::SymbolRef;
use crate::symbol::stt;
use crate::table::EntityId;
use crate::table::IdRange;
use crate::target::attributes::reference_words;
use crate::target::section_types::is_info;
use crate::target::section_types::is_no_bits;
use crate::target::section_types::is_rela;
use crate::target::section_types::is_relocs;
use crate::target::section_types::shf;
use crate::target::section_types::sht;

/// Why a device ELF cannot be read. Always the input's fault.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ReadError {
    /// Layers 1 and 2 of validation.
    #[error(transparent)]
    Structure(#[from] StructureError),
    /// `e_machine` is not CUDA's.
    #[error("the machine is {0}, not CUDA's 190")]
    Machine(u16),
    /// A section that cannot be decoded.
    #[error("section {index} '{name}': {what}")]
    Section {
        /// Index of the section.
        index: u32,
        /// Its name.
        name: String,
        /// What is wrong.
        what: Cow<'static, str>,
    },
    /// The file has more rows than `u32` ids can name.
    #[error("the file is too large: more than 4294967295 rows")]
    TooLarge,
}

/// The rows of one object, with ids that count from 0; [`Module::append`](crate::Module::append) moves them up.
#[derive(Clone, Debug, Default)]
pub struct ObjectPart<'data> {
    /// The object, its ranges counting from 0.
    pub object: Option<Object<'data>>,
    /// Its sections.
    pub sections: Vec<Section<'data>>,
    /// Its symbols.
    pub symbols: Vec<Symbol<'data>>,
    /// Its defined functions.
    pub functions: Vec<Function>,
    /// Its relocation rows.
    pub relocs: Vec<Reloc>,
    /// Its attribute records.
    pub attributes: Vec<Attribute<'data>>,
    /// References inside its attribute payloads.
    pub attribute_refs: Vec<SymbolRef>,
    /// Its call graph rows.
    pub calls: Vec<CallRecord<'data>>,
    /// Its prototype rows.
    pub prototypes: Vec<PrototypeRecord<'data>>,
    /// Its notes.
    pub notes: Vec<Note<'data>>,
}

/// Reads one device ELF. `name` and `member` say where it came from.
pub fn read_object<'data>(
    image: &'data [u8],
    name: &'data [u8],
    member: &'data [u8],
) -> Result<ObjectPart<'data>, ReadError> {
    let headers = validate_structure(image)?;
    validate_extent(&headers, image.len() as u64)?;
    if headers.file.machine.get() != EM_CUDA {
        return Err(ReadError::Machine(headers.file.machine.get()));
    }
    let mut reader = Reader {
        image,
        headers,
        part: ObjectPart::default(),
        symbol_refs: Vec::new(),
    };
    reader.sections()?;
    reader.symbols()?;
    reader.mercury_symbols()?;
    reader.section_infos()?;
    reader.contents()?;
    let Reader {
        mut part, headers, ..
    } = reader;
    let range = |length: usize| u32::try_from(length).map_err(|_| ReadError::TooLarge);
    range(
        part.relocs
            .len()
            .max(part.attributes.len())
            .max(part.symbols.len()),
    )?;
    part.object = Some(Object {
        name,
        member,
        image,
        e_type: headers.file.e_type.get(),
        e_flags: headers.file.flags.get(),
        state: ObjectState::Candidate,
        system_library: false,
        sections: IdRange::new(0, part.sections.len()),
        symbols: IdRange::new(0, part.symbols.len()),
        functions: IdRange::new(0, part.functions.len()),
        relocs: IdRange::new(0, part.relocs.len()),
        attributes: IdRange::new(0, part.attributes.len()),
        calls: IdRange::new(0, part.calls.len()),
        prototypes: IdRange::new(0, part.prototypes.len()),
        notes: IdRange::new(0, part.notes.len()),
    });
    Ok(part)
}

struct Reader<'data> {
    image: &'data [u8],
    headers: Headers<'data>,
    part: ObjectPart<'data>,
    /// What each index of the file's symbol table refers to.
    symbol_refs: Vec<SymbolRef>,
}

const OBJECT: fn() -> ObjectId = || ObjectId::new(0);

impl<'data> Reader<'data> {
    fn error(&self, index: usize, what: impl Into<Cow<'static, str>>) -> ReadError {
        let name = self
            .part
            .sections
            .get(index)
            .map_or(&b""[..], |section| section.name);
        ReadError::Section {
            index: index as u32,
            name: String::from_utf8_lossy(name).into_owned(),
            what: what.into(),
        }
    }

    /// The bytes of a section, which layer 1 has checked.
    fn bytes(&self, index: usize) -> &'data [u8] {
        let Some(header) = self.headers.sections.get(index) else {
            return &[];
        };
        if is_no_bits(header.ty.get()) || index == 0 {
            return &[];
        }
        let (start, size) = (header.offset.get() as usize, header.size.get() as usize);
        self.image
            .get(start..start.saturating_add(size))
            .unwrap_or(&[])
    }

    fn section_id(&self, index: u32) -> Option<SectionId> {
        ((index as usize) < self.headers.sections.len()).then(|| SectionId::new(index as usize))
    }

    fn sections(&mut self) -> Result<(), ReadError> {
        let names = self.bytes(self.headers.file.shstrndx.get().into());
        for (index, header) in self.headers.sections.iter().enumerate() {
            let ty = header.ty.get();
            let name = string_at(names, header.name.get());
            let content = match ty {
                sht::SYMTAB
                | sht::STRTAB
                | sht::RELA
                | sht::REL
                | sht::NOTE
                | sht::SYMTAB_SHNDX
                | sht::CUDA_INFO
                | sht::CUDA_MERCURY_INFO
                | sht::CUDA_MERCURY_RELA
                | sht::CUDA_CALLGRAPH
                | sht::CUDA_PROTOTYPE
                | sht::CUDA_COMPAT => SectionContent::Decoded,
                _ if is_no_bits(ty) => SectionContent::NoBits(header.size.get()),
                _ => SectionContent::Bytes(self.bytes(index)),
            };
            self.part.sections.push(Section {
                object: OBJECT(),
                name: name.unwrap_or(b""),
                ty,
                flags: header.flags.get(),
                align: header.align.get(),
                entsize: header.entsize.get(),
                link: None,
                info: SectionInfo::None,
                content,
                relocs: IdRange::default(),
                attributes: IdRange::default(),
                kind: SectionKind::Unclassified,
                owner: None,
                place: None,
            });
            if name.is_none() {
                return Err(self.error(index, "its name is outside the section name table"));
            }
            let align = header.align.get();
            if align > 1 && !align.is_power_of_two() {
                return Err(self.error(index, format!("its alignment {align} is no power of two")));
            }
            if header.addr.get() != 0 {
                return Err(self.error(index, "it has an address"));
            }
            let link = header.link.get();
            if link != 0 {
                let Some(link) = self.section_id(link) else {
                    return Err(self.error(index, format!("its link {link} names no section")));
                };
                self.part.sections[index].link = Some(link);
            }
        }
        Ok(())
    }

    fn symbols(&mut self) -> Result<(), ReadError> {
        let mut tables = self
            .headers
            .sections
            .iter()
            .enumerate()
            .filter(|(_, row)| row.ty.get() == sht::SYMTAB);
        let Some((table, header)) = tables.next() else {
            return Ok(());
        };
        if let Some((second, _)) = tables.next() {
            return Err(self.error(second, "a second symbol table"));
        }
        let names = self.bytes(header.link.get() as usize);
        let rows = <[RawSymbol]>::ref_from_bytes(self.bytes(table))
            .map_err(|_| self.error(table, "its size is no multiple of 24"))?;
        let extended = self.extended_indices(table)?;
        self.symbol_refs.reserve(rows.len());
        self.part.symbols.reserve(rows.len());
        for (index, row) in rows.iter().enumerate() {
            let name = string_at(names, row.name.get()).ok_or_else(|| {
                self.error(
                    table,
                    format!("the name of symbol {index} is outside the string table"),
                )
            })?;
            let (bind, ty) = (row.info >> 4, row.info & 15);
            let place = match row.shndx.get() {
                0 => SymbolPlace::Undefined,
                SHN_ABS => SymbolPlace::Absolute,
                SHN_COMMON => SymbolPlace::Common,
                shndx @ (..SHN_LORESERVE | SHN_XINDEX) => {
                    let section = if shndx == SHN_XINDEX {
                        extended.get(index).map_or(u32::MAX, |word| word.get())
                    } else {
                        shndx.into()
                    };
                    SymbolPlace::Section(self.section_id(section).ok_or_else(|| {
                        self.error(
                            table,
                            format!("symbol {index} is in section {section}, which is none"),
                        )
                    })?)
                }
                reserved => SymbolPlace::Reserved(reserved),
            };
            if index == 0 {
                self.symbol_refs.push(SymbolRef::None);
                continue;
            }
            if ty == stt::SECTION {
                let SymbolPlace::Section(section) = place else {
                    return Err(self.error(table, format!("SECTION symbol {index} has no section")));
                };
                if row.value.get() != 0 || row.size.get() != 0 {
                    return Err(self.error(
                        table,
                        format!("SECTION symbol {index} has a value or a size"),
                    ));
                }
                self.symbol_refs.push(SymbolRef::Section(section));
                continue;
            }
            let id = SymbolId::new(self.part.symbols.len());
            self.symbol_refs.push(SymbolRef::Symbol(id));
            let function = match place {
                SymbolPlace::Section(text) if ty == stt::FUNC => {
                    let function = FunctionId::new(self.part.functions.len());
                    self.part.functions.push(Function {
                        object: OBJECT(),
                        symbol: id,
                        views: Views {
                            sass: FunctionView { text, info: None },
                            merc: None,
                        },
                        state: FunctionState::Candidate,
                        edges_count: false,
                        registers: 0,
                        shared: None,
                        dynamic_shared: None,
                        header_kinds: 0,
                        merc_size: 0,
                    });
                    Some(function)
                }
                _ => None,
            };
            self.part.symbols.push(Symbol {
                object: OBJECT(),
                name,
                bind,
                ty,
                other: row.other,
                place,
                value: row.value.get(),
                size: row.size.get(),
                function,
                link: None,
            });
        }
        Ok(())
    }

    /// Where the functions' Mercury code is: `.nv.merc.symtab` has the rows of `.symtab` in the same
    /// places, with the sections and sizes of the Mercury view (`mercury.md` section 5).
    fn mercury_symbols(&mut self) -> Result<(), ReadError> {
        let tables = self.headers.sections.iter().enumerate();
        for (table, _) in tables.filter(|(_, row)| row.ty.get() == sht::CUDA_MERCURY_SYMTAB) {
            let rows = <[RawSymbol]>::ref_from_bytes(self.bytes(table))
                .map_err(|_| self.error(table, "its size is no multiple of 24"))?;
            for (row, target) in rows.iter().zip(&self.symbol_refs) {
                let SymbolRef::Symbol(symbol) = target else {
                    continue;
                };
                let function = self.part.symbols[symbol.index()].function;
                let text = self.section_id(row.shndx.get().into());
                if let (Some(function), Some(text)) = (function, text)
                    && self.part.sections[text.index()].ty == sht::CUDA_CAPMERC
                {
                    let function = &mut self.part.functions[function.index()];
                    function.views.merc = Some(FunctionView { text, info: None });
                    function.merc_size = row.size.get();
                }
            }
        }
        Ok(())
    }

    fn extended_indices(
        &self,
        symtab: usize,
    ) -> Result<&'data [zerocopy::little_endian::U32], ReadError> {
        let found = self
            .headers
            .sections
            .iter()
            .enumerate()
            .find(|(_, header)| {
                header.ty.get() == sht::SYMTAB_SHNDX && header.link.get() as usize == symtab
            });
        let Some((index, _)) = found else {
            return Ok(&[]);
        };
        <[zerocopy::little_endian::U32]>::ref_from_bytes(self.bytes(index))
            .map_err(|_| self.error(index, "its size is no multiple of 4"))
    }

    fn symbol_ref(&self, index: u32) -> Option<SymbolRef> {
        self.symbol_refs.get(index as usize).copied()
    }

    fn section_infos(&mut self) -> Result<(), ReadError> {
        for (index, header) in self.headers.sections.iter().enumerate() {
            let (ty, flags, raw) = (header.ty.get(), header.flags.get(), header.info.get());
            let is_section = flags & shf::INFO_LINK != 0 || is_relocs(ty);
            let info = if raw == 0 && !is_relocs(ty) {
                SectionInfo::None
            } else if is_section {
                let section = self
                    .section_id(raw)
                    .ok_or_else(|| self.error(index, format!("its info {raw} names no section")))?;
                SectionInfo::Section(section)
            } else if flags & shf::EXECINSTR != 0 {
                match self.symbol_ref(raw & 0x00ff_ffff) {
                    Some(SymbolRef::Symbol(symbol)) => SectionInfo::Symbol {
                        symbol,
                        high: (raw >> 24) as u8,
                    },
                    _ => SectionInfo::Raw(raw),
                }
            } else {
                SectionInfo::Raw(raw)
            };
            self.part.sections[index].info = info;
        }
        Ok(())
    }

    fn contents(&mut self) -> Result<(), ReadError> {
        for index in 0..self.headers.sections.len() {
            match self.part.sections[index].ty {
                sht::REL | sht::RELA | sht::CUDA_MERCURY_RELA => self.relocs(index)?,
                sht::CUDA_INFO | sht::CUDA_MERCURY_INFO | sht::CUDA_COMPAT => {
                    self.attributes(index)?;
                }
                sht::CUDA_CALLGRAPH => self.calls(index)?,
                sht::CUDA_PROTOTYPE => self.prototypes(index)?,
                sht::NOTE => self.notes(index)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn relocs(&mut self, index: usize) -> Result<(), ReadError> {
        let section = SectionId::new(index);
        let start = self.part.relocs.len();
        let bytes = self.bytes(index);
        let target = |reader: &Self, symbol: u32, row: usize| {
            reader.symbol_ref(symbol).ok_or_else(|| {
                reader.error(
                    index,
                    format!("row {row} refers to symbol {symbol}, which is none"),
                )
            })
        };
        if is_rela(self.part.sections[index].ty) {
            let rows = <[RawRela]>::ref_from_bytes(bytes)
                .map_err(|_| self.error(index, "its size is no multiple of 24"))?;
            self.part.relocs.reserve(rows.len());
            for (number, row) in rows.iter().enumerate() {
                let target = target(self, row.symbol.get(), number)?;
                self.part.relocs.push(Reloc {
                    section,
                    offset: row.offset.get(),
                    ty: row.ty.get(),
                    target,
                    addend: row.addend.get(),
                    plan: RelocPlan::Unplanned,
                });
            }
        } else {
            let rows = <[RawRel]>::ref_from_bytes(bytes)
                .map_err(|_| self.error(index, "its size is no multiple of 16"))?;
            self.part.relocs.reserve(rows.len());
            for (number, row) in rows.iter().enumerate() {
                let target = target(self, row.symbol.get(), number)?;
                self.part.relocs.push(Reloc {
                    section,
                    offset: row.offset.get(),
                    ty: row.ty.get(),
                    target,
                    addend: 0,
                    plan: RelocPlan::Unplanned,
                });
            }
        }
        self.part.sections[index].relocs = IdRange::new(start, self.part.relocs.len());
        Ok(())
    }

    fn attributes(&mut self, index: usize) -> Result<(), ReadError> {
        let section = SectionId::new(index);
        let start = self.part.attributes.len();
        let has_references = is_info(self.part.sections[index].ty);
        let mut rest = self.bytes(index);
        while !rest.is_empty() {
            let &[format, code, low, high, ref tail @ ..] = rest else {
                return Err(self.error(index, "a record reaches past its end"));
            };
            let value = u16::from_le_bytes([low, high]);
            let refs_start = self.part.attribute_refs.len() as u32;
            let mut payload: &'data [u8] = &[];
            rest = tail;
            if format == format::SVAL {
                payload = tail
                    .get(..value.into())
                    .ok_or_else(|| self.error(index, "a record reaches past its end"))?;
                rest = &tail[value.into()..];
                let words = if has_references {
                    reference_words(code, payload.len() / 4)
                } else {
                    0
                };
                for word in payload.chunks_exact(4).take(words) {
                    let symbol = u32::from_le_bytes([word[0], word[1], word[2], word[3]]);
                    let target = self.symbol_ref(symbol).ok_or_else(|| {
                        self.error(
                            index,
                            format!("record {code:#04x} refers to symbol {symbol}, which is none"),
                        )
                    })?;
                    self.part.attribute_refs.push(target);
                }
                payload = &payload[words * 4..];
            }
            self.part.attributes.push(Attribute {
                section: Some(section),
                format,
                code,
                value: if format == format::SVAL { 0 } else { value },
                refs: refs_start..self.part.attribute_refs.len() as u32,
                rest: payload,
            });
        }
        self.part.sections[index].attributes = IdRange::new(start, self.part.attributes.len());
        Ok(())
    }

    /// The string table that prototypes are offsets into: that of the symbol table.
    fn prototype_names(&self, index: usize) -> &'data [u8] {
        let symtab = self
            .headers
            .sections
            .get(index)
            .map_or(0, |row| row.link.get() as usize);
        let names = self
            .headers
            .sections
            .get(symtab)
            .map_or(0, |row| row.link.get() as usize);
        self.bytes(names)
    }

    fn calls(&mut self, index: usize) -> Result<(), ReadError> {
        let names = self.prototype_names(index);
        let rows = <[RawPair]>::ref_from_bytes(self.bytes(index))
            .map_err(|_| self.error(index, "its size is no multiple of 8"))?;
        let mut group = None;
        for (number, row) in rows.iter().enumerate() {
            let (first, second) = (row.first.get(), row.second.get());
            if first == 0 && (second as i32) < 0 {
                group = CallKind::from_marker(second as i32);
                if group.is_none() {
                    return Err(self.error(
                        index,
                        format!(
                            "row {number} opens group {}, which is unknown",
                            second as i32
                        ),
                    ));
                }
                continue;
            }
            let Some(kind) = group else {
                return Err(
                    self.error(index, format!("row {number} stands before the first group"))
                );
            };
            let symbol = |word: u32| {
                self.symbol_ref(word).ok_or_else(|| {
                    self.error(
                        index,
                        format!("row {number} refers to symbol {word}, which is none"),
                    )
                })
            };
            let from = symbol(first)?;
            let mut record = CallRecord {
                kind,
                from,
                to: SymbolRef::None,
                prototype: b"",
            };
            if kind.has_prototype() {
                record.prototype = string_at(names, second).ok_or_else(|| {
                    self.error(
                        index,
                        format!("the prototype of row {number} is outside the string table"),
                    )
                })?;
            } else {
                record.to = symbol(second)?;
            }
            self.part.calls.push(record);
        }
        Ok(())
    }

    fn prototypes(&mut self, index: usize) -> Result<(), ReadError> {
        let names = self.prototype_names(index);
        let rows = <[RawPair]>::ref_from_bytes(self.bytes(index))
            .map_err(|_| self.error(index, "its size is no multiple of 8"))?;
        for (number, row) in rows.iter().enumerate() {
            let function = self.symbol_ref(row.first.get()).ok_or_else(|| {
                self.error(
                    index,
                    format!("row {number} refers to a symbol that is none"),
                )
            })?;
            let prototype = string_at(names, row.second.get()).ok_or_else(|| {
                self.error(
                    index,
                    format!("the prototype of row {number} is outside the string table"),
                )
            })?;
            self.part.prototypes.push(PrototypeRecord {
                function,
                prototype,
            });
        }
        Ok(())
    }

    fn notes(&mut self, index: usize) -> Result<(), ReadError> {
        let notes = split_notes(self.bytes(index))
            .ok_or_else(|| self.error(index, "a note reaches past its end"))?;
        self.part.notes.extend(notes.into_iter().map(|note| Note {
            section: Some(SectionId::new(index)),
            owner: note.owner,
            ty: note.ty,
            desc: note.desc,
        }));
        Ok(())
    }
}
