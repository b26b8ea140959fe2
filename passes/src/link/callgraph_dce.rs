//! `callgraph-dce`: which functions the output keeps.
//!
//! Whatever the kept kernels reach through direct and indirect calls is live. A kernel is kept
//! unless `-kernels-used` names others or host information says that no host code references it,
//! and it is kept all the same if its address is taken: device code may launch it. A device
//! function whose address is taken stays as well, even if only dead code takes it, but what it
//! calls stays only if a kernel reaches that too, or if it has no definition. Variables and
//! constants always stay. With `-g`, and for relocatable output, everything stays.
//!
//! nvlink does not count the addresses that tables in the object of a discarded definition take.
//! A function that a kernel can call by such a table stays all the same, and a note says so
//! (deviation D16).
//!
//! Where host code refers to exactly one kernel, nvlink does not look at what others call that stay
//! because their address is taken: their code stays, and what it calls goes. Such a kernel must not
//! run; a note says so.

mod remarks;
mod uncounted;

use std::any::TypeId;

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::codes::deviation;
use cuweld_diagnostics::codes::input;
use cuweld_diagnostics::codes::link;
use cuweld_ir::CallKind;
use cuweld_ir::Fate;
use cuweld_ir::FunctionId;
use cuweld_ir::LinkSymbolId;
use cuweld_ir::Liveness;
use cuweld_ir::Module;
use cuweld_ir::Phase;
use cuweld_ir::SymbolRef;
use cuweld_ir::table::EntityId;

use crate::analyses::CallGraph;
use crate::analyses::HostKernels;
use crate::analyses::Kinds;
use crate::analyses::Meanings;
use crate::analyses::Preserved;
use crate::pass::Changed;
use crate::pass::Pass;
use crate::pass::PassCx;
use crate::pass::PassError;
use crate::pass::PassInfo;
use crate::remark::Remarks;

/// The `callgraph-dce` pass.
#[derive(Debug, Default)]
pub struct CallgraphDce;

impl Pass for CallgraphDce {
    fn info(&self) -> PassInfo {
        PassInfo {
            name: "callgraph-dce",
            summary: "Keep the functions that kept kernels reach",
            doc: include_str!("callgraph_dce.rs"),
            requires: Phase::Resolved,
            establishes: Some(Phase::Live),
            preserves: Preserved::Only(&[
                TypeId::of::<CallGraph>,
                TypeId::of::<HostKernels>,
                TypeId::of::<Kinds>,
                TypeId::of::<Meanings>,
            ]),
            remarks: remarks::KINDS,
            ..PassInfo::DEFAULT
        }
    }

    fn run<'data>(
        &self,
        module: &mut Module<'data>,
        cx: &mut PassCx<'_, 'data>,
    ) -> Result<Changed, PassError> {
        let everything = module.keeps_dead_code();
        let host = cx.analyses.get::<HostKernels>(module);
        let mut roots = Vec::new();
        for (id, link) in module.link_symbols.iter() {
            let symbol = &module.symbols[link.first];
            if symbol.is_function() && (everything || host.contains(id)) {
                roots.push(id);
            }
        }
        let graph = cx.analyses.get::<CallGraph>(module);
        // [kernel-kept-by-address]
        let by_address = graph.kernels_by_address(module);
        if host.only.is_none() {
            roots.extend(&by_address);
        }
        let mut reached = reach(module, graph, &roots);
        if !module.options.strict
            && let Some((kept, graph)) = uncounted::keep(module, cx.analyses, &roots, &reached)
        {
            reached = reach(module, &graph, &roots);
            cx.diagnostics.emit(kept_function(module, &kept));
            cx.analyses.set(graph);
        }
        if let Some(finding) = unused_alias(module, &reached) {
            cx.diagnostics.emit(finding);
            if module.options.strict {
                return Err(PassError::Diagnosed);
            }
        }
        let graph = cx.analyses.get::<CallGraph>(module);
        let host = cx.analyses.get::<HostKernels>(module);
        if let Some(only) = host.only {
            for kernel in by_address.into_iter().filter(|kernel| *kernel != only) {
                if let Some(note) = loses_callees(module, graph, &reached, kernel, only) {
                    cx.diagnostics.emit(note);
                }
            }
        }
        let (mut kept, mut dropped) = (0, 0);
        for (index, reached) in reached.iter().take(module.link_symbols.len()).enumerate() {
            let id = LinkSymbolId::new(index);
            let link = module.link_symbols[id];
            let symbol = &module.symbols[link.first];
            let is_function = symbol.is_function();
            let is_kernel = symbol.is_entry();
            module.link_symbols[id].live = match (is_function, reached) {
                _ if link.live == Liveness::ByAddress => Liveness::ByAddress,
                (false, _) | (_, true) => Liveness::Live,
                _ if is_kernel => Liveness::Unreferenced,
                _ => Liveness::Unreachable,
            };
            if is_function {
                *(if *reached { &mut kept } else { &mut dropped }) += 1;
            }
        }
        cx.statistics.add("functions kept", kept);
        cx.statistics.add("functions dropped", dropped);
        Ok(Changed::Yes)
    }

    fn remarks(&self, module: &Module<'_>, remarks: &mut Remarks) {
        remarks::make(module, remarks);
    }
}

