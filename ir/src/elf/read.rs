//! Reading: the bytes of one device ELF become the rows of one object.
//!
//! Names and contents stay slices of the image. Tables that other rows refer to by index (symbols,
//! relocations, attribute records, notes, the call graph) are decoded, so that every reference in
//! the IR is an id.

mod records;
mod symbols;

use std::borrow::Cow;

use zerocopy::FromBytes;

use super::part::Ends;
use super::part::ObjectPart;
use super::part::spare_records;
use super::read_error::ReadError;
use crate::attribute::Attribute;
use crate::attribute::UNIFIED_ENTRY;
use crate::attribute::UNIFIED_ENTRY_SIZE;
use crate::attribute::format;
use crate::callgraph_record::CallKind;
use crate::callgraph_record::CallRecord;
use crate::callgraph_record::PrototypeRecord;
use crate::function::Fate;
use crate::function::Function;
use crate::function::FunctionView;
use crate::function::Views;
use crate::ids::*;
use crate::note::Note;
use crate::object::Object;
use crate::object::ObjectOrigin;
use crate::object::ObjectState;
use crate::object::unusual_abi;
use crate::reloc::Reloc;
use crate::reloc::RelocAction;
use crate::section::Section;
use crate::section::SectionContent;
use crate::section::SectionInfo;
use crate::section::SectionKind;
use crate::symbol::Symbol;
use crate::symbol::SymbolPlace;
use crate::symbol::SymbolRef;
use crate::table::EntityId;
use crate::table::IdRange;
use cuweld_elf::note_records::NOTE_CUDA_INFO;
use cuweld_elf::note_records::NOTE_OWNER;
use cuweld_elf::note_records::NOTE_TOOL_INFO;
use cuweld_elf::note_records::first_note;
use cuweld_elf::raw::*;
use cuweld_elf::symbol::SymbolType;
use cuweld_elf::target::attributes::reference_words;
use cuweld_elf::target::section_types::SectionFlags;
use cuweld_elf::target::section_types::entry_sizes;
use cuweld_elf::target::section_types::is_decoded;
use cuweld_elf::target::section_types::is_info;
use cuweld_elf::target::section_types::is_no_bits;
use cuweld_elf::target::section_types::is_rela;
use cuweld_elf::target::section_types::is_relocs;
use cuweld_elf::target::section_types::links_nothing;
use cuweld_elf::target::section_types::may_have_owner;
use cuweld_elf::target::section_types::sht;
use cuweld_elf::validate::Headers;
use cuweld_elf::validate::validate_structure;
use cuweld_elf::validate::validate_tables;

/// Reads one device ELF. `name` and `member` say where it came from.
pub fn read_object<'data>(
    image: &'data [u8],
    name: &'data [u8],
    member: &'data [u8],
) -> Result<ObjectPart<'data>, ReadError> {
    let mut reader = ObjectReader::default();
    reader.read(image, name, member)?;
    Ok(reader.part)
}

/// Reads device ELFs, one after the other, into the same tables.
#[derive(Debug, Default)]
pub struct ObjectReader<'data> {
    /// The rows of what was read.
    pub part: ObjectPart<'data>,
    /// What each index of a file's symbol table refers to; of the one that is being read.
    symbol_refs: Vec<SymbolRef>,
    /// Which sections of that file are tables of symbols, or of section indices of symbols.
    symbol_tables: Vec<usize>,
}

