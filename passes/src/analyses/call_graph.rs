//! The call graph over link symbols, and its strongly connected components.
//!
//! Nodes are link symbols and, for indirect calls, one node per prototype: a caller points at the
//! prototype, the prototype at every function of it whose address is taken. So a table of N
//! functions and M indirect callers costs N + M edges, not N * M.
//!
//! Every question that kernels ask of what they reach (largest, any, deepest) is answered in one
//! walk over the components, callees first, never by walking paths. Time and memory are linear in
//! nodes plus edges.

use std::cell::OnceCell;

use cuweld_ir::CallId;
use cuweld_ir::CallKind;
use cuweld_ir::CallRecord;
use cuweld_ir::LinkSymbolId;
use cuweld_ir::Module;
use cuweld_ir::SymbolRef;
use cuweld_ir::table::EntityId;
use foldhash::fast::FixedState;
use hashbrown::HashMap;
use petgraph::graph::DiGraph;
use petgraph::graph::NodeIndex;

use super::Analyses;
use super::Analysis;
use super::counting_call_ids;
use super::prototypes::Prototypes;

/// The call graph of a resolved module. Node `i` is link symbol `i` for `i < link_symbols`; prototypes follow.
#[derive(Debug)]
pub struct CallGraph {
    graph: DiGraph<(), ()>,
    link_symbols: usize,
    components: Components,
    calls: Vec<CallId>,
}

/// Strongly connected components in order of completion: callees before callers.
#[derive(Debug, Default)]
pub struct Components {
    /// The component of each node.
    pub of_node: Vec<u32>,
    /// Whether the component has a cycle: more than one node, or a call to itself.
    pub cyclic: Vec<bool>,
    /// The nodes, component by component.
    nodes: Vec<u32>,
    /// Where the nodes of each component end.
    ends: Vec<u32>,
}

impl Components {
    /// Number of components.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no component.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The nodes of a component.
    pub fn nodes(&self, component: usize) -> &[u32] {
        let end = |component: usize| self.ends.get(component).map_or(0, |end| *end as usize);
        let start = component.checked_sub(1).map_or(0, end);
        self.nodes.get(start..end(component)).unwrap_or(&[])
    }

    /// The nodes of each component, callees first.
    pub fn iter(&self) -> impl Iterator<Item = &[u32]> {
        (0..self.len()).map(|component| self.nodes(component))
    }
}

impl Analysis for CallGraph {
    fn compute(module: &Module<'_>, _: &Analyses) -> Self {
        let link_symbols = module.link_symbols.len();
        let mut graph = DiGraph::with_capacity(link_symbols, module.calls.len());
        for _ in 0..link_symbols {
            graph.add_node(());
        }
        let prototypes = OnceCell::new();
        let mut classes: HashMap<&[u8], NodeIndex, FixedState> = HashMap::default();
        let calls = counting_call_ids(module);
        for id in &calls {
            let call = &module.calls[*id];
            let Some(from) = node(module, call.from) else {
                continue;
            };
            match call.kind {
                CallKind::Direct => {
                    if let Some(to) = node(module, call.to) {
                        graph.add_edge(from, to, ());
                    }
                }
                // Taking an address calls nothing: nvlink propagates neither registers nor stack nor
                // liveness along these rows.
                CallKind::TakesAddress => {}
                CallKind::AddressTaken | CallKind::Indirect => {
                    let taken = call.kind == CallKind::AddressTaken;
                    let link = LinkSymbolId::new(from.index());
                    let known = || prototypes.get_or_init(|| Prototypes::new(module)).get(link);
                    let prototype = taken.then(known).flatten();
                    let class = *classes
                        .entry(prototype.unwrap_or(call.prototype))
                        .or_insert_with(|| graph.add_node(()));
                    if taken {
                        graph.add_edge(class, from, ());
                    } else {
                        graph.add_edge(from, class, ());
                    }
                }
            }
        }
        let components = Components::new(&graph);
        CallGraph {
            graph,
            link_symbols,
            components,
            calls,
        }
    }
}

impl CallGraph {
    /// The rows that count, in input order.
    pub fn calls<'m, 'data>(
        &self,
        module: &'m Module<'data>,
    ) -> impl Iterator<Item = &'m CallRecord<'data>> {
        self.calls.iter().map(|id| &module.calls[*id])
    }

    /// The components.
    pub fn components(&self) -> &Components {
        &self.components
    }

    /// Number of nodes, prototypes included.
    pub fn node_count(&self) -> usize {
        self.graph.node_count()
    }

    /// The link symbol of a node; `None` for prototypes.
    pub fn link_symbol(&self, node: u32) -> Option<LinkSymbolId> {
        let index = node as usize;
        (index < self.link_symbols).then(|| LinkSymbolId::new(index))
    }

    /// The nodes that a node points at.
    pub fn successors(&self, node: u32) -> impl Iterator<Item = u32> {
        self.graph
            .neighbors(NodeIndex::new(node as usize))
            .map(|node| node.index() as u32)
    }

