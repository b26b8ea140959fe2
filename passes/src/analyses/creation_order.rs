//! The order in which nvlink creates functions, which decides most orders of the output
//! [creation-order].

use cuweld_elf::behaviours;
use cuweld_elf::symbol::Binding;
use cuweld_ir::FunctionId;
use cuweld_ir::LinkSymbolId;
use cuweld_ir::Module;
use cuweld_ir::SymbolId;
use cuweld_ir::table::EntityId;
use foldhash::fast::FixedState;
use hashbrown::HashMap;

use super::Analyses;
use super::Analysis;
use super::CallGraph;
use super::HostKernels;
use super::aliases_before_functions;

/// The functions that the output keeps; asked for once it is known which.
#[derive(Debug, PartialEq, Eq)]
pub struct LiveFunctions {
    /// In order of creation.
    pub functions: Vec<LinkSymbolId>,
    /// The copies of them that are linked; `None` for what is defined nowhere.
    pub copies: Vec<Option<FunctionId>>,
    /// The kernels among them, with their copies, in order of their first definitions
    /// [kernels-in-order-of-definition].
    pub kernels: Vec<(LinkSymbolId, FunctionId)>,
    /// The same in order of creation.
    pub created_kernels: Vec<(LinkSymbolId, FunctionId)>,
    /// The kernel that nvlink takes for the only one of the link: the only live one or, where it is
    /// known which ones host code refers to, the only one of these. What others reach, which stay
    /// because their address is taken, counts for nothing then.
    pub only_kernel: Option<LinkSymbolId>,
    /// Which kernels get what they reach, by resolved symbol.
    reaching: Vec<bool>,
}

impl Analysis for LiveFunctions {
    fn compute(module: &Module<'_>, analyses: &Analyses) -> Self {
        let functions = functions_in_creation_order(module);
        let mut copies = Vec::with_capacity(functions.len());
        let mut kernels = Vec::new();
        for link in &functions {
            let copy = module.link_function(*link);
            if let Some(copy) = copy
                && module.symbols[module.functions[copy].symbol].is_entry()
            {
                kernels.push((*link, copy));
            }
            copies.push(copy);
        }
        let created_kernels = kernels.clone();
        sort_by_definition(module, &mut kernels);
        let host = analyses.get::<HostKernels>(module);
        let only_kernel = match (host.leave_out, kernels.as_slice()) {
            (true, _) => host.only,
            (false, [(only, _)]) => Some(*only),
            _ => None,
        };
        // Where names decide, other kernels only stay because their address is taken.
        let mut is_launched = vec![!host.leave_out || host.decide; module.link_symbols.len()];
        if is_launched.contains(&false) && only_kernel.is_none() {
            for kernel in analyses.get::<CallGraph>(module).kernels_by_address(module) {
                is_launched[kernel.index()] = true;
            }
        }
        let reaches = |link: LinkSymbolId| match only_kernel {
            Some(only) => only == link,
            None => host.contains(link) || is_launched[link.index()],
        };
        let reaching = module.link_symbols.ids().map(reaches).collect();
        LiveFunctions {
            functions,
            copies,
            kernels,
            created_kernels,
            only_kernel,
            reaching,
        }
    }

    fn equals(&self, other: &Self) -> Option<bool> {
        Some(self == other)
    }
}

impl LiveFunctions {
    /// Returns `true` if a kernel gets what it reaches.
    pub fn reaches(&self, kernel: LinkSymbolId) -> bool {
        self.reaching[kernel.index()]
    }

    /// Returns the kernels that get what they reach, in order of creation.
    pub fn reaching_kernels(&self) -> impl Iterator<Item = (LinkSymbolId, FunctionId)> {
        let kernels = self.created_kernels.iter().copied();
        kernels.filter(|(link, _)| self.reaches(*link))
    }

    /// Returns the functions that are defined, with their definitions.
    pub fn defined(&self) -> impl Iterator<Item = (LinkSymbolId, FunctionId)> {
        let copies = self.functions.iter().zip(&self.copies);
        copies.filter_map(|(link, copy)| Some((*link, (*copy)?)))
    }
}

/// Sorts kernels by their first definitions: that an object before refers to one does not count
/// [kernels-in-order-of-definition].
fn sort_by_definition(module: &Module<'_>, kernels: &mut [(LinkSymbolId, FunctionId)]) {
    let first = |link: LinkSymbolId| module.link_symbols[link].first;
    let is_referenced_first = |&(link, _): &_| module.symbols[first(link)].is_undefined();
    if !kernels.iter().any(is_referenced_first) {
        return;
    }
    let mut definitions = HashMap::with_hasher(FixedState::default());
    for (id, symbol) in module.symbols.iter() {
        let counts = symbol.is_function()
            && !symbol.is_undefined()
            && module.objects[symbol.object].state.is_included();
        if let Some(link) = symbol.link.filter(|_| counts) {
            definitions.entry(link).or_insert(id);
        }
    }
    kernels.sort_by_key(|(link, _)| definitions.get(link).copied());
}

/// Returns the live functions of the link in order of creation, defined or not.
fn functions_in_creation_order(module: &Module<'_>) -> Vec<LinkSymbolId> {
    let mut order = all_functions_in_creation_order(module);
    order.retain(|link| module.link_symbols[*link].live.is_live());
    order
}

/// Returns `true` if local symbols of an object are created before its others [locals-first].
pub fn creates_locals_first(module: &Module<'_>) -> bool {
    module.toolkit.has(&behaviours::symbols::LOCALS_FIRST) && module.is_capmerc()
}

/// Returns the functions of the link in order of creation, live or not: object by object, functions
/// in symbol table order, each at its first appearance. A function whose alias precedes it in its
/// object comes right before the alias [function-aliases].
pub fn all_functions_in_creation_order(module: &Module<'_>) -> Vec<LinkSymbolId> {
    let first = |link: &LinkSymbolId| module.link_symbols[*link].first;
    let is_function = |link: &LinkSymbolId| {
        let symbol = &module.symbols[first(link)];
        symbol.is_function()
            && symbol.link == Some(*link)
            && module.objects[symbol.object].state.is_included()
    };
    // What names stand for is made in this order, object by object; a text may say otherwise.
    let mut order: Vec<LinkSymbolId> = module.link_symbols.ids().filter(is_function).collect();
    let preceded = preceded_by_aliases(module);
    if !preceded.is_empty() {
        let place = |link: &LinkSymbolId| match preceded.get(link) {
            Some(alias) if *alias < first(link) => (*alias, false),
            _ => (first(link), true),
        };
        order.sort_by_key(place);
    } else if creates_locals_first(module) {
        order.sort_by_key(|link| {
            let symbol = &module.symbols[first(link)];
            (symbol.object, symbol.bind != Binding::LOCAL, first(link))
        });
    } else if !order.is_sorted_by_key(first) {
        order.sort_by_key(first);
    }
    order
}

/// Returns the functions that come after an alias of theirs in their object, each with the first
/// such alias that is live.
fn preceded_by_aliases(module: &Module<'_>) -> HashMap<LinkSymbolId, SymbolId, FixedState> {
    let mut preceded = HashMap::with_hasher(FixedState::default());
    for (alias, function) in aliases_before_functions(module) {
        let [alias, function] = [alias, function].map(|id| module.functions[id].symbol);
        let is_live = |link: LinkSymbolId| module.link_symbols[link].live.is_live();
        if module.symbols[alias].link.is_some_and(is_live)
            && let Some(function) = module.symbols[function].link
        {
            preceded.entry(function).or_insert(alias);
        }
    }
    preceded
}
