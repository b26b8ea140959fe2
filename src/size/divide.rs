//! Divides a device ELF into parts that have one owner each.
//!
//! Sections that share bytes (Mercury files have some) are taken in the order of their offsets: the
//! first one has the bytes. Within a section, bytes belong to the symbol that covers them: in code
//! and data by address, in the symbol table by row, in tables of strings by the name that they spell,
//! in `.nv.info` by the function of the record. What a function owns as a whole, such as its
//! relocations, belongs to it.

use cuweld_elf::target::section_types::SectionFlags;
use cuweld_elf::target::section_types::is_no_bits;
use cuweld_elf::target::section_types::sht;

use super::object_map::ObjectMap;
use super::part::Part;
use super::part::Place;
use crate::inspect::DeviceElf;
use crate::inspect::Functions;
use crate::inspect::Name;
use crate::inspect::device_model as model;
use crate::inspect::device_model::AttributeValue;

/// Divides a device ELF. With a map, parts end where contributions of inputs do. Takes time
/// n log n in sections and symbols.
pub fn divide<'data>(
    elf: &DeviceElf<'data>,
    functions: &Functions<'data>,
    map: Option<&ObjectMap>,
) -> Vec<Part<'data>> {
    let mut parts = Vec::new();
    let windows = windows(elf, &mut parts);
    let claims = Claims::of(elf, functions);
    for (section, window) in elf.sections.iter().zip(windows) {
        if section.ty.value == sht::NULL {
            continue;
        }
        let owner = functions.of_section(section.index);
        let symbol = owner.and_then(|owner| functions.list.get(owner));
        let owner = Owner {
            symbol: symbol.map(|function| function.name),
            function: owner,
        };
        let takes_memory = SectionFlags::from(section.flags).contains(SectionFlags::ALLOC);
        let mut add = |start: u64, end: u64, owner: Owner<'data>| {
            let mut start = start;
            let cuts = map.map_or(&[][..], |map| map.cuts(section.index));
            let first = cuts.partition_point(|cut| *cut <= start);
            let inner = cuts.get(first..).unwrap_or_default();
            let inner = inner.iter().copied().take_while(|cut| *cut < end);
            for end in inner.chain([end]) {
                parts.push(Part {
                    file: end.min(window.1).saturating_sub(start.max(window.0)),
                    memory: if takes_memory { end - start } else { 0 },
                    place: Place::Section(section.index),
                    offset: start,
                    symbol: owner.symbol,
                    function: owner.function,
                });
                start = end;
            }
        };
        let mut covered = 0;
        for claim in claims.of_section(section.index) {
            let start = claim.start.max(covered);
            let end = claim.end.min(section.size);
            if start >= end {
                continue;
            }
            if covered < start {
                add(covered, start, owner);
            }
            add(start, end, claim.owner);
            covered = end;
        }
        if covered < section.size {
            add(covered, section.size, owner);
        }
    }
    parts
}

/// Returns for each section which of its bytes count, as offsets in it; none of sections without
/// bytes in the file. What belongs to no section is added to `parts`.
fn windows<'data>(elf: &DeviceElf<'data>, parts: &mut Vec<Part<'data>>) -> Vec<(u64, u64)> {
    let size = elf.image.len() as u64;
    let header = &elf.header;
    let [of_file, of_segment, of_section] = match header.class {
        "ELF32" => [52, 32, 40],
        _ => [64, 56, 64],
    };
    // The number of sections may stand in the null section; the model has them all.
    let segments = u64::from(header.program_header_count) * of_segment;
    let sections = elf.sections.len() as u64 * of_section;
    let mut spans = vec![
        (0, of_file, Place::FileHeader),
        (
            header.program_headers_offset,
            segments,
            Place::ProgramHeaders,
        ),
        (
            header.section_headers_offset,
            sections,
            Place::SectionHeaders,
        ),
    ];
    for section in &elf.sections {
        let flags = SectionFlags::from(section.flags);
        if section.ty.value != sht::NULL && !is_no_bits(section.ty.value, flags) {
            spans.push((section.offset, section.size, Place::Section(section.index)));
        }
    }
    spans.retain(|(_, length, _)| *length != 0);
    // Stable: of spans that begin at one offset headers come first, then earlier sections.
    spans.sort_by_key(|(start, ..)| *start);
    let mut windows = vec![(0, 0); elf.sections.len()];
    let mut part = |place, file| {
        parts.push(Part {
            file,
            memory: 0,
            place,
            offset: 0,
            symbol: None,
            function: None,
        });
    };
    let mut covered = 0;
    for (start, length, place) in spans {
        let first = start.clamp(covered, size);
        let end = start.saturating_add(length).clamp(first, size);
        if covered < first {
            part(Place::Unmapped, first - covered);
        }
        covered = end;
        match place {
            Place::Section(index) => {
                if let Some(window) = windows.get_mut(index as usize) {
                    *window = (first.saturating_sub(start), end.saturating_sub(start));
                }
            }
            place => part(place, end - first),
        }
    }
    if covered < size {
        part(Place::Unmapped, size - covered);
    }
    windows
}

/// What bytes belong to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Owner<'data> {
    symbol: Option<Name<'data>>,
    function: Option<usize>,
}

/// Bytes of a section that a symbol claims.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Claim<'data> {
    section: u32,
    start: u64,
    end: u64,
    owner: Owner<'data>,
}

/// The claims of all symbols: by section, then offset; of those that begin at one offset the
/// largest comes first.
struct Claims<'data>(Vec<Claim<'data>>);

