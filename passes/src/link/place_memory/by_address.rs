//! Kernels that stay only because their address is taken: what nvlink makes of their memory in ways
//! that are not known.

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::codes::unsupported;
use cuweld_ir::Module;
use cuweld_ir::SectionKind;
use cuweld_ir::table::EntityId;

use crate::analyses::HostKernels;
use crate::analyses::LiveFunctions;

/// Refuses shared memory that a kernel left out by an option uses without a section of its own,
/// whose place among the sections follows from nvlink's walk over variables, and slots of textures
/// beside the only kernel of a link.
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
    let mut has_section = vec![false; module.functions.len()];
    for section in module.sections.values() {
        if let (SectionKind::KernelShared, Some(owner)) = (section.kind, section.owner) {
            has_section[owner.index()] = true;
        }
    }
    for &(link, function) in left_out {
        let frame = module.functions[function].shared.as_ref();
        let late = host.are_of_options
            && frame.is_some_and(|frame| frame.present)
            && !has_section[function.index()];
        let slots = live.only_kernel.is_some() && !module.header_slots.is_empty();
        let what = match (late, slots) {
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
