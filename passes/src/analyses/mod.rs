//! Facts derived from a module, computed on demand and kept until a pass invalidates them.

mod call_graph;
mod call_graph_dot;
mod counting_calls;
mod creation_order;
pub(crate) mod host_names;
mod kinds;
mod meanings;
pub mod name_patterns;
mod prototypes;
mod reachers;
pub(crate) mod value_tables;
pub(crate) mod yields;

pub use call_graph::CallGraph;
pub use call_graph::Components;
pub use call_graph_dot::call_graph_dot;
pub use counting_calls::counting_call_ids;
pub use counting_calls::counting_calls;
pub use creation_order::LiveFunctions;
pub use creation_order::all_functions_in_creation_order;
pub use creation_order::functions_in_creation_order;
pub use creation_order::kernels;
pub use kinds::Kinds;
pub use meanings::Meanings;
pub use prototypes::Prototypes;
pub use reachers::reachers;

use bitflags::bitflags;
use cuweld_ir::Module;

bitflags! {
    /// A set of analyses.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Preserved: u32 {
        /// The call graph and its components.
        const CALL_GRAPH = 1;
        /// The functions that are kept.
        const LIVE_FUNCTIONS = 2;
        /// The kinds of sections.
        const KINDS = 4;
        /// What symbols stand for.
        const MEANINGS = 8;
        /// Every analysis.
        const ALL = !0;
    }
}

/// The cache of analyses.
#[derive(Debug, Default)]
pub struct Analyses {
    call_graph: Option<CallGraph>,
    live: Option<LiveFunctions>,
    kinds: Option<Kinds>,
    meanings: Option<Meanings>,
}

impl Analyses {
    /// The call graph of the resolved functions.
    pub fn call_graph(&mut self, module: &Module<'_>) -> &CallGraph {
        self.call_graph
            .get_or_insert_with(|| CallGraph::new(module))
    }

    /// The functions that are kept; asked for once it is known which.
    pub fn live(&mut self, module: &Module<'_>) -> &LiveFunctions {
        self.live.get_or_insert_with(|| LiveFunctions::new(module))
    }

    /// What symbols stand for; asked for once they do.
    pub fn meanings(&mut self, module: &Module<'_>) -> &Meanings {
        self.meanings.get_or_insert_with(|| Meanings::new(module))
    }

    /// What symbols stand for since a pass has just found it.
    pub(crate) fn set_meanings(&mut self, meanings: Meanings) {
        self.meanings = Some(meanings);
    }

    /// The kinds of sections, and what symbols stand for.
    pub fn kinds_and_meanings(&mut self, module: &Module<'_>) -> (&Kinds, &Meanings) {
        let kinds = self.kinds.get_or_insert_with(|| Kinds::new(module));
        let meanings = self.meanings.get_or_insert_with(|| Meanings::new(module));
        (kinds, meanings)
    }

    /// The call graph, the functions that are kept, and what symbols stand for.
    pub fn resolved(&mut self, module: &Module<'_>) -> (&CallGraph, &LiveFunctions, &Meanings) {
        let meanings = self.meanings.get_or_insert_with(|| Meanings::new(module));
        let graph = self
            .call_graph
            .get_or_insert_with(|| CallGraph::new(module));
        let live = self.live.get_or_insert_with(|| LiveFunctions::new(module));
        (graph, live, meanings)
    }

    /// The call graph and the functions that are kept.
    pub fn live_calls(&mut self, module: &Module<'_>) -> (&CallGraph, &LiveFunctions) {
        let graph = self
            .call_graph
            .get_or_insert_with(|| CallGraph::new(module));
        let live = self.live.get_or_insert_with(|| LiveFunctions::new(module));
        (graph, live)
    }

    /// The kinds of sections; asked for once they have them.
    pub fn kinds(&mut self, module: &Module<'_>) -> &Kinds {
        self.kinds.get_or_insert_with(|| Kinds::new(module))
    }

    /// The kinds as a pass has just given them.
    pub(crate) fn set_kinds(&mut self, kinds: Kinds) {
        self.kinds = Some(kinds);
    }

    /// Drops what a pass did not preserve.
    pub fn invalidate(&mut self, preserved: Preserved) {
        if !preserved.contains(Preserved::CALL_GRAPH) {
            self.call_graph = None;
        }
        if !preserved.contains(Preserved::LIVE_FUNCTIONS) {
            self.live = None;
        }
        if !preserved.contains(Preserved::KINDS) {
            self.kinds = None;
        }
        if !preserved.contains(Preserved::MEANINGS) {
            self.meanings = None;
        }
    }
}
