//! Writes findings and computes the exit code.

use std::io;
use std::io::Write;

use cuweld_passes::Diagnostic;
use cuweld_passes::Severity;

use super::demangle::explain_names;

/// Which command line the findings are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// `nvlink error   : text`, then `note:` and `help:` lines.
    Nvlink,
    /// `error: text`, then `note:` and `help:` lines.
    Native,
}

/// Writes findings to a writer and remembers how bad they were.
pub struct Reporter<'w> {
    out: &'w mut dyn Write,
    /// The form of the first line.
    pub style: Style,
    /// The tool name of nvlink's form, `nvlink` unless `-tool-name` says otherwise.
    pub tool_name: String,
    /// Whether `note:` and `help:` lines follow.
    pub explain: bool,
    /// Whether warnings are errors (`-Werror`).
    pub werror: bool,
    /// Whether warnings about architectures are silent (`-w`, `-suppress-arch-warning`).
    pub silence_arch_warnings: bool,
    /// The target that `-report-arch` appends to every first line.
    pub report_arch: Option<String>,
    worst: Option<Severity>,
}

impl<'w> Reporter<'w> {
    /// A reporter without any option.
    pub fn new(out: &'w mut dyn Write, style: Style) -> Self {
        Reporter {
            out,
            style,
            tool_name: "nvlink".to_owned(),
            explain: true,
            werror: false,
            silence_arch_warnings: false,
            report_arch: None,
            worst: None,
        }
    }

    /// Writes a finding.
    pub fn report(&mut self, diagnostic: &Diagnostic) -> io::Result<()> {
        let mut severity = diagnostic.severity;
        if severity == Severity::Warning && self.werror {
            severity = Severity::Error;
        }
        self.worst = self.worst.max(Some(severity));
        self.line(severity, &diagnostic.message)?;
        if !self.explain {
            return Ok(());
        }
        for (name, demangled) in explain_names(&diagnostic.message) {
            writeln!(self.out, "  note: '{name}' is {demangled}")?;
        }
        for note in &diagnostic.notes {
            writeln!(self.out, "  note: {note}")?;
        }
        if let Some(deviation) = diagnostic.deviation {
            writeln!(self.out, "  note: deviation {deviation}, see docs/deviations.md")?;
        }
        for help in &diagnostic.helps {
            writeln!(self.out, "  help: {help}")?;
        }
        Ok(())
    }

    /// Writes a first line.
    fn line(&mut self, severity: Severity, message: &str) -> io::Result<()> {
        let arch =
            self.report_arch.as_ref().map_or(String::new(), |arch| format!(" (target: {arch})"));
        match self.style {
            Style::Nvlink => {
                let word = match severity {
                    Severity::Info => "info    ",
                    Severity::Warning => "warning ",
                    Severity::Error => "error   ",
                    Severity::Fatal => "fatal   ",
                };
                writeln!(self.out, "{} {word}: {message}{arch}", self.tool_name)
            }
            Style::Native => {
                let word = match severity {
                    Severity::Info => "info",
                    Severity::Warning => "warning",
                    Severity::Error | Severity::Fatal => "error",
                };
                writeln!(self.out, "{word}: {message}{arch}")
            }
        }
    }

    /// Whether an error was reported.
    pub fn failed(&self) -> bool {
        self.worst >= Some(Severity::Error)
    }

    /// What the process exits with: 1 after a fatal error, 255 if there were only errors.
    pub fn exit_code(&self) -> u8 {
        match self.worst {
            Some(Severity::Fatal) => 1,
            Some(Severity::Error) => 255,
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(change: impl Fn(&mut Reporter<'_>), diagnostic: &Diagnostic) -> (String, u8) {
        let mut out = Vec::new();
        let mut reporter = Reporter::new(&mut out, Style::Nvlink);
        change(&mut reporter);
        reporter.report(diagnostic).unwrap();
        let code = reporter.exit_code();
        (String::from_utf8(out).unwrap(), code)
    }

    #[test]
    fn the_first_line_is_nvlinks() {
        let error = Diagnostic::error("Undefined reference to '_Z1fi' in 'a.o'").help("define it");
        let (text, code) = rendered(|_| (), &error);
        assert_eq!(
            text,
            "nvlink error   : Undefined reference to '_Z1fi' in 'a.o'\n  note: '_Z1fi' is f(int)\n  help: define it\n"
        );
        assert_eq!(code, 255);
        let (text, _) = rendered(|reporter| reporter.explain = false, &error);
        assert_eq!(text.lines().count(), 1);
    }

    #[test]
    fn prefixes_and_exit_codes_follow_severity() {
        let line = |diagnostic: &Diagnostic| rendered(|_| (), diagnostic);
        assert_eq!(line(&Diagnostic::fatal("x")), ("nvlink fatal   : x\n".to_owned(), 1));
        assert_eq!(line(&Diagnostic::warning("x")), ("nvlink warning : x\n".to_owned(), 0));
        let promoted = rendered(|reporter| reporter.werror = true, &Diagnostic::warning("x"));
        assert_eq!(promoted, ("nvlink error   : x\n".to_owned(), 255));
        let arch = |reporter: &mut Reporter<'_>| reporter.report_arch = Some("sm_90".to_owned());
        let (text, _) = rendered(arch, &Diagnostic::new(Severity::Info, "x"));
        assert_eq!(text, "nvlink info    : x (target: sm_90)\n");
    }
}
