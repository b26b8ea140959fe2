//! From `placed` on: where data, constants and shared variables lie.

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use super::Checker;
use super::Rule;
use crate::ids::*;
use crate::section::SectionKind;
use crate::symbol::SymbolPlace;
use crate::table::EntityId;

pub(super) fn check(checker: &mut Checker<'_, '_>) {
    sections(checker);
    bank_pieces(checker);
    pool_parts(checker);
    values(checker);
    shared_frames(checker);
}

fn sections(checker: &mut Checker<'_, '_>) {
    let module = checker.module;
    let mut ends: HashMap<&[u8], u64, FixedState> = HashMap::default();
    for (id, section) in module.sections.iter() {
        let included = module.objects[section.object].state.is_included();
        let concatenated = included && section.kind.is_concatenated();
        let constants = included && matches!(section.kind, SectionKind::FunctionConstants(_));
        let Some(place) = section.place else {
            // Memory that no variable needs is not taken.
            if concatenated && section.kind != SectionKind::Global {
                let place = checker.section(id);
                checker.report(Rule::PlaceOrder, place, "it has no place");
            }
            continue;
        };
        if !concatenated && !constants {
            let place = checker.section(id);
            checker.report(Rule::PlaceKind, place, "it has a place");
        }
        if concatenated {
            let end = ends.entry(section.name).or_insert(0);
            if place < *end || !place.is_multiple_of(section.align.max(1)) {
                let what = format!(
                    "its place {place:#x} is not after {:#x} at alignment {}",
                    *end, section.align
                );
                let place = checker.section(id);
                checker.report(Rule::PlaceOrder, place, what);
            }
            *end = place.saturating_add(section.size());
        }
    }
}

fn bank_pieces(checker: &mut Checker<'_, '_>) {
    let module = checker.module;
    let mut ranges = Vec::with_capacity(module.bank_pieces.len());
    for (index, piece) in module.bank_pieces.iter().enumerate() {
        let section = &module.sections[piece.section];
        let what = if !module.is_function_live(piece.kernel) {
            "its function is not live"
        } else if section.kind != SectionKind::FunctionConstants(piece.bank)
            || !module.objects[section.object].state.is_included()
        {
            "its section holds no constants of this bank"
        } else if section.place != Some(piece.offset) {
            "its offset is not the place of its section"
        } else if piece.size > section.size() {
            "it is larger than its section"
        } else if piece.align < section.align {
            "its alignment is smaller than its section's"
        } else {
            ""
        };
        if !what.is_empty() {
            checker.report(Rule::BankPiece, format!("bank piece {index}"), what);
        }
        let end = piece.offset.saturating_add(piece.size);
        ranges.push((piece.kernel, piece.bank, piece.offset, end, index));
    }
    ranges.sort_unstable();
    for pair in ranges.windows(2) {
        if let &[
            (kernel, bank, _, end, _),
            (next, next_bank, offset, next_end, index),
        ] = pair
            && (kernel, bank) == (next, next_bank)
            && offset < end
            && offset < next_end
        {
            let what = format!("another piece lies up to {end:#x}");
            checker.report(Rule::BankOverlap, format!("bank piece {index}"), what);
        }
    }
}

/// Checks that parts of a pool are constants of their bank, in order of offset.
fn pool_parts(checker: &mut Checker<'_, '_>) {
    let module = checker.module;
    let (mut ends, mut bank) = ([0u64; 256], 0);
    for (index, part) in module.pool_parts.iter().enumerate() {
        let section = &module.sections[part.section];
        let end = &mut ends[usize::from(part.bank)];
        let is_bank = matches!(section.kind,
            SectionKind::FunctionConstants(bank) | SectionKind::ConstantBank(bank) if bank == part.bank);
        let what = if !is_bank || part.start.saturating_add(part.size) > section.size() {
            "its section holds no such constants of this bank"
        } else if part.offset < *end || part.bank < bank {
            "it lies before the end of the part before it"
        } else {
            ""
        };
        *end = part.offset.saturating_add(part.size);
        bank = part.bank;
        if !what.is_empty() {
            checker.report(Rule::BankPiece, format!("pool part {index}"), what);
        }
    }
}

