//! The findings of a link, in order.

use std::collections::HashMap;

use crate::Diagnostic;
use crate::Kind;
use crate::Severity;

impl IntoIterator for Diagnostics {
    type Item = Diagnostic;
    type IntoIter = std::vec::IntoIter<Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.into_iter()
    }
}

/// The findings of a link, in nvlink's order whatever the threads did: passes in pipeline order,
/// within a pass by input and entity.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagnostics {
    list: Vec<Diagnostic>,
    sorted: usize,
}

impl Diagnostics {
    /// Adds a finding of the running pass.
    pub fn emit(&mut self, diagnostic: Diagnostic) {
        self.list.push(diagnostic);
    }

    /// Adds findings that are in order.
    pub fn add_sorted(&mut self, findings: impl IntoIterator<Item = Diagnostic>) {
        self.list.extend(findings);
        self.sorted = self.list.len();
    }

    /// Adds the findings of a pass and sorts them, as [`end_pass`](Self::end_pass) does.
    pub fn add_pass(&mut self, found: Diagnostics) {
        self.list.extend(found.list);
        self.end_pass();
    }

    /// Ends a pass: sorts its findings. Findings of equal position keep their order. Of what is not
    /// linked for the same reason at several places, the first is said, with how many there are.
    pub fn end_pass(&mut self) {
        let start = self.start_of_phase();
        let mut tail = self.list.split_off(start);
        tail.sort_by_key(|diagnostic| diagnostic.position);
        let mut first: HashMap<Box<str>, usize> = HashMap::new();
        // What else is not linked for the reason of a finding, by finding of this pass.
        let mut others: Vec<Vec<Diagnostic>> = Vec::new();
        for diagnostic in tail {
            if diagnostic.code.kind() == Kind::Unsupported {
                let next = others.len();
                let index = *first.entry(diagnostic.message.clone()).or_insert(next);
                if let Some(others) = others.get_mut(index) {
                    others.push(diagnostic);
                    continue;
                }
            }
            self.list.push(diagnostic);
            others.push(Vec::new());
        }
        let said = self.list.iter_mut().skip(start);
        for (said, others) in said.zip(others).filter(|(_, others)| !others.is_empty()) {
            let more = format!("and {} more of these", others.len());
            said.parts = std::iter::once(said.clone()).chain(others).collect();
            said.notes.push(more);
        }
        self.sorted = self.list.len();
    }

    /// Returns the index of the first finding that is sorted with those of the pass: its own, or
    /// those of the phase of nvlink of which the passes before it did a part.
    fn start_of_phase(&self) -> usize {
        let own = self.sorted.min(self.list.len());
        let (before, of_pass) = self.list.split_at(own);
        let Some(phase) = of_pass.first().and_then(|finding| finding.phase) else {
            return own;
        };
        let others = before.iter().rev();
        own - others
            .take_while(|finding| finding.phase == Some(phase))
            .count()
    }

    /// Returns `true` if an error or fatal error was emitted.
    pub fn has_errors(&self) -> bool {
        self.list
            .iter()
            .any(|diagnostic| diagnostic.severity >= Severity::Error)
    }

    /// Returns all findings.
    pub fn list(&self) -> &[Diagnostic] {
        &self.list
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NvlinkPhase;
    use crate::codes::link;
    use crate::codes::unsupported;

    #[test]
    fn passes_that_do_one_phase_of_nvlink_are_sorted_together() {
        let of_phase = |text, place| {
            let finding = Diagnostic::error(link::UNDEFINED, text);
            finding.of_phase(NvlinkPhase::CallGraph).at(place, 0)
        };
        let mut all = Diagnostics::default();
        all.emit(Diagnostic::error(link::UNDEFINED, "before").at(9, 0));
        all.end_pass();
        all.emit(of_phase("a", 1));
        all.emit(of_phase("c", 3));
        all.end_pass();
        all.emit(of_phase("b", 2));
        all.end_pass();
        all.emit(Diagnostic::error(link::UNDEFINED, "after"));
        all.end_pass();
        let said: Vec<_> = all.list().iter().map(Diagnostic::text).collect();
        assert_eq!(said, ["before", "a", "b", "c", "after"]);
    }

    #[test]
    fn what_is_not_linked_for_one_reason_is_said_once() {
        let mut all = Diagnostics::default();
        let refused = |what: &str| Diagnostic::fatal(unsupported::SECTION_HEADER, what);
        let error = || Diagnostic::error(link::UNDEFINED, "a");
        all.emit(refused("b").at(2, 0));
        all.emit(refused("a").at(1, 0).note("here"));
        all.emit(refused("a").at(3, 0).note("there"));
        all.emit(error().at(4, 0));
        all.emit(error().at(5, 0));
        all.end_pass();
        let said: Vec<_> = all.list().iter().map(Diagnostic::text).collect();
        assert_eq!(
            said,
            ["cuweld: unsupported: a", "cuweld: unsupported: b", "a", "a"]
        );
        assert_eq!(all.list()[0].notes, ["here", "and 1 more of these"]);
        assert_eq!(all.list()[0].parts.len(), 2);
        assert!(all.list()[1].parts.is_empty());
    }
}
