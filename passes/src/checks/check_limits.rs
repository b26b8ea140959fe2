//! `check-limits`: kernels that need more than they may have for what they reach.
//!
//! - Tensor cores that work on single CTAs and on pairs of them are an error.
//! - More stack than its limit (MAX_STACK_SIZE) is an error.
//! - More registers than its limit (MAXREG_COUNT), because of a function that it reaches, is an error.
//! - Reserved shared memory is an error where an option says that there is none.
//!
//! nvlink compares while it shows the call graph: these errors stand between the lines of
//! `report-call-graph`, if there are any. With `-r` only the last is looked at, when nvlink says
//! what kernels need: these errors stand before the lines of `report-resources`.
//!
//! Linear if no kernel is over a limit; otherwise kernels in question times functions.

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::NvlinkPhase;
use cuweld_diagnostics::codes::link;
use cuweld_ir::LinkSymbolId;
use cuweld_ir::Module;
use cuweld_ir::Phase;

use super::cta_granularity;
use super::register_limit::Raise;
use super::register_limit::raises;
use super::reserved_use;
use super::stack_limit;
use crate::analyses::CallGraph;
use crate::analyses::LiveFunctions;
use crate::analyses::Preserved;
use crate::pass::Changed;
use crate::pass::Pass;
use crate::pass::PassCx;
use crate::pass::PassError;
use crate::pass::PassInfo;
use crate::pass::Required;

/// The order of messages while nvlink shows the call graph.
pub(crate) mod order {
    /// The nodes of the graph.
    pub(crate) const NODES: (u32, u32) = (0, 0);

    /// Kernels that use single CTAs and pairs of CTAs.
    pub(super) const GRANULARITY: (u32, u32) = (0, 1);

    /// Kernels that need too much stack.
    pub(super) const STACK: (u32, u32) = (1, 0);

    /// Returns the raise of a kernel's registers, the one of this number among all, that is over
    /// its limit.
    pub(super) fn over_limit(index: usize) -> (u32, u32) {
        (2, 2 * index as u32)
    }

    /// Returns the raise of a kernel's registers, the one of this number among all.
    pub(crate) fn raised(index: usize) -> (u32, u32) {
        (2, 2 * index as u32 + 1)
    }

    /// Kernels that use reserved shared memory.
    pub(super) const RESERVED: (u32, u32) = (3, 0);
}

/// The `check-limits` pass.
#[derive(Debug, Default)]
pub struct CheckLimits;

impl Pass for CheckLimits {
    fn info(&self) -> PassInfo {
        PassInfo {
            name: "check-limits",
            summary: "Report kernels with too few registers, too little stack or no reserved memory for what they call",
            doc: include_str!("check_limits.rs"),
            requires: Phase::Live,
            before: Some(Phase::Emitted),
            required: Required::Always,
            once: true,
            reports: true,
            preserves: Preserved::All,
            ..PassInfo::DEFAULT
        }
    }

    fn run<'data>(
        &self,
        module: &mut Module<'data>,
        cx: &mut PassCx<'_, 'data>,
    ) -> Result<Changed, PassError> {
        let mut found = Vec::new();
        if !module.options.relocatable {
            let graph = cx.analyses.get::<CallGraph>(module);
            let live = cx.analyses.get::<LiveFunctions>(module);
            let place = |finding: Diagnostic, place: (u32, u32)| {
                let finding = finding.of_phase(NvlinkPhase::CallGraph);
                finding.at(place.0, place.1)
            };
            let mixed = cta_granularity::mixed(module, live).into_iter();
            found.extend(mixed.map(|error| place(error, order::GRANULARITY)));
            let stack = stack_limit::exceeded(module, live).into_iter();
            found.extend(stack.map(|error| place(error, order::STACK)));
            // Numbers count all raises where these are shown.
            let shown = module.options.reports.call_graph;
            let raises = raises(module, graph, live, shown).into_iter().enumerate();
            let raises = raises
                .filter_map(|(index, raise)| Some((index, raise, over_limit(module, &raise)?)));
            let mut last = None;
            for (index, raise, mut error) in raises {
                // What else a kernel calls has the same cause as the first.
                if last.replace(raise.kernel) != Some(raise.kernel) {
                    explain(module, graph, &raise, &mut error);
                }
                found.push(place(error, order::over_limit(index)));
            }
            let reserved = reserved_use::found(module).into_iter();
            found.extend(reserved.map(|error| place(error, order::RESERVED)));
        } else {
            let reserved = reserved_use::found(module).into_iter();
            found.extend(reserved.map(|error| error.of_phase(NvlinkPhase::Resources)));
        }
        let ends = !found.is_empty();
        for finding in found {
            cx.diagnostics.emit(finding);
        }
        match ends {
            true => Err(PassError::Diagnosed),
            false => Ok(Changed::No),
        }
    }
}

fn over_limit(module: &Module<'_>, raise: &Raise) -> Option<Diagnostic> {
    let limit = raise.limit.filter(|limit| raise.registers > *limit)?;
    let name = |link| String::from_utf8_lossy(module.link_name(link));
    Some(Diagnostic::error(
        link::REGISTER_LIMIT,
        format!(
            "entry function '{}' with max regcount of {limit} calls function '{}' with regcount of {}",
            name(raise.kernel),
            name(raise.callee),
            raise.registers
        ),
    ))
}

/// Adds how a kernel comes to call a function that needs too many registers, and what to do.
fn explain(module: &Module<'_>, graph: &CallGraph, raise: &Raise, error: &mut Diagnostic) {
    let quoted = |link| format!("'{}'", String::from_utf8_lossy(module.link_name(link)));
    let path = graph.path([raise.kernel], raise.callee).into_iter();
    let path = path.flatten().filter_map(|node| graph.link_symbol(node));
    let path: Vec<LinkSymbolId> = path.collect();
    if let [kernel, between @ .., callee] = &path[..]
        && !between.is_empty()
    {
        let between: Vec<String> = between.iter().map(|link| quoted(*link)).collect();
        let (kernel, callee) = (quoted(*kernel), quoted(*callee));
        error.notes.push(format!(
            "{kernel} calls {callee} through {}",
            between.join(", then ")
        ));
    }
    let file = |link: LinkSymbolId| {
        let definition = module.link_symbols[link].definition?;
        Some(module.objects[module.symbols[definition].object].display())
    };
    if let Some((kernel, callee)) = file(raise.kernel).zip(file(raise.callee))
        && kernel != callee
    {
        error.notes.push(format!(
            "the kernel with its limit is that of '{kernel}', the function that of '{callee}'"
        ));
    }
    error.helps.push("compile both with the same -maxrregcount, or without; launch bounds of the kernel limit its registers, too".to_owned());
}
