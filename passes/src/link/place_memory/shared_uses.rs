//! Which kernels use which shared variables.

use cuweld_ir::Fate;
use cuweld_ir::FunctionId;
use cuweld_ir::LinkSymbolId;
use cuweld_ir::Module;
use cuweld_ir::SectionInfo;
use cuweld_ir::SectionKind;
use cuweld_ir::table::EntityId;

use crate::analyses::CallGraph;
use crate::analyses::LiveFunctions;
use crate::analyses::reachers;

/// Which kernels use which shared variables, through the functions that they reach.
pub(crate) struct Uses {
    /// Whether there are shared variables at all.
    pub(super) any: bool,
    /// Kernel ordinals by resolved symbol, sorted.
    pub(super) kernels: Vec<Vec<u32>>,
    /// Whether any chosen copy, dead or alive, refers to it, by resolved symbol.
    pub(super) referenced: Vec<bool>,
    /// References to it of functions that are live, by resolved symbol.
    pub(super) references: Vec<u32>,
    /// Whether each kernel uses dynamic shared memory.
    pub(super) dynamic: Vec<bool>,
    /// Functions that refer to dynamic shared memory, with the kernels that reach them.
    pub(super) dynamic_functions: Vec<(LinkSymbolId, Vec<u32>)>,
}

impl Uses {
    /// Returns the uses of a link without shared variables.
    pub(super) fn none(kernels: usize) -> Self {
        Uses {
            any: false,
            kernels: Vec::new(),
            referenced: Vec::new(),
            references: Vec::new(),
            dynamic: vec![false; kernels],
            dynamic_functions: Vec::new(),
        }
    }

    pub(crate) fn new(module: &Module<'_>, graph: &CallGraph, live: &LiveFunctions) -> Self {
        // Pairs of the function that refers to a shared variable, and the variable.
        let mut pairs: Vec<(LinkSymbolId, LinkSymbolId)> = Vec::new();
        let mut referenced = vec![false; module.link_symbols.len()];
        let mut references = vec![0u32; module.link_symbols.len()];
        for (owner, variable) in shared_references(module) {
            referenced[variable.index()] |= module.functions[owner].fate == Fate::Prevailing;
            if module.is_function_live(owner)
                && let Some(function) = module.symbols[module.functions[owner].symbol].link
            {
                pairs.push((function, variable));
                references[variable.index()] += 1;
            }
        }
        pairs.sort_unstable();
        pairs.dedup();
        let mut functions: Vec<LinkSymbolId> =
            pairs.iter().map(|(function, _)| *function).collect();
        functions.dedup();
        let reachers = reachers(module, graph, live, functions.iter().copied());
        let mut users: Vec<Vec<u32>> = vec![Vec::new(); module.link_symbols.len()];
        for (function, variable) in &pairs {
            if let Ok(index) = functions.binary_search(function) {
                users[variable.index()].extend_from_slice(&reachers[index]);
            }
        }
        for list in &mut users {
            list.sort_unstable();
            list.dedup();
        }
        let mut dynamic = vec![false; live.kernels.len()];
        let mut dynamic_functions: Vec<(LinkSymbolId, Vec<u32>)> = Vec::new();
        for (function, variable) in &pairs {
            let known = dynamic_functions
                .last()
                .is_some_and(|(last, _)| last == function);
            if !module.is_dynamic_shared(*variable) || known {
                continue;
            }
            if let Ok(index) = functions.binary_search(function) {
                for kernel in &reachers[index] {
                    dynamic[*kernel as usize] = true;
                }
                dynamic_functions.push((*function, reachers[index].clone()));
            }
        }
        Uses {
            any: true,
            kernels: users,
            referenced,
            references,
            dynamic,
            dynamic_functions,
        }
    }

    /// Returns the number of references that live code has to a variable.
    pub(super) fn references(&self, link: LinkSymbolId) -> u32 {
        self.references[link.index()]
    }

    /// Returns the kernels that use a variable, by ordinal.
    /// The number is a kernel's place in [`LiveFunctions::kernels`].
    pub(crate) fn of(&self, link: LinkSymbolId) -> &[u32] {
        &self.kernels[link.index()]
    }
}

/// Returns the shared variables that no code refers to, in order of names. A copy counts that is
/// linked or was left out as dead.
pub(crate) fn unreferenced(module: &Module<'_>) -> Vec<LinkSymbolId> {
    let mut referenced = vec![false; module.link_symbols.len()];
    for (owner, variable) in shared_references(module) {
        referenced[variable.index()] |= module.functions[owner].fate == Fate::Prevailing;
    }
    let is_unreferenced = |link: &LinkSymbolId| {
        let first = module.link_symbols[*link].first;
        module.symbols[first].is_shared()
            && !module.is_dynamic_shared(*link)
            && !referenced[link.index()]
    };
    module.link_symbols.ids().filter(is_unreferenced).collect()
}

/// Returns the references of code to shared variables, in the order of their rows: the copy of the
/// function and the variable.
pub(super) fn shared_references(
    module: &Module<'_>,
) -> impl Iterator<Item = (FunctionId, LinkSymbolId)> {
    module.relocs.values().filter_map(|reloc| {
        let row = &module.symbols[reloc.target.symbol()?];
        let section = &module.sections[reloc.section];
        let (true, Some(variable), Some(owner), SectionInfo::Section(target)) =
            (row.is_shared(), row.link, section.owner, section.info)
        else {
            return None;
        };
        let is_code = module.sections[target].kind == SectionKind::Text;
        is_code.then_some((owner, variable))
    })
}
