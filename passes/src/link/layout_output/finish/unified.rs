//! `.nv.uft.entry` and `.nv.udt.entry` of relocatable output: what has a unified address.

use cuweld_elf::target::section_types::is_unified_entries;
use cuweld_ir::LinkSymbolId;
use cuweld_ir::ObjectId;
use cuweld_ir::SectionKind;
use cuweld_ir::SymbolPlace;
use cuweld_ir::SymbolRef;
use cuweld_ir::merge_log::MergeEvent;
use cuweld_ir::merge_log::MergeOutcome;
use foldhash::fast::FixedState;
use hashbrown::HashMap;

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
        let replaced = self.replaced_definitions();
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
                let offset =
                    link.map_or(0, |link| self.value_at(link, row.object, &replaced) as u32);
                for word in [self.reference(target), LINKED, offset] {
                    bytes.extend_from_slice(&word.to_le_bytes());
                }
                bytes.extend_from_slice(entry.rest.get(8..).unwrap_or_default());
            }
        }
        bytes
    }

    /// Returns the weak definitions that a strong one of a later object replaced.
    fn replaced_definitions(&self) -> Replaced<'_> {
        let events = self.module.merge_log.iter();
        let replaced = events.filter(|event| event.outcome == MergeOutcome::ReplacesWeak);
        let by_name = replaced.filter_map(|event| {
            let link = self.module.symbols[event.newcomer].link?;
            Some((link, event))
        });
        by_name.collect()
    }

    /// Returns the value that a name had when an object was merged: a strong definition of a later
    /// object had not yet replaced the weak one [unified-rows].
    fn value_at(&self, link: LinkSymbolId, object: ObjectId, replaced: &Replaced<'_>) -> u64 {
        let module = self.module;
        let weak = replaced
            .get(&link)
            .filter(|event| module.symbols[event.newcomer].object > object)
            .map(|event| &module.symbols[event.prevailing]);
        match weak.map(|weak| (weak.place, weak.value)) {
            Some((SymbolPlace::Section(section), value)) => {
                value.wrapping_add(module.sections[section].place.unwrap_or(0))
            }
            _ => self.link_symbol(link).0.value,
        }
    }
}

/// What replaced the weak definition of a name.
type Replaced<'m> = HashMap<LinkSymbolId, &'m MergeEvent, FixedState>;
