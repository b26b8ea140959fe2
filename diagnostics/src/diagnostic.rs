//! One finding.

use std::borrow::Cow;
use std::fmt;

use crate::Code;
use crate::codes::report;

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
    /// nvlink writes an error line, and exits as if there were none.
    ErrorLine,
    /// The link goes on to find more, and fails.
    Error,
    /// The link ends here.
    Fatal,
}

impl Severity {
    /// All severities, the least bad first.
    pub const ALL: [Severity; 7] = [
        Severity::Report,
        Severity::Note,
        Severity::Info,
        Severity::Warning,
        Severity::ErrorLine,
        Severity::Error,
        Severity::Fatal,
    ];

    /// Returns its name in JSON and for programs.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Report => "report",
            Severity::Note => "note",
            Severity::Info => "info",
            Severity::Warning => "warning",
            Severity::ErrorLine | Severity::Error => "error",
            Severity::Fatal => "fatal",
        }
    }
}

/// A phase of nvlink that several passes do together, so that their findings are in one order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NvlinkPhase {
    /// Inputs are looked for and read, one after the other: each is judged before the next is
    /// looked at.
    Inputs,
    /// The call graph is shown, and limits of kernels are compared with what they reach.
    CallGraph,
    /// What kernels need is told, after what they may not use in relocatable output.
    Resources,
}

/// A finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// What it is about.
    pub code: Code,
    /// How bad it is.
    pub severity: Severity,
    /// What is said of it: nvlink's own wording where nvlink finds it too, without any prefix;
    /// tools parse it.
    pub message: Box<str>,
    /// What more is known, one line each.
    pub notes: Vec<String>,
    /// What can be done, one line each.
    pub helps: Vec<String>,
    /// The entry of `docs/deviations.md` that applies, such as `D01`.
    pub deviation: Option<&'static str>,
    /// The phase of nvlink whose findings are sorted together, if another pass has some of it, too.
    pub phase: Option<NvlinkPhase>,
    /// Place in the order of messages within a pass or phase: input ordinal, entity ordinal.
    pub position: (u32, u32),
    /// What the message counts, each with a message of its own: shown instead where everything is
    /// to be explained.
    pub parts: Box<[Diagnostic]>,
}

impl Diagnostic {
    /// Makes a finding.
    pub fn new(severity: Severity, code: Code, message: impl Into<String>) -> Self {
        Diagnostic {
            code,
            severity,
            message: message.into().into_boxed_str(),
            notes: Vec::new(),
            helps: Vec::new(),
            deviation: None,
            phase: None,
            position: (0, 0),
            parts: Box::default(),
        }
    }

    /// Makes a finding that nvlink does not have.
    pub fn remark(code: Code, message: impl Into<String>) -> Self {
        Self::new(Severity::Note, code, message)
    }

    /// Makes an information.
    pub fn info(code: Code, message: impl Into<String>) -> Self {
        Self::new(Severity::Info, code, message)
    }

    /// Makes a warning.
    pub fn warning(code: Code, message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, code, message)
    }

    /// Makes an error.
    pub fn error(code: Code, message: impl Into<String>) -> Self {
        Self::new(Severity::Error, code, message)
    }

    /// Makes a fatal error.
    pub fn fatal(code: Code, message: impl Into<String>) -> Self {
        Self::new(Severity::Fatal, code, message)
    }

    /// Makes a fatal error whose message is the title of its code.
    pub fn refusal(code: Code) -> Self {
        Self::fatal(code, code.title())
    }

    /// Makes a part of a report, one or several lines.
    pub fn report(text: impl Into<String>) -> Self {
        Self::new(Severity::Report, report::TEXT, text)
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

    /// Says which entry of `docs/deviations.md` applies, such as `D01`.
    pub fn deviates(mut self, entry: &'static str) -> Self {
        self.deviation = Some(entry);
        self
    }

    /// Gives its place in the order of messages of its pass.
    pub fn at(mut self, input: u32, entity: u32) -> Self {
        self.position = (input, entity);
        self
    }

    /// Gives the phase of nvlink that its pass does a part of.
    pub fn of_phase(mut self, phase: NvlinkPhase) -> Self {
        self.phase = Some(phase);
        self
    }

    /// Returns the message with what messages of its kind begin with.
    pub fn text(&self) -> Cow<'_, str> {
        match self.code.kind().prefix() {
            "" => Cow::Borrowed(&self.message),
            prefix => Cow::Owned(format!("{prefix}{}", self.message)),
        }
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text())
    }
}

impl std::error::Error for Diagnostic {}
