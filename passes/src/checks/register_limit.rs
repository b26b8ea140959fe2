//! Kernels that need more registers because of what they call.

use cuweld_elf::target::attributes as code;
use cuweld_ir::FunctionId;
use cuweld_ir::LinkSymbolId;
use cuweld_ir::Module;
use cuweld_ir::table::EntityId;

use crate::analyses::CallGraph;
use crate::analyses::LiveFunctions;

/// What MAXREG_COUNT says if there is no limit.
const NO_LIMIT: u16 = 0xff;

/// A kernel gets the register count of a function that it reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Raise {
    /// The kernel.
    pub kernel: LinkSymbolId,
    /// Its limit (MAXREG_COUNT), if it has one.
    pub limit: Option<u32>,
    /// The function.
    pub callee: LinkSymbolId,
    /// Its registers.
    pub registers: u32,
}

/// A kernel on its way up.
struct Kernel {
    link: LinkSymbolId,
    limit: Option<u32>,
    registers: u32,
    reached: Vec<bool>,
}

/// Returns the raises by which nvlink increases each kernel's count: function by function in the
/// order of their definitions, kernels last created first [raises-by-function]. Without `all` only
/// raises of kernels that end up over their limit.
///
/// Linear if there are no such kernels; otherwise kernels in question times functions.
pub(crate) fn raises(
    module: &Module<'_>,
    graph: &CallGraph,
    live: &LiveFunctions,
    all: bool,
) -> Vec<Raise> {
    let registers = |function: FunctionId| module.functions[function].registers;
    let of_all = live.defined().map(|(_, function)| registers(function));
    let most = of_all.max().unwrap_or(0);
    let mut raised: Vec<Kernel> = Vec::new();
    for (link, function) in live.reaching_kernels() {
        let registers = registers(function);
        if most <= registers {
            continue;
        }
        let limit = limit(module, function).map(u32::from);
        if all || limit.is_some_and(|limit| most > limit) {
            raised.push(Kernel {
                link,
                limit,
                registers,
                reached: graph.reach([link]),
            });
        }
    }
    if raised.is_empty() {
        return Vec::new();
    }
    let mut found = Vec::new();
    // A copy that replaced another stands at the place of the first.
    let mut first_copy = vec![None; module.link_symbols.len()];
    for function in module.functions.values() {
        if let Some(link) = module.symbols[function.symbol].link {
            first_copy[link.index()].get_or_insert(function.symbol);
        }
    }
    let mut callees = live.functions.clone();
    callees.sort_by_key(|link| first_copy[link.index()]);
    for callee in callees {
        let Some(function) = module.link_function(callee) else {
            continue;
        };
        if module.symbols[module.functions[function].symbol].is_entry() {
            continue;
        }
        let registers = module.functions[function].registers;
        for kernel in raised.iter_mut().rev() {
            if !kernel.reached[callee.index()] || registers <= kernel.registers {
                continue;
            }
            kernel.registers = registers;
            if all || kernel.limit.is_some_and(|limit| registers > limit) {
                found.push(Raise {
                    kernel: kernel.link,
                    limit: kernel.limit,
                    callee,
                    registers,
                });
            }
        }
    }
    found
}

/// Returns the limit of a kernel, if it has one.
fn limit(module: &Module<'_>, kernel: FunctionId) -> Option<u16> {
    let section = module.functions[kernel].views.merged_info()?;
    module.attributes[module.sections[section].attributes]
        .iter()
        .find(|record| record.code == code::MAXREG_COUNT)
        .map(|record| record.value)
        .filter(|limit| *limit != NO_LIMIT)
}
