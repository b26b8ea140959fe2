//! Mercury relocations of constants of functions, such as the tables of switches.
//!
//! The constants of a device function stand in the banks of all kernels that reach it, and their
//! rows with them. The SASS view has offsets in their place and no rows [mercury-switch-tables].

use cuweld_ir::Fate;
use cuweld_ir::FunctionId;
use cuweld_ir::Module;
use cuweld_ir::Reloc;
use cuweld_ir::SectionId;
use cuweld_ir::SectionInfo;
use cuweld_ir::SectionKind;
use cuweld_ir::SymbolPlace;
use cuweld_ir::plan::PlanPiece;
use foldhash::fast::FixedState;
use hashbrown::HashMap;

use super::Content;
use super::Created;
use super::OutId;

/// Returns the Mercury rows of constants of functions, by the section of the SASS view.
pub(crate) fn find(module: &Module<'_>) -> HashMap<SectionId, SectionId, FixedState> {
    let mut found = HashMap::default();
    if !module.is_capmerc() {
        return found;
    }
    let mut constants: HashMap<FunctionId, SectionId, FixedState> = HashMap::default();
    for (id, section) in module.sections.iter() {
        if let (SectionKind::FunctionConstants(_), Some(owner)) = (section.kind, section.owner) {
            constants.insert(owner, id);
        }
    }
    // Few programs have such constants.
    if constants.is_empty() {
        return found;
    }
    for (id, section) in module.sections.iter() {
        if let (SectionKind::Relocs, Some(owner), SectionInfo::Section(patched)) =
            (section.kind, section.owner, section.info)
            && module.sections[patched].kind == SectionKind::MercuryTwin
            && !section.relocs.is_empty()
            && let Some(constants) = constants.get(&owner)
        {
            found.insert(*constants, id);
        }
    }
    found
}

/// Returns `true` if rows apply to constants of a function.
pub(super) fn applies_to_constants(module: &Module<'_>, patched: SectionId) -> bool {
    let section = &module.sections[patched];
    section.kind == SectionKind::MercuryTwin && section.owner.is_some()
}

/// Returns the offsets in bytes at which the constants of a section begin, ascending.
fn constants_of(module: &Module<'_>, section: SectionId) -> Vec<u64> {
    let object = &module.objects[module.sections[section].object];
    let symbols = module.symbols[object.symbols].iter();
    let mut starts: Vec<u64> = symbols
        .filter(|symbol| symbol.place == SymbolPlace::Section(section))
        .map(|symbol| symbol.value)
        .collect();
    starts.sort_unstable();
    starts
}

/// Returns the rows of a bank with their offsets in it, by offset; `None` for what is no bank of
/// the Mercury view.
pub(super) fn of_bank<'m>(
    module: &'m Module<'_>,
    out: &Created<'_>,
    bank: OutId,
) -> Option<Vec<(u64, &'m Reloc)>> {
    let Content::Constants(bank_of, _) = out.sections[bank].content else {
        return None;
    };
    if !out.capmerc {
        return None;
    }
    let bank_of = Some(bank_of);
    let function = |section: SectionId| {
        let owner = module.sections[section].owner?;
        module.symbols[module.functions[owner].symbol].link
    };
    let mut rows = Vec::new();
    let pieces: Vec<PlanPiece> = out.pieces_of(bank).copied().collect();
    let mut pieces = pieces.as_slice();
    while let Some(first) = pieces.first() {
        // The copies of a function: those of the last come first.
        let same = |piece: &PlanPiece| function(piece.section) == function(first.section);
        let copies = pieces.iter().take_while(|piece| same(piece)).count();
        let (group, rest) = pieces.split_at(copies.max(1));
        pieces = rest;
        let end_of = |piece: &PlanPiece| {
            let size = piece.size.unwrap_or(module.sections[piece.section].size());
            piece.offset.saturating_add(size)
        };
        let end = group.iter().map(end_of).max().unwrap_or(0);
        for piece in group.iter().rev() {
            let Some(holder) = out.constant_rows.get(&piece.section) else {
                continue;
            };
            let own = module.relocs[module.sections[*holder].relocs].iter().rev();
            let is_own = bank_of == function(piece.section);
            // Rows of bytes without a name do not move, unless those of another copy stand in their
            // place [constants-rows-in-bank].
            let stays = |row: &&Reloc| {
                is_own
                    || piece.size.is_none_or(|size| row.offset < size)
                    || piece.offset.saturating_add(row.offset) < end
            };
            let mut own: Vec<&Reloc> = own.filter(stays).collect();
            let is_discarded = module.sections[piece.section]
                .owner
                .is_some_and(|owner| module.functions[owner].fate == Fate::Discarded);
            if !is_own && !is_discarded {
                // Constants that move do so one by one, the last first, each with its rows
                // reversed: in `-r` output they stand the other way round already. Those of
                // discarded copies move together [mercury-switch-tables].
                let mut starts = constants_of(module, piece.section);
                starts.extend(piece.size);
                let constant = |row: &Reloc| starts.partition_point(|start| *start <= row.offset);
                own.sort_by_key(|row| std::cmp::Reverse(constant(row)));
            }
            let placed = own.into_iter();
            rows.extend(placed.map(|row| (piece.offset.saturating_add(row.offset), row)));
        }
    }
    Some(rows)
}