/// Marks what stays: what `roots` reach, functions whose address is taken, and undefined functions
/// that either call.
fn reach(module: &Module<'_>, graph: &CallGraph, roots: &[LinkSymbolId]) -> Vec<bool> {
    let mut reached = graph.reach(roots.iter().copied());
    let link = |symbol: SymbolRef| module.symbols[symbol.symbol()?].link;
    for call in graph.calls(module) {
        if call.kind == CallKind::AddressTaken
            && let Some(taken) = link(call.from)
        {
            reached[taken.index()] = true;
        }
    }
    for call in graph.calls(module) {
        if call.kind == CallKind::Direct
            && let (Some(caller), Some(callee)) = (link(call.from), link(call.to))
            && module.link_symbols[callee].definition.is_none()
        {
            reached[callee.index()] |= reached[caller.index()];
        }
    }
    reached
}

/// Says that functions stay which nvlink leaves out.
fn kept_function(module: &Module<'_>, kept: &[uncounted::Kept]) -> Diagnostic {
    let (first, object) = kept[0];
    let name = String::from_utf8_lossy(module.link_name(first));
    let file = module.objects[object].display();
    let message = match kept.len() {
        1 => format!("function '{name}' stays, whose address '{file}' has in its data"),
        count => format!(
            "{count} functions stay whose addresses are in data, the first is '{name}' in '{file}'"
        ),
    };
    Diagnostic::remark(deviation::KEPT_FUNCTION, message).deviates("D16")
}

/// Reports an alias that goes while its function stays: nvlink leaves out the function's code with it,
/// and ends with an internal error.
fn unused_alias(module: &Module<'_>, reached: &[bool]) -> Option<Diagnostic> {
    let link = |function: FunctionId| module.symbols[module.functions[function].symbol].link;
    let is_reached = |function| link(function).is_some_and(|link| reached[link.index()]);
    let is_unused = |alias: &FunctionId| {
        let prevails = |function: FunctionId| module.functions[function].fate == Fate::Prevailing;
        let is_linked = |function| prevails(function) && is_reached(function);
        // Few are dead: whose code it is, is asked last.
        prevails(*alias) && !is_reached(*alias) && module.aliased(*alias).is_some_and(is_linked)
    };
    let alias = module.functions.ids().find(is_unused)?;
    let name = |function| String::from_utf8_lossy(module.function_name(function)).into_owned();
    let (alias, function) = (name(alias), name(module.aliased(alias)?));
    let message =
        format!("function '{function}' is linked without its alias '{alias}', which nobody uses");
    Some(match module.options.strict {
        true => {
            let title = input::DELETED_SYMBOL.title();
            Diagnostic::fatal(input::DELETED_SYMBOL, format!("Internal error: {title}")).note(
                format!("function '{function}' has an alias that nobody uses, '{alias}'"),
            )
        }
        false => Diagnostic::remark(deviation::UNUSED_ALIAS, message).deviates("D17"),
    })
}

/// Reports a kernel that stays without something that it calls.
fn loses_callees(
    module: &Module<'_>,
    graph: &CallGraph,
    reached: &[bool],
    kernel: LinkSymbolId,
    only: LinkSymbolId,
) -> Option<Diagnostic> {
    let callees = graph.successors(kernel.index_u32());
    let lost = callees
        .filter(|callee| !reached[*callee as usize])
        .find_map(|callee| graph.link_symbol(callee))?;
    let name = |link| String::from_utf8_lossy(module.link_name(link)).into_owned();
    let message = format!(
        "kernel '{}' stays because its address is taken, but not '{}', which it calls: nothing may launch it",
        name(kernel),
        name(lost)
    );
    Some(
        Diagnostic::remark(link::UNREACHED_BY_KERNEL, message)
            .note(format!(
                "host code refers to one kernel, '{}'; nvlink keeps what other kernels call where it refers to several",
                name(only)
            ))
            .help("name the kernel in -kernels-used, or leave the option out"),
    )
}
