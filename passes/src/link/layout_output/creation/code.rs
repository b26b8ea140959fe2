//! The code of functions.

use super::super::contents::whole;
use super::*;

impl Replay<'_, '_> {
    /// Gives the section of a function its code, that of the copy that is linked.
    pub(super) fn code(&mut self, id: OutId, link: LinkSymbolId, code: SectionId) {
        let linked = &self.module.sections[code];
        let before = self
            .outcomes
            .replaced_align
            .get(&link)
            .copied()
            .unwrap_or(0);
        self.out.sections[id].size = linked.size();
        self.out.sections[id].align = linked.align.max(before);
        self.out.add_piece(id, whole(0, code));
    }
}
