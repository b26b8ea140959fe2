//! Facts derived from a module, computed on demand and kept until a pass invalidates them.

mod call_graph;
mod call_graph_dot;
mod counting_calls;
mod creation_order;
mod reachers;

pub use call_graph::CallGraph;
pub use call_graph::Components;
pub use call_graph_dot::call_graph_dot;
pub use counting_calls::counting_calls;
pub use creation_order::all_functions_in_creation_order;
pub use creation_order::functions_in_creation_order;
pub use creation_order::kernels;
pub use reachers::reachers;

use cuweld_ir::Module;

/// A set of analyses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preserved(u32);

impl Preserved {
    /// No analysis.
    pub const NONE: Preserved = Preserved(0);
    /// The call graph and its components.
    pub const CALL_GRAPH: Preserved = Preserved(1);
    /// Every analysis.
    pub const ALL: Preserved = Preserved(u32::MAX);

    /// Whether this set has all of another.
    pub fn contains(self, other: Preserved) -> bool {
        self.0 & other.0 == other.0
    }
}

/// The cache of analyses.
#[derive(Debug, Default)]
pub struct Analyses {
    call_graph: Option<CallGraph>,
}

impl Analyses {
    /// The call graph of the resolved functions.
    pub fn call_graph(&mut self, module: &Module<'_>) -> &CallGraph {
        self.call_graph
            .get_or_insert_with(|| CallGraph::new(module))
    }

    /// Drops what a pass did not preserve.
    pub fn invalidate(&mut self, preserved: Preserved) {
        if !preserved.contains(Preserved::CALL_GRAPH) {
            self.call_graph = None;
        }
    }
}
