//! What a failed self-check says.

use std::fmt;

use cuweld_elf::check::Finding;
use cuweld_elf::check::Part;
use thiserror::Error;

/// How many findings are shown.
const SHOWN: usize = 10;

/// A file that is not what its link decided, or not sound.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub struct SelfCheckError {
    findings: Vec<Finding>,
    mercury: bool,
}

impl SelfCheckError {
    /// Builds the error of these findings; `None` if there are none. `mercury` says that the file
    /// holds Mercury.
    pub fn new(findings: Vec<Finding>, mercury: bool) -> Option<Self> {
        (!findings.is_empty()).then_some(SelfCheckError { findings, mercury })
    }

    /// Returns the part of the file that the first finding is about.
    pub fn part(&self) -> Part {
        self.findings
            .first()
            .map_or(Part::Symbols, |finding| finding.rule.part())
    }

    /// Returns NVIDIA's code of the failure: 17 for text and debug sections, 18 for relocations, 19
    /// for symbols and sections.
    pub fn code(&self) -> u32 {
        match self.part() {
            Part::Text | Part::Debug => 17,
            Part::Relocations => 18,
            Part::Symbols => 19,
        }
    }

    /// Returns all findings.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// Returns the notes, a line each: the section, then the findings.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        let first = self.findings.first();
        if let Some(finding) = first.filter(|finding| !finding.section.is_empty()) {
            notes.push(format!(
                "Failure of '{}' section in {}.",
                finding.section,
                self.subject()
            ));
        }
        notes.extend(self.findings.iter().take(SHOWN).map(Finding::to_string));
        if self.findings.len() > SHOWN {
            notes.push(format!("and {} more", self.findings.len() - SHOWN));
        }
        notes
    }

    fn subject(&self) -> &'static str {
        if self.mercury {
            "self-check for capsule mercury"
        } else {
            "self-check"
        }
    }
}

impl fmt::Display for SelfCheckError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = self.part().name();
        if self.mercury {
            write!(f, "Self check for capsule mercury {part} section failed")
        } else {
            write!(f, "Self check of {part} section failed")
        }
    }
}
