//! Kernels that need more stack than they may use.

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::codes::link;
use cuweld_elf::target::attributes as code;
use cuweld_ir::Module;

use crate::analyses::LiveFunctions;
use crate::analyses::words_of_functions;

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
