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
use std::collections::VecDeque;

use cuweld_ir::CallId;
use cuweld_ir::CallKind;
use cuweld_ir::CallRecord;
use cuweld_ir::LinkSymbolId;
use cuweld_ir::Module;
use cuweld_ir::SymbolRef;
use cuweld_ir::table::EntityId;
use foldhash::fast::FixedState;
use hashbrown::HashMap;

use super::Analyses;
use super::Analysis;
use super::components::Components;
use super::components::Graph;
use super::counting_call_ids;
use super::prototypes::Prototypes;

/// The call graph of a resolved module. Node `i` is resolved symbol `i` for `i < link_symbols`;
/// prototypes follow.
#[derive(Debug, PartialEq, Eq)]
pub struct CallGraph {
    graph: Graph,
    link_symbols: usize,
    components: Components,
    calls: Vec<CallId>,
}

impl Analysis for CallGraph {
    fn compute(module: &Module<'_>, _: &Analyses) -> Self {
        let link_symbols = module.link_symbols.len();
        let mut edges = Vec::with_capacity(module.calls.len());
        let prototypes = OnceCell::new();
        let mut classes: HashMap<&[u8], u32, FixedState> = HashMap::default();
        let calls = counting_call_ids(module);
        for id in &calls {
            let call = &module.calls[*id];
            let Some(from) = node(module, call.from) else {
                continue;
            };
            match call.kind {
                CallKind::Direct => {
                    if let Some(to) = node(module, call.to) {
                        edges.push((from, to));
                    }
                }
                // Taking an address calls nothing: nvlink propagates neither registers nor stack
                // nor liveness along these rows.
                CallKind::TakesAddress => {}
                CallKind::AddressTaken | CallKind::Indirect => {
                    let taken = call.kind == CallKind::AddressTaken;
                    let link = LinkSymbolId::new(from as usize);
                    let known = || prototypes.get_or_init(|| Prototypes::new(module)).get(link);
                    let prototype = taken.then(known).flatten();
                    let next = (link_symbols + classes.len()) as u32;
                    let class = *classes
                        .entry(prototype.unwrap_or(call.prototype))
                        .or_insert(next);
                    edges.push(match taken {
                        true => (class, from),
                        false => (from, class),
                    });
                }
            }
        }
        let graph = Graph::new(link_symbols + classes.len(), &edges);
        let components = Components::new(&graph);
        CallGraph {
            graph,
            link_symbols,
            components,
            calls,
        }
    }

    fn equals(&self, other: &Self) -> Option<bool> {
        Some(self == other)
    }
}

impl CallGraph {
    /// Returns the rows that count, in input order.
    pub fn calls<'m, 'data>(
        &self,
        module: &'m Module<'data>,
    ) -> impl Iterator<Item = &'m CallRecord<'data>> {
        self.calls.iter().map(|id| &module.calls[*id])
    }

    /// Returns the defined kernels whose address is taken.
    pub fn kernels_by_address(&self, module: &Module<'_>) -> Vec<LinkSymbolId> {
        let calls = self.calls(module);
        let taken = calls.filter(|call| call.kind == CallKind::AddressTaken);
        let kernels = taken.filter_map(|call| {
            let link = module.symbols[call.from.symbol()?].link?;
            let definition = module.link_symbols[link].definition?;
            module.symbols[definition].is_entry().then_some(link)
        });
        kernels.collect()
    }

    /// Returns the components.
    pub fn components(&self) -> &Components {
        &self.components
    }

    /// Returns the number of nodes, prototypes included.
    pub fn node_count(&self) -> usize {
        self.graph.len()
    }

    /// Returns the resolved symbol of a node; `None` for prototypes.
    pub fn link_symbol(&self, node: u32) -> Option<LinkSymbolId> {
        let index = node as usize;
        (index < self.link_symbols).then(|| LinkSymbolId::new(index))
    }

    /// Returns the nodes that a node points at.
    pub fn successors(&self, node: u32) -> impl Iterator<Item = u32> {
        self.graph.successors(node).iter().copied()
    }

    /// Returns the nodes on a shortest call path from one of some functions to another, both ends
    /// included; `None` if there is none. Of paths of one length that from the earliest root is
    /// taken. Calls by address go through the node of a prototype.
    pub fn path(
        &self,
        roots: impl IntoIterator<Item = LinkSymbolId>,
        to: LinkSymbolId,
    ) -> Option<Vec<u32>> {
        let from = self.origins(roots);
        let mut path = vec![to.index_u32()];
        while let Some(&last) = path.last() {
            match from[last as usize]? {
                origin if origin == last => break,
                origin => path.push(origin),
            }
        }
        path.reverse();
        Some(path)
    }

    /// Returns for each node that some functions reach the node before it on a shortest call path; a
    /// root is its own origin.
    pub fn origins(&self, roots: impl IntoIterator<Item = LinkSymbolId>) -> Vec<Option<u32>> {
        let mut from: Vec<Option<u32>> = vec![None; self.graph.len()];
        let mut waiting = VecDeque::new();
        for root in roots {
            let node = root.index_u32();
            from[node as usize] = Some(node);
            waiting.push_back(node);
        }
        while let Some(node) = waiting.pop_front() {
            for next in self.successors(node) {
                if from[next as usize].is_none() {
                    from[next as usize] = Some(node);
                    waiting.push_back(next);
                }
            }
        }
        from
    }

    /// Marks every node that can be reached from the given ones, themselves included.
    pub fn reach(&self, roots: impl IntoIterator<Item = LinkSymbolId>) -> Vec<bool> {
        let mut reached = vec![false; self.graph.len()];
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
    /// Marks every node that can reach one that is marked by its resolved symbol, itself included.
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

fn node(module: &Module<'_>, reference: SymbolRef) -> Option<u32> {
    let link = module.symbols[reference.symbol()?].link?;
    Some(link.index_u32())
}
