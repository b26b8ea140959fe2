//! The ends of code for the debugger, where barriers stand in front of them [debugger-ends].
//!
//! They take six cycles, after which more of what the block set is over: where not all threads end,
//! the end waits for it, what comes after does not wait any more, and scoreboards are free.

use cuweld_elf::sass::Instruction;
use cuweld_elf::sass::operands::File;
use cuweld_elf::sass::operands::Generation;
use cuweld_elf::sass::operands::Guard;
use cuweld_elf::sass::operands::Operands;

use super::is_waited_for;
use super::latency;

/// Returns `true` if barriers in front of the ends of code may change its scoreboards: where not all
/// threads end, something is pending that an end does not wait for, or the end depends on it.
pub(super) fn change_scoreboards(code: &[u8]) -> bool {
    let words: Vec<Instruction> = Instruction::all(code).collect();
    let mut is_leader = vec![false; words.len() + 1];
    for (at, word) in (0..).zip(&words) {
        for distance in [word.branch(), word.marked_place()].into_iter().flatten() {
            let target = usize::try_from(at + 1 + distance).ok();
            if let Some(leader) = target.and_then(|at| is_leader.get_mut(at)) {
                *leader = true;
            }
        }
    }
    // Scoreboards that the block set and that nobody has waited for, and those of which a predicate
    // depends.
    let (mut pending, mut predicates) = (0_u8, [0_u8; 8]);
    for (word, is_leader) in words.iter().zip(is_leader) {
        if is_leader {
            (pending, predicates) = (0, [0; 8]);
        }
        let bit = |scoreboard: u8| 1_u8.checked_shl(scoreboard.into()).unwrap_or(0) & 0x3f;
        pending &= !word.waits();
        let Some(operands) = Operands::of(Generation::Sm100, *word) else {
            // What it does is not known: any predicate may depend on it.
            let set = bit(word.write_barrier()) | bit(word.read_barrier());
            match word.is_call() {
                true => (pending, predicates) = (set, [0; 8]),
                false => {
                    pending |= set;
                    predicates = predicates.map(|predicate| predicate | set);
                }
            }
            continue;
        };
        if let (true, Some(Guard { number, .. })) = (word.is_exit(), operands.guard)
            && (pending != 0 || predicates[usize::from(number)] != 0)
        {
            return true;
        }
        let is_long = latency::is_long(operands.name);
        let written = if is_long {
            0
        } else {
            bit(word.write_barrier())
        };
        pending |= written | bit(word.read_barrier());
        for (number, predicate) in (0..).zip(&mut predicates) {
            if operands.defined.has(File::Predicate, number) {
                *predicate = bit(word.write_barrier()) | bit(word.read_barrier());
            }
        }
        if matches!(
            operands.name,
            "BRA" | "EXIT" | "BSYNC" | "BREAK" | "BRX" | "RET" | "CALL"
        ) {
            (pending, predicates) = (0, [0; 8]);
        }
    }
    false
}

/// Shortens the stall of instructions that were followed by an end that waits for them, which takes
/// two cycles, or that an end follows only after some: now a barrier follows. What decides whether
/// the barrier is met takes two cycles as before.
pub(super) fn relax(code: &mut [u8]) {
    let words: Vec<Instruction> = Instruction::all(code).collect();
    for (at, five) in words.windows(5).enumerate() {
        let &[before, barrier, _, errors, end] = five else {
            continue;
        };
        if !barrier.is_memory_barrier() || !errors.is_error_barrier() || !end.is_exit() {
            continue;
        }
        let guard = Operands::of(Generation::Sm100, barrier).and_then(|barrier| barrier.guard);
        let decides = guard.is_some_and(|guard| {
            let before = Operands::of(Generation::Sm100, before);
            before.is_none_or(|before| before.defined.has(guard.file, guard.number.into()))
        });
        let is_waited = is_waited_for(before, end);
        let is_arrival = Generation::Sm100.name(before) == Some("UCGABAR_ARV");
        if is_waited && !decides && before.stall() == 2 || is_arrival {
            let word = before.with_stall(1);
            code[at * 16..at * 16 + 16].copy_from_slice(&word.0.to_le_bytes());
        }
    }
}
