//! Registers, barriers and stack of kernels against what they reach.

use cuweld_ir::table::EntityId;

use super::Check;
use super::Link;
use super::records::Given;
use crate::analyses::CallGraph;
use crate::analyses::LiveFunctions;

/// What a function needs with all that it calls.
#[derive(Clone, Copy, Default)]
struct Need {
    registers: u32,
    /// Bytes of stack, modulo 2^32 as nvlink counts them; `None` with recursion.
    stack: Option<u32>,
    barriers: u8,
}

/// The stack of a kernel that reaches recursion, in its MIN_STACK_SIZE record too.
const UNKNOWN: u32 = u32::MAX;

/// Checks `registers`, `barriers` and `stack`, given what the records of the output say.
pub(super) fn check(
    link: &Link<'_, '_>,
    graph: &CallGraph,
    live: &LiveFunctions,
    given: &[Given],
    check: &mut Check,
) {
    let module = link.module;
    // By node of the call graph, prototypes included.
    let nothing = Need {
        stack: Some(0),
        ..Need::default()
    };
    let mut own = vec![nothing; graph.node_count()];
    for (link, function) in live.defined() {
        let given = given[link.index()];
        own[link.index()] = Need {
            registers: module.functions[function].registers,
            stack: Some(given.frame),
            barriers: given.barriers,
        };
    }
    let needs = needs(graph, &own);
    for (kernel, _) in live.reaching_kernels() {
        let need = needs[graph.components().of_node[kernel.index()] as usize];
        let has = given[kernel.index()];
        let mut compare = |rule, has: u32, need: u32, unit| {
            if has < need {
                let kernel = link.quoted(kernel);
                check.report(rule, format_args!("{kernel} has {has} of {need}{unit}"));
            }
        };
        // A compiler may leave the record out; `propagate-resources` has its say on that.
        if own[kernel.index()].registers != 0 {
            compare("registers", has.registers, need.registers, "");
        }
        compare("barriers", has.barriers.into(), need.barriers.into(), "");
        compare("stack", has.stack, need.stack.unwrap_or(UNKNOWN), " bytes");
    }
}

/// Returns the needs of the functions of each component of the call graph, given what each needs by
/// itself.
fn needs(graph: &CallGraph, own: &[Need]) -> Vec<Need> {
    let components = graph.components();
    let mut needs: Vec<Need> = Vec::with_capacity(components.len());
    for (index, members) in components.iter().enumerate() {
        let mut need = Need::default();
        let (mut frame, mut deepest) = (None, Some(0));
        for &node in members {
            let own = own[node as usize];
            need.registers = need.registers.max(own.registers);
            need.barriers = need.barriers.max(own.barriers);
            frame = own.stack;
            for successor in graph.successors(node) {
                let next = components.of_node[successor as usize] as usize;
                // Callees come first, so that only those of this component have none yet.
                if let Some(callee) = needs.get(next) {
                    need.registers = need.registers.max(callee.registers);
                    need.barriers = need.barriers.max(callee.barriers);
                    deepest = deepest.zip(callee.stack).map(|(a, b): (u32, u32)| a.max(b));
                }
            }
        }
        need.stack = match components.cyclic.get(index) {
            Some(true) => None,
            _ => frame
                .zip(deepest)
                .map(|(a, b): (u32, u32)| a.wrapping_add(b)),
        };
        needs.push(need);
    }
    needs
}
