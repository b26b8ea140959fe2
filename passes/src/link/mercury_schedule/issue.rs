//! When instructions are issued if some of them have to wait [scoreboard-allocation].
//!
//! Stalls were counted for code in which nothing waits. Where an instruction is late, those after it
//! follow as soon as what they need has been done, which may be less than the stalls between. What
//! instructions need of each other was found as the least distances in compiled code.

use std::ops::Range;

use cuweld_elf::sass::operands::Registers;

use super::step::Step;

/// The most cycles that an instruction of fixed time takes until its results can be used, and so how
/// many instructions back those can be that still matter.
const LONGEST: usize = 13;

/// What the instructions of a kernel need of those before them in their blocks.
#[derive(Debug, Default)]
pub(super) struct Distances {
    /// By instruction, the end of its rows in `rows`.
    ends: Vec<usize>,
    rows: Vec<Distance>,
    /// By instruction, whether what it needs explains the stall before it.
    is_explained: Vec<bool>,
}

/// What an instruction needs of another.
#[derive(Clone, Copy, Debug)]
struct Distance {
    /// How many instructions before it the other one is.
    back: usize,
    /// The cycles between them.
    cycles: i64,
}

impl Distances {
    /// Finds what instructions need, `blocks` of which follow each other.
    pub(super) fn of(steps: &[Step], blocks: impl Iterator<Item = Range<usize>>) -> Distances {
        let units: Vec<Unit> = steps.iter().map(|step| unit(step.operands.name)).collect();
        let mut distances = Distances::default();
        for block in blocks {
            for at in block.clone() {
                let mut is_explained = at == block.start || steps[at - 1].stall() <= 1;
                let mut apart = 0;
                for before in (block.start..at).rev().take(LONGEST) {
                    apart += steps[before].stall();
                    let between = (units[before], units[at]);
                    let cycles = distance(&steps[before], &steps[at], between).min(apart);
                    is_explained |= cycles == apart;
                    if cycles > 0 {
                        let back = at - before;
                        distances.rows.push(Distance { back, cycles });
                    }
                }
                distances.ends.push(distances.rows.len());
                distances.is_explained.push(is_explained);
            }
        }
        distances
    }

    /// Returns when an instruction of a block can be issued, by those before it, which were issued
    /// at `times`, and the stall of the last of them. It is not earlier than by the needs that explain
    /// the stalls.
    pub(super) fn earliest(&self, at: usize, stall: i64, times: &[i64]) -> i64 {
        let Some(last) = times.last() else {
            return 0;
        };
        let least = match self.is_explained[at] {
            true => stall.min(1),
            false => stall,
        };
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        let needs = self.rows[start..self.ends[at]].iter();
        let needed = needs.map(|need| times[times.len() - need.back] + need.cycles);
        needed.fold(last + least, i64::max)
    }
}

/// What does an instruction's work.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unit {
    /// Integers and comparisons.
    Alu,
    /// Multiplications.
    Fma,
    /// What is the same for all threads.
    Uniform,
    /// Memory.
    Memory,
    /// Conversions, functions, counts of bits.
    Special,
    /// Constants and special registers.
    Constant,
    /// Branches and others.
    Other,
}

fn unit(name: &str) -> Unit {
    match name {
        "ISETP" | "LEA" | "LOP3" | "IADD3" | "MOV" | "PLOP3" | "VIMNMX" | "VIMNMX3" | "I2FP"
        | "FSETP" | "FSEL" | "SEL" | "SHF" | "SGXT" | "PRMT" | "IABS" | "FMNMX" | "VOTE"
        | "IADD" | "VIADDMNMX" => Unit::Alu,
        "IMAD" | "FMUL" | "FADD" | "FFMA" | "HFMA2" | "VIADD" => Unit::Fma,
        "LDG" | "STG" | "ATOMG" | "REDG" | "LDS" | "STS" | "ATOMS" | "SHFL" | "LDL" | "STL" => {
            Unit::Memory
        }
        "MUFU" | "POPC" | "I2F" | "F2I" | "FLO" | "BREV" => Unit::Special,
        "LDC" | "S2UR" | "REDUX" => Unit::Constant,
        "UIADD3" | "UIMAD" | "UISETP" | "ULEA" | "ULOP3" | "UPLOP3" | "UMOV" | "USEL" | "USHF"
        | "UPRMT" | "USGXT" | "UIADD" | "UVIADD" => Unit::Uniform,
        _ => Unit::Other,
    }
}

/// Returns the cycles after an instruction, of one unit, at which a later one of another can be
/// issued, 0 if it does not matter.
fn distance(before: &Step, step: &Step, (producer, consumer): (Unit, Unit)) -> i64 {
    let occupied = match (producer, consumer) {
        (Unit::Memory, Unit::Memory)
            if step.operands.name != "LDS" || before.operands.name == "ATOMS" =>
        {
            4
        }
        (Unit::Alu, Unit::Alu) | (Unit::Fma, Unit::Fma) | (Unit::Uniform, Unit::Uniform) => 2,
        (Unit::Special, Unit::Special) | (Unit::Constant, Unit::Constant) => 8,
        _ => 0,
    };
    let needs = |registers: Registers| registers.meets(&step.operands.used);
    let defined = &before.operands.defined;
    let general = match () {
        () if !needs(defined.general()) => 0,
        () if matches!(before.operands.name, "DADD" | "DMUL" | "DFMA") => 8,
        () if producer == consumer => 4,
        () => 5,
    };
    let guard = step
        .operands
        .guard
        .is_some_and(|guard| defined.has(guard.file, usize::from(guard.number)));
    let predicates = match () {
        () if !needs(defined.predicates()) => 0,
        () if guard || consumer != Unit::Alu => 13,
        () => 4,
    };
    let uniform = match () {
        () if !needs(defined.uniform()) => 0,
        () if before.operands.name == "UMOV" => 2,
        () if consumer == Unit::Uniform => 4,
        () if matches!(consumer, Unit::Alu | Unit::Fma) => 6,
        () => 9,
    };
    occupied.max(general).max(predicates).max(uniform)
}
