//! Instructions that yield, `YIELD`, and what becomes of them in code whose threads are not
//! scheduled one by one.
//!
//! Code of PTX before sm_70 waits for other threads of its warp with them. As SASS alone, each has
//! rows by which the link makes it an instruction that does nothing, `NOP`. They count if all
//! objects of the link are of such PTX. Of objects with Mercury nvlink makes the SASS view anew,
//! and takes no row from it: one object of such PTX is enough, and the instructions of all objects
//! become `NOP` if their code has a section of rows, in relocatable output by rows after the others.

use cuweld_elf::mercury::capmerc::INSTRUCTION;
use cuweld_elf::sass::Instruction;
use cuweld_elf::target::arch::FIRST_INDEPENDENT_THREADS;
use cuweld_ir::Module;
use cuweld_ir::Object;

/// Returns `true` if instructions that yield stay. Objects count that have no code, too.
pub(crate) fn stay(module: &Module<'_>) -> bool {
    let virtual_sm = |object: &Object<'_>| module.origin(object).virtual_sm;
    let mut of_objects = module
        .included_objects()
        .filter_map(|(_, row)| virtual_sm(row));
    let is_independent = |sm| sm >= FIRST_INDEPENDENT_THREADS;
    match module.is_capmerc() {
        true => of_objects.all(is_independent),
        false => of_objects.any(is_independent),
    }
}

/// Returns the places of such instructions in some code.
pub(crate) fn places(code: &[u8]) -> impl Iterator<Item = u64> {
    let instructions = (0_u64..).zip(Instruction::all(code));
    let found = instructions.filter(|(_, instruction)| instruction.is_yield());
    found.map(|(index, _)| index * INSTRUCTION)
}
