//! `.nv.uft.entry` and `.nv.udt.entry` of relocatable output: what has a unified address.

use cuweld_elf::target::section_types::is_unified_entries;
use cuweld_ir::SectionKind;
use cuweld_ir::SymbolRef;

use super::super::OutId;
use super::super::created::output_of;
use super::Finish;

/// The flags that nvlink writes; objects of ptxas have 1 [unified-rows].
const LINKED: u32 = 7;

impl Finish<'_, '_> {
    /// Returns the rows of all objects, with the symbols of the output and their values.
    pub(super) fn unified_entries(&self, id: OutId) -> Vec<u8> {
        let mut bytes = Vec::new();
        let module = self.module;
        let sections = module
            .included_objects()
            .flat_map(|(_, object)| object.sections.iter());
        for section in sections {
            let row = &module.sections[section];
            let is_table = row.kind == SectionKind::Unified && is_unified_entries(row.ty);
            if !is_table || output_of(module, &self.out, section) != Some(id) {
                continue;
            }
            for entry in &module.attributes[row.attributes] {
                let target = module
                    .refs(entry)
                    .first()
                    .copied()
                    .unwrap_or(SymbolRef::None);
                let symbol = target.symbol();
                let link = symbol.and_then(|symbol| module.symbols[symbol].link);
                let offset = link.map_or(0, |link| self.link_symbol(link).0.value as u32);
                for word in [self.reference(target), LINKED, offset] {
                    bytes.extend_from_slice(&word.to_le_bytes());
                }
                bytes.extend_from_slice(entry.rest.get(8..).unwrap_or_default());
            }
        }
        bytes
    }
}
