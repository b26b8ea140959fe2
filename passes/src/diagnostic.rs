//! What passes have to say about the input.

use std::collections::HashMap;

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Part of a report that was asked for: its text stands alone, as it is.
    Report,
    /// nvlink says nothing here; shown with explanations only.
    Note,
    /// For information.
    Info,
    /// The link goes on and succeeds.
    Warning,
    /// The link goes on to find more, and fails.
    Error,
    /// The link ends here.
    Fatal,
}

/// How messages of what cuweld does not link begin.
const UNSUPPORTED: &str = "cuweld: unsupported: ";

/// A finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// nvlink's own wording, without its prefix; tools parse it.
    pub message: String,
    /// What more is known, one line each.
    pub notes: Vec<String>,
    /// What can be done, one line each.
    pub helps: Vec<String>,
    /// The entry of `docs/deviations.md` that applies, such as `D01`.
    pub deviation: Option<&'static str>,
    /// Place in the order of messages within a pass: input ordinal, entity ordinal.
    pub position: (u32, u32),
    /// What the message counts, each with a message of its own: shown instead where everything is to be explained.
    pub parts: Box<[Diagnostic]>,
}

impl Diagnostic {
    /// A finding with nvlink's wording.
    pub fn new(severity: Severity, message: impl Into<String>) -> Self {
        Diagnostic {
            severity,
            message: message.into(),
            notes: Vec::new(),
            helps: Vec::new(),
            deviation: None,
            position: (0, 0),
            parts: Box::default(),
        }
    }

    /// An error with nvlink's wording.
    pub fn error(message: impl Into<String>) -> Self {
        Self::new(Severity::Error, message)
    }

    /// A warning with nvlink's wording.
    pub fn warning(message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, message)
    }

    /// A fatal error with nvlink's wording.
    pub fn fatal(message: impl Into<String>) -> Self {
        Self::new(Severity::Fatal, message)
    }

    /// A fatal error of our own: what cuweld does not link though nvlink may.
    pub fn unsupported(what: impl std::fmt::Display) -> Self {
        Self::fatal(format!("{UNSUPPORTED}{what}"))
    }

    /// Part of a report, one or several lines.
    pub fn report(text: impl Into<String>) -> Self {
        Self::new(Severity::Report, text)
    }

    /// Adds what more is known.
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Adds what can be done.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.helps.push(help.into());
        self
    }

    /// Gives its place in the order of messages of its pass.
    pub fn at(mut self, input: u32, entity: u32) -> Self {
        self.position = (input, entity);
        self
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

    /// Ends a pass: sorts its findings. Findings of equal position keep their order. Of what is not linked for the same reason at
    /// several places, the first is said, with how many there are.
    pub fn end_pass(&mut self) {
        let start = self.sorted.min(self.list.len());
        let mut tail = self.list.split_off(start);
        tail.sort_by_key(|diagnostic| diagnostic.position);
        let mut first: HashMap<String, usize> = HashMap::new();
        // What else is not linked for the reason of a finding, by finding of this pass.
        let mut others: Vec<Vec<Diagnostic>> = Vec::new();
        for diagnostic in tail {
            if diagnostic.message.starts_with(UNSUPPORTED) {
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

    /// Whether an error or fatal error was emitted.
    pub fn has_errors(&self) -> bool {
        self.list
            .iter()
            .any(|diagnostic| diagnostic.severity >= Severity::Error)
    }

    /// All findings.
    pub fn list(&self) -> &[Diagnostic] {
        &self.list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_linked_for_one_reason_is_said_once() {
        let mut all = Diagnostics::default();
        all.emit(Diagnostic::unsupported("b").at(2, 0));
        all.emit(Diagnostic::unsupported("a").at(1, 0).note("here"));
        all.emit(Diagnostic::unsupported("a").at(3, 0).note("there"));
        all.emit(Diagnostic::error("a").at(4, 0));
        all.emit(Diagnostic::error("a").at(5, 0));
        all.end_pass();
        let said: Vec<_> = all.list().iter().map(|said| &said.message[..]).collect();
        assert_eq!(
            said,
            ["cuweld: unsupported: a", "cuweld: unsupported: b", "a", "a"]
        );
        assert_eq!(all.list()[0].notes, ["here", "and 1 more of these"]);
        assert_eq!(all.list()[0].parts.len(), 2);
        assert!(all.list()[1].parts.is_empty());
    }
}
