//! Calls, and addresses of functions.

use cuweld_ir::CallKind;
use cuweld_ir::LinkSymbolId;
use cuweld_ir::table::EntityId;

use super::Check;
use super::Link;
use crate::analyses::CallGraph;

/// Checks `call-target` and `address-taken`: what can run is part of the output, and so is what an
/// indirect call may reach.
pub(super) fn check(link: &Link<'_, '_>, graph: &CallGraph, check: &mut Check) {
    for (index, (is_live, runs)) in link.states.iter().zip(&link.running).enumerate() {
        if *runs && !is_live.is_live() {
            let lost = LinkSymbolId::new(index);
            let caller = caller(link, graph, lost);
            let what = format!(
                "{caller} calls {}, which is not in the output",
                link.quoted(lost)
            );
            check.report("call-target", what);
        }
    }
    // After the resolved symbols are prototypes, which point at the functions whose address is
    // taken.
    for prototype in link.states.len()..graph.node_count() {
        for taken in graph.successors(prototype as u32) {
            if let Some(taken) = graph.link_symbol(taken)
                && !link.is_live(taken)
            {
                let what = format!("{} is not in the output", link.quoted(taken));
                check.report("address-taken", what);
            }
        }
    }
}

/// Returns the name of a function that runs and calls `callee`.
#[cold]
fn caller(link: &Link<'_, '_>, graph: &CallGraph, callee: LinkSymbolId) -> String {
    let direct = graph.calls(link.module).find_map(|call| {
        let from = link.of(call.from)?;
        let calls = call.kind == CallKind::Direct && link.of(call.to) == Some(callee);
        (calls && link.running[from.index()]).then_some(from)
    });
    direct.map_or("an indirect call".to_owned(), |from| link.quoted(from))
}
