//! The order in which nvlink creates functions, which decides most orders of the output
//! (`merge.md` section 4, P1).

use cuweld_ir::FunctionId;
use cuweld_ir::LinkSymbolId;
use cuweld_ir::Module;

/// The live functions of the link in order of creation: object by object, functions in symbol table
/// order, each at its first appearance, defined or not.
pub fn functions_in_creation_order(module: &Module<'_>) -> Vec<LinkSymbolId> {
    let mut order = all_functions_in_creation_order(module);
    order.retain(|link| module.link_symbols[*link].live.is_live());
    order
}

/// The same with functions that are not kept.
pub fn all_functions_in_creation_order(module: &Module<'_>) -> Vec<LinkSymbolId> {
    let mut order = Vec::new();
    for (_, object) in module.included_objects() {
        for id in object.symbols.iter() {
            let symbol = &module.symbols[id];
            if !symbol.is_function() {
                continue;
            }
            if let Some(link) = symbol.link
                && module.link_symbols[link].first == id
            {
                order.push(link);
            }
        }
    }
    order
}

/// The live kernels among functions in creation order, with the copy that is linked.
pub fn kernels<'a>(
    module: &'a Module<'_>,
    functions: &'a [LinkSymbolId],
) -> impl Iterator<Item = (LinkSymbolId, FunctionId)> + 'a {
    functions.iter().filter_map(|link| {
        let function = module.link_function(*link)?;
        module.symbols[module.functions[function].symbol]
            .is_entry()
            .then_some((*link, function))
    })
}
