//! The end of a function's SASS, which no Mercury stands for.

use crate::sass::Instruction;

/// `NOP`.
const NOP: u16 = 0x918;

/// `BRA` with a target in the instruction.
const BRA: u16 = 0x947;

/// Returns `true` if code is a branch to itself and padding.
pub(super) fn is_tail(code: &[u8]) -> bool {
    let mut instructions = Instruction::all(code);
    let first = instructions.next();
    first.is_some_and(|word| word.operation() == BRA)
        && instructions.all(|word| word.operation() == NOP)
}
