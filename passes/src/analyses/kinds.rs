//! The kinds of sections side by side. Rows of sections are large, so that a pass that looks for
//! those of a few kinds among all rows waits for memory more than for anything else.

use cuweld_ir::IdRange;
use cuweld_ir::Module;
use cuweld_ir::SectionId;
use cuweld_ir::SectionKind;
use cuweld_ir::table::EntityId;

use super::Analyses;
use super::Analysis;

/// The kinds of the sections of a classified module, and what there is among its symbols.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Kinds {
    sections: Vec<SectionKind>,
    has_shared: bool,
}

impl Analysis for Kinds {
    fn compute(module: &Module<'_>, _: &Analyses) -> Self {
        let sections = module.sections.values();
        let mut symbols = module.symbols.values();
        Kinds {
            sections: sections.map(|section| section.kind).collect(),
            has_shared: symbols.any(|symbol| symbol.is_shared()),
        }
    }

    fn equals(&self, other: &Self) -> Option<bool> {
        Some(self == other)
    }
}

impl Kinds {
    /// Joins the kinds that parts of all sections and symbols have, in order.
    pub(crate) fn of_parts(parts: impl IntoIterator<Item = (Vec<SectionKind>, bool)>) -> Self {
        let mut kinds = Kinds::default();
        for (sections, has_shared) in parts {
            kinds.has_shared |= has_shared;
            match kinds.sections.is_empty() {
                true => kinds.sections = sections,
                false => kinds.sections.extend(sections),
            }
        }
        kinds
    }

    /// Returns the kind of a section; `Unclassified` for one that was made later.
    pub fn kind(&self, section: SectionId) -> SectionKind {
        let kind = self.sections.get(section.index());
        kind.copied().unwrap_or_default()
    }

    /// Returns the sections of a range with their kinds.
    pub fn of(
        &self,
        sections: IdRange<SectionId>,
    ) -> impl Iterator<Item = (SectionId, SectionKind)> {
        let kinds = self.sections.get(sections.indices()).unwrap_or(&[]);
        sections.iter().zip(kinds.iter().copied())
    }

    /// Returns the first of some sections that has a kind.
    pub fn find(&self, sections: IdRange<SectionId>, kind: SectionKind) -> Option<SectionId> {
        let found = self.of(sections).find(|(_, known)| *known == kind);
        found.map(|(id, _)| id)
    }

    /// Returns `true` if any object has or declares a shared variable.
    pub fn has_shared(&self) -> bool {
        self.has_shared
    }
}
