//! The code of functions.

use super::super::contents::whole;
use super::*;

/// The largest alignment in bytes of the code of copies that another replaced, which stays that of the section (measured).
pub(super) fn replaced_align(module: &Module<'_>) -> HashMap<LinkSymbolId, u64, FixedState> {
    let mut aligns = HashMap::default();
    for function in module.functions.values() {
        if function.state == FunctionState::Losing
            && function.edges_count
            && let Some(link) = module.symbols[function.symbol].link
        {
            let align: &mut u64 = aligns.entry(link).or_default();
            *align = module.sections[function.views.sass.text].align.max(*align);
        }
    }
    aligns
}

impl Replay<'_, '_> {
    /// Gives the section of a function its code, that of the copy that is linked.
    pub(super) fn code(&mut self, id: OutId, link: LinkSymbolId, code: SectionId) {
        let linked = &self.module.sections[code];
        let before = self.replaced_align.get(&link).copied().unwrap_or(0);
        self.out.sections[id].size = linked.size();
        self.out.sections[id].align = linked.align.max(before);
        self.out.add_piece(id, whole(0, code));
    }
}