impl<'data> ObjectReader<'data> {
    /// Reads one device ELF after those that were read. `name` and `member` say where it came from.
    /// One that cannot be read leaves no rows.
    pub fn read(
        &mut self,
        image: &'data [u8],
        name: &'data [u8],
        member: &'data [u8],
    ) -> Result<(), ReadError> {
        let headers = validate_structure(image)?;
        validate_tables(&headers, image.len() as u64)?;
        if headers.file.machine.get() != EM_CUDA {
            return Err(ReadError::Machine(headers.file.machine.get()));
        }
        if headers.sections.is_empty() {
            return Err(ReadError::NoSections);
        }
        let version = headers.file.version.get();
        if headers.file.ident[7] == OSABI_CUDA && version != EV_CURRENT {
            return Err(ReadError::Version(version));
        }
        self.symbol_refs.clear();
        self.symbol_tables.clear();
        let base = self.part.ends();
        let mut reader = Reader {
            image,
            headers,
            base,
            part: &mut self.part,
            symbol_refs: &mut self.symbol_refs,
            symbol_tables: &mut self.symbol_tables,
        };
        let read = reader.rows();
        if let Err(error) = read {
            self.part.truncate(base);
            return Err(error);
        }
        let end = self.part.ends();
        self.part.objects.push(Object {
            name,
            member,
            image,
            e_type: headers.file.e_type.get(),
            e_flags: headers.file.flags.get(),
            unusual_abi: unusual_abi([headers.file.ident[7], headers.file.ident[8]]),
            legacy: (headers.file.ident[7] != OSABI_CUDA).then(|| headers.file.version.get()),
            state: ObjectState::Candidate,
            system_library: false,
            is_silent: false,
            origin: ObjectOrigin::default(),
            sections: IdRange::new(base.sections, end.sections),
            symbols: IdRange::new(base.symbols, end.symbols),
            functions: IdRange::new(base.functions, end.functions),
            relocs: IdRange::new(base.relocs, end.relocs),
            attributes: IdRange::new(base.attributes, end.attributes),
            calls: IdRange::new(base.calls, end.calls),
            prototypes: IdRange::new(base.prototypes, end.prototypes),
            notes: IdRange::new(base.notes, end.notes),
        });
        Ok(())
    }
}

struct Reader<'part, 'data> {
    image: &'data [u8],
    headers: Headers<'data>,
    /// Where the object's rows begin.
    base: Ends,
    part: &'part mut ObjectPart<'data>,
    /// What each index of the file's symbol table refers to.
    symbol_refs: &'part mut Vec<SymbolRef>,
    /// Which sections are tables of symbols, or of section indices of symbols, ascending.
    symbol_tables: &'part mut Vec<usize>,
}

/// Size in bytes from which on a file has its tables made large enough before it is read.
const LARGE_FILE: usize = 1 << 20;

/// Number of bytes at the beginning of a section that tell how long its attribute records are on
/// average, and number of sections that tell how long those of other ones are.
const SAMPLE: usize = 1 << 10;
const SAMPLED_SECTIONS: usize = 64;

/// An alignment in bytes that no compiler writes, for which a file would be filled up.
const LARGEST_ALIGN: u64 = 1 << 20;

/// Bytes of memory that no device has.
const LARGEST_MEMORY: u64 = 1 << 40;

/// Bytes of an attribute record where most are short.
const SHORT_RECORD: usize = 8;

