//! Registers, barriers and stack of kernels against what they reach.

use cuweld_ir::FunctionId;
use cuweld_ir::LinkSymbolId;
use cuweld_ir::Module;
use cuweld_ir::SymbolRef;
use cuweld_ir::table::EntityId;
use cuweld_ir::target::attributes as code;

use super::Check;
use super::quoted;
use crate::analysis::CallGraph;
use crate::analysis::LiveFunctions;

/// What a function needs with all that it calls.
#[derive(Clone, Copy, Default)]
struct Need {
    registers: u32,
    barriers: u8,
    /// Bytes of stack, [`UNKNOWN`] with recursion.
    stack: u32,
}

/// The stack of a kernel that reaches recursion, in its MIN_STACK_SIZE record too.
const UNKNOWN: u32 = u32::MAX;

/// Checks `registers`, `barriers` and `stack`.
pub(super) fn check(
    module: &Module<'_>,
    graph: &CallGraph,
    live: &LiveFunctions,
    check: &mut Check,
) {
    let Some(of_module) = module.merged_info.first() else {
        return;
    };
    // The records of the output, by link symbol.
    let mut given = vec![Need::default(); module.link_symbols.len()];
    let mut frames = vec![0_u32; module.link_symbols.len()];
    for id in &of_module.records {
        let record = &module.attributes[*id];
        let Some(link) = link_of(module, module.refs(record)) else {
            continue;
        };
        let value = record.word(0).unwrap_or(0);
        match record.code {
            code::REGCOUNT => given[link.index()].registers = value,
            code::MIN_STACK_SIZE => given[link.index()].stack = value,
            code::FRAME_SIZE => frames[link.index()] = value,
            _ => {}
        }
    }
    for list in &module.merged_info {
        if let Some(link) = list.function.and_then(|function| link(module, function)) {
            let records = list.records.iter().map(|id| &module.attributes[*id]);
            let barriers = records.filter(|record| record.code == code::NUM_BARRIERS);
            given[link.index()].barriers =
                barriers.map(|record| record.value as u8).max().unwrap_or(0);
        }
    }
    let needs = needs(module, graph, &frames, &given);
    for (kernel, function) in live.reaching_kernels() {
        let need = needs[graph.components().of_node[kernel.index()] as usize];
        let has = given[kernel.index()];
        let name = || quoted(module, kernel);
        // A compiler may leave the record out; `propagate-resources` has its say on those.
        if has.registers < need.registers && module.functions[function].registers != 0 {
            let what = format_args!("{} has {} of {}", name(), has.registers, need.registers);
            check.report("registers", what);
        }
        if has.barriers < need.barriers {
            let what = format_args!("{} has {} of {}", name(), has.barriers, need.barriers);
            check.report("barriers", what);
        }
        if has.stack < need.stack {
            let what = format_args!("{} has {} bytes of {}", name(), has.stack, need.stack);
            check.report("stack", what);
        }
    }
}

/// What the functions of each component of the call graph need.
fn needs(module: &Module<'_>, graph: &CallGraph, frames: &[u32], given: &[Need]) -> Vec<Need> {
    let components = graph.components();
    let mut needs: Vec<Need> = Vec::with_capacity(components.len());
    for (index, members) in components.iter().enumerate() {
        let mut need = Need::default();
        let (mut frame, mut deepest) = (0, 0);
        for &node in members {
            if let Some(link) = graph.link_symbol(node)
                && let Some(function) = module.link_function(link)
                && module.link_symbols[link].live.is_live()
            {
                let row = &module.functions[function];
                need.registers = need.registers.max(row.registers);
                need.barriers = need.barriers.max(given[link.index()].barriers);
                frame = frames[link.index()];
            }
            for successor in graph.successors(node) {
                let next = components.of_node[successor as usize] as usize;
                if let Some(callee) = needs.get(next).filter(|_| next != index) {
                    need.registers = need.registers.max(callee.registers);
                    need.barriers = need.barriers.max(callee.barriers);
                    deepest = deepest.max(callee.stack);
                }
            }
        }
        need.stack = match components.cyclic.get(index) {
            Some(true) => UNKNOWN,
            _ => frame.saturating_add(deepest),
        };
        needs.push(need);
    }
    needs
}

/// What the first reference of a record stands for.
fn link_of(module: &Module<'_>, refs: &[SymbolRef]) -> Option<LinkSymbolId> {
    module.symbols[refs.first()?.symbol()?].link
}

/// What a function stands for.
fn link(module: &Module<'_>, function: FunctionId) -> Option<LinkSymbolId> {
    module.symbols[module.functions[function].symbol].link
}
