//! Kernels that were compiled for few registers and call functions that need more.

use cuweld_ir::FunctionId;
use cuweld_ir::LinkSymbolId;
use cuweld_ir::Module;
use cuweld_ir::table::EntityId;
use cuweld_ir::target::attributes as code;

use crate::analysis::functions_in_creation_order;
use crate::analysis::kernels;
use crate::diagnostic::Diagnostic;
use crate::pass::PassCx;

/// What MAXREG_COUNT says if there is no limit.
const NO_LIMIT: u16 = 0xff;

/// Reports the calls from a kernel with a register limit (MAXREG_COUNT) that the hardware could not
/// make; says whether there are any.
///
/// nvlink raises each kernel's count function by function in the order of their definitions, kernels
/// last created first, and reports every raise over the limit (measured). Linear unless there is
/// something to report; then kernels with a limit times what they reach.
pub(crate) fn report_exceeded(module: &Module<'_>, cx: &mut PassCx<'_, '_>) -> bool {
    let functions = functions_in_creation_order(module);
    let most = functions
        .iter()
        .filter_map(|link| Some(module.functions[module.link_function(*link)?].registers))
        .max()
        .unwrap_or(0);
    let mut limited: Vec<(LinkSymbolId, u16, u32, Vec<bool>)> = Vec::new();
    for (link, function) in kernels(module, &functions) {
        if let Some(limit) = limit(module, function)
            && most > u32::from(limit)
        {
            let reached = cx.analyses.call_graph(module).reach([link]);
            let registers = module.functions[function].registers;
            limited.push((link, limit, registers, reached));
        }
    }
    if limited.is_empty() {
        return false;
    }
    let mut found = false;
    let mut callees = functions;
    callees.sort_by_key(|link| module.link_symbols[*link].definition);
    for callee in callees {
        let Some(function) = module.link_function(callee) else {
            continue;
        };
        if module.symbols[module.functions[function].symbol].is_entry() {
            continue;
        }
        let needed = module.functions[function].registers;
        for (kernel, limit, registers, reached) in limited.iter_mut().rev() {
            if !reached[callee.index()] || needed <= *registers {
                continue;
            }
            *registers = needed;
            if needed <= u32::from(*limit) {
                continue;
            }
            found = true;
            let name = |link| String::from_utf8_lossy(module.link_name(link)).into_owned();
            cx.diagnostics.emit(
                Diagnostic::error(format!(
                    "entry function '{}' with max regcount of {limit} calls function '{}' with regcount of {needed}",
                    name(*kernel),
                    name(callee)
                ))
                .help("compile both with the same -maxrregcount, or without")
                .at(u32::MAX, 0),
            );
        }
    }
    found
}

/// The limit of a kernel, if it has one.
fn limit(module: &Module<'_>, kernel: FunctionId) -> Option<u16> {
    let section = module.functions[kernel].views.sass.info?;
    module.attributes[module.sections[section].attributes]
        .iter()
        .find(|record| record.code == code::MAXREG_COUNT)
        .map(|record| record.value)
        .filter(|limit| *limit != NO_LIMIT)
}
