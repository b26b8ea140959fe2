//! An input object as a plan of itself: the same sections in the same order, tables encoded anew.
//!
//! The file may be laid out differently from the original, but links to the same bytes.
use zerocopy::FromBytes;
use zerocopy::little_endian::U32;

use super::encode::append_attribute;
use super::encode::append_marker;
use super::encode::append_pair;
use super::layout::assign_offsets;
use crate::arena::Arena;
use crate::callgraph_record::CallKind;
use crate::ids::*;
use crate::module::Module;
use crate::object::Object;
use crate::plan::*;
use crate::section::Section;
use crate::section::SectionContent;
use crate::section::SectionInfo;
use crate::symbol::SymbolPlace;
use crate::symbol::SymbolRef;
use crate::table::EntityId;
use cuweld_elf::note_records::append_note;
use cuweld_elf::raw::RawSymbol;
use cuweld_elf::raw::SHN_ABS;
use cuweld_elf::raw::SHN_COMMON;
use cuweld_elf::raw::SHN_LORESERVE;
use cuweld_elf::raw::SHN_XINDEX;
use cuweld_elf::raw::SectionHeader;
use cuweld_elf::string_table::NameTable;
use cuweld_elf::symbol::SymbolType;
use cuweld_elf::target::section_types::SectionFlags;
use cuweld_elf::target::section_types::is_unified_entries;
use cuweld_elf::target::section_types::sht;
use cuweld_elf::validate::validate_structure;

/// Plans one input object of a module that no pass has decided anything about.
pub fn plan_object<'data>(
    module: &Module<'data>,
    object: ObjectId,
    arena: &'data Arena,
) -> OutputLayout<'data> {
    let row = &module.objects[object];
    let sections = &module.sections[row.sections];
    let symbols = &module.symbols[row.symbols];
    let file = FileTables::of(row, symbols.len());
    let mut planner = Planner {
        module,
        row,
        arena,
        names: NameTable::new(),
        symbol_names: NameTable::new(),
        section_symbols: vec![0; sections.len()],
        symbol_indices: vec![0; symbols.len()],
        extended: Vec::new(),
        plan: OutputLayout {
            e_type: row.e_type,
            e_flags: row.e_flags,
            legacy: row.legacy,
            ..Default::default()
        },
    };
    // Mercury sections hold offsets into the string table and are copied as they are: their names
    // keep their places.
    for name in file.names {
        planner.symbol_names.add_even_empty(name);
    }
    let fresh = || fresh_order(sections, symbols.len());
    planner.symbols(file.order.unwrap_or_else(fresh));
    for call in &module.calls[row.calls] {
        planner.symbol_names.add(call.prototype);
    }
    for prototype in &module.prototypes[row.prototypes] {
        planner.symbol_names.add(prototype.prototype);
    }
    for (ordinal, section) in sections.iter().enumerate() {
        planner.section(ordinal, section);
    }
    planner.finish()
}

/// A plan in the making.
struct Planner<'p, 'data> {
    module: &'p Module<'data>,
    row: &'p Object<'data>,
    arena: &'data Arena,
    names: NameTable,
    symbol_names: NameTable,
    /// The first SECTION symbol of each section, by ordinal.
    section_symbols: Vec<u32>,
    /// The entry of each symbol, by ordinal.
    symbol_indices: Vec<u32>,
    /// Sections whose index `st_shndx` cannot hold, by symbol.
    extended: Vec<(u32, u32)>,
    plan: OutputLayout<'data>,
}

