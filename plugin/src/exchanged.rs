//! What cuweld and a plugin tell each other beside modules: options and findings.

/// What values an option takes; the numbers are those of the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum OptionType {
    /// `true` or `false`.
    Bool = 1,
    /// A whole number.
    Integer = 2,
    /// A text.
    String = 3,
    /// A list of texts.
    Strings = 4,
}

impl OptionType {
    /// Returns the type with this number.
    pub fn from_number(number: u32) -> Option<Self> {
        let all = [Self::Bool, Self::Integer, Self::String, Self::Strings];
        all.into_iter().find(|ty| *ty as u32 == number)
    }
}

/// The value of an option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Integer(i64),
    /// A text.
    String(String),
    /// A list of texts.
    Strings(Vec<String>),
}

/// How bad a finding is; the numbers are those of the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Severity {
    /// What the pass decided, shown with `--remarks`.
    Remark = 1,
    /// For information.
    Info = 2,
    /// The link goes on and succeeds.
    Warning = 3,
    /// The link goes on, to find more, and fails.
    Error = 4,
}

impl Severity {
    /// Returns the severity with this number.
    pub fn from_number(number: u32) -> Option<Self> {
        let all = [Self::Remark, Self::Info, Self::Warning, Self::Error];
        all.into_iter().find(|severity| *severity as u32 == number)
    }
}

/// What a pass reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// Its name after `extension/`: lower-case letters, digits, `-`.
    pub code: Option<String>,
    /// What is said, in one line; of a remark, what follows the name of the row.
    pub message: String,
    /// The id of the row that it is about, such as `fn3`.
    pub row: Option<String>,
    /// What more is known, a line each.
    pub notes: Vec<String>,
    /// What can be done, a line each.
    pub helps: Vec<String>,
}

impl Finding {
    /// Makes a finding without a code.
    pub fn new(severity: Severity, message: impl Into<String>) -> Self {
        Finding {
            severity,
            code: None,
            message: message.into(),
            row: None,
            notes: Vec::new(),
            helps: Vec::new(),
        }
    }

    /// Makes a remark, which begins with the name of the row that it is [about](Finding::about).
    pub fn remark(message: impl Into<String>) -> Self {
        Self::new(Severity::Remark, message)
    }

    /// Makes a warning whose code is `extension/CODE`.
    pub fn warning(code: &str, message: impl Into<String>) -> Self {
        let code = Some(code.to_owned());
        Finding {
            code,
            ..Self::new(Severity::Warning, message)
        }
    }

    /// Makes an error whose code is `extension/CODE`: the link goes on, to find more, and fails.
    pub fn error(code: &str, message: impl Into<String>) -> Self {
        Finding {
            severity: Severity::Error,
            ..Self::warning(code, message)
        }
    }

    /// Says which row it is about, by its id in the text, such as `fn3`.
    pub fn about(self, row: impl Into<String>) -> Self {
        let row = Some(row.into());
        Finding { row, ..self }
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
}
