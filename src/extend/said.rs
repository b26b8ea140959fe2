//! What passes from outside say beside the module that they give back: findings, remarks, counters.
//!
//! A plugin calls functions for that. Any of them can write comments into its text:
//!
//! ```text
//! ; warning: fn3 needs 40 registers
//! ; note: of 32
//! ; help: compile it with -maxrregcount=32
//! ; error: this module is of no use
//! ; remark: fn3 has a prefix
//! ; statistic: kernels = 2
//! ```
//!
//! An id at the beginning names the row that a finding is about. Notes and helps belong to the
//! finding before them.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::PoisonError;

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::codes::extension;
use cuweld_ir::Module;
use cuweld_passes::Code;
use cuweld_passes::CodeRow;
use cuweld_passes::Kind;
use cuweld_passes::PassCx;
use cuweld_passes::Remark;
use cuweld_passes::RemarkInfo;
use cuweld_passes::remark::Entity;
use cuweld_plugin::Finding;
use cuweld_plugin::Listener;
use cuweld_plugin::Severity;

/// What a pass from outside remarks of a row of the module, or of the link.
pub const SAID: RemarkInfo = RemarkInfo {
    name: "said",
    doc: "A plugin reports a remark, or the text that came back has a comment `; remark:`",
};

/// What a pass has said while it ran.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Said {
    findings: Vec<Finding>,
    counts: Vec<(String, u64)>,
}

impl Listener for Said {
    fn report(&mut self, finding: Finding) {
        self.findings.push(finding);
    }

    fn count(&mut self, name: &str, more: u64) {
        self.counts.push((name.to_owned(), more));
    }
}

impl Said {
    /// Reads the comments of a text.
    pub fn of_text(text: &[u8]) -> Self {
        let mut said = Said::default();
        for line in text.split(|byte| *byte == b'\n') {
            if let Some(comment) = line.strip_prefix(b"; ") {
                said.comment(&String::from_utf8_lossy(comment));
            }
        }
        said
    }

    /// Takes a comment, if it is one that says something.
    fn comment(&mut self, comment: &str) {
        let Some((word, text)) = comment.split_once(": ") else {
            return;
        };
        let text = text.trim();
        let severity = match word {
            "remark" => Severity::Remark,
            "info" => Severity::Info,
            "warning" => Severity::Warning,
            "error" => Severity::Error,
            "statistic" => {
                let count = text.rsplit_once('=');
                let count = count.and_then(|(name, count)| {
                    Some((name.trim().to_owned(), count.trim().parse().ok()?))
                });
                self.counts.extend(count);
                return;
            }
            "note" | "help" => {
                if let Some(finding) = self.findings.last_mut() {
                    let lines = match word {
                        "note" => &mut finding.notes,
                        _ => &mut finding.helps,
                    };
                    lines.push(text.to_owned());
                }
                return;
            }
            _ => return,
        };
        // A word that is no id stays a part of the sentence.
        let (row, message) = match text.split_once(' ') {
            Some((row, message)) if row.ends_with(|last: char| last.is_ascii_digit()) => {
                (Some(row.to_owned()), message.trim_start())
            }
            _ => (None, text),
        };
        self.findings.push(Finding {
            row,
            ..Finding::new(severity, message)
        });
    }

    /// Hands on what was said; ids are those of `module`.
    pub fn tell(self, module: &Module<'_>, cx: &mut PassCx<'_, '_>) {
        for (name, count) in self.counts {
            if let Some(name) = interned(&name) {
                cx.statistics.add(name, count);
            }
        }
        for finding in self.findings {
            let entity = finding
                .row
                .as_deref()
                .and_then(|row| Entity::parse(row, module));
            let message = match (&finding.row, entity) {
                // It is no row, so it is a word of the sentence.
                (Some(row), None) => format!("{row} {}", finding.message),
                _ => finding.message.clone(),
            };
            let sentence = match entity {
                Some(entity) => Remark::about(&SAID, entity).words(format!(" {message}")),
                None => Remark::of_link(&SAID).words(message),
            };
            if finding.severity == Severity::Remark {
                cx.remarks.emit(|| sentence);
                continue;
            }
            cx.diagnostics
                .emit(diagnostic(&finding, sentence.message(module)));
        }
    }
}

fn diagnostic(finding: &Finding, message: String) -> Diagnostic {
    let code = finding.code.as_deref().and_then(code);
    let code = code.unwrap_or(extension::FINDING);
    let make = match finding.severity {
        Severity::Remark | Severity::Info => Diagnostic::info,
        Severity::Warning => Diagnostic::warning,
        Severity::Error => Diagnostic::error,
    };
    Diagnostic {
        notes: finding.notes.clone(),
        helps: finding.helps.clone(),
        ..make(code, message)
    }
}

/// The most names that the process keeps: names that a pass makes up on and on are not shown.
const LIMIT: usize = 4096;

/// Returns the code `extension/NAME`; `None` if that is no name.
fn code(name: &str) -> Option<Code> {
    static CODES: Mutex<BTreeMap<String, Code>> = Mutex::new(BTreeMap::new());
    let is_name = |letter: u8| matches!(letter, b'a'..=b'z' | b'0'..=b'9' | b'-');
    if name.is_empty() || !name.bytes().all(is_name) {
        return None;
    }
    let mut codes = CODES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(code) = codes.get(name) {
        return Some(*code);
    }
    if codes.len() >= LIMIT {
        return None;
    }
    // Findings name their codes as long as the process runs.
    let code = Code::new(Box::leak(Box::new(CodeRow {
        name: format!("{}/{name}", Kind::Extension.name()).leak(),
        kind: Kind::Extension,
        title: "a finding of a plugin",
        when: "A pass of a plugin reports it.",
        advice: None,
    })));
    codes.insert(name.to_owned(), code);
    Some(code)
}

/// Returns a name that is valid as long as the process runs, as those of counters are.
fn interned(name: &str) -> Option<&'static str> {
    static NAMES: Mutex<Vec<&'static str>> = Mutex::new(Vec::new());
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = names.iter().find(|known| **known == name) {
        return Some(known);
    }
    if names.len() >= LIMIT {
        return None;
    }
    let kept: &'static str = name.to_owned().leak();
    names.push(kept);
    Some(kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_findings_and_counts() {
        let text = b"lir 1\n; warning: fn3 is odd\n; note: very\n; help: change it\n; statistic: odd ones = 2\n\
            ; remark: nothing else\n; statistic: none\n; other: x\n# 1\nend\n";
        let said = Said::of_text(text);
        let warning = Finding::new(Severity::Warning, "is odd").about("fn3");
        let remark = Finding::remark("nothing else");
        assert_eq!(
            said.findings,
            [warning.note("very").help("change it"), remark]
        );
        assert_eq!(said.counts, [("odd ones".to_owned(), 2)]);
    }

    #[test]
    fn codes_are_names() {
        assert_eq!(code("odd-1").unwrap().name(), "extension/odd-1");
        assert_eq!(code("odd-1"), code("odd-1"));
        assert_eq!(code("Odd"), None);
        assert_eq!(code(""), None);
        assert!(std::ptr::eq(interned("x").unwrap(), interned("x").unwrap()));
    }
}
