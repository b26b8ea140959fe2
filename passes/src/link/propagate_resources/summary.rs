//! What a component of the call graph, with all that it reaches, needs.

use std::fmt::Write as _;
use std::hash::Hash;

use cuweld_elf::target::attributes as code;
use cuweld_ir::Fate;
use cuweld_ir::LinkSymbolId;
use cuweld_ir::Module;
use cuweld_ir::table::EntityId;
use foldhash::fast::FixedState;
use hashbrown::HashMap;
use hashbrown::HashSet;

use super::Listed;
use super::own::OwnSummaries;
use super::own::own_summaries;
use crate::analyses::CallGraph;
use crate::analyses::Meanings;

/// Codes that a kernel gets from device functions, each appended where it is first seen.
/// EXTERNS count even if the output keeps none of the list [first-sight-order].
pub const FIRST_SIGHT_CODES: [u8; 12] = [
    code::CTAIDZ_USED,
    code::RESERVED_SMEM_USED,
    code::VRC_CTA_INIT_COUNT,
    code::TCGEN05_1CTA_USED,
    code::TCGEN05_2CTA_USED,
    code::NUM_BARRIERS,
    code::REG_RECONFIG,
    code::NUM_MBARRIERS,
    code::EXTERNS,
    code::AT_ENTRY_FRAGMENTS,
    code::LANGUAGE,
    code::MULTIMEM_USED,
];

/// What is needed by a set of functions.
#[derive(Clone, Debug)]
pub struct Summary {
    /// Largest register count.
    pub registers: u32,
    /// Deepest call-return stack in bytes; `None` with recursion.
    pub crs: Option<u32>,
    /// Deepest stack in bytes; `None` with recursion.
    pub stack: Option<u32>,
    /// Largest SAM_REGION_STACK_SIZE.
    pub region_stack: Option<u32>,
    /// Union of the sparse MMA masks.
    pub sparse_mma: u16,
    /// Whether some load asks for caching.
    pub explicit_caching: bool,
    /// Largest barrier count in section flags of device functions.
    pub flag_barriers: u8,
    /// Whether any place in `first_sight` is one. What is below is as at the beginning without.
    pub sees: bool,
    /// Per code of [`FIRST_SIGHT_CODES`], the place of the first record in the order of device
    /// functions, or [`NEVER`].
    pub first_sight: [u32; FIRST_SIGHT_CODES.len()],
    /// Largest NUM_BARRIERS.
    pub barriers: u8,
    /// Largest VRC_CTA_INIT_COUNT.
    pub cta_init_count: u8,
    /// Union of MULTIMEM_USED [multimem-of-callees].
    pub multimem: u16,
    /// Place and value of the last REG_RECONFIG.
    pub reg_reconfig: Option<(u32, u16)>,
    /// What few functions have.
    lists: Option<Box<Lists>>,
}

/// What is listed. Records have places in the order of device functions, and so have their values.
#[derive(Clone, Debug, Default)]
pub(super) struct Lists {
    /// Externs of device functions with their first places, in order: functions that the driver
    /// provides, and kernels that device code launches. No others stay undefined in an executable,
    /// so that these lists are short.
    pub(super) externs: Vec<(u64, LinkSymbolId)>,
    /// Words of AT_ENTRY_FRAGMENTS with their first places, in order.
    pub(super) fragments: Vec<(u64, u32)>,
    /// Words of LANGUAGE with their first places, in order [languages-of-callees].
    pub(super) languages: Vec<(u64, u32)>,
    /// Bits of the functions in [`Summaries::mbarriers`] that are reached.
    pub(super) mbarrier_bits: Vec<u64>,
}

/// The mask of a function without one, in a link where others have it.
pub const NO_SPARSE_MMA_MASK: u16 = 0x8000;

/// The place of what is not seen.
pub const NEVER: u32 = u32::MAX;

impl Default for Summary {
    /// Returns the needs of a node without records.
    fn default() -> Self {
        Summary {
            registers: 0,
            crs: Some(0),
            stack: Some(0),
            region_stack: None,
            sparse_mma: 0,
            explicit_caching: false,
            flag_barriers: 0,
            sees: false,
            first_sight: [NEVER; FIRST_SIGHT_CODES.len()],
            barriers: 0,
            cta_init_count: 0,
            multimem: 0,
            reg_reconfig: None,
            lists: None,
        }
    }
}

impl Summary {
    /// Returns the externs of device functions, in the order of their first places.
    pub fn externs(&self) -> impl Iterator<Item = LinkSymbolId> {
        let lists = self.lists.as_deref();
        let externs = lists.map_or(&[][..], |lists| &lists.externs);
        externs.iter().map(|(_, link)| *link)
    }

