//! What functions need by themselves.

use cuweld_elf::behaviours::attributes;
use cuweld_elf::target::attributes as code;
use cuweld_ir::Fate;
use cuweld_ir::FunctionId;
use cuweld_ir::LinkSymbolId;
use cuweld_ir::Module;
use cuweld_ir::SymbolRef;
use cuweld_ir::table::EntityId;

use super::Listed;
use super::summary::FIRST_SIGHT_CODES;
use super::summary::LinkSummary;
use super::summary::NO_SPARSE_MMA_MASK;
use super::summary::Summary;
use super::summary::add_mbarriers;
use super::summary::merge_places;
use crate::analyses::CallGraph;
use crate::analyses::Meanings;
use crate::link::merge_metadata::is_kept_extern;

/// The index of each code in [`FIRST_SIGHT_CODES`]; no index of any for other codes.
const SIGHT_OF_CODE: [u8; 256] = {
    let mut indices = [u8::MAX; 256];
    let mut index = 0;
    while index < FIRST_SIGHT_CODES.len() {
        indices[FIRST_SIGHT_CODES[index] as usize] = index as u8;
        index += 1;
    }
    indices
};

/// What nodes need by themselves.
pub(super) struct OwnSummaries {
    /// The first is that of nodes that need nothing.
    pub(super) rows: Vec<Summary>,
    /// The row of each node.
    pub(super) of_node: Vec<u32>,
}

impl OwnSummaries {
    fn of(&mut self, link: LinkSymbolId) -> &mut Summary {
        let row = &mut self.of_node[link.index()];
        if *row == 0 {
            *row = self.rows.len() as u32;
            self.rows.push(Summary::default());
        }
        &mut self.rows[*row as usize]
    }
}

/// Reads what the nodes of a call graph need.
pub(super) fn own_summaries(
    module: &Module<'_>,
    meanings: &Meanings,
    graph: &CallGraph,
    listed: &[Listed],
    summary: &mut LinkSummary,
) -> OwnSummaries {
    let most = module.functions.len().min(module.link_symbols.len());
    let mut rows = Vec::with_capacity(most + 1);
    rows.push(Summary::default());
    let mut nodes = OwnSummaries {
        rows,
        of_node: vec![0; graph.node_count()],
    };
    for function in module.functions.values() {
        // Those of names that are not kept too: what has its address taken may call them.
        if function.fate == Fate::Prevailing
            && let Some(link) = meanings.link(function.symbol)
            && module.link_symbols[link].definition == Some(function.symbol)
        {
            nodes.of(link).registers = function.registers;
        }
    }
    frames(module, meanings, &mut nodes);
    let mut without_mask = Vec::new();
    for row in listed {
        let node = nodes.of(row.link);
        if !own_records(module, row.function, row.is_kernel, node, summary) {
            without_mask.push(row.link);
        }
    }
    // Only functions of the output count as lacking a mask.
    if summary.any_sparse_mma {
        for link in without_mask {
            nodes.of(link).sparse_mma = NO_SPARSE_MMA_MASK;
        }
        // An alias lacks one, too, which stands in the list of its function [function-aliases].
        for (id, alias) in module.functions.iter() {
            if let Some(function) = module.aliased(id)
                && meanings
                    .link(alias.symbol)
                    .is_some_and(|link| module.link_symbols[link].live.is_live())
                && let Some(link) = meanings.link(module.functions[function].symbol)
            {
                nodes.of(link).sparse_mma |= NO_SPARSE_MMA_MASK;
            }
        }
    }
    nodes
}

/// Reads frame sizes, region stacks and load caching, which stand in the module-wide lists.
fn frames(module: &Module<'_>, meanings: &Meanings, nodes: &mut OwnSummaries) {
    for (_, object) in module.included_objects() {
        for attribute in &module.attributes[object.attributes] {
            let wanted = matches!(
                attribute.code,
                code::FRAME_SIZE
                    | code::MIN_STACK_SIZE
                    | code::SAM_REGION_STACK_SIZE
                    | code::LOAD_CACHE_REQUEST
            );
            if !wanted {
                continue;
            }
            let Some(SymbolRef::Symbol(symbol)) = module.refs(attribute).first().copied() else {
                continue;
            };
            let Some(link) = meanings.link(symbol) else {
                continue;
            };
            let is_chosen = module.link_symbols[link].definition == Some(symbol);
            let is_copy =
                || meanings.is_discarded(symbol) || module.symbols[symbol].function.is_some();
            if !is_chosen && is_copy() {
                continue;
            }
            let Some(value) = attribute.word(0) else {
                continue;
            };
            let node = nodes.of(link);
            match attribute.code {
                code::FRAME_SIZE => node.stack = node.stack.and(Some(value)),
                // [whole-kernel-unknown-stack]
                code::MIN_STACK_SIZE if value == u32::MAX => (node.stack, node.crs) = (None, None),
                code::MIN_STACK_SIZE => {}
                code::SAM_REGION_STACK_SIZE => {
                    node.region_stack = node.region_stack.max(Some(value))
                }
                _ => node.explicit_caching |= value != 0,
            }
        }
    }
}

