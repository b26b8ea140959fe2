//! Control bits of SASS instructions: when the next one follows, and which scoreboards are set and
//! waited for.

use super::Instruction;

/// The control bits of an instruction, 105 to 125.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Control {
    /// Cycles until the next instruction, at most 15.
    pub stall: u8,
    /// Whether another warp may be preferred.
    pub is_yield: bool,
    /// The scoreboard that says that its results are there.
    pub write_barrier: Option<u8>,
    /// The scoreboard that says that its operands were read.
    pub read_barrier: Option<u8>,
    /// The scoreboards that it waits for, a bit for each of six.
    pub waits: u8,
    /// Operands that are kept for the next instruction, a bit for each of four.
    pub reuse: u8,
}

impl Control {
    /// Reads the control bits of an instruction.
    pub fn of(word: Instruction) -> Self {
        let barrier = |number: u8| (number != 7).then_some(number);
        Control {
            stall: word.bits(105, 4) as u8,
            is_yield: word.bits(109, 1) == 0,
            write_barrier: barrier(word.write_barrier()),
            read_barrier: barrier(word.read_barrier()),
            waits: word.waits(),
            reuse: word.bits(122, 4) as u8,
        }
    }
}

impl Instruction {
    /// Returns an instruction that does nothing (`NOP`) with the control bits of this one.
    #[must_use]
    pub fn emptied(self) -> Instruction {
        /// `NOP` without a guard.
        const NO_OPERATION: u128 = 0x7918;
        Instruction(self.0 >> 105 << 105 | NO_OPERATION)
    }

    /// Returns the offset in bytes that a branch at `offset` leads to, or at which threads meet again,
    /// in code for a GPU; `None` for other instructions, and before the start of the code.
    pub fn target(self, offset: u64, sm: u16) -> Option<u64> {
        /// Bytes of an instruction.
        const SIZE: u64 = 16;
        let number = (offset / SIZE + 1).checked_add_signed(self.leads_to(sm)?)?;
        number.checked_mul(SIZE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_bits_are_read() {
        // LDG.E R7, [R6.64] that sets scoreboard 2 when its result is there, and stalls two cycles.
        let word = Instruction(0x2 << 105 | 2 << 110 | 7 << 113 | 0b10 << 116 | 0x7981);
        let control = Control {
            stall: 2,
            is_yield: true,
            write_barrier: Some(2),
            read_barrier: None,
            waits: 2,
            reuse: 0,
        };
        assert_eq!(Control::of(word), control);
        assert_eq!(Control::of(word.emptied()), control);
        assert!(word.emptied().is_filling());
    }

    #[test]
    fn branches_lead_to_offsets() {
        // BRA to itself, as code ends.
        let word = Instruction(0x000f_c000_0383_ffff_ffff_fff0_0000_7947);
        assert_eq!(word.target(0x60, 75), Some(0x60));
        assert_eq!(word.emptied().target(0x60, 75), None);
    }
}
