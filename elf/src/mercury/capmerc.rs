//! `.nv.capmerc.text.F`: what turns the SASS of a function back into Mercury.
//!
//! ```text
//! u32 index of the section with the SASS
//! u32 0xc0000001
//! u32 number of items
//! u32 bitmap[]                       bit i set: item i is plain, one SASS instruction says all of it
//! then one entry for each item whose bit is clear, in order:
//!   record   01.. or 02..            16 or 32 bytes: a Mercury instruction, one SASS instruction
//!            41.. or 42..            4 bytes: the head of one whose rest is in the SASS
//!   run      u16, bits 4..6 = 5      bits 0..3: records that follow, bits 7..15: SASS instructions
//!   note     31.. or 32..            16 or 32 bytes for the scheduler: of the function at its start, or of the next instruction; no SASS instruction
//! ```
//!
//! What is not of this form is refused. Found on all functions of five SMs that ptxas wrote.

mod dump;

use thiserror::Error;

pub use self::dump::IMMEDIATE;
pub use self::dump::Record;

/// The second word of every section known: version 1 and its flags.
pub const VERSION: u32 = 0xc000_0001;

/// Bytes of the words before the bitmap.
pub(super) const HEAD: usize = 12;

/// Bytes of a SASS instruction.
pub const INSTRUCTION: u64 = 16;

/// Why a section is not the capmerc that is known here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum CapmercError {
    /// The head or the bitmap is cut.
    #[error("it ends within its head")]
    Head,
    /// The second word is another.
    #[error("its version word is {0:#x}, not 0xc0000001")]
    Version(u32),
    /// A bit of the bitmap after the last item is set.
    #[error("its bitmap has bits after the last of {0} items")]
    Bitmap(u32),
    /// An entry begins with a byte that is not known.
    #[error("item {item}, at {at:#x}: unknown entry {byte:#04x}")]
    Unknown {
        /// Number of the item.
        item: u32,
        /// Offset in bytes in the section.
        at: usize,
        /// The byte.
        byte: u8,
    },
    /// An entry reaches past the end.
    #[error("item {item}, at {at:#x}: it reaches past the end")]
    Cut {
        /// Number of the item.
        item: u32,
        /// Offset in bytes in the section.
        at: usize,
    },
    /// Bytes follow the last item.
    #[error("{0} bytes follow the last item")]
    Rest(usize),
    /// The items do not stand for the code.
    #[error("its items stand for {items} SASS instructions, the code has {code}")]
    Count {
        /// Instructions of all items.
        items: u64,
        /// Instructions of the code.
        code: u64,
    },
}

/// A parsed section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capmerc<'data> {
    /// Index of the section with the SASS.
    pub text: u32,
    /// Number of items.
    pub items: u32,
    /// How many SASS instructions they stand for.
    pub instructions: u64,
    bytes: &'data [u8],
}

/// An item: what stands for some SASS instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item<'data> {
    /// Its number.
    pub number: u32,
    /// Number of the first SASS instruction that it stands for.
    pub instruction: u64,
    /// How many SASS instructions it stands for.
    pub count: u64,
    /// Offset in bytes of its entry in the section, for items that have one.
    pub at: usize,
    /// What it is.
    pub form: Form<'data>,
}

