//! Decodes a device ELF, relocatable or executable, damaged or not.

mod attributes;
mod mercury;
mod symbols;
mod tables;
mod view;

use cuweld_elf::class32::Narrow;
use cuweld_elf::class32::SHIFT;
use cuweld_elf::raw::OSABI_CUDA;
use cuweld_elf::target::compat::CUDA_ACCELERATOR_TARGET;
use cuweld_elf::target::section_types::SectionFlags;
use cuweld_elf::target::section_types::sht;
use cuweld_elf::validate::StructureError;

use self::symbols::Symbols;
use self::view::View;
use super::code_names;
use super::code_names::Table;
use super::device_model::*;
use super::error::InspectError;
use super::error::SectionDamage;
use super::name::Name;

/// The tables of a sound file do not overlap. This leaves room for Mercury files, whose sections
/// share bytes, and keeps damaged ones from decoding the same bytes for each of their headers.
const LARGEST_OVERLAP: u64 = 2;

/// How many findings of one file are listed; a damaged table can have one in each row.
const LISTED_ERRORS: usize = 100;

/// How much of a section's name a finding repeats.
const LISTED_NAME: usize = 200;

/// In how many segments sections are looked for; real files have fewer.
const LISTED_SEGMENTS: usize = 64;

/// Decodes a device ELF, and says what could not be decoded. Fails if it has no readable header.
pub fn decode_device_elf(
    image: &[u8],
) -> Result<(DeviceElf<'_>, Vec<InspectError>), StructureError> {
    let (view, damage) = View::read(image)?;
    let mut decoder = Decoder {
        view,
        budget: (image.len() as u64).saturating_mul(LARGEST_OVERLAP),
        symbols: Symbols::default(),
        errors: damage.into_iter().map(InspectError::from).collect(),
        more_errors: 0,
    };
    let mut elf = DeviceElf {
        header: header(&view),
        segments: Vec::new(),
        sections: Vec::new(),
        symbol_tables: Vec::new(),
        relocations: Vec::new(),
        attributes: Vec::new(),
        mercury: Vec::new(),
        notes: Vec::new(),
        call_graph: Vec::new(),
        prototypes: Vec::new(),
        image,
    };
    decoder.sections(&mut elf);
    decoder.symbol_tables(&mut elf);
    decoder.references(&mut elf);
    decoder.tables(&mut elf);
    decoder.segments(&mut elf);
    if elf.header.legacy.is_none() && is_specific(&elf) {
        elf.header.arch.push('a');
    }
    if decoder.more_errors != 0 {
        decoder.errors.push(InspectError::More(decoder.more_errors));
    }
    Ok((elf, decoder.errors))
}

/// Decodes the ELF64 form `wide` of an ELF32 device file, with offsets and sizes as in the file
/// itself.
pub fn decode_narrow_device_elf<'data>(
    image: &'data [u8],
    wide: &'data [u8],
    narrow: &Narrow,
) -> Result<(DeviceElf<'data>, Vec<InspectError>), StructureError> {
    let (mut elf, errors) = decode_device_elf(wide)?;
    elf.header.class = CLASS_NAMES[0];
    elf.header.program_headers_offset = narrow.phoff;
    elf.header.section_headers_offset = narrow.shoff;
    for (section, (offset, size, entry_size)) in elf.sections.iter_mut().zip(&narrow.sections) {
        section.offset = *offset;
        section.size = *size;
        section.entry_size = *entry_size;
        // Of tables that were widened, the file's own bytes.
        let start = usize::try_from(*offset).ok();
        let end = usize::try_from(offset.saturating_add(*size)).ok();
        if let (Some(start), Some(end), false) = (start, end, section.contents.is_empty()) {
            section.contents = image.get(start..end).unwrap_or_default();
        }
    }
    for segment in &mut elf.segments {
        segment.offset = segment.offset.saturating_sub(SHIFT);
    }
    elf.image = image;
    Ok((elf, errors))
}

/// What inspections call ELF32 and ELF64.
const CLASS_NAMES: [&str; 2] = ["ELF32", "ELF64"];