impl<'data> Planner<'_, 'data> {
    /// Plans the symbol table.
    fn symbols(&mut self, order: Vec<TableEntry>) {
        self.plan.symbols.push(PlanSymbol::default());
        for entry in order {
            let index = self.plan.symbols.len() as u32;
            let symbol = match entry {
                TableEntry::Section(ordinal) => self.section_symbol(index, ordinal),
                TableEntry::Symbol(ordinal) => self.symbol(index, ordinal),
            };
            self.plan.symbols.extend(symbol);
        }
    }

    fn section_symbol(&mut self, index: u32, ordinal: usize) -> Option<PlanSymbol> {
        let section = self.module.sections[self.row.sections].get(ordinal)?;
        // References name the section's first symbol.
        if self.section_symbols[ordinal] == 0 {
            self.section_symbols[ordinal] = index;
        }
        Some(PlanSymbol {
            name_offset: self.symbol_names.add(section.name),
            ty: SymbolType::SECTION,
            shndx: self.section_number(index, ordinal as u32),
            ..PlanSymbol::default()
        })
    }

    fn symbol(&mut self, index: u32, ordinal: usize) -> Option<PlanSymbol> {
        let symbol = self.module.symbols[self.row.symbols].get(ordinal)?;
        self.symbol_indices[ordinal] = index;
        Some(PlanSymbol {
            name_offset: self.symbol_names.add(symbol.name),
            bind: symbol.bind,
            ty: symbol.ty,
            other: symbol.other,
            shndx: match symbol.place {
                SymbolPlace::Undefined => 0,
                SymbolPlace::Section(section) => {
                    self.section_number(index, self.section_index(section))
                }
                SymbolPlace::Common => SHN_COMMON,
                SymbolPlace::Absolute => SHN_ABS,
                SymbolPlace::Reserved(index) => index,
            },
            value: symbol.value,
            size: symbol.size,
        })
    }

    /// Returns the `st_shndx` of a symbol in a section, and notes the section's index where
    /// `st_shndx` has no room for it.
    fn section_number(&mut self, symbol: u32, section: u32) -> u16 {
        match u16::try_from(section) {
            Ok(section) if section < SHN_LORESERVE => section,
            _ => {
                self.extended.push((symbol, section));
                SHN_XINDEX
            }
        }
    }

    fn section_index(&self, section: SectionId) -> u32 {
        (section.index() - self.row.sections.start()) as u32
    }

    fn symbol_index(&self, reference: SymbolRef) -> u32 {
        let found = match reference {
            SymbolRef::None => None,
            SymbolRef::Symbol(id) => {
                let ordinal = self.row.symbols.ordinal(id);
                ordinal.map(|ordinal| self.symbol_indices[ordinal])
            }
            SymbolRef::Section(id) => {
                let ordinal = self.row.sections.ordinal(id);
                ordinal.map(|ordinal| self.section_symbols[ordinal])
            }
        };
        found.unwrap_or(0)
    }

    /// Plans a section.
    fn section(&mut self, ordinal: usize, section: &Section<'data>) {
        let id = self.row.sections.get(ordinal);
        let content = self.content(id, section);
        if content == PlanContent::SectionNames {
            self.plan.shstrndx = ordinal as u32;
        }
        let size = match &content {
            PlanContent::Bytes(bytes) => bytes.len() as u64,
            PlanContent::Relocs(rows) => rows.len() as u64 * section.entsize.max(16),
            PlanContent::Symbols => self.plan.symbols.len() as u64 * 24,
            _ => section.size(),
        };
        let row = PlanSection {
            name: section.name,
            name_offset: self.names.add(section.name),
            ty: section.ty,
            flags: section.flags,
            offset: 0,
            size,
            link: section.link.map_or(0, |link| self.section_index(link)),
            info: match section.info {
                SectionInfo::None => 0,
                SectionInfo::Section(target) => self.section_index(target),
                SectionInfo::Symbol { symbol, high } => {
                    u32::from(high) << 24 | self.symbol_index(SymbolRef::Symbol(symbol))
                }
                SectionInfo::Raw(raw) => raw,
            },
            align: section.align,
            entsize: section.entsize,
            content,
        };
        self.plan.sections.push(row);
    }

    /// Returns the contents of a section: bytes that the IR has, or a table whose rows the IR has.
    fn content(&mut self, id: Option<SectionId>, section: &Section<'data>) -> PlanContent<'data> {
        let bytes = match (section.ty, section.content) {
            (_, SectionContent::Bytes(bytes)) if !bytes.is_empty() => return self.piece(id),
            (_, SectionContent::Bytes(_) | SectionContent::NoBits(_)) => return PlanContent::None,
            (sht::REL | sht::RELA | sht::CUDA_MERCURY_RELA, _) => return self.relocs(section),
            (sht::SYMTAB, _) => return PlanContent::Symbols,
            (sht::STRTAB, _) if section.name == b".shstrtab" => return PlanContent::SectionNames,
            (sht::STRTAB, _) => return PlanContent::SymbolNames,
            (sht::CUDA_INFO | sht::CUDA_MERCURY_INFO | sht::CUDA_COMPAT, _) => {
                self.attributes(section)
            }
            (ty, _) if is_unified_entries(ty) => self.unified_entries(section),
            (sht::CUDA_CALLGRAPH, _) => self.calls(),
            (sht::CUDA_PROTOTYPE, _) => self.prototypes(),
            (sht::NOTE, _) => self.notes(id),
            (sht::SYMTAB_SHNDX, _) if !section.flags.contains(SectionFlags::MERCURY) => {
                self.section_numbers()
            }
            _ => return PlanContent::None,
        };
        PlanContent::Bytes(self.arena.bytes(&bytes))
    }

    fn piece(&mut self, section: Option<SectionId>) -> PlanContent<'data> {
        let start = self.plan.pieces.len() as u32;
        self.plan.pieces.extend(section.map(|section| PlanPiece {
            offset: 0,
            section,
            size: None,
        }));
        PlanContent::Pieces(start..self.plan.pieces.len() as u32)
    }

    fn relocs(&mut self, section: &Section<'_>) -> PlanContent<'data> {
        let start = self.plan.relocs.len() as u32;
        for reloc in &self.module.relocs[section.relocs] {
            let row = PlanReloc {
                offset: reloc.offset,
                ty: reloc.ty,
                symbol: self.symbol_index(reloc.target),
                addend: reloc.addend,
            };
            self.plan.relocs.push(row);
        }
        PlanContent::Relocs(start..self.plan.relocs.len() as u32)
    }

    fn attributes(&self, section: &Section<'_>) -> Vec<u8> {
        let mut bytes = Vec::new();
        for attribute in &self.module.attributes[section.attributes] {
            let refs = self.module.refs(attribute).iter();
            let refs: Vec<u32> = refs.map(|target| self.symbol_index(*target)).collect();
            append_attribute(&mut bytes, attribute, refs.iter().copied());
        }
        bytes
    }

    fn unified_entries(&self, section: &Section<'_>) -> Vec<u8> {
        let mut bytes = Vec::new();
        for entry in &self.module.attributes[section.attributes] {
            for target in self.module.refs(entry) {
                bytes.extend_from_slice(&self.symbol_index(*target).to_le_bytes());
            }
            bytes.extend_from_slice(entry.rest);
        }
        bytes
    }

    fn calls(&mut self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for kind in CallKind::ALL {
            append_marker(&mut bytes, kind);
            let calls = self.module.calls[self.row.calls].iter();
            for call in calls.filter(|call| call.kind == kind) {
                let second = match kind.has_prototype() {
                    true => self.symbol_names.add(call.prototype),
                    false => self.symbol_index(call.to),
                };
                append_pair(&mut bytes, self.symbol_index(call.from), second);
            }
        }
        bytes
    }

    fn prototypes(&mut self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for prototype in &self.module.prototypes[self.row.prototypes] {
            let second = self.symbol_names.add(prototype.prototype);
            append_pair(&mut bytes, self.symbol_index(prototype.function), second);
        }
        bytes
    }

    fn notes(&self, section: Option<SectionId>) -> Vec<u8> {
        let mut bytes = Vec::new();
        let notes = self.module.notes[self.row.notes].iter();
        for note in notes.filter(|note| note.section == section) {
            append_note(&mut bytes, note.owner, note.ty, note.desc);
        }
        bytes
    }

    /// Returns the section of each symbol that has no room for it.
    fn section_numbers(&self) -> Vec<u8> {
        let mut rows = vec![0; self.plan.symbols.len()];
        for (symbol, section) in &self.extended {
            rows[*symbol as usize] = *section;
        }
        rows.into_iter().flat_map(u32::to_le_bytes).collect()
    }

    /// Adds the strings and the offsets.
    fn finish(self) -> OutputLayout<'data> {
        let mut plan = self.plan;
        plan.section_names = self.names.into_bytes();
        plan.symbol_names = self.symbol_names.into_bytes();
        for section in &mut plan.sections {
            match section.content {
                PlanContent::SectionNames => section.size = plan.section_names.len() as u64,
                PlanContent::SymbolNames => section.size = plan.symbol_names.len() as u64,
                _ => {}
            }
        }
        assign_offsets(&mut plan);
        plan
    }
}

