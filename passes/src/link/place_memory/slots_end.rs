//! Where the shared variables end that belong to no kernel alone.

use cuweld_ir::Module;

/// Returns the end of the shared variables that belong to no kernel alone, in bytes.
pub(crate) fn slots_end(module: &Module<'_>) -> u64 {
    let links = module.link_symbols.iter();
    links
        .filter(|(id, link)| link.kernel.is_none() && !module.began_dynamic(*id))
        .filter(|(_, link)| {
            link.definition
                .is_some_and(|definition| module.symbols[definition].is_shared())
        })
        .filter_map(|(_, link)| Some(link.value?.saturating_add(link.size)))
        .max()
        .unwrap_or(0)
}
