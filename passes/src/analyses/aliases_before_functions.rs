//! Aliases that come before their functions in the tables of objects.

use cuweld_ir::FunctionId;
use cuweld_ir::Module;

/// Returns the aliases that come before their functions in the tables of their objects, with the
/// latter.
pub fn aliases_before_functions(
    module: &Module<'_>,
) -> impl Iterator<Item = (FunctionId, FunctionId)> {
    module.functions.ids().filter_map(|alias| {
        let function = module.aliased(alias)?;
        let is_before = module.functions[alias].symbol < module.functions[function].symbol;
        is_before.then_some((alias, function))
    })
}
