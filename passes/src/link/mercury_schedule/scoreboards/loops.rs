//! What loops leave pending where they come back to their heads.

use cuweld_elf::sass::operands::Registers;

use super::Allocator;
use super::Entry;
use super::Kind;
use super::Live;
use super::SCOREBOARDS;

impl Allocator<'_> {
    /// Finds what loops set and leave pending where they come back to their heads. Says whether
    /// there is any.
    pub(super) fn find_returning(&mut self) -> bool {
        let mut block_of = vec![0; self.code.steps.len()];
        for (index, block) in self.code.blocks.iter().enumerate() {
            block_of[block.steps.clone()].fill(index);
        }
        let mut has_any = false;
        for (head, block) in self.code.blocks.iter().enumerate() {
            for latch in &block.latches {
                let Some(left) = &self.left[*latch] else {
                    continue;
                };
                if left.iter().all(Vec::is_empty) {
                    continue;
                }
                let is_inside = self.code.loop_blocks(head, *latch);
                for (returning, left) in self.returning[head].iter_mut().zip(left) {
                    let left = left
                        .iter()
                        .filter(|entry| is_inside[block_of[entry.setter]]);
                    returning.extend(left);
                    has_any |= !returning.is_empty();
                }
            }
        }
        has_any
    }

    /// Returns the scoreboards of which a loop leaves something pending, `returning`, that is not so
    /// before it. Who needs registers that are written before the loop, by `live`, waits in it in any
    /// case, and with it for what the loop writes to the same registers. So does who writes those that
    /// are read before it; whoever sets the scoreboard, `when_set`, waits for what the loop reads all
    /// the same.
    pub(super) fn pending(
        &self,
        returning: &Live,
        live: &Live,
        when_set: bool,
    ) -> [bool; SCOREBOARDS] {
        std::array::from_fn(|number| {
            let of = |kind| live[number].iter().filter(move |entry| entry.kind == kind);
            let known = |kind| {
                of(kind).fold(Registers::NONE, |known, entry: &Entry| {
                    known.with(&entry.registers)
                })
            };
            let (read, written) = (known(Kind::Read), known(Kind::Written));
            // Results that nobody wants are one register, if they share the scoreboard of loads.
            let has_unwanted =
                self.loads && of(Kind::Written).any(|entry| entry.registers.is_empty());
            let is_known = |entry: &Entry| match entry.kind {
                Kind::Read => !when_set && entry.registers.without(&read).is_empty(),
                Kind::Written if entry.registers.is_empty() => has_unwanted,
                Kind::Written => entry.registers.without(&written).is_empty(),
            };
            !returning[number].iter().all(is_known)
        })
    }
}
