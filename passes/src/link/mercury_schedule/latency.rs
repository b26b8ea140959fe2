//! How long instructions take, as NVIDIA's finalizer counts [scoreboard-allocation].
//!
//! The times were found by bisection, with code of which it makes the control bits anew.

use cuweld_elf::sass::operands::Operands;

use super::step::Step;

/// The cycles of a load from global or local memory; such a load is never taken as finished.
const LONG: i64 = 300;

/// Returns `true` if an operation loads from memory that may be far away.
pub(super) fn is_long(name: &str) -> bool {
    matches!(
        name,
        "LDG" | "LDGMC" | "ATOMG" | "LDL" | "ATOM" | "LD" | "TLD" | "TEX" | "SULD"
    )
}

/// Returns `true` for operations of double precision, for which no time is counted where a GPU has few
/// units for them: arithmetic, conversions to integers, and on some of them conversions to doubles.
fn is_uncounted(step: &Step) -> bool {
    let operands = &step.operands;
    let has_few = matches!(step.sm, 103 | 110 | 120 | 121);
    match operands.name {
        "DADD" | "DMUL" | "DFMA" | "DSETP" => has_few,
        "F2I" => has_few && operands.used.general().count() == 2,
        "I2F" => matches!(step.sm, 103 | 110) && operands.defined.general().count() == 2,
        _ => false,
    }
}

/// Returns the cycles after which an instruction has written its registers, or read them;
/// `has_waited` if it had to wait for general registers.
pub(super) fn until(step: &Step, is_written: bool, has_waited: bool) -> i64 {
    match is_written {
        _ if is_uncounted(step) => 0,
        true => until_written(step.operands.name, step.sm),
        false => until_read(&step.operands, has_waited),
    }
}

/// Returns the cycles after which an instruction has written its registers.
fn until_written(name: &str, sm: u16) -> i64 {
    if is_long(name) {
        return LONG;
    }
    match name {
        "S2R" => 32,
        "S2UR" | "SHFL" | "ATOMS" => 24,
        "LDC" => 48,
        "LDCU" => 18,
        "LDS" => 40,
        "MUFU" if matches!(sm, 120 | 121) => 18,
        "MUFU" => 17,
        "POPC" | "FLO" | "BREV" | "I2F" | "F2I" => 15,
        "REDUX" => 25,
        _ => 30,
    }
}

/// Returns the cycles after which an instruction has read its general registers; one that gives them
/// to the memory unit takes longer if it has waited for them.
fn until_read(operands: &Operands, has_waited: bool) -> i64 {
    let sources = i64::from(operands.used.general().count());
    match operands.name {
        "STG" | "REDG" | "ATOMG" | "LDG" | "LDS" | "STS" | "SHFL" | "ATOMS" | "REDUX" | "STL"
        | "LDL" | "LD" | "ST" | "RED" | "ATOM" | "LDC" => {
            let least = match operands.name {
                "LDG" | "LDS" | "LDL" | "LD" | "LDC" => 0,
                "SHFL" | "REDUX" => 10,
                _ => 14,
            };
            let read = 6 + 2 * sources;
            if has_waited { read.max(least) } else { read }
        }
        "MEMBAR" => 6,
        "I2F" => 8,
        // From double precision.
        "F2I" if sources == 2 => 10,
        _ => 9,
    }
}
