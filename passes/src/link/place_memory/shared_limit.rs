//! Kernels with more shared memory than the target has.

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::codes::link;
use cuweld_diagnostics::codes::unsupported;
use cuweld_ir::LinkSymbolId;
use cuweld_ir::Module;

use super::largest;

/// The section of shared variables that no kernel has, in the words of nvlink's message: it cuts off
/// what `.nv.shared.` takes of the name of a kernel's section.
const MODULE_SHARED: &str = "hared";

/// Reports the section of shared variables that no kernel alone uses, if it is larger than what a
/// kernel may have.
pub(super) fn of_module(module: &Module<'_>, size: u64) -> Option<Diagnostic> {
    let limit = module.target.shared_limit();
    (size > limit).then(|| {
        Diagnostic::error(link::SHARED_MEMORY, too_much(MODULE_SHARED, size, limit))
            .note("'.nv_debug.shared' has the variables that no kernel alone uses")
    })
}

fn too_much(name: &str, size: u64, limit: u64) -> String {
    format!("Entry function '{name}' uses too much shared data ({size:#x} bytes, {limit:#x} max)")
}

/// Reports a kernel with too much shared memory, which these variables take. Returns `false` if it
/// has no frame for that.
pub(super) fn report(
    module: &Module<'_>,
    kernel: LinkSymbolId,
    (size, variables): (u64, &[LinkSymbolId]),
    errors: &mut Vec<Diagnostic>,
) -> bool {
    let name = String::from_utf8_lossy(module.link_name(kernel));
    if module.options.debug && module.options.memory.disable_shared_reservation {
        // nvlink takes off the block that is not reserved.
        let message =
            format!("-g with -disable-smem-reservation where '{name}' uses too much shared data");
        errors.push(Diagnostic::fatal(unsupported::SHARED_LIMIT_DEBUG, message));
        return false;
    }
    let limit = module.target.shared_limit();
    let message = too_much(&name, size, limit);
    let sizes = variables.iter().map(|link| {
        let variable = &module.link_symbols[*link];
        (module.symbols[variable.first].name, variable.size)
    });
    let error = Diagnostic::error(link::SHARED_MEMORY, message)
        .note(largest(size, limit, sizes.collect()))
        .help("dynamic shared memory (`extern __shared__`) may be larger, if the host asks for it");
    errors.push(error);
    true
}
