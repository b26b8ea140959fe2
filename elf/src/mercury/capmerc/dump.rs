//! What a section of Mercury code says, in text: a line for the head, then one for each item that
//! has an entry and one for each stretch of plain items.
//!
//! Names are those of the fields that were found out by changing objects; bytes without a name are
//! shown as they are.

use std::fmt;

use super::Capmerc;
use super::Form;
use super::Item;
use super::word;

/// What is known of a Mercury instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'data>(pub &'data [u8]);

/// Operations, by the second byte of a record.
const OPERATIONS: [(u8, &str); 10] = [
    (0x0a, "CALL"),
    (0x0b, "SYSTEM_VALUE"),
    (0x11, "EXIT"),
    (0x22, "LDC"),
    (0x29, "LOP3"),
    (0x33, "RET"),
    (0x38, "ST"),
    (0x39, "LD"),
    (0x47, "BAR"),
    (0x49, "MEMBAR"),
];

/// What a system value is, by its id.
const SYSTEM_VALUES: [(u16, &str); 7] = [
    (0x0201, "TID.X"),
    (0x0202, "TID.Y"),
    (0x0204, "CTAID.X"),
    (0x020c, "CLOCKLO"),
    (0x022c, "CGA_CTA_ID"),
    (0x0400, "STACK"),
    (0x0439, "DESCRIPTOR"),
];

/// The operation of a system value's record.
const SYSTEM_VALUE: u8 = 0x0b;

/// Offset in bytes of the word of a 32-byte record that holds an immediate value or an offset.
pub const IMMEDIATE: usize = 0x1c;

impl Record<'_> {
    /// Returns the operation of the item.
    pub fn operation(self) -> u8 {
        self.0.get(1).copied().unwrap_or(0)
    }

    /// Returns the name of its operation, if it is known.
    pub fn operation_name(self) -> Option<&'static str> {
        let operation = self.operation();
        let found = OPERATIONS.iter().find(|(known, _)| *known == operation);
        found.map(|(_, name)| *name)
    }

    /// Returns the register and the id of a system value; RZ, which is 1023 here, is 255 as in
    /// SASS.
    pub fn system_value(self) -> Option<(u16, u16)> {
        let half = |at: usize| Some(u16::from_le_bytes(self.0.get(at..at + 2)?.try_into().ok()?));
        if self.operation() != SYSTEM_VALUE || self.0.len() != 16 {
            return None;
        }
        let register = match half(0xa)? >> 6 {
            0x3ff => 0xff,
            register => register,
        };
        Some((register, half(0xc)?))
    }

    /// Returns the immediate value or offset of a record of 32 bytes.
    pub fn immediate(self) -> Option<u32> {
        word(self.0, IMMEDIATE).filter(|_| self.0.len() == 32)
    }
}

impl fmt::Display for Record<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.operation_name() {
            Some(name) => f.write_str(name)?,
            None => write!(f, "{:#04x}", self.operation())?,
        }
        if let Some((register, id)) = self.system_value() {
            let name = SYSTEM_VALUES.iter().find(|(known, _)| *known == id);
            match name {
                Some((_, name)) => write!(f, " R{register} {name}")?,
                None => write!(f, " R{register} {id:#06x}")?,
            }
        }
        if let Some(value) = self.immediate() {
            write!(f, " value {value:#x}")?;
        }
        write!(f, " {}", Bytes(self.0))
    }
}

/// Bytes in brackets.
struct Bytes<'data>(&'data [u8]);

impl fmt::Display for Bytes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        for byte in self.0 {
            write!(f, "{byte:02x}")?;
        }
        f.write_str("]")
    }
}

impl fmt::Display for Item<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (number, at, count) = (self.number, self.at, self.count);
        let code = self.instruction * super::INSTRUCTION;
        write!(f, "item {number} at {at:#x} for code at {code:#x}: ")?;
        match self.form {
            Form::Plain => f.write_str("plain"),
            Form::Record(record) => write!(f, "record {}", Record(record)),
            Form::Note(note) => write!(f, "note {}", Bytes(note)),
            Form::Run(None) => write!(f, "run of {count} without Mercury"),
            Form::Run(Some(record)) => write!(f, "run of {count} for {}", Record(record)),
        }
    }
}

impl<'data> Capmerc<'data> {
    /// Returns the dump, a line each.
    pub fn lines(&self) -> impl Iterator<Item = String> {
        let mut counts = [0_u64; 5];
        let mut rows = Vec::new();
        let mut plain = None;
        for item in self.items() {
            let kind = match item.form {
                Form::Plain => 0,
                Form::Record(_) => 1,
                Form::Run(_) => 2,
                Form::Note(_) => 3,
            };
            counts[kind] += 1;
            counts[4] += item.count;
            if kind == 0 {
                plain.get_or_insert((item.number, item.instruction));
                continue;
            }
            rows.extend(plain.take().map(|first| stretch(first, item.number)));
            rows.push(item.to_string());
        }
        rows.extend(plain.take().map(|first| stretch(first, self.items)));
        let [plain, records, runs, notes, instructions] = counts;
        let notes = match notes {
            0 => String::new(),
            _ => format!(", {notes} notes"),
        };
        let head = format!(
            "Mercury of section {}: {} items, {plain} plain, {records} records, {runs} runs{notes}, {instructions} instructions",
            self.text, self.items
        );
        std::iter::once(head).chain(rows)
    }
}

/// Returns the line for plain items from the first up to `end`.
fn stretch((first, instruction): (u32, u64), end: u32) -> String {
    let code = instruction * super::INSTRUCTION;
    match end - first {
        1 => format!("item {first} for code at {code:#x}: plain"),
        _ => format!("items {first}..{end} for code at {code:#x}: plain"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_nobody_wants_are_in_rz() {
        let mut record = [0; 16];
        record[1] = SYSTEM_VALUE;
        record[0xa..0xc].copy_from_slice(&(0x3ff_u16 << 6 | 1).to_le_bytes());
        assert_eq!(Record(&record).system_value(), Some((0xff, 0)));
        record[0xa..0xc].copy_from_slice(&(7_u16 << 6 | 1).to_le_bytes());
        assert_eq!(Record(&record).system_value(), Some((7, 0)));
    }
}
