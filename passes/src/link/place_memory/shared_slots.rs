//! Slots of shared memory: variables that several kernels use share one if no kernel uses two of
//! them [shared-slots].

use cuweld_elf::align::align_up;
use cuweld_ir::LinkSymbolId;
use cuweld_ir::Module;

use super::shared_uses::Uses;
use super::shared_variables::Variable;
use super::shared_variables::null_size;

/// A piece of memory for variables of disjoint kernels.
pub(super) struct Slot {
    size: u64,
    align: u64,
    pub(super) members: Vec<LinkSymbolId>,
}

/// The slots, and which kernels occupy them.
pub(super) struct Slots {
    pub(super) rows: Vec<Slot>,
    /// Bits of the slots that each kernel occupies.
    occupied: Vec<Vec<u64>>,
}

impl Slots {
    pub(super) fn new(kernels: usize) -> Self {
        Slots {
            rows: Vec::new(),
            occupied: vec![Vec::new(); kernels],
        }
    }

    /// Returns the size in bytes of all slots, one after the other.
    pub(super) fn size(&self) -> u64 {
        let end = |end: u64, slot: &Slot| align_up(end, slot.align).saturating_add(slot.size);
        self.rows.iter().fold(0, end)
    }

    /// Puts a variable into the first slot that is free for all its users.
    pub(super) fn add(&mut self, variable: &Variable, users: &[u32]) {
        let index = first_free(&self.occupied, users, self.rows.len());
        if index == self.rows.len() {
            self.rows.push(Slot {
                size: variable.size,
                align: 1,
                members: Vec::new(),
            });
        }
        let slot = &mut self.rows[index];
        slot.align = slot.align.max(variable.align);
        slot.members.push(variable.link);
        for kernel in users {
            let bits = &mut self.occupied[*kernel as usize];
            if bits.len() <= index / 64 {
                bits.resize(index / 64 + 1, 0);
            }
            bits[index / 64] |= 1 << (index % 64);
        }
    }

    /// Gives the variables their addresses; kernels grow to hold those that they use.
    pub(super) fn place(&self, module: &mut Module<'_>, uses: &Uses, sizes: &mut [u64]) {
        let mut end = null_size(module);
        for slot in &self.rows {
            let offset = align_up(end, slot.align);
            end = offset + slot.size;
            for link in &slot.members {
                let row = &mut module.link_symbols[*link];
                row.value = Some(offset);
                for kernel in uses.of(*link) {
                    let used = &mut sizes[*kernel as usize];
                    *used = (*used).max(offset + row.size);
                }
            }
        }
    }
}

/// Returns the first slot that none of these kernels occupies.
fn first_free(occupied: &[Vec<u64>], users: &[u32], slots: usize) -> usize {
    for word in 0..=slots / 64 {
        let taken = users.iter().fold(0, |taken, kernel| {
            taken | occupied[*kernel as usize].get(word).copied().unwrap_or(0)
        });
        if taken != u64::MAX {
            return (word * 64 + taken.trailing_ones() as usize).min(slots);
        }
    }
    slots
}
