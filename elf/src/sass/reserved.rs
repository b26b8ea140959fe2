//! Bits of instructions that mean nothing, for sm_100 and later.
//!
//! nvlink decodes the instructions of an object and encodes them anew, which sets such bits back. A
//! linker that copies them has to know that there is nothing to set back.

mod table;

use super::Instruction;

/// The reserved bits of an operation.
#[derive(Clone, Copy, Debug)]
struct Reserved {
    /// Bits 0 to 11 of the instruction.
    operation: u16,
    /// Which bits are reserved.
    mask: u128,
    /// What they are in all compiled code.
    value: u128,
}

/// The rows of the table by operation, counted from 1; 0 for operations without one.
static INDEX: [u8; 0x1000] = {
    let mut index = [0; 0x1000];
    let mut row = 0;
    while row < table::TABLE.len() {
        index[table::TABLE[row].operation as usize] = row as u8 + 1;
        row += 1;
    }
    index
};

/// Returns the reserved bits of an instruction that have another value than in compiled code; 0 for
/// operations whose reserved bits are not known.
pub fn changed(word: Instruction) -> u128 {
    let row = usize::from(INDEX[usize::from(word.operation())]);
    let row = row.checked_sub(1).map(|row| &table::TABLE[row]);
    row.map_or(0, |row| (word.0 & row.mask) ^ row.value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_lie_in_masks_that_leave_the_operation_out() {
        for row in &table::TABLE {
            assert_eq!(row.value & !row.mask, 0, "{row:?}");
            assert_eq!(row.mask & 0xfff, 0, "{row:?}");
        }
        let operations = table::TABLE.iter().map(|row| row.operation);
        assert!(operations.is_sorted_by(|a, b| a < b));
    }

    #[test]
    fn a_move_names_all_its_bytes() {
        // `MOV R4, R5`, with all bytes and with none.
        let word = 0x000f_c200_0000_0f00_0000_0005_0004_7202;
        assert_eq!(changed(Instruction(word)), 0);
        assert_eq!(changed(Instruction(word ^ 1 << 72)), 1 << 72);
        // The cycles until the next instruction are for the compiler to say.
        assert_eq!(changed(Instruction(word ^ 0x700 << 96)), 0x100 << 96);
    }
}
