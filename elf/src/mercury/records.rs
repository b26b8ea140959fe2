//! What a record of Mercury code and the SASS instruction that it became both say.
//!
//! nvlink makes the SASS anew from the record. A linker that copies the SASS has to know that the
//! record says nothing else.

mod table;

use super::capmerc::INSTRUCTION;
use super::capmerc::Record;
use crate::sass::Instruction;

/// A form of records: those of one length and operation that became one operation of SASS.
#[derive(Debug)]
struct Form {
    /// The first byte of the record.
    head: u8,
    /// Its second byte.
    operation: u8,
    /// Bits 0 to 11 of the SASS instruction.
    sass: u16,
    /// Mask and value of the third and fourth byte, where the SASS instruction has `code`.
    start: (u16, u16),
    /// Mask and value of bits of the SASS instruction without a modifier.
    code: (u128, u128),
    /// Bits that are in both: the first bit in the record and in the SASS instruction, and how many.
    fields: &'static [(u8, u8, u8)],
    /// Bits of the record that are set where all bits of a field of the SASS instruction are: the bit,
    /// the first bit of the field, and how many.
    all: &'static [(u8, u8, u8)],
}

/// The first row of the table for each operation of SASS, counted from 1; 0 for those without one.
static INDEX: [u8; 0x1000] = {
    let mut index = [0; 0x1000];
    let mut row = table::TABLE.len();
    while row > 0 {
        row -= 1;
        index[table::TABLE[row].sass as usize] = row as u8 + 1;
    }
    index
};

impl Form {
    /// Returns the form of records that begin with these two bytes and became an operation of SASS;
    /// `None` if it is not known.
    fn of(head: u8, operation: u8, word: Instruction) -> Option<&'static Form> {
        let first = usize::from(INDEX[usize::from(word.operation())]).checked_sub(1)?;
        let rows = table::TABLE.get(first..)?.iter();
        rows.take_while(|row| row.sass == word.operation())
            .find(|row| (row.head, row.operation) == (head, operation))
    }
}

/// Returns `width` bits of a record from a bit on, which are those of one of its halves.
fn bits(record: [u128; 2], first: u8, width: u8) -> u128 {
    Instruction(record[usize::from(first / 128)]).bits(u32::from(first % 128), width.into())
}

/// Returns `true` if a record of a system value and its SASS instruction may name the same one.
fn is_same_value(record: &[u8], word: Instruction) -> bool {
    let Some((_, value)) = Record(record).system_value() else {
        return true;
    };
    let is_of = |row: &&(u16, u8, u8)| row.0 == word.operation();
    let Some(&(sass, first, width)) = table::VALUE_FIELDS.iter().find(is_of) else {
        return true;
    };
    let place = word.bits(first.into(), width.into());
    let mut rows = table::VALUES.iter();
    // Several values may have one place, and of values that are not known nothing is said.
    let row = rows.find(|row| (row.0, row.1) == (sass, value));
    row.is_none_or(|row| u128::from(row.2) == place)
}

/// Returns `true` if a record may stand for a SASS instruction: what both say is the same.
/// Of forms that are not known nothing is asked.
pub fn may_stand_for(record: &[u8], word: Instruction) -> bool {
    let &[head, operation, ..] = record else {
        return false;
    };
    let Some(form) = Form::of(head, operation, word) else {
        return true;
    };
    let mut bytes = [0; 2 * INSTRUCTION as usize];
    if let Some(start) = bytes.get_mut(..record.len()) {
        start.copy_from_slice(record);
    }
    let (halves, _) = bytes.as_chunks::<{ INSTRUCTION as usize }>();
    let halves = [
        u128::from_le_bytes(halves[0]),
        u128::from_le_bytes(halves[1]),
    ];
    let has = |bits: u128, (mask, value): (u128, u128)| bits & mask == value;
    let (mask, value) = form.start;
    let is_start = (halves[0] >> 16) as u16 & mask == value;
    (is_start || !has(word.0, form.code))
        && form.fields.iter().all(|&(first, second, width)| {
            bits(halves, first, width) == word.bits(second.into(), width.into())
        })
        && form.all.iter().all(|&(bit, first, width)| {
            let is_full = word.bits(first.into(), width.into()).count_ones() == width.into();
            bits(halves, bit, 1) == u128::from(is_full)
        })
        && is_same_value(record, word)
}

#[cfg(test)]
mod tests;
