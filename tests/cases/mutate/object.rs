//! A relocatable object whose relocations, symbols and section headers can be changed in place. A reader of its own: a fault of ours must not hide
//! a fault of ours.

use std::ops::Range;

/// Size of a section header.
const HEADER: usize = 64;

const SHT_SYMTAB: u32 = 2;
const SHT_RELA: u32 = 4;
const SHT_REL: u32 = 9;
const SHT_CUDA_INFO: u32 = 0x7000_0000;

/// An object file with the places of what can be changed.
pub struct Object {
    /// The file.
    pub bytes: Vec<u8>,
    headers: usize,
    sections: usize,
    symbols: Range<usize>,
}

/// A relocation: the section that holds it, its place in the file, whether it has an addend.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Relocation {
    /// Index of the REL or RELA section.
    pub section: usize,
    at: usize,
    rela: bool,
}

impl Object {
    /// Reads a file; `None` if it is not such an object.
    pub fn new(bytes: Vec<u8>) -> Option<Self> {
        if !bytes.starts_with(b"\x7fELF\x02\x01") || bytes.len() < 64 {
            return None;
        }
        let mut object = Object {
            headers: word(&bytes, 40)? as usize,
            sections: half(&bytes, 60)? as usize,
            symbols: 0..0,
            bytes,
        };
        let table = (0..object.sections).find(|index| object.ty(*index) == SHT_SYMTAB)?;
        let start = object.field(table, 24) as usize;
        object.symbols = start..start + object.field(table, 32) as usize;
        (object.symbols.end <= object.bytes.len()).then_some(object)
    }

    /// Number of sections.
    pub fn section_count(&self) -> usize {
        self.sections
    }

    /// Number of symbols.
    pub fn symbol_count(&self) -> usize {
        self.symbols.len() / 24
    }

    fn ty(&self, section: usize) -> u32 {
        let at = self.headers + section * HEADER + 4;
        self.bytes
            .get(at..at + 4)
            .map_or(0, |bytes| bytes.try_into().map_or(0, u32::from_le_bytes))
    }

    fn field(&self, section: usize, offset: usize) -> u64 {
        word(&self.bytes, self.headers + section * HEADER + offset).unwrap_or(0)
    }

    /// Size in bytes of a section.
    pub fn size(&self, section: usize) -> u64 {
        self.field(section, 32)
    }

    /// The section that a section of relocations changes.
    pub fn target(&self, section: usize) -> usize {
        (self.field(section, 40) >> 32) as usize
    }

    /// Sets the alignment of a section.
    pub fn set_align(&mut self, section: usize, align: u64) {
        let at = self.headers + section * HEADER + 48;
        put(&mut self.bytes, at, &align.to_le_bytes());
    }

    /// All relocations, section by section.
    pub fn relocations(&self) -> Vec<Relocation> {
        let mut found = Vec::new();
        for section in 0..self.sections {
            let (rela, entry) = match self.ty(section) {
                SHT_RELA => (true, 24),
                SHT_REL => (false, 16),
                _ => continue,
            };
            let start = self.field(section, 24) as usize;
            let rows = 0..self.size(section) as usize / entry;
            found.extend(rows.map(|row| Relocation {
                section,
                at: start + row * entry,
                rela,
            }));
        }
        found
    }

