//! The value of the null symbol.

use cuweld_elf::behaviours;
use cuweld_elf::raw::ET_EWP;
use cuweld_ir::BankPiece;
use cuweld_ir::FunctionId;
use cuweld_ir::Module;
use cuweld_ir::SectionKind;

use super::constant_merge::ConstantMerge;
use super::empty_sections::EmptySections;

/// Returns the value of symbol 0 in the output, which is not always 0.
pub(crate) fn null_symbol_value(module: &Module<'_>) -> u64 {
    shown(module, &ConstantMerge::new(module))
}

/// Returns the value of symbol 0 in the output. A constant that nvlink looked up wins, at offset 0
/// too [null-symbol-of-lookup].
pub(crate) fn shown(module: &Module<'_>, merge: &ConstantMerge) -> u64 {
    let shows = module
        .toolkit
        .has(&behaviours::constants::NULL_SYMBOL_OF_LOOKUP);
    let looked_up = merge.null_symbol.filter(|_| shows);
    let value = looked_up.unwrap_or_else(|| value(module));
    value.wrapping_add(without_symbol(module))
}

/// Returns the number of bytes by which shared memory without a symbol moves symbol 0: nvlink moves
/// it after the reserved block, once for each kernel with such memory
/// [null-symbol-of-whole-kernels] [empty-kernel-shared].
fn without_symbol(module: &Module<'_>) -> u64 {
    if module.options.relocatable {
        return 0;
    }
    let empty = EmptySections::new(module).linked(module);
    let kernels = empty
        + if module.has_ewp_object() {
            whole_kernels(module)
        } else {
            0
        };
    module.reserved_shared_size() * kernels as u64
}

/// Returns the number of linked kernels of EWP objects with shared memory.
fn whole_kernels(module: &Module<'_>) -> usize {
    let sections = module.sections.iter().filter(|(id, section)| {
        section.kind == SectionKind::KernelShared
            && section.size() != 0
            && module.objects[section.object].e_type == ET_EWP
            && module.is_section_linked(*id)
    });
    sections.count()
}

/// Returns the value that nvlink leaves in symbol 0.
///
/// A losing weak copy's constants lie after those of the copy that was taken, or in its emptied
/// place, and the section's symbol takes that address; it has none in the output, so the address
/// lands in the null symbol. The last that is placed shows. What stays where it is does not count:
/// a kernel's own banks, and what no kernel reaches [null-symbol-of-discarded].
fn value(module: &Module<'_>) -> u64 {
    let link = |function: FunctionId| module.symbols[module.functions[function].symbol].link;
    let is_shown = |piece: &&BankPiece| {
        piece.bank != 0
            && module.sections[piece.section].owner.is_some_and(|owner| {
                !module.functions[owner].fate.ever_prevailed() && link(owner) != link(piece.kernel)
            })
    };
    let last = module.bank_pieces.iter().rev().find(is_shown);
    last.map_or(0, |piece| piece.offset)
}
