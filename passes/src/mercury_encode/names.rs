//! String tables of both views (`mercury.md` section 5).

use cuweld_ir::mercury::CONSTANT_USER;

use super::Encode;

/// What bank 3 is called in the SASS view.
const CONSTANT_USER_SASS: &[u8] = b".nv.constant3";

impl<'data> Encode<'_, 'data> {
    /// Renames constant banks and appends the names of added sections. The room that names give up is left
    /// between the symbols' names and the symbols: its size in bytes is returned.
    pub(super) fn rename(&mut self) -> u64 {
        let mut gap = 0;
        for index in 0..self.view {
            let section = &mut self.plan.sections[index];
            if section.name != CONSTANT_USER {
                continue;
            }
            let (old, new) = (CONSTANT_USER, CONSTANT_USER_SASS);
            section.name = new;
            let start = section.name_offset as usize;
            if let Some(place) = self.plan.section_names.get_mut(start..start + old.len()) {
                place.fill(0);
                if let Some(place) = place.get_mut(..new.len()) {
                    place.copy_from_slice(new);
                }
            }
            gap += (old.len() - new.len() - 1) as u64;
        }
        let names = &mut self.plan.section_names;
        for section in &mut self.plan.sections[self.view..] {
            section.name_offset = names.len() as u32;
            names.extend_from_slice(section.name);
            names.push(0);
        }
        gap
    }

    /// Appends a name to those of symbols.
    pub(super) fn append_symbol_name(&mut self, name: &[u8]) -> u32 {
        let offset = self.plan.symbol_names.len() as u32;
        self.plan.symbol_names.extend_from_slice(name);
        self.plan.symbol_names.push(0);
        offset
    }
}
