//! Local kernels of one name, whose parameters lie in one bank [parameters-of-local-kernels].

use cuweld_ir::FunctionId;
use cuweld_ir::Module;
use foldhash::fast::FixedState;
use hashbrown::HashMap;

/// The live local kernels that have the name of another one before them.
#[derive(Debug, Default)]
pub(crate) struct SharedParameters {
    /// Each with the first local kernel of its name, in ascending order.
    kernels: Vec<(FunctionId, FunctionId)>,
}

impl SharedParameters {
    /// Finds them, in a walk over all functions.
    pub(crate) fn of(module: &Module<'_>) -> Self {
        let mut named: HashMap<&[u8], FunctionId, FixedState> = HashMap::default();
        let mut kernels = Vec::new();
        for (id, function) in module.functions.iter() {
            let symbol = &module.symbols[function.symbol];
            if symbol.is_entry() && module.is_function_live(id) {
                let first = *named.entry(symbol.name).or_insert(id);
                if first != id {
                    kernels.push((id, first));
                }
            }
        }
        SharedParameters { kernels }
    }

    /// Returns `true` if no two local kernels have one name.
    pub(crate) fn is_empty(&self) -> bool {
        self.kernels.is_empty()
    }

    /// Returns the kernels whose parameters lie in the bank of another, each with that.
    pub(crate) fn kernels(&self) -> &[(FunctionId, FunctionId)] {
        &self.kernels
    }

    /// Returns the kernel whose bank has the parameters of this one, if that is another.
    pub(crate) fn holder(&self, kernel: FunctionId) -> Option<FunctionId> {
        let found = self.kernels.binary_search_by_key(&kernel, |(id, _)| *id);
        found.ok().map(|index| self.kernels[index].1)
    }
}
