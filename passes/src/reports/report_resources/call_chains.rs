//! What decides a kernel's registers and stack: one walk over the call graph's components, callees
//! first.

use cuweld_ir::Module;
use cuweld_ir::table::EntityId;

use crate::analyses::CallGraph;

/// Of everything that a component reaches, what needs most, and where to go on towards it.
#[derive(Clone, Copy, Default)]
struct Reached {
    /// The node with the most registers, and how many these are.
    registers: u32,
    greediest: u32,
    /// Stack of the deepest chain in bytes.
    stack: u64,
    /// The callee on the deepest chain.
    next: Option<u32>,
}

/// What nodes of a call graph reach.
pub(super) struct CallChains<'a> {
    graph: &'a CallGraph,
    reached: Vec<Reached>,
}

impl<'a> CallChains<'a> {
    /// Computes the chains of a call graph. `frame` has the frame sizes in bytes by resolved
    /// symbol.
    pub(super) fn new(module: &Module<'_>, graph: &'a CallGraph, frame: &[u32]) -> Self {
        let components = graph.components();
        let mut reached: Vec<Reached> = Vec::with_capacity(components.len());
        for nodes in components.iter() {
            let mut best = Reached::default();
            let mut own = 0;
            for &node in nodes {
                if let Some(link) = graph.link_symbol(node) {
                    let registers = module
                        .link_function(link)
                        .map_or(0, |function| module.functions[function].registers);
                    if registers > best.registers || best.registers == 0 {
                        (best.registers, best.greediest) = (registers, node);
                    }
                    own += u64::from(frame.get(link.index()).copied().unwrap_or(0));
                }
            }
            for next in nodes.iter().flat_map(|node| graph.successors(*node)) {
                let component = components.of_node[next as usize] as usize;
                let Some(callee) = reached.get(component) else {
                    continue;
                };
                if callee.registers > best.registers {
                    (best.registers, best.greediest) = (callee.registers, callee.greediest);
                }
                if callee.stack > best.stack || best.next.is_none() {
                    (best.stack, best.next) = (callee.stack, Some(next));
                }
            }
            best.stack += own;
            reached.push(best);
        }
        CallChains { graph, reached }
    }

    fn of(&self, node: u32) -> &Reached {
        &self.reached[self.graph.components().of_node[node as usize] as usize]
    }

    /// Returns the function with the most registers that a node reaches.
    pub(super) fn greediest(&self, module: &Module<'_>, node: u32) -> String {
        self.name(module, self.of(node).greediest)
    }

    /// Returns the chain of calls that needs the most stack; no chain for what calls nothing.
    pub(super) fn deepest(&self, module: &Module<'_>, node: u32) -> Vec<String> {
        let mut chain = vec![self.name(module, node)];
        let mut at = node;
        loop {
            let component = self.graph.components().of_node[at as usize] as usize;
            if self.graph.components().cyclic[component] {
                chain.push("...".to_owned());
                return chain;
            }
            let Some(next) = self.of(at).next else {
                return chain;
            };
            chain.push(self.name(module, next));
            at = next;
        }
    }

    fn name(&self, module: &Module<'_>, node: u32) -> String {
        match self.graph.link_symbol(node) {
            Some(link) => String::from_utf8_lossy(module.link_name(link)).into_owned(),
            None => "*".to_owned(),
        }
    }
}
