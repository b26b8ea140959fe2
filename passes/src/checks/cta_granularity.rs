//! Kernels that use single CTAs and pairs of CTAs.

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::codes::link;
use cuweld_elf::target::attributes as code;
use cuweld_ir::FunctionId;
use cuweld_ir::Module;
use foldhash::fast::FixedState;
use hashbrown::HashSet;

use crate::analyses::LiveFunctions;

/// Reports kernels whose lists, as `propagate-resources` wrote them, have the records of both.
pub(super) fn mixed(module: &Module<'_>, live: &LiveFunctions) -> Vec<Diagnostic> {
    if !module.target.is_mercury() {
        return Vec::new();
    }
    let mut functions: HashSet<FunctionId, FixedState> = HashSet::default();
    for list in &module.merged_info {
        let mut seen = [false; 2];
        for id in &list.records {
            match module.attributes[*id].code {
                code::TCGEN05_1CTA_USED => seen[0] = true,
                code::TCGEN05_2CTA_USED => seen[1] = true,
                _ => {}
            }
        }
        functions.extend(list.function.filter(|_| seen == [true; 2]));
    }
    let kernels = live.kernels.iter();
    let kernels = kernels.filter(|(_, function)| functions.contains(function));
    let error = |(kernel, _): &(_, _)| {
        let name = String::from_utf8_lossy(module.link_name(*kernel)).into_owned();
        Diagnostic::error(
            link::CTA_GRANULARITY,
            format!(
                "Function '{name}' uses single CTA(.cta_group::1) and CTA pair granularity(.cta_group::2) and that is not allowed."
            ),
        )
    };
    kernels.map(error).collect()
}
