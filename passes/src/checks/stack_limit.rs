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
    let needed = words_of_functions(module, code::MIN_STACK_SIZE);
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

/// Returns what the records of a code in the output's `.nv.info` say of functions, a word each: of
/// MIN_STACK_SIZE the bytes of stack that kernels need, as `propagate-resources` wrote them.
pub(crate) fn words_of_functions(
    module: &Module<'_>,
    code: u8,
) -> HashMap<LinkSymbolId, u32, FixedState> {
    let records = module.merged_info.first().into_iter();
    let records = records.flat_map(|list| &list.records);
    let records = records.map(|id| &module.attributes[*id]);
    let records = records.filter(|record| record.code == code);
    let needed = records.filter_map(|record| {
        let symbol = module.refs(record).first()?.symbol()?;
        Some((module.symbols[symbol].link?, record.word(0)?))
    });
    needed.collect()
}
