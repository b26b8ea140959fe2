//! `report-call-graph`: the call graph as text (`-dump-callgraph`).
//!
//! - One line for each function in the order in which nvlink creates them, numbered; functions that
//!   are not part of the output keep their number, and nothing else is said of them.
//! - Callees stand in reverse order of the rows of `.nv.callgraph`, after the candidates of indirect
//!   calls: for each row of an indirect call, in order, all functions of its prototype whose address is
//!   taken, last created first, repeated as often as there are rows.
//! - Then, function by function, which kernels need more registers because of it. What is over a limit, `check-limits` says
//!   in between.
//!
//! Executables only. Names are always spelled as in the source, also with
//! `-dump-callgraph-no-demangle` [call-graph-names]. The text is as long as nvlink's, whose
//! indirect calls repeat all candidates.

use std::fmt::Write as _;

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::NvlinkPhase;
use cuweld_ir::CallKind;
use cuweld_ir::LinkSymbolId;
use cuweld_ir::Module;
use cuweld_ir::Phase;
use cuweld_ir::table::EntityId;
use foldhash::fast::FixedState;
use hashbrown::HashMap;

use crate::analyses::CallGraph;
use crate::analyses::LiveFunctions;
use crate::analyses::Preserved;
use crate::analyses::Prototypes;
use crate::analyses::all_functions_in_creation_order;
use crate::analyses::counting_calls;
use crate::checks::check_limits::order;
use crate::checks::register_limit::raises;
use crate::pass::Changed;
use crate::pass::Pass;
use crate::pass::PassCx;
use crate::pass::PassError;
use crate::pass::PassInfo;

/// What nvlink writes in front of the nodes.
const LEGEND: &str = "\
# A: s -> B // s (number A) potentially calls B
# s [N]     // s uses N registers
# ^s        // s is entry point
# &s        // s has address taken";

/// The `report-call-graph` pass.
#[derive(Debug, Default)]
pub struct ReportCallGraph;

impl Pass for ReportCallGraph {
    fn info(&self) -> PassInfo {
        PassInfo {
            name: "report-call-graph",
            summary: "Show the call graph if asked to",
            doc: include_str!("report_call_graph.rs"),
            requires: Phase::Live,
            reports: true,
            once: true,
            preserves: Preserved::All,
            ..PassInfo::DEFAULT
        }
    }

    fn run<'data>(
        &self,
        module: &mut Module<'data>,
        cx: &mut PassCx<'_, 'data>,
    ) -> Result<Changed, PassError> {
        if module.options.relocatable || !module.options.reports.call_graph {
            return Ok(Changed::No);
        }
        let said = |text: String, place: (u32, u32)| {
            let report = Diagnostic::report(text).of_phase(NvlinkPhase::CallGraph);
            report.at(place.0, place.1)
        };
        if module.included_objects().next().is_none() {
            let text = "No relocatable objects found. Did not generate callgraph.";
            cx.diagnostics.emit(said(text.to_owned(), order::NODES));
            return Ok(Changed::No);
        }
        let live = cx.analyses.get::<LiveFunctions>(module);
        cx.diagnostics.emit(said(nodes(module, live), order::NODES));
        let graph = cx.analyses.get::<CallGraph>(module);
        for (index, raise) in raises(module, graph, live, true).into_iter().enumerate() {
            let text = format!(
                "regcount {} for {} propagated to entry {}",
                raise.registers,
                displayed(module, raise.callee),
                displayed(module, raise.kernel)
            );
            cx.diagnostics.emit(said(text, order::raised(index)));
        }
        Ok(Changed::No)
    }
}

fn displayed(module: &Module<'_>, link: LinkSymbolId) -> String {
    cuweld_demangle::displayed(module.link_name(link)).into_owned()
}

/// Returns the functions with what they call.
fn nodes(module: &Module<'_>, live: &LiveFunctions) -> String {
    let functions = all_functions_in_creation_order(module);
    let mut number_of = vec![0_u32; module.link_symbols.len()];
    for (number, link) in (1..).zip(&functions) {
        number_of[link.index()] = number;
    }
    let mut text = format!("callgraph for sm_{}:\n{LEGEND}", module.target.sm);
    let callees = Callees::new(module, &number_of);
    let mut is_entry = vec![false; module.link_symbols.len()];
    for (link, _) in live.reaching_kernels() {
        is_entry[link.index()] = true;
    }
    for (number, link) in (1..).zip(&functions) {
        if !module.link_symbols[*link].live.is_live() {
            let _ = write!(text, "\n{number}: ");
            continue;
        }
        let function = module.link_function(*link);
        let mark = match is_entry[link.index()] || module.is_undefined_kernel(*link) {
            true => "^",
            false => "",
        };
        let taken = if callees.is_taken[link.index()] {
            "&"
        } else {
            ""
        };
        let _ = write!(
            text,
            "\n{number}: {mark}{taken}{}",
            displayed(module, *link)
        );
        if let Some(function) = function.filter(|function| !module.is_alias(*function)) {
            let _ = write!(text, " [{}]", module.functions[function].registers);
        }
        text.push_str(" ->");
        callees.write(*link, &mut text);
    }
    text
}

/// What each function may call, by number.
struct Callees<'data> {
    direct: Vec<Vec<u32>>,
    /// The prototypes of indirect calls, a row each.
    indirect: Vec<Vec<&'data [u8]>>,
    /// Functions whose address is taken, by prototype, last created first.
    candidates: HashMap<&'data [u8], Vec<u32>, FixedState>,
    is_taken: Vec<bool>,
}

impl<'data> Callees<'data> {
    fn new(module: &Module<'data>, number_of: &[u32]) -> Self {
        let count = module.link_symbols.len();
        let mut callees = Callees {
            direct: vec![Vec::new(); count],
            indirect: vec![Vec::new(); count],
            candidates: HashMap::default(),
            is_taken: vec![false; count],
        };
        let mut taken: Vec<(u32, &'data [u8])> = Vec::new();
        let prototypes = Prototypes::new(module);
        let link = |reference: cuweld_ir::SymbolRef| module.symbols[reference.symbol()?].link;
        for call in counting_calls(module) {
            let Some(from) = link(call.from) else {
                continue;
            };
            match call.kind {
                CallKind::Direct => {
                    if let Some(to) = link(call.to) {
                        callees.direct[from.index()].push(number_of[to.index()]);
                    }
                }
                CallKind::Indirect => callees.indirect[from.index()].push(call.prototype),
                CallKind::AddressTaken => {
                    callees.is_taken[from.index()] = true;
                    let prototype = prototypes.get(from).unwrap_or(call.prototype);
                    taken.push((number_of[from.index()], prototype));
                }
                CallKind::TakesAddress => {}
            }
        }
        taken.sort_by_key(|(number, _)| std::cmp::Reverse(*number));
        for (number, prototype) in taken {
            callees
                .candidates
                .entry(prototype)
                .or_default()
                .push(number);
        }
        callees
    }

    fn write(&self, link: LinkSymbolId, text: &mut String) {
        for prototype in &self.indirect[link.index()] {
            for number in self.candidates.get(prototype).into_iter().flatten() {
                let _ = write!(text, " {number}");
            }
        }
        for number in self.direct[link.index()].iter().rev() {
            let _ = write!(text, " {number}");
        }
    }
}
