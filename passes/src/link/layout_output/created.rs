//! Looking output sections up: for an input section, or for a variable.

use cuweld_ir::LinkSymbolId;
use cuweld_ir::Module;
use cuweld_ir::SectionId;
use cuweld_ir::SectionKind;
use cuweld_ir::table::EntityId;

use super::Created;
use super::NO_SECTION;
use super::OutId;

/// The section of shared variables that belong to no kernel alone.
pub(super) const MODULE_SHARED: &[u8] = b".nv_debug.shared";

/// Returns the output section that a shared variable lies in.
pub(super) fn shared_output_of(
    module: &Module<'_>,
    out: &Created<'_>,
    variable: LinkSymbolId,
) -> Option<OutId> {
    let Some(kernel) = module.link_symbols[variable].kernel else {
        return out.by_name.get(MODULE_SHARED).copied();
    };
    let link = module.symbols[module.functions[kernel].symbol].link?;
    let name = [b".nv.shared.", module.function_name(kernel)].concat();
    out.of_function(link, &name)
}

/// Returns the output section that an input section is part of.
pub(super) fn output_of(module: &Module<'_>, out: &Created<'_>, id: SectionId) -> Option<OutId> {
    let placed = out.placed[id.index()];
    if placed != NO_SECTION {
        return Some(placed as OutId);
    }
    let section = &module.sections[id];
    match section.owner {
        None => out.by_name.get(&*out.name_of(section)).copied(),
        Some(owner) => {
            let link = module.symbols[module.functions[owner].symbol].link?;
            match section.kind {
                SectionKind::Text | SectionKind::MercuryText => out.text_of(link),
                _ => out.of_function(link, &out.name_of(section)),
            }
        }
    }
}
