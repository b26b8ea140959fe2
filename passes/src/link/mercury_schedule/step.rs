//! An instruction as the schedule looks at it.

use cuweld_elf::sass::Instruction;
use cuweld_elf::sass::operands::Operands;

/// An instruction with what it writes and reads.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub(super) word: Instruction,
    pub(super) operands: Operands,
    /// The SM for which its time is counted.
    pub(super) sm: u16,
    /// Whether it is part of a memory barrier that stands for more than one instruction: what takes
    /// time then is the barrier itself.
    pub(super) is_of_fence: bool,
}

impl Step {
    /// Returns the cycles until the next instruction may be issued.
    pub(super) fn stall(&self) -> i64 {
        match self.is_of_fence {
            true => 0,
            false => self.word.stall().into(),
        }
    }

    /// Returns `true` if it begins what threads that have parted do together.
    pub(super) fn collects_threads(&self) -> bool {
        self.operands.name == "WARPSYNC" && self.word.branch() != Some(0)
    }

    /// Returns `true` if it waits for all scoreboards whatever was set: the cache is emptied after a
    /// barrier that acquires.
    pub(super) fn waits_for_all(&self) -> bool {
        self.operands.name == "CCTL" && self.word.waits() == 0x3f
    }

    /// Returns `true` if it belongs to a memory barrier after it, which waits for what comes before.
    pub(super) fn prepares_fence(&self) -> bool {
        self.word.waits_for_shared() || self.word.is_weak_block_barrier()
    }

    /// Returns `true` if the guards of two instructions are each other's opposites.
    pub(super) fn is_opposite(&self, other: &Step) -> bool {
        match (self.operands.guard, other.operands.guard) {
            (Some(one), Some(other)) => {
                one.file == other.file && one.number == other.number && one.negated != other.negated
            }
            _ => false,
        }
    }
}
