//! Kernels that need more stack than they may use.

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::codes::link;
use cuweld_elf::target::attributes as code;
use cuweld_ir::LinkSymbolId;
use cuweld_ir::Module;
use foldhash::fast::FixedState;
use hashbrown::HashMap;

use crate::analyses::LiveFunctions;

/// Reports kernels that need more than their MAX_STACK_SIZE records allow; one whose need is not
/// known needs more than any limit [unknown-stack-exceeds]. Limits of device functions do not
/// count.
pub(crate) fn exceeded(module: &Module<'_>, live: &LiveFunctions) -> Vec<Diagnostic> {
    let limits = live.kernels.iter().filter_map(|(link, function)| {
        let limit = module.functions[*function].stack_limit;
        (limit != 0).then_some((*link, limit))
    });
    let mut limits = limits.peekable();
    if limits.peek().is_none() {
        return Vec::new();
    }
    let needed = needed(module);
    let exceeded = limits.filter_map(|(link, limit)| {
        let needed = needed.get(&link).copied().filter(|size| *size > limit)?;
        let name = String::from_utf8_lossy(module.link_name(link));
        Some(Diagnostic::error(
            link::STACK_LIMIT,
            format!(
                "Function '{name}' uses {} bytes stack but limited to {limit}",
                needed as i32
            ),
        ))
    });
    exceeded.collect()
}

/// Returns the number of bytes of stack that kernels need, as `propagate-resources` wrote it.
fn needed(module: &Module<'_>) -> HashMap<LinkSymbolId, u32, FixedState> {
    let records = module.merged_info.first().into_iter();
    let records = records.flat_map(|list| &list.records);
    let records = records.map(|id| &module.attributes[*id]);
    let records = records.filter(|record| record.code == code::MIN_STACK_SIZE);
    let needed = records.filter_map(|record| {
        let symbol = module.refs(record).first()?.symbol()?;
        Some((module.symbols[symbol].link?, record.word(0)?))
    });
    needed.collect()
}