/// Reads the records of one function in input order; says whether it has a sparse MMA mask.
fn own_records(
    module: &Module<'_>,
    function: FunctionId,
    is_kernel: bool,
    node: &mut Summary,
    summary: &mut LinkSummary,
) -> bool {
    if !is_kernel {
        node.flag_barriers = module.functions[function].flag_barriers;
    }
    let Some(section) = module.functions[function].views.merged_info() else {
        return false;
    };
    let takes_languages = module.toolkit.has(&attributes::LANGUAGES_OF_CALLEES);
    let mut mma = false;
    let mut mbarriers: Option<u16> = None;
    // Device functions are looked at in the order of the sections of the copies that are linked,
    // which is that of their records [prevailing-copies-order].
    for id in module.sections[section].attributes.iter() {
        let record = &module.attributes[id];
        let place = id.index() as u32;
        match record.code {
            code::CRS_STACK_SIZE | code::SYNC_STACK if node.crs == Some(0) => {
                node.crs = Some(record.word(0).unwrap_or(0));
            }
            code::SPARSE_MMA_MASK if !mma => {
                mma = true;
                node.sparse_mma = record.value;
                summary.any_sparse_mma = true;
            }
            _ => {}
        }
        if record.code == code::EXTERNS {
            let kept = externs(module, record);
            summary.externs.extend(placed(place, kept));
        }
        if is_kernel {
            continue;
        }
        if record.code == code::LANGUAGE && !takes_languages {
            continue;
        }
        let index = usize::from(SIGHT_OF_CODE[usize::from(record.code)]);
        let Some(sight) = node.first_sight.get_mut(index) else {
            continue;
        };
        *sight = place.min(*sight);
        node.sees = true;
        match record.code {
            code::EXTERNS => {
                let kept: Vec<_> = placed(place, externs(module, record)).collect();
                if !kept.is_empty() {
                    merge_places(&mut node.lists_mut().externs, &kept);
                }
            }
            code::NUM_MBARRIERS => {
                mbarriers = Some(add_mbarriers(mbarriers.unwrap_or(0), record.value));
            }
            code::NUM_BARRIERS => node.barriers = node.barriers.max(record.value as u8),
            code::VRC_CTA_INIT_COUNT => {
                node.cta_init_count = node.cta_init_count.max(record.value as u8);
            }
            code::AT_ENTRY_FRAGMENTS | code::LANGUAGE => {
                let words = (0..record.rest.len() / 4).filter_map(|index| record.word(index));
                let words: Vec<_> = placed(place, words).collect();
                let lists = node.lists_mut();
                let known = match record.code {
                    code::LANGUAGE => &mut lists.languages,
                    _ => &mut lists.fragments,
                };
                merge_places(known, &words);
            }
            code::MULTIMEM_USED => node.multimem |= record.value,
            code::REG_RECONFIG => {
                node.reg_reconfig = node.reg_reconfig.max(Some((place, record.value)));
            }
            _ => {}
        }
    }
    if let Some(value) = mbarriers {
        let index = summary.mbarriers.len();
        summary.mbarriers.push(value);
        let bits = &mut node.lists_mut().mbarrier_bits;
        bits.resize(index / 64 + 1, 0);
        bits[index / 64] |= 1 << (index % 64);
    }
    mma
}

/// Returns the values of the record at `place`, each with a place of its own.
fn placed<T>(place: u32, values: impl Iterator<Item = T>) -> impl Iterator<Item = (u64, T)> {
    (u64::from(place) << 32..).zip(values)
}

/// Returns the externs of a record that the output keeps.
fn externs<'m>(
    module: &'m Module<'_>,
    record: &'m cuweld_ir::Attribute<'_>,
) -> impl Iterator<Item = LinkSymbolId> + 'm {
    module
        .refs(record)
        .iter()
        .filter(|target| is_kept_extern(module, **target))
        .filter_map(|target| module.symbols[target.symbol()?].link)
}
