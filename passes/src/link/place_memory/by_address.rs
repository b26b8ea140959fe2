//! Kernels that stay only because their address is taken: what nvlink makes of their memory in ways
//! that are not known.

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::codes::unsupported;
use cuweld_elf::align::align_up;
use cuweld_elf::behaviours::memory;
use cuweld_ir::FunctionId;
use cuweld_ir::LinkSymbolId;
use cuweld_ir::Module;
use cuweld_ir::SymbolPlace;
use cuweld_ir::table::EntityId;

use super::dynamic_align::DYNAMIC_ALIGN;
use super::empty_sections::EmptySections;
use super::shared::null_size;
use crate::analyses::HostKernels;
use crate::analyses::LiveFunctions;

/// Refuses shared memory of several kernels that an option leaves out and that have no variables of
/// their own, unless all of it is dynamic: the order of their sections follows from nvlink's walk
/// over variables. Refuses that of one such kernel beside slots for variables of the module, whose
/// alignment it may be too late for, and slots of textures beside the only kernel of a link.
pub(super) fn refuse(
    module: &Module<'_>,
    live: &LiveFunctions,
    host: &HostKernels,
    errors: &mut Vec<Diagnostic>,
) {
    if !host.decide {
        return;
    }
    let mut left_out = live
        .kernels
        .iter()
        .filter(|(link, _)| !host.contains(*link))
        .peekable();
    if left_out.peek().is_none() {
        return;
    }
    let has_variables = with_variables(module);
    let empty = EmptySections::new(module);
    let is_late = |link: LinkSymbolId, function: FunctionId| {
        let frame = module.functions[function].shared;
        host.are_of_options
            && frame.is_some_and(|frame| frame.present)
            && !has_variables[function.index()]
            && empty.of(link).is_none()
    };
    let dynamic = Some(align_up(null_size(module), DYNAMIC_ALIGN));
    let left_out: Vec<(LinkSymbolId, FunctionId)> = left_out.copied().collect();
    let late = left_out
        .iter()
        .filter(|(link, function)| is_late(*link, *function));
    let has_several = late.clone().nth(1).is_some();
    let has_more = late
        .clone()
        .any(|(_, kernel)| module.functions[*kernel].dynamic_shared != dynamic);
    for &(link, function) in &left_out {
        let frame = module.functions[function].shared;
        let is_aligned = frame.is_some_and(|frame| frame.slots_align > 1);
        // Since 13.4 the sections of such kernels have another order.
        let has_other_order = module.toolkit.has(&memory::EMPTY_KERNEL_SHARED)
            && module.functions[function].dynamic_shared.is_none();
        let shared =
            is_late(link, function) && (is_aligned || has_several && has_more || has_other_order);
        // Whether the reserved block counts for such a section is not known.
        let shared = shared || empty.of(link).is_some() && module.reserved_shared_size() > 0;
        let slots = live.only_kernel.is_some() && !module.header_slots.is_empty();
        let what = match (shared, slots) {
            (true, _) => "shared memory",
            (_, true) => "slots of textures",
            _ => continue,
        };
        let name = String::from_utf8_lossy(module.link_name(link));
        errors.push(
            Diagnostic::fatal(
                unsupported::KERNEL_BY_ADDRESS,
                format!("{what} of a kernel that stays only because its address is taken"),
            )
            .note(format!("kernel '{name}'"))
            .help("name the kernel in -kernels-used"),
        );
    }
}

/// Returns which functions have shared variables of their own, by function.
fn with_variables(module: &Module<'_>) -> Vec<bool> {
    let mut found = vec![false; module.functions.len()];
    for symbol in module.symbols.values() {
        if let SymbolPlace::Section(section) = symbol.place
            && symbol.is_shared()
            && let Some(owner) = module.sections[section].owner
        {
            found[owner.index()] = true;
        }
    }
    found
}