/// The forms of items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form<'data> {
    /// The SASS instruction says all.
    Plain,
    /// A Mercury instruction of 16 or 32 bytes, or the 4 bytes that head one.
    Record(&'data [u8]),
    /// SASS instructions that no Mercury stands for (branch to self and padding), or that one
    /// Mercury instruction stands for.
    Run(Option<&'data [u8]>),
    /// What the scheduler is told of the function or of the next instruction; it stands for no SASS
    /// instruction.
    Note(&'data [u8]),
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_le_bytes(bytes.try_into().ok()?))
}

/// Returns the bytes of a note that begins with a byte; `None` if none does.
fn note_length(first: u8) -> Option<usize> {
    match first {
        0x31 => Some(16),
        0x32 => Some(32),
        _ => None,
    }
}

/// Returns the record at the start of some bytes; `None` if its first byte is unknown or it is cut.
fn record(bytes: &[u8]) -> Option<&[u8]> {
    let length = match bytes.first()? {
        1 => 16,
        2 => 32,
        0x41 | 0x42 => 4,
        _ => return None,
    };
    bytes.get(..length)
}

/// Returns the offset in bytes, from the first slot, at which a load reads the slots of textures,
/// samplers and surfaces; `None` for other instructions. Found on all functions of 4000 random
/// objects.
pub fn header_operand(record: &[u8]) -> Option<u32> {
    const LOAD_CONSTANT: u8 = 0x22;
    const HEADER_INDICES: u8 = 0x49;
    let is_such = record.len() == 32 && record[1] == LOAD_CONSTANT && record[12] == HEADER_INDICES;
    word(record, IMMEDIATE).filter(|_| is_such)
}

impl<'data> Capmerc<'data> {
    /// Parses a section, all of it.
    pub fn parse(bytes: &'data [u8]) -> Result<Self, CapmercError> {
        let mut capmerc = Self::head(bytes)?;
        let items = capmerc.items;
        let bitmap = capmerc.bitmap();
        let mut rest = capmerc.entries();
        let (words, _) = bitmap.as_chunks::<4>();
        let plain = words
            .iter()
            .map(|word| u32::from_le_bytes(*word).count_ones());
        let plain: u32 = plain.sum();
        // Where plain items stand between the others is of no importance, but to say of which item
        // something is wrong.
        rest.instruction = plain.into();
        for _ in plain..items {
            match rest.entry() {
                Ok((_, length, count)) => {
                    rest.at += length;
                    rest.instruction += count;
                }
                Err(error) => return Err(capmerc.first_error().unwrap_or(error)),
            }
        }
        capmerc.instructions = rest.instruction;
        match bytes.len() - rest.at.min(bytes.len()) {
            0 => Ok(capmerc),
            left => Err(CapmercError::Rest(left)),
        }
    }

    /// Parses the head of a section and its bitmap. The items are not looked at, nor counted.
    pub(super) fn head(bytes: &'data [u8]) -> Result<Self, CapmercError> {
        let head = |at| word(bytes, at).ok_or(CapmercError::Head);
        let (text, version, items) = (head(0)?, head(4)?, head(8)?);
        if version != VERSION {
            return Err(CapmercError::Version(version));
        }
        let words = items.div_ceil(32) as usize;
        let bitmap = bytes
            .get(HEAD..HEAD + 4 * words)
            .ok_or(CapmercError::Head)?;
        if items % 32 != 0 && word(bitmap, 4 * words - 4).unwrap_or(0) >> (items % 32) != 0 {
            return Err(CapmercError::Bitmap(items));
        }
        Ok(Capmerc {
            text,
            items,
            instructions: 0,
            bytes,
        })
    }

    /// Returns the bitmap of plain items.
    fn bitmap(&self) -> &'data [u8] {
        let words = self.items.div_ceil(32) as usize;
        self.bytes.get(HEAD..HEAD + 4 * words).unwrap_or(&[])
    }

    /// Returns the error of the first item that cannot be read.
    fn first_error(&self) -> Option<CapmercError> {
        self.entries().find_map(Result::err)
    }

    /// Checks that the items stand for code of this size in bytes.
    pub fn covers(&self, size: u64) -> Result<(), CapmercError> {
        let (items, code) = (self.instructions, size / INSTRUCTION);
        if items == code && size.is_multiple_of(INSTRUCTION) {
            Ok(())
        } else {
            Err(CapmercError::Count { items, code })
        }
    }

    /// Returns the items, in order.
    pub fn items(&self) -> impl Iterator<Item = Item<'data>> {
        self.entries().map_while(Result::ok)
    }

    /// Returns the items that have an entry, in order: all but plain ones.
    pub fn marked(&self) -> impl Iterator<Item = Item<'data>> {
        let mut entries = self.entries();
        std::iter::from_fn(move || entries.next_marked()?.ok())
    }

    /// Returns the bytes of an item of this section that has an entry.
    pub fn entry(&self, item: &Item<'_>) -> &'data [u8] {
        let mut entries = self.entries();
        entries.at = item.at;
        let length = entries.entry().map_or(0, |(_, length, _)| length);
        self.bytes.get(item.at..item.at + length).unwrap_or(&[])
    }

    /// Returns the items with what is wrong with them, in order; after an error there are no more.
    pub(super) fn entries(&self) -> Entries<'data> {
        Entries {
            bytes: self.bytes,
            items: self.items,
            number: 0,
            instruction: 0,
            at: HEAD + 4 * self.items.div_ceil(32) as usize,
        }
    }
}

