//! Debug sections of the SASS view that depend on which functions are linked
//! [lines-of-linked-functions] [ranges-of-first-function].

use cuweld_diagnostics::codes::mercury;
use cuweld_ir::LinkSymbolId;
use cuweld_ir::Reloc;
use cuweld_ir::RelocAction;
use cuweld_ir::SectionId;
use cuweld_ir::SectionInfo;
use cuweld_ir::SectionKind;
use cuweld_ir::plan::PlanContent;
use cuweld_ir::plan::PlanReloc;
use cuweld_ir::section::view_name;
use foldhash::fast::FixedState;
use hashbrown::HashMap;

use super::Encode;
use super::Refusal;
use crate::link::plan_relocations::lines::LinkedLines;
use crate::link::plan_relocations::lines::of_section;

impl<'m, 'data> Encode<'m, 'data> {
    /// Makes the contents of a line table, functions of a unit in the order of their symbols;
    /// returns the rows.
    pub(super) fn lines(&mut self, index: usize) -> Result<Vec<PlanReloc>, Refusal> {
        let name = self.plan.sections[index].name;
        let module = self.module;
        let mut symbols: HashMap<LinkSymbolId, u32, FixedState> = HashMap::default();
        for (section, function) in self.plan.sections.iter().zip(&self.functions) {
            let symbol = function.map(|function| module.functions[function].symbol);
            if let Some(link) = symbol.and_then(|symbol| module.symbols[symbol].link) {
                symbols.insert(link, section.info & 0x00ff_ffff);
            }
        }
        let symbol_of = |row: &Reloc| {
            let link = row.target.symbol().and_then(|id| module.symbols[id].link);
            link.and_then(|link| symbols.get(&link))
                .copied()
                .unwrap_or(0)
        };
        let mut bytes = Vec::new();
        let mut kept = Vec::new();
        let mut linked = LinkedLines::default();
        for (id, rows) in self.inputs.debug_sections(module, name) {
            let Some((lines, rows)) =
                of_section(module, &self.early, id, rows, &mut linked, symbol_of)
            else {
                return Err(Refusal::new(mercury::LINE_TABLE, id));
            };
            let base = bytes.len() as u64;
            bytes.extend_from_slice(&lines.bytes);
            // The place of names stands in the head, with a row in the Mercury view only.
            let head = rows
                .first()
                .map_or(module.sections[id].size(), |row| row.offset);
            for (offset, value) in self.applied_to_twin(id) {
                let inside = offset.saturating_add(4) < head;
                let at = usize::try_from(base.saturating_add(offset)).unwrap_or(usize::MAX);
                match bytes.get_mut(at..at.saturating_add(4)).filter(|_| inside) {
                    Some(field) => field.copy_from_slice(&(value as u32).to_le_bytes()),
                    None => return Err(Refusal::new(mercury::LINE_VALUE, id)),
                }
            }
            for (row, place) in rows.into_iter().zip(lines.addresses) {
                if let (RelocAction::Keep { ty, addend, .. }, Some(place)) = (row.plan, place) {
                    kept.push(PlanReloc {
                        offset: base.saturating_add(place),
                        ty,
                        symbol: symbol_of(row),
                        addend,
                    });
                }
            }
        }
        kept.sort_by_key(|row| row.offset);
        let section = &mut self.plan.sections[index];
        section.size = bytes.len() as u64;
        section.content = PlanContent::Bytes(self.arena.bytes(&bytes));
        Ok(kept)
    }

    /// Returns the offsets and values of the relocations that are applied to the Mercury form of a
    /// debug section.
    fn applied_to_twin(&self, section: SectionId) -> Vec<(u64, u64)> {
        let module = self.module;
        let section = &module.sections[section];
        let mut applied = Vec::new();
        for id in module.objects[section.object].sections.iter() {
            let row = &module.sections[id];
            let (SectionKind::Relocs, SectionInfo::Section(patched)) = (row.kind, row.info) else {
                continue;
            };
            let twin = &module.sections[patched];
            if twin.kind != SectionKind::MercuryDebug || view_name(twin) != section.name {
                continue;
            }
            let rows = module.relocs[row.relocs].iter();
            applied.extend(rows.filter_map(|row| match row.plan {
                RelocAction::Apply { value, .. } => Some((row.offset, value)),
                _ => None,
            }));
        }
        applied
    }
}
