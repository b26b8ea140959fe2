//! The deepest call path from each function.

use cuweld_elf::target::attributes as code;
use cuweld_ir::LinkSymbolId;
use cuweld_ir::Module;
use cuweld_ir::table::EntityId;
use foldhash::fast::FixedState;
use hashbrown::HashMap;

use super::Analyses;
use super::Analysis;
use super::CallGraph;
use super::words_of_functions;

/// The deepest call path through each component of the call graph, of a module whose attribute
/// lists are merged. Linear in the graph.
#[derive(PartialEq, Eq)]
pub(crate) struct DeepestStack {
    frames: HashMap<LinkSymbolId, u32, FixedState>,
    deepest: Vec<Deepest>,
}

/// The deepest call path through a component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Deepest {
    /// Bytes of stack; `None` with recursion, and where the compiler does not know its own
    /// [whole-kernel-unknown-stack].
    pub(crate) bytes: Option<u32>,
    /// The component that the path goes on with.
    pub(crate) next: Option<usize>,
}

impl Analysis for DeepestStack {
    fn compute(module: &Module<'_>, analyses: &Analyses) -> Self {
        let graph = analyses.get::<CallGraph>(module);
        let components = graph.components();
        let needed = words_of_functions(module, code::MIN_STACK_SIZE);
        let is_unknown = |node: &u32| {
            let link = graph.link_symbol(*node);
            link.is_some_and(|link| needed.get(&link) == Some(&u32::MAX))
        };
        let mut stack = DeepestStack {
            frames: words_of_functions(module, code::FRAME_SIZE),
            deepest: Vec::with_capacity(components.len()),
        };
        for (index, members) in components.iter().enumerate() {
            let deepest = |component: usize| stack.deepest[component];
            let next = members
                .iter()
                .flat_map(|node| graph.successors(*node))
                .map(|node| components.of_node[node as usize] as usize)
                .filter(|next| *next < index)
                // Recursion is deeper than all that ends.
                .max_by_key(|next| (deepest(*next).bytes.is_none(), deepest(*next).bytes));
            let below = next.map_or(Some(0), |next| deepest(next).bytes);
            let own = members.iter().map(|node| stack.frame(graph, *node));
            let own = own.max().unwrap_or(0);
            let is_cyclic = components.cyclic.get(index) == Some(&true);
            let bytes = match is_cyclic || members.iter().any(is_unknown) {
                true => None,
                false => below.map(|below| below.saturating_add(own)),
            };
            stack.deepest.push(Deepest { bytes, next });
        }
        stack
    }

    fn equals(&self, other: &Self) -> Option<bool> {
        Some(self == other)
    }
}

impl DeepestStack {
    /// Returns the bytes of stack that a node needs by itself.
    pub(crate) fn frame(&self, graph: &CallGraph, node: u32) -> u32 {
        let link = graph.link_symbol(node);
        link.and_then(|link| self.frames.get(&link).copied())
            .unwrap_or(0)
    }

    /// Returns the component of a function.
    pub(crate) fn component(graph: &CallGraph, id: LinkSymbolId) -> usize {
        graph.components().of_node[id.index()] as usize
    }

    /// Returns the components of the deepest call path from one.
    pub(crate) fn path(&self, first: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(first), |component| self.deepest[*component].next)
    }

    /// Returns `true` if the deepest call path from a component leads to a recursion.
    pub(crate) fn recurses(&self, graph: &CallGraph, first: usize) -> bool {
        let cyclic = &graph.components().cyclic;
        self.path(first)
            .any(|component| cyclic.get(component) == Some(&true))
    }

    /// Returns the deepest call path through a component.
    pub(crate) fn of(&self, component: usize) -> Deepest {
        self.deepest[component]
    }
}