    /// The records of `.nv.info` sections: places in the file, of whole records.
    pub fn attributes(&self) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        for section in 0..self.sections {
            if self.ty(section) != SHT_CUDA_INFO {
                continue;
            }
            let mut at = self.field(section, 24) as usize;
            let end = at + self.size(section) as usize;
            while at + 4 <= end {
                let payload = match self.bytes.get(at) {
                    Some(4) => half(&self.bytes, at + 2).map_or(0, usize::from),
                    _ => 0,
                };
                found.push(at..at + 4 + payload);
                at += 4 + payload;
            }
        }
        found
    }

    /// Sets bytes at a place in the file.
    pub fn set_bytes(&mut self, at: usize, value: &[u8]) {
        put(&mut self.bytes, at, value);
    }

    /// The type of a relocation.
    pub fn reloc_type(&self, row: Relocation) -> u32 {
        word(&self.bytes, row.at + 8).unwrap_or(0) as u32
    }

    /// The symbol of a relocation.
    pub fn reloc_symbol(&self, row: Relocation) -> usize {
        (word(&self.bytes, row.at + 8).unwrap_or(0) >> 32) as usize
    }

    /// Sets the offset of a relocation.
    pub fn set_reloc_offset(&mut self, row: Relocation, offset: u64) {
        put(&mut self.bytes, row.at, &offset.to_le_bytes());
    }

    /// Sets the type of a relocation.
    pub fn set_reloc_type(&mut self, row: Relocation, ty: u32) {
        put(&mut self.bytes, row.at + 8, &ty.to_le_bytes());
    }

    /// Sets the symbol of a relocation.
    pub fn set_reloc_symbol(&mut self, row: Relocation, symbol: usize) {
        put(&mut self.bytes, row.at + 12, &(symbol as u32).to_le_bytes());
    }

    /// Sets the addend of a relocation, where it has one.
    pub fn set_reloc_addend(&mut self, row: Relocation, addend: u64) {
        if row.rela {
            put(&mut self.bytes, row.at + 16, &addend.to_le_bytes());
        }
    }

    /// Makes a RELA section a REL section; the addends go.
    pub fn make_rel(&mut self, section: usize) {
        if self.ty(section) != SHT_RELA {
            return;
        }
        let rows = self.size(section) as usize / 24;
        let start = self.field(section, 24) as usize;
        for row in 0..rows {
            let from = start + row * 24;
            self.bytes.copy_within(from..from + 16, start + row * 16);
        }
        let header = self.headers + section * HEADER;
        put(&mut self.bytes, header + 4, &SHT_REL.to_le_bytes());
        put(
            &mut self.bytes,
            header + 32,
            &(rows as u64 * 16).to_le_bytes(),
        );
        put(&mut self.bytes, header + 56, &16u64.to_le_bytes());
    }

    /// A byte of a symbol: 4 is its binding and type, 5 its `st_other`.
    pub fn symbol_byte(&mut self, symbol: usize, offset: usize) -> Option<&mut u8> {
        self.bytes
            .get_mut(self.symbols.start + symbol * 24 + offset)
    }

    /// The name of a symbol that is a static function.
    pub fn static_function(&self, symbol: usize) -> Option<&[u8]> {
        const LOCAL_FUNCTION: u8 = 2;
        let at = self.symbols.start + symbol * 24;
        if *self.bytes.get(at + 4)? != LOCAL_FUNCTION {
            return None;
        }
        let table = (0..self.sections).find(|index| self.ty(*index) == SHT_SYMTAB)?;
        let names = self.field(table, 40) as u32 as usize;
        let offset = u32::from_le_bytes(self.bytes.get(at..at + 4)?.try_into().ok()?) as usize;
        let start = (self.field(names, 24) as usize).checked_add(offset)?;
        self.bytes.get(start..)?.split(|byte| *byte == 0).next()
    }

    /// Sets the section of a symbol.
    pub fn set_symbol_section(&mut self, symbol: usize, section: u16) {
        let at = self.symbols.start + symbol * 24 + 6;
        put(&mut self.bytes, at, &section.to_le_bytes());
    }

    /// Sets the value of a symbol.
    pub fn set_symbol_value(&mut self, symbol: usize, value: u64) {
        let at = self.symbols.start + symbol * 24 + 8;
        put(&mut self.bytes, at, &value.to_le_bytes());
    }

    /// Sets the size of a symbol.
    pub fn set_symbol_size(&mut self, symbol: usize, size: u64) {
        let at = self.symbols.start + symbol * 24 + 16;
        put(&mut self.bytes, at, &size.to_le_bytes());
    }
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn word(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

fn put(bytes: &mut [u8], at: usize, value: &[u8]) {
    if let Some(place) = bytes.get_mut(at..at + value.len()) {
        place.copy_from_slice(value);
    }
}
