//! Operands that a record of Mercury code and the SASS instruction that it became both have:
//! registers, predicates and immediate values.
//!
//! nvlink makes the SASS anew from the record. A linker that copies the SASS has to know that the
//! record does not name other operands. Of forms and operands that are not known nothing is said.

mod table;

use super::capmerc::INSTRUCTION;
use super::capmerc::Record;
use crate::sass::Instruction;

/// A form of records: those of one length and operation that became one operation of SASS. Places
/// are the first bit in the record and the first bit in the SASS instruction.
#[derive(Debug)]
struct Form {
    /// Bits 0 to 11 of the SASS instruction.
    sass: u16,
    /// The first byte of the record.
    head: u8,
    /// Its second byte.
    operation: u8,
    /// Whether both have the predicate that guards the instruction.
    guard: bool,
    /// Registers: 8 bits, and two more in the record, which are set for the register that is always zero.
    registers: &'static [(u8, u8)],
    /// Predicates: 3 bits, and two more in the record, which are set for the one that is always true.
    predicates: &'static [(u8, u8)],
    /// Immediate values, with the number of bits that both have.
    immediates: &'static [(u8, u8, u8)],
}

/// Bits of the number of a register in SASS.
const REGISTER: u8 = 8;

/// Bits of the number of a predicate in SASS.
const PREDICATE: u8 = 3;

/// Where the predicate stands that guards a record and its instruction.
const GUARD: (u8, u8) = (35, 12);

/// Where a record and its instruction say that the predicate has to be false.
const GUARD_IS_NOT: (u8, u8, u8) = (32, 15, 1);

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
    fn of(head: u8, operation: u8, sass: u16) -> Option<&'static Form> {
        let first = usize::from(INDEX[usize::from(sass)]).checked_sub(1)?;
        let rows = table::TABLE.get(first..)?.iter();
        rows.take_while(|row| row.sass == sass)
            .find(|row| (row.head, row.operation) == (head, operation))
    }
}

/// A record as the two halves that it may have; the second is 0 in a record of 16 bytes.
struct Halves([Instruction; 2]);

impl Halves {
    fn of(record: &[u8]) -> Self {
        let mut bytes = [0; 2 * INSTRUCTION as usize];
        if let Some(start) = bytes.get_mut(..record.len()) {
            start.copy_from_slice(record);
        }
        let (halves, _) = bytes.as_chunks();
        Halves([halves[0], halves[1]].map(|half| Instruction(u128::from_le_bytes(half))))
    }

    /// Returns `width` bits from a bit on, which do not reach into the other half.
    fn bits(&self, first: u8, width: u8) -> u128 {
        self.0[usize::from(first / 128)].bits(u32::from(first % 128), width.into())
    }

    /// Returns `true` if the record and an instruction have the same bits at a place.
    fn has_bits_of(&self, word: Instruction, (first, second, width): (u8, u8, u8)) -> bool {
        self.bits(first, width) == word.bits(second.into(), width.into())
    }

    /// Returns `true` if the record and an instruction name the same register or predicate, whose
    /// number has `width` bits in SASS.
    fn names_that_of(&self, word: Instruction, (first, second): (u8, u8), width: u8) -> bool {
        let number = word.bits(second.into(), width.into());
        let is_constant = number + 1 == 1 << width;
        let rest = if is_constant { 3 << width } else { 0 };
        self.bits(first, width + 2) == number | rest
    }
}

/// Returns `true` if a record of a system value and its SASS instruction may name the same one.
fn is_same_value(record: &[u8], word: Instruction) -> bool {
    let Some((_, value)) = Record(record).system_value() else {
        return true;
    };
    let sass = word.operation();
    let place = table::VALUE_PLACES.iter().find(|row| row.0 == sass);
    let known = table::VALUES
        .iter()
        .find(|row| (row.0, row.1) == (sass, value));
    let both = place.zip(known);
    both.is_none_or(|(&(_, first, width), known)| {
        word.bits(first.into(), width.into()) == u128::from(known.2)
    })
}

/// Returns `true` if a record may have become a SASS instruction: the operands that are known to be
/// in both are the same.
pub fn may_become(record: &[u8], word: Instruction) -> bool {
    let &[head, operation, ..] = record else {
        return false;
    };
    let Some(form) = Form::of(head, operation, word.operation()) else {
        return true;
    };
    let bytes = record;
    let record = Halves::of(bytes);
    let is_guarded_alike =
        || record.names_that_of(word, GUARD, PREDICATE) && record.has_bits_of(word, GUARD_IS_NOT);
    let has_register = |place: &_| record.names_that_of(word, *place, REGISTER);
    let has_predicate = |place: &_| record.names_that_of(word, *place, PREDICATE);
    is_same_value(bytes, word)
        && (!form.guard || is_guarded_alike())
        && form.registers.iter().all(has_register)
        && form.predicates.iter().all(has_predicate)
        && form
            .immediates
            .iter()
            .all(|place| record.has_bits_of(word, *place))
}

#[cfg(test)]
mod tests;
