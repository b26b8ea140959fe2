//! Kernels whose section of shared memory is made late: those that options leave out, and that have
//! no shared variables of their own [left-out-shared-late].
//!
//! What makes the section is a variable that the kernel uses, or its dynamic shared memory, when
//! that is laid out. Sections that a variable makes have the alignment of slots, others not.

use cuweld_ir::FunctionId;
use cuweld_ir::LinkSymbolId;
use cuweld_ir::Module;
use cuweld_ir::SymbolPlace;
use cuweld_ir::table::EntityId;
use foldhash::fast::FixedState;
use hashbrown::HashMap;

use super::empty_sections::EmptySections;
use super::list_sort::list_sort;
use super::shared_uses::Uses;
use super::shared_uses::shared_references;
use super::shared_variables::Variable;
use super::shared_variables::by_kernel;
use crate::analyses::Analyses;
use crate::analyses::CallGraph;
use crate::analyses::HostKernels;
use crate::analyses::LiveFunctions;
use crate::analyses::reachers;

/// Returns which of the live kernels have a section that is made late.
pub(super) fn late(module: &Module<'_>, live: &LiveFunctions, host: &HostKernels) -> Vec<bool> {
    let kernels = live.kernels.iter();
    if !host.are_of_options || !host.leave_out {
        return kernels.map(|_| false).collect();
    }
    let has_variables = with_variables(module);
    let empty = EmptySections::new(module);
    let is_late = |(link, function): &(LinkSymbolId, FunctionId)| {
        let first = module.link_symbols[*link].first;
        // [referenced-kernels-early]
        let is_referenced_first = module.symbols[first].is_undefined();
        !has_variables[function.index()]
            && !host.contains(*link)
            && !is_referenced_first
            && empty.of(*link).is_none()
    };
    kernels.map(is_late).collect()
}

/// Returns the kernels with such sections in the order in which these are made: variable by
/// variable, those that one kernel uses first, dynamic shared memory of all names last. Of each the
/// functions in the order of their references, of each function the kernels that reach it, last
/// created first.
///
/// References times the kernels that reach them.
pub(crate) fn late_order(
    module: &Module<'_>,
    analyses: &Analyses,
) -> Vec<(LinkSymbolId, FunctionId)> {
    let host = analyses.get::<HostKernels>(module);
    let mut order = Vec::new();
    if !host.are_of_options || !host.leave_out {
        return order;
    }
    let live = analyses.get::<LiveFunctions>(module);
    let mut waits = late(module, live, host);
    if !waits.contains(&true) {
        return order;
    }
    let graph = analyses.get::<CallGraph>(module);
    let uses = Uses::new(module, graph, live);
    let (_, common) = by_kernel(module, &uses, &live.kernels);
    let sorted = list_sort(&common, &mut |a, b| a.size > b.size);
    let of_one = |variable: &&Variable| uses.of(variable.link).len() == 1;
    let (single, shared): (Vec<_>, Vec<_>) = sorted
        .iter()
        .filter(|variable| !module.began_dynamic(variable.link))
        .filter(|variable| uses.referenced[variable.link.index()])
        .partition(of_one);
    let references = References::new(module);
    let sized = single.iter().chain(&shared);
    let sized = sized.flat_map(|variable: &&Variable| references.of(variable.link));
    let functions = sized.chain(&references.dynamic);
    let kernels = reachers(module, graph, live, references.functions.iter().copied());
    for function in functions {
        for &kernel in kernels[*function as usize].iter().rev() {
            if std::mem::take(&mut waits[kernel as usize]) {
                order.push(live.kernels[kernel as usize]);
            }
        }
    }
    order
}

/// The live functions that refer to shared memory, in the order of their references.
#[derive(Default)]
struct References {
    functions: Vec<LinkSymbolId>,
    /// Those that refer to each variable, by index.
    of: HashMap<LinkSymbolId, Vec<u32>, FixedState>,
    /// Those that refer to dynamic shared memory.
    dynamic: Vec<u32>,
}

impl References {
    fn new(module: &Module<'_>) -> Self {
        let mut references = References::default();
        let mut number_of = HashMap::with_hasher(FixedState::default());
        for (owner, variable) in shared_references(module) {
            let link = module.symbols[module.functions[owner].symbol].link;
            let Some(function) = link.filter(|_| module.is_function_live(owner)) else {
                continue;
            };
            let number = *number_of.entry(function).or_insert_with(|| {
                references.functions.push(function);
                references.functions.len() as u32 - 1
            });
            match module.is_dynamic_shared(variable) {
                true => references.dynamic.push(number),
                false => references.of.entry(variable).or_default().push(number),
            }
        }
        references
    }

    fn of(&self, variable: LinkSymbolId) -> &[u32] {
        self.of.get(&variable).map_or(&[], Vec::as_slice)
    }
}

/// Returns which functions have shared variables of their own, by function.
fn with_variables(module: &Module<'_>) -> Vec<bool> {
    let mut found = vec![false; module.functions.len()];
    for symbol in module.symbols.values() {
        if let SymbolPlace::Section(section) = symbol.place
            && symbol.is_shared()
            && let Some(owner) = module.sections[section].owner
        {
            found[owner.index()] = true;
        }
    }
    found
}
