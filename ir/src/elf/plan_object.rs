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
) -> ElfPlan<'data> {
    let row = &module.objects[object];
    let base = row.sections.start();
    let sections = &module.sections[row.sections];
    let symbols = &module.symbols[row.symbols];
    let index_of = |section: SectionId| (section.index() - base) as u32;

    let mut names = NameTable::new();
    let mut symbol_names = NameTable::new();
    let mut plan = ElfPlan {
        e_type: row.e_type,
        e_flags: row.e_flags,
        legacy: row.legacy,
        ..Default::default()
    };

    let file = FileTables::of(row, symbols.len());
    // Mercury sections hold offsets into the string table and are copied as they are: their names
    // keep their places.
    for name in file.names {
        symbol_names.add(name);
    }
    let order = file
        .order
        .unwrap_or_else(|| fresh_order(sections, symbols.len()));
    // Sections whose index `st_shndx` cannot hold, by symbol.
    let mut extended: Vec<(u32, u32)> = Vec::new();
    let mut place = |symbol: u32, section: u32| match u16::try_from(section) {
        Ok(section) if section < SHN_LORESERVE => section,
        _ => {
            extended.push((symbol, section));
            SHN_XINDEX
        }
    };
    let mut section_symbols = vec![0u32; sections.len()];
    let mut symbol_indices = vec![0u32; symbols.len()];
    plan.symbols.push(PlanSymbol::default());
    for entry in order {
        let index = plan.symbols.len() as u32;
        match entry {
            TableEntry::Section(ordinal) => {
                let Some(section) = sections.get(ordinal) else {
                    continue;
                };
                // References name the section's first symbol.
                if section_symbols[ordinal] == 0 {
                    section_symbols[ordinal] = index;
                }
                plan.symbols.push(PlanSymbol {
                    name_offset: symbol_names.add(section.name),
                    ty: SymbolType::SECTION,
                    shndx: place(index, ordinal as u32),
                    ..PlanSymbol::default()
                });
            }
            TableEntry::Symbol(ordinal) => {
                let Some(symbol) = symbols.get(ordinal) else {
                    continue;
                };
                symbol_indices[ordinal] = index;
                plan.symbols.push(PlanSymbol {
                    name_offset: symbol_names.add(symbol.name),
                    bind: symbol.bind,
                    ty: symbol.ty,
                    other: symbol.other,
                    shndx: match symbol.place {
                        SymbolPlace::Undefined => 0,
                        SymbolPlace::Section(section) => place(index, index_of(section)),
                        SymbolPlace::Common => SHN_COMMON,
                        SymbolPlace::Absolute => SHN_ABS,
                        SymbolPlace::Reserved(index) => index,
                    },
                    value: symbol.value,
                    size: symbol.size,
                });
            }
        }
    }
    let symbol_index = |reference: SymbolRef| match reference {
        SymbolRef::None => 0,
        SymbolRef::Symbol(id) => row
            .symbols
            .ordinal(id)
            .map_or(0, |ordinal| symbol_indices[ordinal]),
        SymbolRef::Section(id) => row
            .sections
            .ordinal(id)
            .map_or(0, |ordinal| section_symbols[ordinal]),
    };
    for call in &module.calls[row.calls] {
        symbol_names.add(call.prototype);
    }
    for prototype in &module.prototypes[row.prototypes] {
        symbol_names.add(prototype.prototype);
    }

    for (ordinal, section) in sections.iter().enumerate() {
        let id = row.sections.get(ordinal);
        let mut bytes = Vec::new();
        let content = match (section.ty, section.content) {
            (_, SectionContent::Bytes(bytes)) if !bytes.is_empty() => {
                let start = plan.pieces.len() as u32;
                plan.pieces.extend(id.map(|section| PlanPiece {
                    offset: 0,
                    section,
                    size: None,
                }));
                PlanContent::Pieces(start..plan.pieces.len() as u32)
            }
            (_, SectionContent::Bytes(_) | SectionContent::NoBits(_)) => PlanContent::None,
            (sht::REL | sht::RELA | sht::CUDA_MERCURY_RELA, _) => {
                let start = plan.relocs.len() as u32;
                plan.relocs
                    .extend(module.relocs[section.relocs].iter().map(|reloc| PlanReloc {
                        offset: reloc.offset,
                        ty: reloc.ty,
                        symbol: symbol_index(reloc.target),
                        addend: reloc.addend,
                    }));
                PlanContent::Relocs(start..plan.relocs.len() as u32)
            }
            (sht::CUDA_INFO | sht::CUDA_MERCURY_INFO | sht::CUDA_COMPAT, _) => {
                for attribute in &module.attributes[section.attributes] {
                    let refs: Vec<u32> = module
                        .refs(attribute)
                        .iter()
                        .map(|target| symbol_index(*target))
                        .collect();
                    append_attribute(&mut bytes, attribute, refs.iter().copied());
                }
                PlanContent::Bytes(arena.bytes(&bytes))
            }
            (ty, _) if is_unified_entries(ty) => {
                for entry in &module.attributes[section.attributes] {
                    for target in module.refs(entry) {
                        bytes.extend_from_slice(&symbol_index(*target).to_le_bytes());
                    }
                    bytes.extend_from_slice(entry.rest);
                }
                PlanContent::Bytes(arena.bytes(&bytes))
            }
            (sht::CUDA_CALLGRAPH, _) => {
                for kind in CallKind::ALL {
                    append_marker(&mut bytes, kind);
                    for call in module.calls[row.calls]
                        .iter()
                        .filter(|call| call.kind == kind)
                    {
                        let second = if kind.has_prototype() {
                            symbol_names.add(call.prototype)
                        } else {
                            symbol_index(call.to)
                        };
                        append_pair(&mut bytes, symbol_index(call.from), second);
                    }
                }
                PlanContent::Bytes(arena.bytes(&bytes))
            }
            (sht::CUDA_PROTOTYPE, _) => {
                for prototype in &module.prototypes[row.prototypes] {
                    let second = symbol_names.add(prototype.prototype);
                    append_pair(&mut bytes, symbol_index(prototype.function), second);
                }
                PlanContent::Bytes(arena.bytes(&bytes))
            }
            (sht::NOTE, _) => {
                for note in module.notes[row.notes]
                    .iter()
                    .filter(|note| note.section == id)
                {
                    append_note(&mut bytes, note.owner, note.ty, note.desc);
                }
                PlanContent::Bytes(arena.bytes(&bytes))
            }
            (sht::SYMTAB, _) => PlanContent::Symbols,
            (sht::SYMTAB_SHNDX, _) if !section.flags.contains(SectionFlags::MERCURY) => {
                let mut rows = vec![0; plan.symbols.len()];
                for (symbol, section) in &extended {
                    rows[*symbol as usize] = *section;
                }
                bytes.extend(rows.into_iter().flat_map(u32::to_le_bytes));
                PlanContent::Bytes(arena.bytes(&bytes))
            }
            (sht::STRTAB, _) if section.name == b".shstrtab" => PlanContent::SectionNames,
            (sht::STRTAB, _) => PlanContent::SymbolNames,
            _ => PlanContent::None,
        };
        if content == PlanContent::SectionNames {
            plan.shstrndx = ordinal as u32;
        }
        let size = match &content {
            PlanContent::Bytes(bytes) => bytes.len() as u64,
            PlanContent::Relocs(rows) => rows.len() as u64 * section.entsize.max(16),
            PlanContent::Symbols => plan.symbols.len() as u64 * 24,
            _ => section.size(),
        };
        plan.sections.push(PlanSection {
            name: section.name,
            name_offset: names.add(section.name),
            ty: section.ty,
            flags: section.flags,
            offset: 0,
            size,
            link: section.link.map_or(0, index_of),
            info: match section.info {
                SectionInfo::None => 0,
                SectionInfo::Section(target) => index_of(target),
                SectionInfo::Symbol { symbol, high } => {
                    u32::from(high) << 24 | symbol_index(SymbolRef::Symbol(symbol))
                }
                SectionInfo::Raw(raw) => raw,
            },
            align: section.align,
            entsize: section.entsize,
            content,
        });
    }
    plan.section_names = names.into_bytes();
    plan.symbol_names = symbol_names.into_bytes();
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

/// An entry of the symbol table, by ordinal within its object.
enum TableEntry {
    /// The SECTION symbol of a section.
    Section(usize),
    /// A symbol of its own.
    Symbol(usize),
}

/// SECTION symbols first, then the object's own in their order.
fn fresh_order(sections: &[Section<'_>], symbols: usize) -> Vec<TableEntry> {
    let has_symbol = |section: &Section<'_>| {
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
    };
    let named = sections
        .iter()
        .enumerate()
        .filter(|(_, section)| has_symbol(section));
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
    /// Strings of the symbols' string table that are not empty.
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
        let names = strings
            .split(|byte| *byte == 0)
            .filter(|name| !name.is_empty())
            .collect();
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
            names,
        })
    }
}
