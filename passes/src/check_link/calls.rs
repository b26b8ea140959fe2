//! Calls, and addresses of functions.

use cuweld_ir::CallKind;
use cuweld_ir::table::EntityId;

use super::Check;
use super::Link;
use crate::analysis::CallGraph;

/// Checks `call-target` and `address-taken`.
pub(super) fn check(link: &Link<'_, '_>, graph: &CallGraph, check: &mut Check) {
    for call in graph.calls(link.module) {
        let Some(from) = link.of(call.from) else {
            continue;
        };
        let is_live = link.is_live(from);
        match call.kind {
            // Whoever takes the address, it must lead somewhere.
            CallKind::AddressTaken if !is_live => {
                let what = format_args!("{} is not in the output", link.quoted(from));
                check.report("address-taken", what);
            }
            CallKind::TakesAddress if is_live => {
                if let Some(to) = link.dead(call.to) {
                    let names = (link.quoted(from), link.quoted(to));
                    let what = format_args!("{} takes that of {}", names.0, names.1);
                    check.report("address-taken", what);
                }
            }
            CallKind::Direct if is_live && link.running[from.index()] => {
                if let Some(to) = link.dead(call.to) {
                    let names = (link.quoted(from), link.quoted(to));
                    let what =
                        format_args!("{} calls {}, which is not in the output", names.0, names.1);
                    check.report("call-target", what);
                }
            }
            _ => {}
        }
    }
}
