//! What a component of the call graph, with all that it reaches, needs.

use std::fmt::Write as _;

use cuweld_ir::Fate;
use cuweld_ir::LinkSymbolId;
use cuweld_ir::Module;
use cuweld_ir::table::EntityId;
use foldhash::fast::FixedState;
use hashbrown::HashSet;

use super::Listed;
use super::own::OwnSummaries;
use super::own::own_summaries;
use super::summary::LinkSummary;
use super::summary::NO_SPARSE_MMA_MASK;
use super::summary::Summary;
use crate::analyses::CallGraph;
use crate::analyses::Meanings;

/// The summaries of all components.
pub struct Summaries {
    /// Those of functions alone, and of components that reach others. The first is that of what has
    /// no records, as all variables.
    rows: Vec<Summary>,
    /// The row of each component.
    of_component: Vec<u32>,
    /// The only kernel of the link: nvlink does not look what it reaches, but gives it the records
    /// of every device function [only-kernel-takes-all]. Registers and stacks still follow the call
    /// graph.
    only_kernel: Option<(LinkSymbolId, Summary)>,
    /// What the functions have together.
    pub link: LinkSummary,
    /// Whether a function of a link with an only kernel is left out, or defined by no object, as
    /// `malloc`.
    is_function_missing: bool,
}

/// Returns `true` if a function of the link is left out, or defined by no object.
fn is_function_missing(module: &Module<'_>) -> bool {
    let is_left_out = module.functions.iter().any(|(id, function)| {
        function.fate == Fate::Prevailing
            && !module.is_function_live(id)
            && module.aliased(id).is_none()
    });
    is_left_out
        || module
            .link_symbols
            .iter()
            .any(|(_, row)| row.definition.is_none() && module.symbols[row.first].is_function())
}

impl Summaries {
    /// Summarises every component of the call graph, callees first.
    pub fn new(
        module: &Module<'_>,
        meanings: &Meanings,
        graph: &CallGraph,
        only_kernel: Option<LinkSymbolId>,
        listed: &[Listed],
    ) -> Self {
        let mut summaries = Summaries {
            rows: Vec::new(),
            of_component: Vec::new(),
            only_kernel: None,
            link: LinkSummary::default(),
            is_function_missing: only_kernel.is_some() && is_function_missing(module),
        };
        let OwnSummaries { rows, of_node } =
            own_summaries(module, meanings, graph, listed, &mut summaries.link);
        summaries.rows = rows;
        if let Some(kernel) = only_kernel {
            let mut all = Summary::default();
            let own = of_node.iter().filter(|row| **row != 0);
            own.for_each(|row| all.merge(&summaries.rows[*row as usize]));
            summaries.only_kernel = Some((kernel, all));
        }
        let components = graph.components();
        summaries.of_component.reserve(components.len());
        for (index, members) in components.iter().enumerate() {
            let row = match members {
                &[node] if graph.successors(node).next().is_none() => of_node[node as usize],
                _ => summaries.total(graph, &of_node, index, members),
            };
            summaries.of_component.push(row);
        }
        if let Some((kernel, mut all)) = summaries.only_kernel.take() {
            let reached = summaries.of(graph, kernel);
            all.registers = reached.registers;
            all.region_stack = reached.region_stack;
            all.crs = reached.crs;
            all.stack = reached.stack;
            all.flag_barriers = reached.flag_barriers;
            summaries.only_kernel = Some((kernel, all));
        }
        summaries
    }

    /// Computes the row of a component whose callees have theirs, and returns its index. The row of
    /// a component's only node becomes that of the component.
    fn total(&mut self, graph: &CallGraph, of_node: &[u32], index: usize, members: &[u32]) -> u32 {
        let components = graph.components();
        let cyclic = components.cyclic[index];
        let own = match members {
            [node] => Some(of_node[*node as usize]).filter(|row| *row != 0),
            _ => None,
        };
        let mut total = own
            .and_then(|row| self.rows.get_mut(row as usize))
            .map(std::mem::take)
            .unwrap_or_default();
        let (mut deepest_crs, mut deepest_stack) = (Some(0), Some(0));
        let (mut own_crs, mut own_stack) = (total.crs.unwrap_or(0), total.stack.unwrap_or(0));
        for &node in members {
            if own.is_none() {
                let own = &self.rows[of_node[node as usize] as usize];
                total.merge(own);
                own_crs = own.crs.unwrap_or(0);
                own_stack = own.stack.unwrap_or(0);
            }
            for successor in graph.successors(node) {
                let component = components.of_node[successor as usize] as usize;
                if component == index {
                    continue;
                }
                let callee = self.of_component(component);
                total.merge(callee);
                // None, for recursion, stays None.
                deepest_crs = deepest_crs.and_then(|a: u32| callee.crs.map(|b| a.max(b)));
                deepest_stack = deepest_stack.and_then(|a: u32| callee.stack.map(|b| a.max(b)));
            }
        }
        total.crs = deepest_crs
            .filter(|_| !cyclic)
            .map(|deep| deep.wrapping_add(own_crs));
        total.stack = deepest_stack
            .filter(|_| !cyclic)
            .map(|deep| deep.wrapping_add(own_stack));
        match own.and_then(|row| Some((row, self.rows.get_mut(row as usize)?))) {
            Some((row, place)) => {
                *place = total;
                row
            }
            None => {
                self.rows.push(total);
                self.rows.len() as u32 - 1
            }
        }
    }