impl<'data> Reader<'_, 'data> {
    fn rows(&mut self) -> Result<(), ReadError> {
        self.make_room();
        self.sections()?;
        self.symbols()?;
        self.mercury_symbols()?;
        self.section_infos()?;
        self.contents()?;
        let end = self.part.ends();
        end.fit_ids()
    }

    /// Makes room for the rows of a large first file, so that no table moves while it grows.
    fn make_room(&mut self) {
        if self.image.len() < LARGE_FILE || self.base.objects > 0 {
            return;
        }
        let (mut relocs, mut symbols, mut functions) = (0, 0, 0);
        let headers = self.headers.sections;
        // A second symbol table is an error.
        if let Some(table) = headers.iter().position(|row| row.ty.get() == sht::SYMTAB) {
            for row in <[RawSymbol]>::ref_from_bytes(self.bytes(table)).unwrap_or(&[]) {
                let ty = row.ty();
                symbols += usize::from(ty != SymbolType::SECTION);
                functions += usize::from(ty == SymbolType::FUNC && row.shndx.get() != 0);
            }
        }
        for header in headers {
            relocs += match header.ty.get() {
                ty if is_rela(ty) => header.size.get() as usize / size_of::<RawRela>(),
                ty if is_relocs(ty) => header.size.get() as usize / size_of::<RawRel>(),
                _ => 0,
            };
        }
        // Layer 1 has checked that each section lies within the file, not that they do beside each
        // other.
        let most = self.image.len();
        let records = self.expected_records().min(most / SHORT_RECORD);
        let part = &mut *self.part;
        part.sections.reserve_exact(headers.len());
        part.symbols.reserve_exact(symbols);
        part.functions.reserve_exact(functions);
        part.relocs
            .reserve_exact(relocs.min(most / size_of::<RawRel>()));
        part.attributes
            .reserve_exact(records + spare_records(records));
        part.attribute_refs.reserve(records / 2);
    }

    /// Returns an estimate of the number of attribute records.
    fn expected_records(&self) -> usize {
        let of = |records: usize, bytes: usize, all: usize| {
            (records as u128 * all as u128 / bytes.max(1) as u128) as usize
        };
        let (mut seen, mut sampled, mut found) = (0, 0, 0);
        let (mut expected, mut others) = (0usize, 0usize);
        for (index, header) in self.headers.sections.iter().enumerate() {
            if !is_info(header.ty.get()) {
                continue;
            }
            let bytes = self.bytes(index);
            seen += 1;
            if seen > SAMPLED_SECTIONS && bytes.len() <= SAMPLE {
                others = others.saturating_add(bytes.len());
                continue;
            }
            let sample = &bytes[..bytes.len().min(SAMPLE)];
            let records = records::records_in(sample);
            expected = expected.saturating_add(of(records, sample.len(), bytes.len()));
            sampled += sample.len();
            found += records;
        }
        expected.saturating_add(of(found, sampled, others))
    }

    /// Returns the tables of a type among those of symbols and of section indices of symbols, with
    /// their indices.
    fn symbol_tables(&self, ty: u32) -> impl Iterator<Item = (usize, &'data SectionHeader)> {
        let headers = self.headers.sections;
        let tables = self.symbol_tables.iter();
        let tables = tables.filter_map(|index| Some((*index, headers.get(*index)?)));
        tables.filter(move |(_, header)| header.ty.get() == ty)
    }

    /// Returns the id that the object gets.
    fn object(&self) -> ObjectId {
        ObjectId::new(self.base.objects)
    }

    /// Returns the section with this index of the file.
    fn section(&self, index: usize) -> &Section<'data> {
        &self.part.sections[self.base.sections + index]
    }

    /// Does the same as [`Self::section`], for a caller that changes the section.
    fn section_mut(&mut self, index: usize) -> &mut Section<'data> {
        &mut self.part.sections[self.base.sections + index]
    }

    fn error(&self, index: usize, what: impl Into<Cow<'static, str>>) -> ReadError {
        let name = self
            .part
            .sections
            .get(self.base.sections.saturating_add(index))
            .map_or(&b""[..], |section| section.name);
        ReadError::Section {
            index: index as u32,
            name: String::from_utf8_lossy(name).into_owned(),
            what: what.into(),
        }
    }

    /// Returns the bytes of a section, which layer 1 has checked.
    fn bytes(&self, index: usize) -> &'data [u8] {
        let Some(header) = self.headers.sections.get(index) else {
            return &[];
        };
        if is_no_bits(header.ty.get(), header.flags()) || index == 0 {
            return &[];
        }
        let (start, size) = (header.offset.get() as usize, header.size.get() as usize);
        self.image
            .get(start..start.saturating_add(size))
            .unwrap_or(&[])
    }

    fn section_id(&self, index: u32) -> Option<SectionId> {
        let index = index as usize;
        (index < self.headers.sections.len()).then(|| self.id_of(index))
    }

    /// Returns the id of the section with this index of the file.
    fn id_of(&self, index: usize) -> SectionId {
        SectionId::new(self.base.sections + index)
    }

    fn sections(&mut self) -> Result<(), ReadError> {
        let names = self.bytes(self.headers.section_names);
        self.part.sections.reserve(self.headers.sections.len());
        let object = self.object();
        let (mut last, mut is_sorted) = (0..0, true);
        for (index, header) in self.headers.sections.iter().enumerate() {
            let ty = header.ty.get();
            let is_empty = is_no_bits(ty, header.flags());
            let size = header.size.get();
            if !is_empty && size != 0 && index != 0 {
                let start = header.offset.get();
                let range = start..start.wrapping_add(size);
                is_sorted &= last.end <= start || last == range;
                last = range;
            }
            let name = string_at(names, header.name.get());
            if matches!(
                ty,
                sht::SYMTAB | sht::CUDA_MERCURY_SYMTAB | sht::SYMTAB_SHNDX
            ) {
                self.symbol_tables.push(index);
            }
            let content = match ty {
                _ if is_decoded(ty) => SectionContent::Decoded,
                _ if is_empty => SectionContent::NoBits(size),
                _ => SectionContent::Bytes(self.bytes(index)),
            };
            self.part.sections.push(Section {
                object,
                name: name.unwrap_or(b""),
                ty,
                flags: header.flags(),
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
            let sizes = entry_sizes(ty);
            let entsize = header.entsize.get();
            if !sizes.is_empty() && !sizes.contains(&entsize) && index != 0 {
                let what = format!("its entries have {entsize} bytes, not {}", sizes[0]);
                return Err(self.error(index, what));
            }
            let align = header.align.get();
            // Relocatable links of nvlink take addresses for alignments of shared memory.
            let any_align = ty == sht::CUDA_SHARED;
            if align > 1 && !any_align && !align.is_power_of_two() {
                return Err(self.error(index, format!("its alignment {align} is no power of two")));
            }
            if align > LARGEST_ALIGN && !any_align {
                return Err(self.error(index, format!("its alignment is {align:#x}")));
            }
            if header.addr.get() != 0 {
                return Err(self.error(index, "it has an address"));
            }
            if ty == sht::NULL && index != 0 {
                return Err(self.error(index, "it has no type"));
            }
            if is_empty && size > LARGEST_MEMORY {
                let what = format!("its size is {size:#x}");
                return Err(self.error(index, what));
            }
            let link = header.link.get();
            if link != 0 {
                let Some(link) = self.section_id(link) else {
                    return Err(self.error(index, format!("its link {link} names no section")));
                };
                if links_nothing(ty, header.flags()) {
                    return Err(self.error(index, "it links to another section"));
                }
                self.section_mut(index).link = Some(link);
            }
        }
        match is_sorted {
            true => Ok(()),
            false => self.section_ranges(),
        }
    }

    /// Checks that no section has bytes of another: nvlink changes sections in place. Both views of
    /// variables have the same bytes.
    fn section_ranges(&self) -> Result<(), ReadError> {
        let mut ranges: Vec<(u64, usize, u64)> = Vec::with_capacity(self.headers.sections.len());
        for (index, header) in self.headers.sections.iter().enumerate().skip(1) {
            let (start, size) = (header.offset.get(), header.size.get());
            if size != 0 && !is_no_bits(header.ty.get(), header.flags()) {
                ranges.push((start, index, start.saturating_add(size)));
            }
        }
        ranges.sort_unstable();
        let fits = |pair: &[(u64, usize, u64)]| {
            let ((start, _, end), (next, _, next_end)) = (pair[0], pair[1]);
            end <= next || (start, end) == (next, next_end)
        };
        match ranges.windows(2).find(|pair| !fits(pair)) {
            Some(pair) => {
                let what = format!("it has bytes of section {}", pair[0].1);
                Err(self.error(pair[1].1, what))
            }
            None => Ok(()),
        }
    }

    fn section_infos(&mut self) -> Result<(), ReadError> {
        for (index, header) in self.headers.sections.iter().enumerate() {
            let (ty, flags, raw) = (header.ty.get(), header.flags(), header.info.get());
            // Toolkits before 12.8 do not write the flag.
            let is_section =
                flags.contains(SectionFlags::INFO_LINK) || is_relocs(ty) || may_have_owner(ty);
            let info = if raw == 0 && !is_relocs(ty) {
                SectionInfo::None
            } else if is_section {
                let section = self
                    .section_id(raw)
                    .ok_or_else(|| self.error(index, format!("its info {raw} names no section")))?;
                SectionInfo::Section(section)
            } else if flags.contains(SectionFlags::EXECINSTR) {
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
            self.section_mut(index).info = info;
        }
        Ok(())
    }

    fn contents(&mut self) -> Result<(), ReadError> {
        for index in 0..self.headers.sections.len() {
            match self.section(index).ty {
                sht::REL | sht::RELA | sht::CUDA_MERCURY_RELA => self.relocs(index)?,
                sht::CUDA_INFO | sht::CUDA_MERCURY_INFO | sht::CUDA_COMPAT => {
                    self.attributes(index)?;
                }
                sht::CUDA_UNIFIED_FUNCTIONS | sht::CUDA_UNIFIED_VARIABLES => {
                    self.unified_entries(index)?;
                }
                sht::CUDA_CALLGRAPH => self.calls(index)?,
                sht::CUDA_PROTOTYPE => self.prototypes(index)?,
                sht::NOTE => self.notes(index)?,
                _ => {}
            }
        }
        Ok(())
    }
}
