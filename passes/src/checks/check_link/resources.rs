//! Registers, barriers and stack of kernels against what they reach.

use cuweld_elf::behaviours::attributes;
use cuweld_ir::FunctionId;
use cuweld_ir::LinkSymbolId;
use cuweld_ir::table::EntityId;

use super::Check;
use super::Link;
use super::records::Given;
use crate::analyses::CallGraph;
use crate::analyses::LiveFunctions;

/// What a function needs: by itself, then with all that it calls.
#[derive(Clone, Copy, Default)]
struct Need {
    registers: u32,
    /// Bytes of stack, modulo 2^32 as nvlink counts them.
    stack: u32,
    barriers: u8,
    /// Whether it reaches recursion: nobody knows its stack.
    recurses: bool,
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
    let are_in_flags = module.toolkit.has(&attributes::BARRIERS_STAY_IN_FLAGS);
    let barriers = |link: LinkSymbolId, function: FunctionId| {
        let in_flags = || match are_in_flags {
            true => module.functions[function].flag_barriers,
            false => 0,
        };
        given[link.index()].barriers.unwrap_or_else(in_flags)
    };
    // By node of the call graph, prototypes included.
    let mut needs = vec![Need::default(); graph.node_count()];
    for (link, function) in live.defined() {
        needs[link.index()] = Need {
            registers: module.functions[function].registers,
            stack: given[link.index()].frame,
            barriers: barriers(link, function),
            recurses: false,
        };
    }
    add_callees(graph, &mut needs);
    for (kernel, function) in live.reaching_kernels() {
        let need = needs[kernel.index()];
        let has = given[kernel.index()];
        let mut compare = |rule, has: u32, need: u32, unit| {
            if has < need {
                let kernel = link.quoted(kernel);
                check.report(rule, format_args!("{kernel} has {has} of {need}{unit}"));
            }
        };
        // A compiler may leave the record out; `propagate-resources` has its say on that.
        if module.functions[function].registers != 0 {
            compare("registers", has.registers, need.registers, "");
        }
        let of_kernel = barriers(kernel, function);
        compare("barriers", of_kernel.into(), need.barriers.into(), "");
        let stack = if need.recurses { UNKNOWN } else { need.stack };
        compare("stack", has.stack, stack, " bytes");
    }
}

/// Adds to what each node of the call graph needs by itself what its callees need.
fn add_callees(graph: &CallGraph, needs: &mut [Need]) {
    let components = graph.components();
    for (index, members) in components.iter().enumerate() {
        let is_cyclic = components.cyclic[index];
        let mut need = Need {
            recurses: is_cyclic,
            ..Need::default()
        };
        let (mut frame, mut deepest) = (0, 0);
        for &node in members {
            let own = needs[node as usize];
            need.registers = need.registers.max(own.registers);
            need.barriers = need.barriers.max(own.barriers);
            frame = own.stack;
            for callee in graph.successors(node) {
                // Callees come first: only those of this component lack what they call.
                if is_cyclic && components.of_node[callee as usize] as usize == index {
                    continue;
                }
                let callee = needs[callee as usize];
                need.registers = need.registers.max(callee.registers);
                need.barriers = need.barriers.max(callee.barriers);
                need.recurses |= callee.recurses;
                deepest = deepest.max(callee.stack);
            }
        }
        need.stack = u32::wrapping_add(frame, deepest);
        for &node in members {
            needs[node as usize] = need;
        }
    }
}
