//! The value of the null symbol (quirk Q02, measured, `DEVICE-ELF.md`).

use cuweld_ir::BankPiece;
use cuweld_ir::FunctionId;
use cuweld_ir::Module;

use super::constant_merge::ConstantMerge;

/// The value of symbol 0 in the output. A constant that nvlink looked up wins, at offset 0 too (measured).
pub(super) fn shown(module: &Module<'_>, merge: &ConstantMerge) -> u64 {
    merge.null_symbol.unwrap_or_else(|| value(module))
}

/// The value that nvlink leaves in symbol 0.
///
/// A losing weak copy's constants lie behind those of the copy that was taken, or in its emptied place, and
/// the section's symbol takes that address; it has none in the output, so the address lands in the null symbol.
/// The last that is placed shows. What stays where it is does not count: a kernel's own banks, and what no kernel
/// reaches (measured).
fn value(module: &Module<'_>) -> u64 {
    let link = |function: FunctionId| module.symbols[module.functions[function].symbol].link;
    let is_shown = |piece: &&BankPiece| {
        piece.bank != 0
            && module.sections[piece.section].owner.is_some_and(|owner| {
                !module.functions[owner].edges_count && link(owner) != link(piece.kernel)
            })
    };
    let last = module.bank_pieces.iter().rev().find(is_shown);
    last.map_or(0, |piece| piece.offset)
}