    /// Marks every node that can be reached from the given ones, themselves included.
    pub fn reach(&self, roots: impl IntoIterator<Item = LinkSymbolId>) -> Vec<bool> {
        let mut reached = vec![false; self.graph.node_count()];
        let mut work: Vec<u32> = roots.into_iter().map(|root| root.index() as u32).collect();
        while let Some(node) = work.pop() {
            if std::mem::replace(&mut reached[node as usize], true) {
                continue;
            }
            work.extend(
                self.successors(node)
                    .filter(|next| !reached[*next as usize]),
            );
        }
        reached
    }
}

impl CallGraph {
    /// Marks every node that can reach one that is marked by its link symbol, itself included.
    pub fn reaching(&self, marked: &[bool]) -> Vec<bool> {
        let mut of_component: Vec<bool> = Vec::with_capacity(self.components.len());
        for members in self.components.iter() {
            let found = members.iter().any(|&node| {
                marked.get(node as usize).copied().unwrap_or(false)
                    || self.successors(node).any(|next| {
                        let component = self.components.of_node[next as usize] as usize;
                        of_component.get(component).copied().unwrap_or(false)
                    })
            });
            of_component.push(found);
        }
        let component_of = self.components.of_node.iter();
        component_of
            .map(|component| of_component[*component as usize])
            .collect()
    }
}

fn node(module: &Module<'_>, reference: SymbolRef) -> Option<NodeIndex> {
    let link = module.symbols[reference.symbol()?].link?;
    Some(NodeIndex::new(link.index()))
}

impl Components {
    fn new(graph: &DiGraph<(), ()>) -> Self {
        // Tarjan's algorithm completes a component after every component it points at. petgraph's
        // is iterative in effect on our graphs only for shallow ones, so the walk is written out
        // here with its own stack: call chains of 100,000 functions are legal input.
        let count = graph.node_count();
        let mut components = Components {
            of_node: vec![u32::MAX; count],
            cyclic: Vec::with_capacity(count),
            nodes: Vec::with_capacity(count),
            ends: Vec::with_capacity(count),
        };
        let mut order = vec![u32::MAX; count];
        let mut low = vec![u32::MAX; count];
        let mut next = 0;
        let mut open = Vec::new();
        let mut stack = Vec::new();
        for root in 0..count {
            if order[root] != u32::MAX {
                continue;
            }
            stack.push((root, graph.neighbors(NodeIndex::new(root))));
            (order[root], low[root]) = (next, next);
            next += 1;
            open.push(root);
            while let Some((node, successors)) = stack.last_mut() {
                let node = *node;
                if let Some(successor) = successors.next() {
                    let successor = successor.index();
                    if order[successor] == u32::MAX {
                        (order[successor], low[successor]) = (next, next);
                        next += 1;
                        open.push(successor);
                        stack.push((successor, graph.neighbors(NodeIndex::new(successor))));
                    } else if components.of_node[successor] == u32::MAX {
                        low[node] = low[node].min(order[successor]);
                    }
                    continue;
                }
                stack.pop();
                if let Some((parent, _)) = stack.last() {
                    low[*parent] = low[*parent].min(low[node]);
                }
                if low[node] == order[node] {
                    let id = components.ends.len() as u32;
                    let start = components.nodes.len();
                    while let Some(member) = open.pop() {
                        components.of_node[member] = id;
                        components.nodes.push(member as u32);
                        if member == node {
                            break;
                        }
                    }
                    let own = NodeIndex::new(node);
                    let end = components.nodes.len();
                    let is_cyclic = end - start > 1 || graph.contains_edge(own, own);
                    components.cyclic.push(is_cyclic);
                    components.ends.push(end as u32);
                }
            }
        }
        components
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn components(count: usize, edges: &[(u32, u32)]) -> Components {
        let mut graph = DiGraph::new();
        for _ in 0..count {
            graph.add_node(());
        }
        for (from, to) in edges {
            graph.add_edge(
                NodeIndex::new(*from as usize),
                NodeIndex::new(*to as usize),
                (),
            );
        }
        Components::new(&graph)
    }

    #[test]
    fn callees_complete_before_callers() {
        let found = components(5, &[(0, 1), (1, 2), (2, 1), (2, 3), (4, 4)]);
        assert_eq!(found.of_node[1], found.of_node[2]);
        assert!(found.of_node[3] < found.of_node[1] && found.of_node[1] < found.of_node[0]);
        let cyclic = |node: usize| found.cyclic[found.of_node[node] as usize];
        assert_eq!([0, 1, 3, 4].map(cyclic), [false, true, false, true]);
        let members: Vec<&[u32]> = found.iter().collect();
        assert_eq!(members, [&[3][..], &[2, 1], &[0], &[4]]);
    }

    #[test]
    fn a_chain_of_a_hundred_thousand_needs_no_stack() {
        let edges: Vec<_> = (0..99_999).map(|node| (node, node + 1)).collect();
        assert_eq!(components(100_000, &edges).len(), 100_000);
    }
}