    fn of_component(&self, component: usize) -> &Summary {
        &self.rows[self.of_component[component] as usize]
    }

    /// Returns `true` if the link has one kernel.
    pub fn has_only_kernel(&self) -> bool {
        self.only_kernel.is_some()
    }

    /// Returns `true` if a kernel of this summary does not take masks of sparse matrices: the only
    /// one, where each function that the objects name stays and has a mask [only-kernel-masks].
    pub fn keeps_own_mask(&self, summary: &Summary) -> bool {
        self.has_only_kernel()
            && !self.is_function_missing
            && summary.sparse_mma & NO_SPARSE_MMA_MASK == 0
    }

    /// Returns the externs of all functions, each once, in the order in which they are first named,
    /// or `backwards`.
    pub fn externs_of_all(&self, backwards: bool) -> Vec<LinkSymbolId> {
        let mut all = self.link.externs.clone();
        all.sort_unstable_by_key(|(place, _)| *place);
        let mut known: HashSet<LinkSymbolId, FixedState> = HashSet::default();
        let mut first: Vec<LinkSymbolId> = all
            .iter()
            .map(|(_, link)| *link)
            .filter(|link| known.insert(*link))
            .collect();
        if backwards {
            first.reverse();
        }
        first
    }

    /// Returns the summary of a function and all that it reaches.
    pub fn of<'s>(&'s self, graph: &CallGraph, link: LinkSymbolId) -> &'s Summary {
        if let Some((kernel, summary)) = &self.only_kernel
            && *kernel == link
        {
            return summary;
        }
        self.of_component(graph.components().of_node[link.index()] as usize)
    }

    /// Returns the number of calls of a kernel that lead to recursion: direct ones, and for an
    /// indirect one every function that it may call [recursion-warning-per-call].
    pub fn recursive_calls(&self, graph: &CallGraph, link: LinkSymbolId) -> usize {
        let is_recursive = |node: &u32| {
            let component = graph.components().of_node[*node as usize] as usize;
            self.of_component(component).stack.is_none()
        };
        graph
            .successors(link.index() as u32)
            .filter(is_recursive)
            .map(|node| match graph.link_symbol(node) {
                Some(_) => 1,
                None => graph.successors(node).filter(is_recursive).count(),
            })
            .sum()
    }

    /// Returns the recursion that a kernel reaches, as `'f' -> 'g'`.
    pub fn cycle(
        &self,
        module: &Module<'_>,
        graph: &CallGraph,
        link: LinkSymbolId,
    ) -> Option<String> {
        let components = graph.components();
        let mut component = components.of_node[link.index()] as usize;
        // Each step goes to a component that reaches a cycle, and components are a DAG.
        while !components.cyclic[component] {
            component = components
                .nodes(component)
                .iter()
                .flat_map(|node| graph.successors(*node))
                .map(|node| components.of_node[node as usize] as usize)
                .find(|next| *next != component && self.of_component(*next).stack.is_none())?;
        }
        let mut text = String::new();
        let mut names: Vec<LinkSymbolId> = components
            .nodes(component)
            .iter()
            .filter_map(|node| graph.link_symbol(*node))
            .collect();
        names.sort_unstable();
        for (index, link) in names.iter().take(6).enumerate() {
            let arrow = if index == 0 { "" } else { ", " };
            let _ = write!(
                text,
                "{arrow}'{}'",
                String::from_utf8_lossy(module.link_name(*link))
            );
        }
        Some(text)
    }
}
