//! Calls, addresses of functions, and records that refer to functions.

use cuweld_ir::CallKind;
use cuweld_ir::LinkSymbolId;
use cuweld_ir::Module;
use cuweld_ir::SymbolRef;
use cuweld_ir::table::EntityId;

use super::Check;
use super::quoted;
use crate::analysis::CallGraph;

/// Checks `call-target`, `address-taken` and `record-target`; `running` says by link symbol what can run.
pub(super) fn check(module: &Module<'_>, graph: &CallGraph, running: &[bool], check: &mut Check) {
    let link_of = |target: SymbolRef| module.symbols[target.symbol()?].link;
    let is_live = |link: LinkSymbolId| module.link_symbols[link].live.is_live();
    for call in graph.calls(module) {
        let Some(from) = link_of(call.from).filter(|link| is_live(*link)) else {
            // The address of a function that is left out: the row says that something takes it.
            if call.kind == CallKind::AddressTaken
                && let Some(taken) = link_of(call.from)
            {
                let what = format!("{} is not in the output", quoted(module, taken));
                check.report("address-taken", what);
            }
            continue;
        };
        let (rule, matters) = match call.kind {
            CallKind::Direct => ("call-target", running[from.index()]),
            CallKind::TakesAddress => ("address-taken", true),
            CallKind::AddressTaken | CallKind::Indirect => continue,
        };
        if matters
            && let Some(to) = link_of(call.to)
            && !is_live(to)
        {
            let names = (quoted(module, from), quoted(module, to));
            let what = match call.kind {
                CallKind::Direct => "calls",
                _ => "takes the address of",
            };
            check.report(
                rule,
                format_args!("{} {what} {}, which is not in the output", names.0, names.1),
            );
        }
    }
    for list in &module.merged_info {
        for id in &list.records {
            let record = &module.attributes[*id];
            let dead = module.refs(record).iter().find_map(|target| {
                let link = link_of(*target)?;
                (!is_live(link)).then_some(link)
            });
            if let Some(dead) = dead {
                let what = format_args!(
                    "a record with the code {:#04x} refers to {}, which is not in the output",
                    record.code,
                    quoted(module, dead)
                );
                check.report("record-target", what);
            }
        }
    }
}
