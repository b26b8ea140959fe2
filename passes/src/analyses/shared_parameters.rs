//! Kernels of one name, all but one local, whose parameters lie in one bank
//! [parameters-of-local-kernels].

use cuweld_elf::symbol::Binding;
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
    /// Finds them, in walks over all functions and, with local kernels, all sections.
    pub(crate) fn of(module: &Module<'_>) -> Self {
        let mut shared = SharedParameters::default();
        let kernels = || {
            module.functions.iter().filter_map(|(id, function)| {
                let symbol = &module.symbols[function.symbol];
                (symbol.is_entry() && module.is_function_live(id)).then_some((id, symbol))
            })
        };
        // Few links have local kernels, and of global ones no two have one name.
        if !kernels().any(|(_, symbol)| symbol.bind == Binding::LOCAL) {
            return shared;
        }
        let mut has_bank = vec![false; module.functions.len()];
        for section in module.sections.values() {
            if let (SectionKind::FunctionConstants(0), Some(owner)) = (section.kind, section.owner)
            {
                has_bank[owner.index()] = true;
            }
        }
        let mut named: HashMap<&[u8], FunctionId, FixedState> = HashMap::default();
        for (id, symbol) in kernels().filter(|(id, _)| has_bank[id.index()]) {
            let first = *named.entry(symbol.name).or_insert(id);
            if first != id {
                shared.kernels.push((id, first));
            }
        }
        shared
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
