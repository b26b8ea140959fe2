//! The call graph rows that take part in the link.

use std::cell::LazyCell;

use cuweld_elf::symbol::Binding;
use cuweld_ir::CallId;
use cuweld_ir::CallKind;
use cuweld_ir::Liveness;
use cuweld_ir::Module;
use cuweld_ir::Object;
use cuweld_ir::Section;
use cuweld_ir::SectionId;
use cuweld_ir::SectionInfo;
use cuweld_ir::SectionKind;
use cuweld_ir::SymbolId;
use cuweld_ir::SymbolPlace;
use cuweld_ir::SymbolRef;
use cuweld_ir::callgraph_record::CallRecord;
use cuweld_ir::table::EntityId;
use foldhash::fast::FixedState;
use hashbrown::HashSet;

/// Returns the rows of all included objects that count, in input order.
///
/// Rows of a caller count if its copy was taken into the link at its turn, also when a later copy
/// replaced it [edges-of-replaced-copies]. That an address is taken counts for a discarded weak
/// definition too, if a row of the same object that counts names the function that takes it
/// [address-of-passed-copy]; a function has one such row, its first. So it does for a kernel that a
/// variable in global memory of the same object names [passed-kernel-in-data], and for a function
/// that stays for an address in data alone (deviation D16).
pub fn counting_calls<'m, 'data>(module: &'m Module<'data>) -> Vec<&'m CallRecord<'data>> {
    let calls = counting_call_ids(module).into_iter();
    calls.map(|id| &module.calls[id]).collect()
}

/// Returns the same as ids.
pub fn counting_call_ids(module: &Module<'_>) -> Vec<CallId> {
    let mut calls = Vec::with_capacity(module.calls.len());
    let mut listed = vec![false; module.link_symbols.len()];
    // Whether a counting row takes the address, by symbol of an object.
    let mut taken: HashSet<SymbolId, FixedState> = HashSet::default();
    for (_, object) in module.included_objects() {
        let rows = &module.calls[object.calls];
        for call in rows {
            if call.kind == CallKind::TakesAddress
                && is_taken(module, call.from)
                && let Some(symbol) = call.to.symbol()
            {
                taken.insert(symbol);
            }
        }
        let in_data = LazyCell::new(|| kernels_in_data(module, object));
        calls.extend(object.calls.iter().filter(|id| {
            let call = &module.calls[*id];
            let Some(symbol) = call.from.symbol() else {
                return false;
            };
            if call.kind != CallKind::AddressTaken {
                return is_taken(module, call.from);
            }
            module.symbols[symbol].link.is_some_and(|link| {
                (is_taken(module, call.from)
                    || taken.contains(&symbol)
                    || module.symbols[symbol].is_entry() && in_data.contains(&symbol)
                    || module.link_symbols[link].live == Liveness::ByAddress)
                    && !std::mem::replace(&mut listed[link.index()], true)
            })
        }));
    }
    calls
}

/// Returns the kernels that rows of an object's variables refer to: those of variables in global
/// memory, but for weak ones that came after another weak definition, and those of constants, which
/// nvlink leaves out (deviation D14).
fn kernels_in_data(module: &Module<'_>, object: &Object<'_>) -> HashSet<SymbolId, FixedState> {
    let data = |section: &Section<'_>| match section.info {
        SectionInfo::Section(patched) => match module.sections[patched].kind {
            SectionKind::GlobalInit => Some(patched),
            SectionKind::ConstantBank(_) if !module.options.strict => Some(patched),
            _ => None,
        },
        _ => None,
    };
    let gone = discarded_variables(module, object);
    let is_gone = |place: SectionId, offset: u64| {
        let next =
            gone.partition_point(|(section, start, _)| (*section, *start) <= (place, offset));
        let before = next.checked_sub(1).and_then(|index| gone.get(index));
        before.is_some_and(|(section, _, end)| *section == place && offset < *end)
    };
    let mut kernels = HashSet::default();
    for section in &module.sections[object.sections] {
        let Some(place) = data(section) else { continue };
        for row in &module.relocs[section.relocs] {
            if let Some(symbol) = row.target.symbol()
                && module.symbols[symbol].is_entry()
                && !is_gone(place, row.offset)
            {
                kernels.insert(symbol);
            }
        }
    }
    kernels
}

/// Returns the bytes of an object's variables whose rows go with them, sorted
/// [rows-of-discarded-variables].
fn discarded_variables(module: &Module<'_>, object: &Object<'_>) -> Vec<(SectionId, u64, u64)> {
    let mut found = Vec::new();
    for id in object.symbols.iter() {
        let symbol = &module.symbols[id];
        let (false, SymbolPlace::Section(section), Some(link)) =
            (symbol.is_function(), symbol.place, symbol.link)
        else {
            continue;
        };
        let link = &module.link_symbols[link];
        let goes = link.definition.is_some_and(|by| {
            let comes_after_strong = module.symbols[by].bind != Binding::WEAK && by < id;
            by != id && link.first != id && !comes_after_strong
        });
        if goes && module.sections[section].kind == SectionKind::GlobalInit {
            found.push((
                section,
                symbol.value,
                symbol.value.saturating_add(symbol.size),
            ));
        }
    }
    found.sort_unstable();
    found
}

/// Returns `true` if the copy of a function was taken into the link at its turn; undefined ones
/// count.
pub(super) fn is_taken(module: &Module<'_>, function: SymbolRef) -> bool {
    function.symbol().is_some_and(|symbol| {
        module.symbols[symbol]
            .function
            .is_none_or(|function| module.functions[function].fate.ever_prevailed())
    })
}