/// Bits of `e_flags` in the layout that toolkits before 13.0 write below sm_100, and all 32-bit
/// files have.
mod legacy {
    /// 64-bit addresses.
    pub(super) const ADDRESSES_64: u32 = 1 << 10;
    /// The `a` variant, from sm_90 on.
    pub(super) const SPECIFIC: u32 = 1 << 11;
    /// SASS (seed 000); the compilers leave it out.
    pub(super) const SASS: u32 = 1 << 14;
    /// Relocatable (seed 000); the compilers leave it out.
    pub(super) const RELOCATABLE: u32 = 1 << 31;
    /// The first architecture that has variants.
    pub(super) const FIRST_SPECIFIC: u16 = 90;
}

/// Decodes `e_flags` of the legacy layout.
fn legacy_flags(flags: u32) -> LegacyFlags {
    LegacyFlags {
        virtual_sm: (flags >> 16 & 0xff) as u8,
        addresses_64: flags & legacy::ADDRESSES_64 != 0,
        sass: flags & legacy::SASS != 0,
        relocatable: flags & legacy::RELOCATABLE != 0,
    }
}

/// Returns `true` if `.nv.compat` marks the file as made for an `a` variant.
fn is_specific(elf: &DeviceElf<'_>) -> bool {
    elf.attributes
        .iter()
        .filter(|list| list.section == Name(b".nv.compat"))
        .flat_map(|list| &list.records)
        .any(|record| {
            record.code.value == u32::from(CUDA_ACCELERATOR_TARGET)
                && matches!(record.value, AttributeValue::Number(value) if value & 0xff == 1)
        })
}

fn header(view: &View<'_>) -> Header {
    let file = view.file;
    let flags = file.flags.get();
    let is_legacy = file.ident[7] != OSABI_CUDA;
    let (sm, code, cuda_info_section) = if is_legacy {
        // The layout has no kinds of code: there was SASS alone.
        ((flags & 0xff) as u16, 4, 0)
    } else {
        (
            ((flags >> 8) & 0xffff) as u16,
            flags & 0xff,
            (flags >> 24) as u8,
        )
    };
    let specific = is_legacy && flags & legacy::SPECIFIC != 0 && sm >= legacy::FIRST_SPECIFIC;
    Header {
        class: CLASS_NAMES[1],
        file_type: code_names::file_type(file.e_type.get()),
        machine: code_names::machine(file.machine.get()),
        arch: format!("sm_{sm}{}", if specific { "a" } else { "" }),
        os_abi: file.ident[7],
        abi_version: file.ident[8],
        version: file.version.get(),
        entry: file.entry.get(),
        flags,
        sm,
        code: code_names::code_kind(code),
        cuda_info_section,
        legacy: is_legacy.then(|| legacy_flags(flags)),
        program_headers_offset: file.phoff.get(),
        section_headers_offset: file.shoff.get(),
        program_header_count: file.phnum.get(),
        section_header_count: file.shnum.get(),
        section_names_section: file.shstrndx.get(),
    }
}

/// What the parts of the decoder share.
struct Decoder<'data> {
    view: View<'data>,
    /// How many more bytes of tables are decoded.
    budget: u64,
    symbols: Symbols<'data>,
    errors: Vec<InspectError>,
    /// Findings that are not listed.
    more_errors: usize,
}

impl<'data> Decoder<'data> {
    fn damage(&mut self, index: u32, what: SectionDamage) {
        if self.errors.len() >= LISTED_ERRORS {
            self.more_errors += 1;
            return;
        }
        let Name(name) = self.view.name(index).unwrap_or_default();
        let name = Name(name.get(..LISTED_NAME).unwrap_or(name));
        self.errors.push(InspectError::Section {
            index,
            name: name.to_string(),
            what,
        });
    }