impl<'data> Claims<'data> {
    fn of(elf: &DeviceElf<'data>, functions: &Functions<'data>) -> Self {
        let mut claims = Claims(Vec::new());
        for table in &elf.symbol_tables {
            claims.add_symbols(elf, functions, table);
        }
        claims.add_section_names(elf, functions);
        claims.add_records(elf, functions);
        let key = |claim: &Claim<'_>| (claim.section, claim.start, u64::MAX - claim.end);
        claims.0.sort_by_key(key);
        claims
    }

    fn of_section(&self, section: u32) -> impl Iterator<Item = &Claim<'data>> {
        let first = self.0.partition_point(|claim| claim.section < section);
        let rest = self.0.get(first..).unwrap_or_default();
        rest.iter()
            .take_while(move |claim| claim.section == section)
    }

    fn add(&mut self, section: u32, start: u64, size: u64, owner: Owner<'data>) {
        if size != 0 {
            self.0.push(Claim {
                section,
                start,
                end: start.saturating_add(size),
                owner,
            });
        }
    }

    /// Adds what symbols cover, their rows and their names.
    fn add_symbols(
        &mut self,
        elf: &DeviceElf<'data>,
        functions: &Functions<'data>,
        table: &model::SymbolTable<'data>,
    ) {
        let section = elf.sections.get(table.section_index as usize);
        let row = section.map_or(0, |section| section.entry_size);
        let names = section.and_then(|section| elf.sections.get(section.link as usize));
        let is_main = table.section == Name(b".symtab");
        for symbol in &table.symbols {
            let is_section = symbol.ty.name.as_deref() == Some("SECTION");
            let function = match (symbol.section, is_section, is_main) {
                (model::Place::In { index, .. }, true, _) => functions.of_section(index),
                (_, true, _) => None,
                (_, false, true) => functions.of_symbol(symbol.index),
                (_, false, false) => functions.named(symbol.name),
            };
            let name = match function.and_then(|function| functions.list.get(function)) {
                Some(function) => Some(function.name),
                None if is_section => None,
                None => Some(symbol.name).filter(|name| !name.is_empty()),
            };
            let owner = Owner {
                symbol: name,
                function,
            };
            if name.is_none() {
                continue;
            }
            let start = u64::from(symbol.index).saturating_mul(row);
            self.add(table.section_index, start, row, owner);
            if let Some(names) = names
                && let Some(start) = offset_in(names.contents, symbol.name.0)
            {
                let size = symbol.name.0.len() as u64 + 1;
                self.add(names.index, start, size, owner);
            }
            if let (model::Place::In { index, .. }, false) = (symbol.section, is_section) {
                let is_code = function.is_some();
                // Data of a function is laid out by address in shared memory, and belongs to it as
                // a whole.
                if is_code || functions.of_section(index).is_none() {
                    self.add(index, symbol.value, symbol.size, owner);
                }
            }
        }
    }

    /// Adds the names of sections of functions, such as `.nv.info.f`, in tables of strings: linked
    /// files have those of all sections that ever were.
    fn add_section_names(&mut self, elf: &DeviceElf<'data>, functions: &Functions<'data>) {
        let tables = elf.sections.iter();
        for table in tables.filter(|section| section.ty.value == sht::STRTAB) {
            let mut start = 0;
            for name in table.contents.split(|byte| *byte == 0) {
                let size = name.len() as u64 + 1;
                if let Some(function) = function_of_section_name(name, functions) {
                    let row = functions.list.get(function);
                    let owner = Owner {
                        symbol: row.map(|row| row.name),
                        function: Some(function),
                    };
                    self.add(table.index, start, size, owner);
                }
                start += size;
            }
        }
    }

    /// Adds the records about functions in lists that are those of the whole file.
    fn add_records(&mut self, elf: &DeviceElf<'data>, functions: &Functions<'data>) {
        let lists = elf.attributes.iter();
        for list in lists.filter(|list| list.function.is_none()) {
            let size = elf.sections.get(list.section_index as usize);
            let size = size.map_or(0, |section| section.size);
            let ends = list.records.iter().skip(1).map(|record| record.offset);
            for (record, end) in list.records.iter().zip(ends.chain([size])) {
                let AttributeValue::Payload { symbols, .. } = &record.value else {
                    continue;
                };
                let Some(symbol) = symbols.first().filter(|it| !it.name.is_empty()) else {
                    continue;
                };
                let owner = Owner {
                    symbol: Some(symbol.name),
                    function: functions.named(symbol.name),
                };
                let size = end.saturating_sub(record.offset);
                self.add(list.section_index, record.offset, size, owner);
            }
        }
    }
}

/// How many dots the kind of a section has at most, as in `.nv.merc.nv.constant.user.f`.
const MOST_DOTS: usize = 8;

/// Returns the function in the name of a section.
fn function_of_section_name(name: &[u8], functions: &Functions<'_>) -> Option<usize> {
    let mut rest = name.strip_prefix(b".")?;
    for _ in 0..MOST_DOTS {
        let dot = rest.iter().position(|byte| *byte == b'.')?;
        rest = rest.get(dot + 1..)?;
        let found = functions.named(Name(rest));
        if found.is_some() {
            return found;
        }
    }
    None
}

/// Returns where in `whole` a slice of it begins; `None` if it is no slice of it.
fn offset_in(whole: &[u8], part: &[u8]) -> Option<u64> {
    let offset = (part.as_ptr() as usize).checked_sub(whole.as_ptr() as usize)?;
    let end = offset.checked_add(part.len())?;
    (end < whole.len()).then_some(offset as u64)
}