/// An entry of the symbol table, by ordinal within its object.
enum TableEntry {
    /// The SECTION symbol of a section.
    Section(usize),
    /// A symbol of its own.
    Symbol(usize),
}

/// Returns `true` if a new symbol table has a SECTION symbol for a section.
pub(crate) fn has_section_symbol(section: &Section<'_>) -> bool {
    !section.flags.contains(SectionFlags::MERCURY)
        && !matches!(
            section.ty,
            sht::NULL
                | sht::STRTAB
                | sht::SYMTAB
                | sht::REL
                | sht::RELA
                | sht::SYMTAB_SHNDX
                | sht::CUDA_INFO
                | sht::CUDA_COMPAT
        )
}

/// Returns the order of a new symbol table: SECTION symbols first, then the object's own in their
/// order.
fn fresh_order(sections: &[Section<'_>], symbols: usize) -> Vec<TableEntry> {
    let named = sections
        .iter()
        .enumerate()
        .filter(|(_, section)| has_section_symbol(section));
    named
        .map(|(ordinal, _)| TableEntry::Section(ordinal))
        .chain((0..symbols).map(TableEntry::Symbol))
        .collect()
}

/// What the file that an object was read from says of its tables beyond the IR: where its SECTION
/// symbols stand, and in which order its strings.
///
/// The Mercury view is bytes to this plan, and those bytes refer to both by number.
struct FileTables<'data> {
    /// Entries after the null symbol; `None` if the file does not have the object's symbols.
    order: Option<Vec<TableEntry>>,
    /// Strings of the symbols' string table after the first, which is empty. Another empty one is
    /// a prototype [empty-prototype].
    names: Vec<&'data [u8]>,
}

