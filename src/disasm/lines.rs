//! Which line of the source an instruction comes from, by `.debug_line`.

use std::collections::BTreeMap;

use gimli::DebugLine;
use gimli::DebugLineOffset;
use gimli::EndianSlice;
use gimli::LineProgramHeader;
use gimli::LittleEndian;

use crate::inspect::DeviceElf;
use crate::inspect::Name;
use crate::inspect::device_model::Place;
use crate::inspect::device_model::Section;

/// Bytes of an address.
const ADDRESS: u8 = 8;

/// Bits of an address in which its section stands, above the offset.
const SECTION: u32 = 40;

/// The lines of all code of a device ELF: of each section, by offset.
#[derive(Debug, Default)]
pub(super) struct Lines {
    of_section: BTreeMap<u32, BTreeMap<u64, String>>,
}

impl Lines {
    /// Reads the line table; what cannot be read is left out.
    pub(super) fn new(elf: &DeviceElf<'_>) -> Self {
        let mut lines = Lines::default();
        let table = elf
            .sections
            .iter()
            .find(|section| section.name == Name(b".debug_line"));
        if let Some(section) = table {
            let bytes = with_addresses(elf, section);
            // What was read before the damage stays.
            let _ = lines.read(&bytes);
        }
        lines
    }

    /// Returns the line that begins at an offset of a section.
    pub(super) fn at(&self, section: u32, offset: u64) -> Option<&str> {
        Some(self.of_section.get(&section)?.get(&offset)?.as_str())
    }

    fn read(&mut self, bytes: &[u8]) -> gimli::Result<()> {
        let table = DebugLine::new(bytes, LittleEndian);
        let mut at = 0;
        while at < bytes.len() {
            let program = table.program(DebugLineOffset(at), ADDRESS, None, None)?;
            at += program.header().unit_length().saturating_add(4);
            let mut rows = program.rows();
            while let Some((header, row)) = rows.next_row()? {
                if row.end_sequence() {
                    continue;
                }
                let section = (row.address() >> SECTION) as u32;
                let offset = row.address() & ((1 << SECTION) - 1);
                let number = row.line().map_or(0, |line| line.get());
                let file = file(header, row.file_index());
                let lines = self.of_section.entry(section).or_default();
                lines.insert(offset, format!("{file}:{number}"));
            }
        }
        Ok(())
    }
}

type Header<'a> = LineProgramHeader<EndianSlice<'a, LittleEndian>>;

/// Returns the name of a file without its folder.
fn file(header: &Header<'_>, index: u64) -> String {
    let entry = header.file(index);
    let name = entry.and_then(|entry| entry.path_name().string_value(&Default::default()));
    let name = name.map_or(&[][..], |name| name.slice());
    Name(name.rsplit(|byte| *byte == b'/').next().unwrap_or(name)).to_string()
}

/// Returns a line table in which each address that a relocation makes is a section and an offset.
fn with_addresses(elf: &DeviceElf<'_>, section: &Section<'_>) -> Vec<u8> {
    let mut bytes = section.contents.to_vec();
    let lists = elf.relocations.iter().filter(|list| {
        let holder = elf.sections.get(list.section_index as usize);
        holder.is_some_and(|holder| holder.info == section.index)
    });
    for row in lists.flat_map(|list| &list.rows) {
        let symbols = elf.symbol_tables.first().map(|table| &table.symbols);
        let symbol = symbols.and_then(|symbols| symbols.get(row.symbol.index as usize));
        let Some(Place::In { index, .. }) = symbol.map(|symbol| symbol.section) else {
            continue;
        };
        let value = symbol.map_or(0, |symbol| symbol.value);
        let value = value.wrapping_add_signed(row.addend.unwrap_or(0)) & ((1 << SECTION) - 1);
        let address = u64::from(index) << SECTION | value;
        let place = usize::try_from(row.offset).ok();
        let place = place.and_then(|at| bytes.get_mut(at..at.checked_add(usize::from(ADDRESS))?));
        if let Some(place) = place {
            place.copy_from_slice(&address.to_le_bytes());
        }
    }
    bytes
}
