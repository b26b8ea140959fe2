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

/// The cycles from an instruction that writes a predicate until it can be a guard.
const GUARD_CYCLES: u32 = 13;

/// Returns `true` if barriers in front of the ends of code may change its scoreboards: where not all
/// threads end, something is pending that an end does not wait for, or the end depends on it. `None`
/// if how they change is not known: for some instructions it was not measured or differs.
pub(super) fn change_scoreboards(code: &[u8]) -> Option<bool> {
    let words: Vec<Instruction> = Instruction::all(code).collect();
    let mut is_leader = vec![false; words.len() + 1];
    for (at, word) in (0..).zip(&words) {
        let distances = [word.branch(), word.marked_place()];
        // `WARPSYNC` that collects no threads leads nowhere.
        for distance in distances
            .into_iter()
            .flatten()
            .filter(|distance| *distance != 0)
        {
            let target = usize::try_from(at + 1 + distance).ok();
            if let Some(leader) = target.and_then(|at| is_leader.get_mut(at)) {
                *leader = true;
            }
        }
    }
    // Scoreboards that the block set and that nobody has waited for, and those of which a predicate
    // depends; of those, the ones that other instructions set than are known here.
    let (mut pending, mut predicates) = (0_u8, [0_u8; 8]);
    let mut unknown = 0;
    let mut changes = false;
    for (at, (word, is_leader)) in words.iter().zip(is_leader).enumerate() {
        if is_leader {
            (pending, predicates, unknown) = (0, [0; 8], 0);
        }
        let bit = |scoreboard: u8| 1_u8.checked_shl(scoreboard.into()).unwrap_or(0) & 0x3f;
        pending &= !word.waits();
        unknown &= !word.waits();
        let Some(operands) = Operands::of(Generation::Sm100, *word) else {
            // What it does is not known: any predicate may depend on it.
            let set = bit(word.write_barrier()) | bit(word.read_barrier());
            match word.is_call() {
                true => (pending, predicates, unknown) = (set, [0; 8], set),
                false => {
                    pending |= set;
                    unknown |= set;
                    predicates = predicates.map(|predicate| predicate | set);
                }
            }
            continue;
        };
        if let (true, Some(Guard { number, .. })) = (word.is_exit(), operands.guard) {
            let decides = predicates[usize::from(number)];
            if (pending | decides) & unknown != 0 || follows_filling(&words, at) {
                return None;
            }
            changes |= pending | decides != 0;
        }
        let is_long = latency::is_long(operands.name);
        let written = if is_long {
            0
        } else {
            bit(word.write_barrier())
        };
        let set = written | bit(word.read_barrier());
        pending |= set;
        match is_known(operands.name) {
            true => unknown &= !set,
            false => unknown |= bit(word.write_barrier()) | bit(word.read_barrier()),
        }
        for (number, predicate) in (0..).zip(&mut predicates) {
            if operands.defined.has(File::Predicate, number) {
                *predicate = bit(word.write_barrier()) | bit(word.read_barrier());
            }
        }
        if matches!(
            operands.name,
            "BRA" | "EXIT" | "BSYNC" | "BREAK" | "BRX" | "RET" | "CALL"
        ) {
            (pending, predicates, unknown) = (0, [0; 8], 0);
        }
    }
    Some(changes)
}

/// Returns `true` if it is known how a scoreboard that an operation sets goes with barriers in front
/// of an end.
fn is_known(name: &str) -> bool {
    matches!(
        name,
        "LDG" | "LDC" | "LDCU" | "LDS" | "STG" | "STS" | "SHFL" | "MUFU" | "REDG"
    )
}

/// Returns `true` if an instruction follows one that does nothing but take time, as results of the
/// matrix unit need.
fn follows_filling(words: &[Instruction], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|before| words.get(before));
    before.is_some_and(|word| word.is_filling())
}

/// Shortens the stall of instructions that were followed by an end that waits for them, which takes
/// two cycles, or that an end follows only after some: now a barrier follows. What decides whether
/// the barrier is met takes two cycles as before. `None` for an instruction of which that is not known.
pub(super) fn relax(code: &mut [u8]) -> Option<()> {
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
        let is_decided = guard.is_none_or(|guard| is_decided(&words[..at], guard));
        let is_waited = is_waited_for(before, end) && is_decided;
        let name = Generation::Sm100.name(before);
        let is_arrival = name == Some("UCGABAR_ARV");
        if is_waited && !decides && before.stall() == 2 || is_arrival {
            if name.is_some_and(|name| name.starts_with("LDT") || name == "LDC") {
                return None;
            }
            let word = before.with_stall(1);
            code[at * 16..at * 16 + 16].copy_from_slice(&word.0.to_le_bytes());
        }
    }
    Some(())
}

/// Returns `true` if a guard's predicate is known to be written early enough for the instruction after
/// the next one, which takes one cycle.
fn is_decided(words: &[Instruction], guard: Guard) -> bool {
    let mut cycles = 1;
    for word in words.iter().rev() {
        cycles += u32::from(word.stall());
        let operands = Operands::of(Generation::Sm100, *word);
        if operands.is_none_or(|operands| operands.defined.has(guard.file, guard.number.into())) {
            return cycles >= GUARD_CYCLES;
        }
        if cycles >= GUARD_CYCLES {
            break;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::change_scoreboards;

    /// `@P0 EXIT`, and instructions of the code of compilers in front of it.
    const END: u128 = 0x000f_ea00_0380_0000_0000_0000_0000_094d;
    const FILLING: u128 = 0x000f_de00_0000_0000_0000_0000_0000_7918;
    /// `LDG.E R4, desc[UR4][R2.64]`, which sets scoreboard 2.
    const LOAD: u128 = 0x000e_a800_0c1e_1900_0000_0004_0204_7981;
    /// `STG.E desc[UR4][R2.64], R4`, which sets scoreboard 0 when it has read.
    const STORE: u128 = 0x0001_e200_0c10_1904_0000_0004_0200_7986;
    /// `ATOMG.E.MAX.64.STRONG.GPU PT, R10, desc[UR4][R14.64], R10`, which sets scoreboards 5 and 0.
    const ATOMIC: u128 = 0x0001_6200_0d1e_f504_8000_000a_0e0a_79a8;

    fn code(words: &[u128]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    #[test]
    fn what_is_pending_at_an_end_is_known_of_some_instructions() {
        let of = |words: &[u128]| change_scoreboards(&code(words));
        assert_eq!(of(&[END]), Some(false));
        assert_eq!(of(&[LOAD, END]), Some(false));
        assert_eq!(of(&[STORE, END]), Some(true));
        assert_eq!(of(&[ATOMIC, END]), None);
        // What all threads end with does not matter.
        assert_eq!(of(&[ATOMIC, END | 7 << 12]), Some(false));
        // A wait for it does.
        let waits = STORE & !(0x3f << 116) | 1 << 116 | 1 << 121;
        assert_eq!(
            of(&[ATOMIC, waits & !(7 << 113) | 7 << 113, END]),
            Some(false)
        );
    }

    #[test]
    fn filling_in_front_of_an_end_is_not_known() {
        assert_eq!(change_scoreboards(&code(&[FILLING, END])), None);
        assert_eq!(
            change_scoreboards(&code(&[END, FILLING, END | 7 << 12])),
            Some(false)
        );
    }
}
