//! The relocation sections of each output section: one with addends, one without.

use super::NO_SECTION;
use super::OutId;

/// Relocation sections by what they apply to.
#[derive(Default)]
pub(super) struct RelocSections {
    /// REL, then RELA.
    of: Vec<[u32; 2]>,
}

impl RelocSections {
    /// Adds a section with the rows of an output section, RELA or REL.
    pub(super) fn insert(&mut self, target: OutId, is_rela: bool, id: OutId) {
        if self.of.len() <= target {
            self.of.resize(target + 1, [NO_SECTION; 2]);
        }
        self.of[target][usize::from(is_rela)] = id as u32;
    }

    /// Returns `true` if an output section has both forms.
    pub(super) fn has_both(&self, target: OutId) -> bool {
        self.of
            .get(target)
            .is_some_and(|of| !of.contains(&NO_SECTION))
    }

    /// Returns the section with the rows of an output section, RELA or REL.
    pub(super) fn get(&self, target: OutId, is_rela: bool) -> Option<OutId> {
        let id = self.of.get(target)?[usize::from(is_rela)];
        (id != NO_SECTION).then_some(id as OutId)
    }
}
