//! A section without some of its variables.

use cuweld_elf::align::align_up;
use cuweld_ir::Arena;
use cuweld_ir::Module;
use cuweld_ir::RelocAction;
use cuweld_ir::RelocId;
use cuweld_ir::SectionContent;
use cuweld_ir::SectionId;
use cuweld_ir::SectionKind;
use cuweld_ir::SymbolId;

/// A variable that stays: where it was, its size, and where it is.
struct Kept {
    symbol: SymbolId,
    start: u64,
    size: u64,
    place: u64,
}

/// Leaves variables out of a section and moves the others up, with the relocation rows that apply
/// to it. Both lists of variables are sorted by place. Does nothing, and says so, if variables
/// overlap or bytes would be lost of which it is not known what they are.
pub(super) fn compact<'data>(
    module: &mut Module<'data>,
    section: SectionId,
    rows: &[RelocId],
    used: &[SymbolId],
    unused: &[SymbolId],
    arena: &'data Arena,
) -> bool {
    if !is_covered(module, section, used, unused) {
        return false;
    }
    let mut end = 0;
    let mut kept = Vec::with_capacity(used.len());
    for id in used {
        let symbol = &module.symbols[*id];
        let place = align_up(end, alignment(module, section, symbol.value));
        end = place.saturating_add(symbol.size);
        kept.push(Kept {
            symbol: *id,
            start: symbol.value,
            size: symbol.size,
            place,
        });
    }
    let moved = |offset: u64| {
        let after = kept.partition_point(|row| row.start <= offset);
        let row = kept.get(after.checked_sub(1)?)?;
        (offset - row.start < row.size).then(|| row.place + (offset - row.start))
    };
    for &id in rows {
        let row = &mut module.relocs[id];
        match moved(row.offset) {
            Some(offset) => row.offset = offset,
            // It applies to nothing that stays.
            None => (row.plan, row.offset) = (RelocAction::Gone, end),
        }
    }
    module.sections[section].content = match module.sections[section].content {
        SectionContent::Bytes(bytes) => {
            let mut new = vec![0; end as usize];
            for row in &kept {
                let size = row.size as usize;
                let (from, to) = (row.start as usize, row.place as usize);
                if let (Some(old), Some(new)) =
                    (bytes.get(from..from + size), new.get_mut(to..to + size))
                {
                    new.copy_from_slice(old);
                }
            }
            SectionContent::Bytes(arena.bytes(&new))
        }
        SectionContent::NoBits(_) => SectionContent::NoBits(end),
        SectionContent::Decoded => SectionContent::Decoded,
    };
    for row in &kept {
        module.symbols[row.symbol].value = row.place;
    }
    // What goes is nowhere in what stays.
    for id in unused {
        module.symbols[*id].value = 0;
    }
    if used.is_empty() {
        module.sections[section].kind = SectionKind::Stripped;
    }
    true
}

/// Returns the alignment that a variable has: what its section and its place have in common.
fn alignment(module: &Module<'_>, section: SectionId, value: u64) -> u64 {
    let align = module.sections[section].align.max(1);
    match value.trailing_zeros() {
        zeros @ ..64 => align.min(1 << zeros),
        _ => align,
    }
}

/// Returns `true` if variables do not overlap, lie in the section, and all bytes between them are
/// zero.
fn is_covered(
    module: &Module<'_>,
    section: SectionId,
    used: &[SymbolId],
    unused: &[SymbolId],
) -> bool {
    let row = &module.sections[section];
    let bytes = row.bytes();
    let is_padding = |from: u64, to: u64| {
        let between = bytes.get(from as usize..to as usize);
        between.unwrap_or(&[]).iter().all(|byte| *byte == 0)
    };
    let mut symbols: Vec<SymbolId> = [used, unused].concat();
    symbols.sort_by_key(|id| module.symbols[*id].value);
    let mut end = 0;
    for id in symbols {
        let symbol = &module.symbols[id];
        if symbol.value < end || !is_padding(end, symbol.value) {
            return false;
        }
        end = symbol.value.saturating_add(symbol.size);
    }
    end <= row.size() && is_padding(end, row.size())
}