fn values(checker: &mut Checker<'_, '_>) {
    let module = checker.module;
    let mut pool_sizes = [0u64; 256];
    for part in &module.pool_parts {
        pool_sizes[usize::from(part.bank)] = part.offset.saturating_add(part.size);
    }
    for (id, link) in module.link_symbols.iter() {
        let Some(definition) = link.definition else {
            continue;
        };
        let symbol = &module.symbols[definition];
        let section = match symbol.place {
            SymbolPlace::Section(section) => Some(&module.sections[section]),
            _ => None,
        };
        let kind = section.map(|section| section.kind);
        if matches!(
            kind,
            Some(SectionKind::ModuleShared | SectionKind::KernelShared)
        ) {
            shared_value(checker, id);
            continue;
        }
        let Some(value) = link.value else {
            let place = checker.link(id);
            checker.report(Rule::ValueSet, place, "it is defined and has no value");
            continue;
        };
        let pool = match kind {
            Some(SectionKind::FunctionConstants(bank)) if symbol.is_compiler_constant() => {
                Some(bank)
            }
            Some(SectionKind::ConstantBank(bank)) => Some(bank),
            _ => None,
        };
        if let Some(bank) = pool
            && value.saturating_add(symbol.size) <= pool_sizes[usize::from(bank)]
        {
            continue;
        }
        let base = match section.and_then(|section| section.place) {
            Some(place) if !symbol.is_function() => place,
            _ => 0,
        };
        let expected = base.saturating_add(symbol.value);
        if value != expected && symbol.place != SymbolPlace::Common {
            let what = format!("its value is {value:#x}, not {expected:#x}");
            let place = checker.link(id);
            checker.report(Rule::ValuePlace, place, what);
        }
    }
}

/// Checks that a shared variable lies within the shared memory of the kernel to which it belongs or
/// that owns its section.
fn shared_value(checker: &mut Checker<'_, '_>, id: LinkSymbolId) {
    let module = checker.module;
    if module.options.relocatable {
        // The value is still the alignment.
        return;
    }
    let link = &module.link_symbols[id];
    let place = link
        .definition
        .map(|definition| module.symbols[definition].place);
    let (Some(value), Some(SymbolPlace::Section(section))) = (link.value, place) else {
        return;
    };
    let owner = link.kernel.or(module.sections[section].owner);
    let Some(frame) = owner.and_then(|owner| module.functions[owner].shared) else {
        return;
    };
    let end = value.saturating_add(link.size);
    if end > frame.size {
        let what = format!("it ends at {end:#x} of {:#x}", frame.size);
        let place = checker.link(id);
        checker.report(Rule::SharedPlace, place, what);
    }
}

fn shared_frames(checker: &mut Checker<'_, '_>) {
    let module = checker.module;
    let mut live = vec![false; module.functions.len()];
    for id in module.link_symbols.ids() {
        if let Some(function) = module.link_function(id) {
            live[function.index()] = module.is_function_live(function);
        }
    }
    for ((id, function), live) in module.functions.iter().zip(live) {
        let is_kernel = live && module.symbols[function.symbol].is_entry();
        let what = match function.shared {
            Some(_) if !is_kernel => "it is no live kernel, but has a layout",
            None if is_kernel && !module.options.relocatable => "it is a kernel without a layout",
            // No powers of two: nvlink takes values of symbols for alignments.
            Some(frame) if frame.align == 0 || frame.slots_align == 0 => "an alignment is 0",
            _ => continue,
        };
        let place = checker.function(id);
        checker.report(Rule::SharedFrame, place, what);
    }
}
