//! What rows lead to that do not name it themselves: found in one walk, and kept.

use std::collections::BTreeMap;

use cuweld_elf::target::attributes::REGCOUNT;
use cuweld_ir::AttributeId;
use cuweld_ir::CallId;
use cuweld_ir::FunctionId;
use cuweld_ir::IdRange;
use cuweld_ir::RelocId;
use cuweld_ir::SectionId;
use cuweld_ir::SectionInfo;
use cuweld_ir::SymbolId;
use cuweld_ir::SymbolRef;

use crate::module::IrModule;

/// Rows by what they are about. It stays right as long as no passes run: Python adds no rows, and
/// changes none of the fields that it is made of.
#[derive(Debug, Default)]
pub struct Index {
    register_records: BTreeMap<FunctionId, AttributeId>,
    calls: BTreeMap<SymbolId, Vec<CallId>>,
    relocations: BTreeMap<SectionId, Vec<IdRange<RelocId>>>,
}

impl Index {
    /// Walks over a module.
    pub fn new(module: &IrModule<'_>) -> Self {
        let mut index = Index::default();
        for (id, attribute) in module.attributes.iter() {
            let of_object = attribute.section.is_some() && attribute.code == REGCOUNT;
            let symbol = module.refs(attribute).first().and_then(|of| of.symbol());
            let function = symbol.and_then(|symbol| module.symbols[symbol].function);
            if let Some(function) = function.filter(|_| of_object) {
                index.register_records.insert(function, id);
            }
        }
        for (id, call) in module.calls.iter() {
            if let SymbolRef::Symbol(caller) = call.from {
                index.calls.entry(caller).or_default().push(id);
            }
        }
        for section in module.sections.values() {
            if let SectionInfo::Section(target) = section.info
                && !section.relocs.is_empty()
            {
                let ranges = index.relocations.entry(target).or_default();
                ranges.push(section.relocs);
            }
        }
        index
    }

    /// Returns the record that says how many registers a function needs.
    pub fn register_record(&self, function: FunctionId) -> Option<AttributeId> {
        self.register_records.get(&function).copied()
    }

    /// Returns the rows of the call graph with this caller.
    pub fn calls(&self, caller: SymbolId) -> &[CallId] {
        self.calls.get(&caller).map_or(&[], Vec::as_slice)
    }

    /// Returns the relocations that change a section.
    pub fn relocations(&self, section: SectionId) -> impl Iterator<Item = RelocId> {
        let ranges = self.relocations.get(&section).into_iter().flatten();
        ranges.flat_map(|range| range.iter())
    }
}