impl<'data> FileTables<'data> {
    fn of(object: &Object<'data>, symbols: usize) -> Self {
        Self::read(object.image, symbols).unwrap_or(FileTables {
            order: None,
            names: Vec::new(),
        })
    }

    fn read(image: &'data [u8], symbols: usize) -> Option<Self> {
        let headers = validate_structure(image).ok()?;
        let bytes = |header: &SectionHeader| {
            let start = usize::try_from(header.offset.get()).ok()?;
            image.get(start..start.checked_add(usize::try_from(header.size.get()).ok()?)?)
        };
        let table = headers
            .sections
            .iter()
            .find(|header| header.ty.get() == sht::SYMTAB)?;
        let strings = bytes(headers.sections.get(table.link.get() as usize)?)?;
        let strings = strings.get(1..strings.len().saturating_sub(1));
        let names = strings.map(|strings| strings.split(|byte| *byte == 0).collect());
        let rows = <[RawSymbol]>::ref_from_bytes(bytes(table)?).ok()?;
        let extended = headers
            .sections
            .iter()
            .find(|header| header.ty.get() == sht::SYMTAB_SHNDX)
            .and_then(bytes)
            .and_then(|bytes| <[U32]>::ref_from_bytes(bytes).ok())
            .unwrap_or_default();
        let mut next = 0;
        let order = rows.iter().enumerate().skip(1).map(|(index, row)| {
            if row.ty() == SymbolType::SECTION {
                let section = match row.shndx.get() {
                    SHN_XINDEX => extended.get(index).map_or(0, |row| row.get()),
                    section => section.into(),
                };
                return TableEntry::Section(section as usize);
            }
            next += 1;
            TableEntry::Symbol(next - 1)
        });
        let order: Vec<_> = order.collect();
        Some(FileTables {
            order: (next == symbols).then_some(order),
            names: names.unwrap_or_default(),
        })
    }
}
