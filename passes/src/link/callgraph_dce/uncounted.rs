//! Functions that tables name and nvlink leaves out (deviation D16).
//!
//! nvlink counts the addresses that the object of the prevailing definition takes
//! [dead-functions-in-data]. A weak function whose address only an object of a discarded definition
//! takes is unreachable for it, and 0 in that object's tables, even if a kernel calls it by one.

use cuweld_ir::CallKind;
use cuweld_ir::LinkSymbolId;
use cuweld_ir::Liveness;
use cuweld_ir::Module;
use cuweld_ir::Object;
use cuweld_ir::ObjectId;
use cuweld_ir::Section;
use cuweld_ir::SectionInfo;
use cuweld_ir::SectionKind;
use cuweld_ir::table::EntityId;

use crate::analyses::Analyses;
use crate::analyses::Analysis;
use crate::analyses::CallGraph;
use crate::analyses::Meanings;

/// A function that stays, and the object whose data has its address.
pub(super) type Kept = (LinkSymbolId, ObjectId);

/// Marks the functions that `roots` can call by the address that data has of them, and that are not
/// `reached` otherwise. Returns them with the call graph that counts these addresses, if there are
/// any.
pub(super) fn keep(
    module: &mut Module<'_>,
    analyses: &Analyses,
    roots: &[LinkSymbolId],
    reached: &[bool],
) -> Option<(Vec<Kept>, CallGraph)> {
    let mut named = named_in_data(module, analyses, reached);
    if named.is_empty() {
        return None;
    }
    // All of them count first: some are called by others alone.
    for (function, _) in &named {
        module.link_symbols[*function].live = Liveness::ByAddress;
    }
    let called = CallGraph::compute(module, analyses).reach(roots.iter().copied());
    named.retain(|(function, _)| {
        let is_called = called[function.index()];
        if !is_called {
            module.link_symbols[*function].live = Liveness::Unknown;
        }
        is_called
    });
    if named.is_empty() {
        return None;
    }
    let graph = CallGraph::compute(module, analyses);
    Some((named, graph))
}

/// Returns the device functions that are not reached and whose address is taken in data.
fn named_in_data(module: &Module<'_>, analyses: &Analyses, reached: &[bool]) -> Vec<Kept> {
    let mut is_taken = vec![false; module.link_symbols.len()];
    let mut any = false;
    for (_, object) in module.included_objects() {
        for call in &module.calls[object.calls] {
            if call.kind == CallKind::AddressTaken
                && let Some(symbol) = call.from.symbol()
                && let Some(function) = module.symbols[symbol].link
                && let Some(definition) = module.link_symbols[function].definition
                && !reached[function.index()]
                && !module.symbols[definition].is_entry()
            {
                is_taken[function.index()] = true;
                any = true;
            }
        }
    }
    let mut named = Vec::new();
    if any {
        for (id, object) in module.included_objects() {
            for function in functions_in_data(module, analyses.get(module), object) {
                if std::mem::take(&mut is_taken[function.index()]) {
                    named.push((function, id));
                }
            }
        }
    }
    named
}

/// Returns what the rows of an object's data refer to, but for constants of functions.
fn functions_in_data<'m>(
    module: &'m Module<'_>,
    meanings: &'m Meanings,
    object: &Object<'_>,
) -> impl Iterator<Item = LinkSymbolId> + 'm {
    let is_data = |section: &Section<'_>| {
        let is_debug = matches!(section.kind, SectionKind::Debug | SectionKind::MercuryDebug);
        !is_debug && section.owner.is_none()
    };
    let sections = object.sections.iter().map(|id| &module.sections[id]);
    let of_data = sections.filter(move |section| match section.info {
        SectionInfo::Section(patched) => is_data(&module.sections[patched]),
        _ => false,
    });
    let rows = of_data.flat_map(|section| &module.relocs[section.relocs]);
    rows.filter_map(|row| meanings.link(row.target.symbol()?))
}
