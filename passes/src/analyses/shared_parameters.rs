//! Kernels of one name, all but one local, whose parameters lie in one bank [parameters-of-local-kernels].

use cuweld_elf::symbol::Binding;
use cuweld_ir::Function;
use cuweld_ir::FunctionId;
use cuweld_ir::Module;
use cuweld_ir::SectionKind;
use cuweld_ir::table::EntityId;
use foldhash::fast::FixedState;
use hashbrown::HashMap;

/// The live kernels whose parameters lie in the bank of another of their name.
#[derive(Debug, Default)]
pub(crate) struct SharedParameters {
    /// Each with the first kernel of its name that has a bank, in ascending order.
    kernels: Vec<(FunctionId, FunctionId)>,
}

impl SharedParameters {
    /// Finds them, in a walk over all functions.
    pub(crate) fn of(module: &Module<'_>) -> Self {
        let mut kernels = Vec::new();
        let is_local = |(id, function): (FunctionId, &Function)| {
            let symbol = &module.symbols[function.symbol];
            symbol.bind == Binding::LOCAL && symbol.is_entry() && module.is_function_live(id)
        };
        // Few links have local kernels, and of global ones no two have one name.
        if module.functions.iter().any(is_local) {
            let mut has_bank = vec![false; module.functions.len()];
            for section in module.sections.values() {
                if let (SectionKind::FunctionConstants(0), Some(owner)) =
                    (section.kind, section.owner)
                {
                    has_bank[owner.index()] = true;
                }
            }
            kernels = Self::among(module, |kernel| has_bank[kernel.index()]);
        }
        SharedParameters { kernels }
    }

    /// Returns the kernels that have the name of one before them, with the first of the name.
    fn among(
        module: &Module<'_>,
        has_bank: impl Fn(FunctionId) -> bool,
    ) -> Vec<(FunctionId, FunctionId)> {
        let mut named: HashMap<&[u8], FunctionId, FixedState> = HashMap::default();
        let mut kernels = Vec::new();
        for (id, function) in module.functions.iter() {
            let symbol = &module.symbols[function.symbol];
            if symbol.is_entry() && module.is_function_live(id) && has_bank(id) {
                let first = *named.entry(symbol.name).or_insert(id);
                if first != id {
                    kernels.push((id, first));
                }
            }
        }
        kernels
    }

    /// Returns `true` if no two kernels have one name.
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
