//! The call graph rows that take part in the link.

use cuweld_ir::CallId;
use cuweld_ir::CallKind;
use cuweld_ir::Liveness;
use cuweld_ir::Module;
use cuweld_ir::SymbolId;
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
/// [address-of-passed-copy]; a function has one such row, its first. So it does for a function that
/// stays for an address in data alone (deviation D16).
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
                    || module.link_symbols[link].live == Liveness::ByAddress)
                    && !std::mem::replace(&mut listed[link.index()], true)
            })
        }));
    }
    calls
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