    /// Returns the words of AT_ENTRY_FRAGMENTS or LANGUAGE, in the order of their first places.
    pub fn words(&self, code: u8) -> impl Iterator<Item = u32> + Clone {
        let lists = self.lists.as_deref();
        let words = lists.map_or(&[][..], |lists| match code {
            code::LANGUAGE => &lists.languages,
            _ => &lists.fragments,
        });
        words.iter().map(|(_, word)| *word)
    }

    pub(super) fn lists_mut(&mut self) -> &mut Lists {
        self.lists.get_or_insert_default()
    }

    /// Returns the sum of NUM_MBARRIERS over the functions that are reached, each once.
    pub fn mbarriers(&self, summaries: &Summaries) -> u16 {
        let set = |index: usize| {
            let lists = self.lists.as_deref();
            let word = lists.and_then(|lists| lists.mbarrier_bits.get(index / 64));
            word.is_some_and(|word| word >> (index % 64) & 1 != 0)
        };
        summaries
            .mbarriers
            .iter()
            .enumerate()
            .filter(|(index, _)| set(*index))
            .fold(0, |sum, (_, value)| add_mbarriers(sum, *value))
    }

    /// Adds what callees need, but for the path sums.
    fn merge(&mut self, other: &Summary) {
        self.registers = self.registers.max(other.registers);
        self.region_stack = self.region_stack.max(other.region_stack);
        self.sparse_mma |= other.sparse_mma;
        self.explicit_caching |= other.explicit_caching;
        self.flag_barriers = self.flag_barriers.max(other.flag_barriers);
        if !other.sees {
            return;
        }
        self.sees = true;
        for (mine, theirs) in self.first_sight.iter_mut().zip(&other.first_sight) {
            *mine = (*mine).min(*theirs);
        }
        self.barriers = self.barriers.max(other.barriers);
        self.cta_init_count = self.cta_init_count.max(other.cta_init_count);
        self.multimem |= other.multimem;
        self.reg_reconfig = self.reg_reconfig.max(other.reg_reconfig);
        if let Some(theirs) = &other.lists {
            let mine = self.lists_mut();
            merge_places(&mut mine.externs, &theirs.externs);
            merge_places(&mut mine.fragments, &theirs.fragments);
            merge_places(&mut mine.languages, &theirs.languages);
            if mine.mbarrier_bits.len() < theirs.mbarrier_bits.len() {
                mine.mbarrier_bits.resize(theirs.mbarrier_bits.len(), 0);
            }
            for (mine, theirs) in mine.mbarrier_bits.iter_mut().zip(&theirs.mbarrier_bits) {
                *mine |= theirs;
            }
        }
    }
}

/// Returns the sum of two values of NUM_MBARRIERS, where 0xffff means that the number is not known.
pub fn add_mbarriers(a: u16, b: u16) -> u16 {
    match (a, b) {
        (u16::MAX, _) | (_, u16::MAX) => u16::MAX,
        _ => a.wrapping_add(b),
    }
}

/// So few values are looked up without a table.
const SHORT: usize = 8;

/// Merges two lists in order of place, keeping the first place of each value.
pub(super) fn merge_places<T: Copy + Eq + Hash>(mine: &mut Vec<(u64, T)>, theirs: &[(u64, T)]) {
    if theirs.is_empty() {
        return;
    }
    let mut changed = false;
    let is_long = theirs.len() > SHORT;
    let mut table: HashMap<T, usize, FixedState> = HashMap::default();
    if is_long {
        for (index, (_, value)) in mine.iter().enumerate() {
            table.entry(*value).or_insert(index);
        }
    }
    for &(place, value) in theirs {
        let found = match is_long {
            true => table.get(&value).copied(),
            false => mine.iter().position(|(_, known)| *known == value),
        };
        match found.and_then(|index| mine.get_mut(index)) {
            Some((known, _)) if *known <= place => {}
            Some((known, _)) => {
                *known = place;
                changed = true;
            }
            None => {
                if is_long {
                    table.insert(value, mine.len());
                }
                mine.push((place, value));
                changed = true;
            }
        }
    }
    if changed {
        mine.sort_unstable_by_key(|(place, _)| *place);
    }
}

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
    /// NUM_MBARRIERS of each device function that has it.
    pub mbarriers: Vec<u16>,
    /// Whether any function of the link has SPARSE_MMA_MASK.
    pub any_sparse_mma: bool,
    /// Whether a function of a link with an only kernel is left out, or defined by no object, as
    /// `malloc`.
    is_function_missing: bool,
    /// All externs that the output keeps, with their places; they repeat.
    pub(super) externs: Vec<(u64, LinkSymbolId)>,
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
            mbarriers: Vec::new(),
            any_sparse_mma: false,
            is_function_missing: only_kernel.is_some() && is_function_missing(module),
            externs: Vec::new(),
        };
        let OwnSummaries { rows, of_node } =
            own_summaries(module, meanings, graph, listed, &mut summaries);
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
        let mut all = self.externs.clone();
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
