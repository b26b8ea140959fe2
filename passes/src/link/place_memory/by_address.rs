//! Kernels that stay only because their address is taken: what nvlink makes of their memory in ways
//! that are not known.

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::codes::unsupported;
use cuweld_elf::align::align_up;
use cuweld_elf::behaviours::memory;
use cuweld_ir::Module;

use super::dynamic_align::DYNAMIC_ALIGN;
use super::empty_sections::EmptySections;
use super::late_shared::late;
use super::shared_variables::null_size;
use crate::analyses::HostKernels;
use crate::analyses::LiveFunctions;

/// Refuses, since 13.4, shared memory of kernels that an option leaves out and that have no
/// variables of their own, where it is more than dynamic: their sections have another order.
pub(super) fn refuse(
    module: &Module<'_>,
    live: &LiveFunctions,
    host: &HostKernels,
    errors: &mut Vec<Diagnostic>,
) {
    if !host.leave_out || !module.toolkit.has(&memory::EMPTY_KERNEL_SHARED) {
        return;
    }
    let empty = EmptySections::new(module);
    let dynamic = Some(align_up(null_size(module), DYNAMIC_ALIGN));
    let waits = late(module, live, host);
    let kernels = live.kernels.iter().zip(waits);
    let left_out = kernels.filter(|((link, _), _)| !host.contains(*link));
    for (&(link, function), is_late) in left_out {
        let kernel = &module.functions[function];
        let is_late = is_late && kernel.shared.is_some_and(|frame| frame.present);
        // Whether the reserved block counts for an empty section is not known.
        let is_unknown = is_late && kernel.dynamic_shared != dynamic
            || empty.of(link).is_some() && module.reserved_shared_size() > 0;
        if !is_unknown {
            continue;
        }
        let name = String::from_utf8_lossy(module.link_name(link));
        let what = "shared memory of a kernel that stays only because its address is taken";
        errors.push(
            Diagnostic::fatal(unsupported::KERNEL_BY_ADDRESS, what)
                .note(format!("kernel '{name}'"))
                .help("name the kernel in -kernels-used"),
        );
    }
}