/// An entry: its form, its length and the SASS instructions.
type Entry<'data> = Result<(Form<'data>, usize, u64), CapmercError>;

/// The items of a section, or what is wrong with them.
pub(super) struct Entries<'data> {
    bytes: &'data [u8],
    items: u32,
    number: u32,
    instruction: u64,
    at: usize,
}

impl<'data> Entries<'data> {
    /// Returns `true` if the items so far are all of the section, and stand for code of this size in
    /// bytes.
    pub(super) fn cover(&self, size: u64) -> bool {
        self.number == self.items
            && self.at == self.bytes.len()
            && self.instruction.checked_mul(INSTRUCTION) == Some(size)
    }

    fn is_plain(&self, number: u32) -> bool {
        self.plain_bits(number) & 1 != 0
    }

    /// Returns the bits of the bitmap from an item on, up to the end of its word; a bit that is set
    /// stands for a plain item.
    fn plain_bits(&self, number: u32) -> u32 {
        let place = HEAD + 4 * (number / 32) as usize;
        word(self.bytes, place).unwrap_or(0) >> (number % 32)
    }

    /// Returns the next item that has an entry.
    fn next_marked(&mut self) -> Option<Result<Item<'data>, CapmercError>> {
        while self.number < self.items {
            let plain = self.plain_bits(self.number).trailing_ones();
            if plain == 0 {
                return Some(self.item(self.entry()));
            }
            let plain = plain.min(self.items - self.number);
            self.number += plain;
            self.instruction += u64::from(plain);
        }
        None
    }

    /// Reads the item at the current offset, by its entry, and moves past it.
    fn item(&mut self, entry: Entry<'data>) -> Result<Item<'data>, CapmercError> {
        let (form, length, count) = entry.inspect_err(|_| self.number = self.items)?;
        let item = Item {
            number: self.number,
            instruction: self.instruction,
            count,
            at: self.at,
            form,
        };
        self.number += 1;
        self.instruction += count;
        self.at += length;
        Ok(item)
    }

    /// Returns the entry at the current place.
    fn entry(&self) -> Entry<'data> {
        let (item, at) = (self.number, self.at);
        let cut = CapmercError::Cut { item, at };
        let bytes = self.bytes.get(at..).ok_or(cut)?;
        let byte = *bytes.first().ok_or(cut)?;
        if let Some(length) = note_length(byte) {
            let note = bytes.get(..length).ok_or(cut)?;
            return Ok((Form::Note(note), length, 0));
        }
        if byte & 0x70 != 0x50 {
            return match record(bytes) {
                Some(record) => Ok((Form::Record(record), record.len(), 1)),
                None if matches!(byte, 1 | 2 | 0x41 | 0x42) => Err(cut),
                None => Err(CapmercError::Unknown { item, at, byte }),
            };
        }
        let high = *bytes.get(1).ok_or(cut)?;
        let count = u64::from(u16::from_le_bytes([byte, high]) >> 7);
        match byte & 15 {
            0 => Ok((Form::Run(None), 2, count)),
            1 => {
                let record = bytes.get(2..).and_then(record).ok_or(cut)?;
                Ok((Form::Run(Some(record)), 2 + record.len(), count))
            }
            _ => Err(CapmercError::Unknown { item, at, byte }),
        }
    }
}

impl<'data> Iterator for Entries<'data> {
    type Item = Result<Item<'data>, CapmercError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.number >= self.items {
            return None;
        }
        let entry = if self.is_plain(self.number) {
            Ok((Form::Plain, 0, 1))
        } else {
            self.entry()
        };
        Some(self.item(entry))
    }
}

#[cfg(test)]
mod tests;
