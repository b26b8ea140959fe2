//! The value of the null symbol (quirk Q02, measured, `DEVICE-ELF.md`).

use cuweld_ir::FunctionId;
use cuweld_ir::LinkSymbolId;
use cuweld_ir::Module;
use cuweld_ir::SectionKind;
use foldhash::fast::FixedState;
use hashbrown::HashSet;

use super::constant_merge::ConstantMerge;

/// The value of symbol 0 in the output. A constant that nvlink looked up wins, at offset 0 too (measured).
pub(super) fn shown(module: &Module<'_>, merge: &ConstantMerge) -> u64 {
    merge.null_symbol.unwrap_or_else(|| value(module))
}

/// The value that nvlink leaves in symbol 0.
///
/// A losing weak copy's constants lie behind those of the copy that was taken, or in its emptied place, and
/// their section's symbol takes that address; it has none in the output, so the address lands in the null symbol.
/// The last such section shows. What stays where it is does not count: a kernel's own banks, and what no kernel
/// reaches (measured).
fn value(module: &Module<'_>) -> u64 {
    let link = |function: FunctionId| module.symbols[module.functions[function].symbol].link;
    let known: HashSet<(LinkSymbolId, u8), FixedState> = module
        .bank_pieces
        .iter()
        .filter_map(|piece| {
            let owner = module.sections[piece.section].owner?;
            let taken = module.functions[owner].edges_count;
            let moved = link(owner) != link(piece.kernel);
            (taken && moved).then_some((link(owner)?, piece.bank))
        })
        .collect();
    let mut value = 0;
    for (_, object) in module.included_objects() {
        for section in &module.sections[object.sections] {
            if let (SectionKind::FunctionConstants(bank @ 1..), Some(owner)) =
                (section.kind, section.owner)
                && !module.functions[owner].edges_count
                && let Some(link) = link(owner)
                && known.contains(&(link, bank))
                && let Some(place) = section.place
            {
                value = place;
            }
        }
    }
    value
}
