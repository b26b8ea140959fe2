//! When instructions are issued if some of them have to wait [scoreboard-allocation].
//!
//! Stalls were counted for code in which nothing waits. Where an instruction is late, those after it
//! follow as soon as what they need has been done, which may be less than the stalls between. What
//! instructions need of each other was found as the least distances in compiled code.

use cuweld_elf::sass::operands::Registers;

use super::blocks::Code;
use super::step::Step;

/// The most cycles that an instruction of fixed time takes until its results can be used, and so how
/// many instructions back those can be that still matter.
const LONGEST: usize = 13;

impl Code {
    /// Returns when an instruction of a block can be issued, by those before it, which were issued
    /// at `times`, from `start` on. It is not earlier than by the needs that explain its stalls.
    pub(super) fn earliest(&self, start: usize, at: usize, times: &[i64]) -> i64 {
        let Some(last) = times.last() else {
            return 0;
        };
        let stall = self.steps[at - 1].stall();
        let mut time = last + stall.min(1);
        let mut apart = 0;
        let mut is_explained = stall <= 1;
        for before in (start..at).rev().take(LONGEST) {
            apart += self.steps[before].stall();
            let needed = distance(&self.steps[before], &self.steps[at]).min(apart);
            is_explained |= needed == apart;
            time = time.max(times[before - start] + needed);
        }
        match is_explained {
            true => time,
            false => time.max(last + stall),
        }
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

/// Returns the cycles after an instruction at which a later one can be issued, 0 if it does not
/// matter.
fn distance(before: &Step, step: &Step) -> i64 {
    let (producer, consumer) = (unit(before.operands.name), unit(step.operands.name));
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