    /// Takes the bytes of a table that is about to be decoded, and returns them.
    fn take(&mut self, section: &Section<'data>) -> &'data [u8] {
        let size = section.contents.len() as u64;
        match self.budget.checked_sub(size) {
            Some(left) => {
                self.budget = left;
                section.contents
            }
            None => {
                self.damage(section.index, SectionDamage::Overlap);
                &[]
            }
        }
    }

    fn sections(&mut self, elf: &mut DeviceElf<'data>) {
        let view = self.view;
        for (index, header) in view.sections.iter().enumerate() {
            let index = index as u32;
            let name = view.name(index);
            if name.is_none() {
                self.damage(index, SectionDamage::Name);
            }
            let contents = view.bytes(header);
            if contents.is_none() {
                let (offset, size) = (header.offset.get(), header.size.get());
                self.damage(index, SectionDamage::Range { offset, size });
            }
            let flags = header.flags.get();
            elf.sections.push(Section {
                index,
                name: name.unwrap_or_default(),
                ty: code_names::section_type(header.ty.get()),
                flags,
                flag_names: code_names::SECTION_FLAGS
                    .into_iter()
                    .filter(|(bit, ..)| flags & bit != 0)
                    .map(|(.., name)| name)
                    .collect(),
                address: header.addr.get(),
                offset: header.offset.get(),
                size: header.size.get(),
                link: header.link.get(),
                info: header.info.get(),
                refers_to: None,
                align: header.align.get(),
                entry_size: header.entsize.get(),
                hex: None,
                contents: contents.unwrap_or_default(),
            });
        }
    }

    fn symbol_tables(&mut self, elf: &mut DeviceElf<'data>) {
        for section in &elf.sections {
            if code_names::table(section.ty.value) == Table::Symbols {
                let symbols = self.symbol_table(section, &elf.sections);
                self.symbols.add(section.index, &symbols);
                elf.symbol_tables.push(SymbolTable {
                    section: section.name,
                    section_index: section.index,
                    symbols,
                });
            }
        }
    }

    /// Sets what `sh_info` of each section refers to.
    fn references(&mut self, elf: &mut DeviceElf<'data>) {
        for section in &mut elf.sections {
            let info = section.info;
            let is_relocations = matches!(
                code_names::table(section.ty.value),
                Table::Rel | Table::Rela
            );
            section.refers_to = if SectionFlags::from(section.flags)
                .contains(SectionFlags::INFO_LINK)
                || is_relocations
            {
                self.view.name(info).map(Reference::Section)
            } else if SectionFlags::from(section.flags).contains(SectionFlags::EXECINSTR)
                || section.ty.value == sht::CUDA_CAPMERC
            {
                let symbol = self.symbols.find(section.link, info & 0x00ff_ffff);
                symbol
                    .filter(|symbol| symbol.index != 0)
                    .map(|symbol| Reference::Function {
                        symbol: symbol.name,
                        high: (info >> 24) as u8,
                    })
            } else {
                None
            };
        }
    }

    fn tables(&mut self, elf: &mut DeviceElf<'data>) {
        let sections = std::mem::take(&mut elf.sections);
        for section in &sections {
            elf.mercury.extend(self.mercury(section, &sections));
            match code_names::table(section.ty.value) {
                Table::Rel => elf.relocations.push(self.rel(section)),
                Table::Rela => elf.relocations.push(self.rela(section)),
                Table::Info => elf.attributes.push(self.info(section, &sections)),
                Table::Compat => elf.attributes.push(self.compat(section)),
                Table::Notes => self.notes(section, &mut elf.notes),
                Table::CallGraph => self.call_graph(section, &mut elf.call_graph),
                Table::Prototypes => self.prototypes(section, &mut elf.prototypes),
                Table::Bytes | Table::Strings | Table::Symbols => {}
            }
        }
        elf.sections = sections;
    }

    fn segments(&mut self, elf: &mut DeviceElf<'data>) {
        for (index, header) in self.view.segments.iter().enumerate() {
            let (offset, size) = (header.offset.get(), header.filesz.get());
            let end = offset.saturating_add(size);
            let within = |section: &&Section<'data>| {
                section.ty.value != 0
                    && !section.contents.is_empty()
                    && section.offset >= offset
                    && section.offset.saturating_add(section.size) <= end
            };
            let searched = if index < LISTED_SEGMENTS {
                &elf.sections[..]
            } else {
                &[]
            };
            let (first, last) = (searched.iter().find(within), searched.iter().rfind(within));
            elf.segments.push(Segment {
                ty: code_names::segment_type(header.ty.get()),
                flags: header.flags.get(),
                offset,
                virtual_address: header.vaddr.get(),
                physical_address: header.paddr.get(),
                file_size: size,
                memory_size: header.memsz.get(),
                align: header.align.get(),
                sections: first.zip(last).map(|(first, last)| (first.name, last.name)),
            });
        }
    }
}
