//! Which kernels reach which functions.

use cuweld_ir::LinkSymbolId;
use cuweld_ir::Module;
use cuweld_ir::table::EntityId;

use super::CallGraph;
use super::LiveFunctions;

/// Returns for each of the given functions the ordinals of the live kernels that reach it,
/// ascending. A kernel reaches itself, and a kernel other than the [only
/// one](LiveFunctions::only_kernel) nothing else.
///
/// Each component of the call graph holds the sorted list of the given functions that it reaches,
/// so the work is bounded by the size of these lists: only functions that carry the data in
/// question (shared variables, constants) should be given.
pub fn reachers(
    module: &Module<'_>,
    graph: &CallGraph,
    live: &LiveFunctions,
    functions: impl Iterator<Item = LinkSymbolId>,
) -> Vec<Vec<u32>> {
    let mut index_of = vec![u32::MAX; module.link_symbols.len()];
    let mut count = 0u32;
    for function in functions {
        index_of[function.index()] = count;
        count += 1;
    }
    let mut users = vec![Vec::new(); count as usize];
    if count == 0 {
        return users;
    }
    let components = graph.components();
    let mut reached: Vec<Vec<u32>> = Vec::with_capacity(components.len());
    for (component, members) in components.iter().enumerate() {
        let mut list: Vec<u32> = Vec::new();
        for &node in members {
            if let Some(link) = graph.link_symbol(node)
                && index_of[link.index()] != u32::MAX
            {
                list.push(index_of[link.index()]);
            }
            for successor in graph.successors(node) {
                let next = components.of_node[successor as usize] as usize;
                if next != component {
                    list.extend_from_slice(&reached[next]);
                }
            }
        }
        list.sort_unstable();
        list.dedup();
        reached.push(list);
    }
    for (ordinal, (link, _)) in live.kernels.iter().enumerate() {
        if !live.reaches(*link) {
            if let Some(own) = users.get_mut(index_of[link.index()] as usize) {
                own.push(ordinal as u32);
            }
            continue;
        }
        let component = components.of_node[link.index()] as usize;
        for function in &reached[component] {
            users[*function as usize].push(ordinal as u32);
        }
    }
    users
}
