//! Writes findings and computes the exit code.

use crate::file_name;
use std::io;
use std::io::Write;

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::Severity;
use cuweld_diagnostics::codes::report;
use cuweld_passes::remark::Shown;

use super::demangle::explain_names;
use super::json;
use crate::input::EarlyErrors;

/// Which command line the findings are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// `nvlink error   : text`, then `note:` and `help:` lines.
    Nvlink,
    /// `error: text`, then `note:` and `help:` lines.
    Native,
}

/// Returns the word of nvlink's form for a severity, filled up to its width.
pub fn nvlink_word(severity: Severity) -> &'static str {
    match severity {
        Severity::Report | Severity::Note => "note    ",
        Severity::Info => "info    ",
        Severity::Warning => "warning ",
        Severity::ErrorLine | Severity::Error => "error   ",
        Severity::Fatal => "fatal   ",
    }
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
    /// Whether what a message counts is shown one by one, and the codes of warnings and errors.
    pub explain_all: bool,
    /// Whether warnings are errors (`-Werror`).
    pub werror: bool,
    /// Whether all warnings are silent, even under `-Werror` (`-disable-infos`: nvlink 13.0 makes
    /// that of this name, and nothing of `-w`).
    pub silence_warnings: bool,
    /// Whether infos about what nvlink does in another way are silent (`-w`, `-disable-infos`).
    pub silence_deviations: bool,
    /// Whether warnings about architectures are silent (`-suppress-arch-warning`).
    pub silence_arch_warnings: bool,
    /// Whether an error was our own fault, so that a reproducer is of use.
    pub internal_error: bool,
    /// Whether findings are JSON, an object a line (`--message-format=json`).
    pub json: bool,
    /// The target that `-report-arch` appends to every first line.
    pub report_arch: Option<String>,
    worst: Option<Severity>,
    /// Where findings are kept, too.
    kept: Option<&'w mut Vec<Diagnostic>>,
    /// Where remarks are kept, in place of being written.
    kept_remarks: Option<&'w mut Vec<Shown>>,
}

impl<'w> Reporter<'w> {
    /// Creates a reporter without any option.
    pub fn new(out: &'w mut dyn Write, style: Style) -> Self {
        Reporter {
            out,
            style,
            tool_name: "nvlink".to_owned(),
            explain: true,
            explain_all: false,
            werror: false,
            silence_warnings: false,
            silence_deviations: false,
            silence_arch_warnings: false,
            internal_error: false,
            json: false,
            report_arch: None,
            worst: None,
            kept: None,
            kept_remarks: None,
        }
    }

    /// Keeps the findings that are written, and reports as findings.
    pub(crate) fn keep(&mut self, kept: &'w mut Vec<Diagnostic>) {
        self.kept = Some(kept);
    }

    /// Keeps remarks instead of writing them.
    pub(crate) fn keep_remarks(&mut self, kept: &'w mut Vec<Shown>) {
        self.kept_remarks = Some(kept);
    }

    /// Writes a finding.
    pub fn report(&mut self, diagnostic: &Diagnostic) -> io::Result<()> {
        let mut severity = diagnostic.severity;
        if severity == Severity::Warning {
            if self.silence_warnings {
                return Ok(());
            }
            if self.werror {
                severity = Severity::Error;
            }
        }
        if severity == Severity::Info && self.silence_deviations && diagnostic.deviation.is_some() {
            return Ok(());
        }
        self.write(severity, diagnostic)
    }

    /// Returns a function that writes a finding as this reporter would.
    pub(crate) fn renderer(&self) -> impl Fn(&Diagnostic) -> Vec<u8> + 'static {
        let (style, explain, explain_all, json) =
            (self.style, self.explain, self.explain_all, self.json);
        let (tool_name, report_arch) = (self.tool_name.clone(), self.report_arch.clone());
        move |diagnostic| {
            let mut out = Vec::new();
            let mut reporter = Reporter {
                tool_name: tool_name.clone(),
                report_arch: report_arch.clone(),
                explain,
                explain_all,
                json,
                ..Reporter::new(&mut out, style)
            };
            // Memory takes all.
            let _ = reporter.report_as_is(diagnostic);
            out
        }
    }

    /// Writes a finding that no option silences or turns into an error.
    pub fn report_as_is(&mut self, diagnostic: &Diagnostic) -> io::Result<()> {
        self.write(diagnostic.severity, diagnostic)
    }

    /// Writes the findings about inputs, up to a fatal error. Returns `true` if they can be linked.
    pub fn report_inputs(&mut self, findings: &[Diagnostic]) -> io::Result<bool> {
        for place in findings.chunk_by(|one, next| one.position == next.position) {
            if self.is_fatal() {
                break;
            }
            place.iter().try_for_each(|finding| self.report(finding))?;
        }
        Ok(!self.failed())
    }

    fn write(&mut self, severity: Severity, diagnostic: &Diagnostic) -> io::Result<()> {
        if let Some(kept) = &mut self.kept {
            kept.push(Diagnostic {
                severity,
                ..diagnostic.clone()
            });
        }
        if self.json {
            if diagnostic.code == report::PTXAS {
                self.ptx_was_compiled();
            }
            if severity > Severity::Note {
                self.worst = self.worst.max(Some(severity));
            }
            let line = json::line_of(severity, diagnostic, self.report_arch.as_deref());
            return writeln!(self.out, "{line}");
        }
        match severity {
            Severity::Report if diagnostic.code == report::PTXAS => {
                self.ptx_was_compiled();
                return self.compiler_messages(&diagnostic.message);
            }
            Severity::Report => return self.line(&diagnostic.to_string()),
            Severity::Note => return self.note(diagnostic),
            _ => {}
        }
        if self.explain_all && !diagnostic.parts.is_empty() {
            return diagnostic
                .parts
                .iter()
                .try_for_each(|part| self.write(severity, part));
        }
        self.worst = self.worst.max(Some(severity));
        let text = diagnostic.text();
        self.first_line(severity, &text)?;
        if !self.explain {
            return Ok(());
        }
        let mut explained = Vec::new();
        self.explain_names(&text, &mut explained)?;
        for note in &diagnostic.notes {
            self.labelled("note", note)?;
            self.explain_names(note, &mut explained)?;
        }
        if let Some(deviation) = diagnostic.deviation {
            self.labelled(
                "note",
                &format!("deviation {deviation}, see docs/deviations.md"),
            )?;
        }
        for help in &diagnostic.helps {
            self.labelled("help", help)?;
        }
        if self.explain_all && severity >= Severity::Warning {
            let code = diagnostic.code;
            self.labelled("note", &format!("code {code}, see `cuweld explain {code}`"))?;
        }
        Ok(())
    }

    /// Prints what the PTX compiler says. A message goes on in lines that begin with blanks.
    fn compiler_messages(&mut self, text: &str) -> io::Result<()> {
        let Some(arch) = &self.report_arch else {
            return self.put_text(text);
        };
        let mut said = String::new();
        let mut lines = text.lines().peekable();
        while let Some(line) = lines.next() {
            said.push_str(line);
            if !lines.peek().is_some_and(|next| next.starts_with("    ")) {
                said.push_str(&format!(" (target: {arch})"));
            }
            said.push('\n');
        }
        self.put_text(&said)
    }

    /// Prints a finding that nvlink does not have: `note: deviation D02: ...`.
    fn note(&mut self, diagnostic: &Diagnostic) -> io::Result<()> {
        if !self.explain {
            return Ok(());
        }
        let deviation = diagnostic
            .deviation
            .map_or(String::new(), |id| format!("deviation {id}: "));
        self.line(&format!("note: {deviation}{diagnostic}"))?;
        for note in &diagnostic.notes {
            self.labelled("note", note)?;
        }
        Ok(())
    }

    fn first_line(&mut self, severity: Severity, message: &str) -> io::Result<()> {
        let arch = self
            .report_arch
            .as_ref()
            .map_or(String::new(), |arch| format!(" (target: {arch})"));
        match self.style {
            Style::Nvlink => {
                let word = nvlink_word(severity);
                self.line(&format!("{} {word}: {message}{arch}", self.tool_name))
            }
            Style::Native => {
                let word = match severity {
                    Severity::Report | Severity::Note => "note",
                    Severity::Info => "info",
                    Severity::Warning => "warning",
                    Severity::ErrorLine | Severity::Error | Severity::Fatal => "error",
                };
                self.line(&format!("{word}: {message}{arch}"))
            }
        }
    }

    /// Writes what the mangled names in a text mean, but those that were explained before.
    fn explain_names(&mut self, text: &str, explained: &mut Vec<String>) -> io::Result<()> {
        for (name, demangled) in explain_names(text) {
            if !explained.contains(&name) {
                self.labelled("note", &format!("'{name}' is {demangled}"))?;
                explained.push(name);
            }
        }
        Ok(())
    }

    /// Writes a labelled text; further lines of it are aligned below the first.
    fn labelled(&mut self, label: &str, text: &str) -> io::Result<()> {
        for (index, line) in text.lines().enumerate() {
            match index {
                0 => self.line(&format!("  {label}: {line}"))?,
                _ => self.line(&format!("  {:width$}  {line}", "", width = label.len()))?,
            }
        }
        Ok(())
    }

    /// Writes a remark: what a pass decided, and why.
    pub fn remark(&mut self, remark: &Shown) -> io::Result<()> {
        if let Some(kept) = &mut self.kept_remarks {
            kept.push(remark.clone());
            return Ok(());
        }
        match self.json {
            true => writeln!(self.out, "{}", json::line_of_remark(remark)),
            false => self.line(&remark.line()),
        }
    }

    /// Writes what another reporter of the same form has written.
    pub fn append(&mut self, messages: &[u8]) -> io::Result<()> {
        self.out.write_all(messages)
    }

    /// Writes a report as it is.
    pub fn text(&mut self, text: &str) -> io::Result<()> {
        if let Some(kept) = self.kept.as_mut().filter(|_| !text.is_empty()) {
            kept.push(Diagnostic::report(text));
        }
        self.put_text(text)
    }

    fn put_text(&mut self, text: &str) -> io::Result<()> {
        if self.json {
            return match text {
                "" => Ok(()),
                text => writeln!(self.out, "{}", json::line_of_text(text)),
            };
        }
        self.out.write_all(&file_name::bytes(text))
    }

    /// Writes a line, with names of files as they are.
    fn line(&mut self, text: &str) -> io::Result<()> {
        self.out.write_all(&file_name::bytes(text))?;
        self.out.write_all(b"\n")
    }

    /// Forgets the options that the PTX compiler inside nvlink has too and sets for itself: from
    /// then on nvlink has forgotten its own. Our own command line has not.
    pub fn ptx_was_compiled(&mut self) {
        if self.style == Style::Nvlink {
            self.werror = false;
            self.silence_warnings = false;
        }
    }

    /// Returns the kinds of warnings about inputs that are errors, and whether there was an error
    /// already.
    pub fn early_errors(&self) -> EarlyErrors {
        let warnings = self.werror && !self.silence_warnings;
        EarlyErrors {
            before: self.failed(),
            arch_not_found: warnings && !self.silence_arch_warnings,
            skipped_library: warnings,
            until_ptx: self.style == Style::Nvlink,
        }
    }

    /// Returns `true` if an error was reported.
    pub fn failed(&self) -> bool {
        self.worst >= Some(Severity::Error)
    }

    /// Returns `true` if a fatal error was reported.
    pub fn is_fatal(&self) -> bool {
        self.worst >= Some(Severity::Fatal)
    }

    /// Returns the exit code of the process: 1 after a fatal error, 255 if there were only errors.
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
    use cuweld_diagnostics::codes::link;
    use cuweld_diagnostics::codes::mercury;

    use super::*;

    fn rendered(change: impl Fn(&mut Reporter<'_>), diagnostic: &Diagnostic) -> (String, u8) {
        let mut out = Vec::new();
        let mut reporter = Reporter::new(&mut out, Style::Nvlink);
        change(&mut reporter);
        reporter.report(diagnostic).expect("a Vec takes everything");
        let code = reporter.exit_code();
        (String::from_utf8(out).expect("messages are text"), code)
    }

    #[test]
    fn the_first_line_is_nvlinks() {
        let error = Diagnostic::error(link::UNDEFINED, "Undefined reference to '_Z1fi' in 'a.o'")
            .note("referred to by g\nand by h")
            .help("define it");
        let (text, code) = rendered(|_| (), &error);
        assert_eq!(
            text,
            "nvlink error   : Undefined reference to '_Z1fi' in 'a.o'\n  \
             note: '_Z1fi' is f(int)\n  \
             note: referred to by g\n        and by h\n  \
             help: define it\n"
        );
        assert_eq!(code, 255);
        let (text, _) = rendered(|reporter| reporter.explain = false, &error);
        assert_eq!(text.lines().count(), 1);
    }

    #[test]
    fn prefixes_and_exit_codes_follow_severity() {
        let line = |diagnostic: &Diagnostic| rendered(|_| (), diagnostic);
        assert_eq!(
            line(&Diagnostic::fatal(link::UNDEFINED, "x")),
            ("nvlink fatal   : x\n".to_owned(), 1)
        );
        assert_eq!(
            line(&Diagnostic::warning(link::UNDEFINED, "x")),
            ("nvlink warning : x\n".to_owned(), 0)
        );
        let promoted = rendered(
            |reporter| reporter.werror = true,
            &Diagnostic::warning(link::UNDEFINED, "x"),
        );
        assert_eq!(promoted, ("nvlink error   : x\n".to_owned(), 255));
        let arch = |reporter: &mut Reporter<'_>| reporter.report_arch = Some("sm_90".to_owned());
        let (text, _) = rendered(arch, &Diagnostic::info(link::UNDEFINED, "x"));
        assert_eq!(text, "nvlink info    : x (target: sm_90)\n");
    }

    #[test]
    fn the_native_style_leads_with_our_label() {
        let native = |reporter: &mut Reporter<'_>| reporter.style = Style::Native;
        let diagnostic = Diagnostic::fatal(link::UNDEFINED, "x").deviates("D07");
        let (text, code) = rendered(native, &diagnostic);
        assert_eq!(
            text,
            "error: x\n  note: deviation D07, see docs/deviations.md\n"
        );
        assert_eq!(code, 1);
    }

    #[test]
    fn silenced_warnings_are_no_errors() {
        let nothing = (String::new(), 0);
        let warning = Diagnostic::warning(link::UNDEFINED, "x");
        let all = |reporter: &mut Reporter<'_>| {
            reporter.werror = true;
            reporter.silence_warnings = true;
        };
        assert_eq!(rendered(all, &warning), nothing);
        let (text, code) = rendered(all, &Diagnostic::error(link::UNDEFINED, "x"));
        assert_eq!((text.as_str(), code), ("nvlink error   : x\n", 255));
    }

    #[test]
    fn inputs_are_reported_up_to_a_fatal_error() {
        let said = |findings: &[Diagnostic]| {
            let mut out = Vec::new();
            let mut reporter = Reporter::new(&mut out, Style::Nvlink);
            reporter.werror = true;
            let linked = reporter.report_inputs(findings).unwrap();
            (linked, String::from_utf8(out).unwrap())
        };
        let line = Diagnostic::new(Severity::ErrorLine, link::UNDEFINED, "a");
        let text = "nvlink error   : a\n".to_owned();
        assert_eq!(said(std::slice::from_ref(&line)), (true, text.clone()));
        // The PTX compiler makes nvlink forget that warnings are errors.
        let ptxas = Diagnostic::new(Severity::Report, report::PTXAS, "ptxas says\n");
        let warning = Diagnostic::warning(link::UNDEFINED, "w");
        let both = said(&[line.clone(), ptxas, warning.clone()]);
        assert_eq!(
            both,
            (true, format!("{text}ptxas says\nnvlink warning : w\n"))
        );
        assert!(!said(&[warning]).0);
        let fatal = Diagnostic::fatal(link::UNDEFINED, "f");
        assert_eq!(
            said(&[fatal.clone(), fatal, line.at(1, 0)]),
            (false, "nvlink fatal   : f\n".repeat(2))
        );
    }

    #[test]
    fn what_a_message_counts_is_shown_if_everything_is_explained() {
        let mut info = Diagnostic::info(link::UNDEFINED, "each of 2 kernels").deviates("D12");
        info.parts = ["a", "b"]
            .map(|text| Diagnostic::info(link::UNDEFINED, text))
            .into();
        let (text, _) = rendered(|reporter| reporter.explain = false, &info);
        assert_eq!(text, "nvlink info    : each of 2 kernels\n");
        let (text, _) = rendered(|reporter| reporter.explain_all = true, &info);
        assert_eq!(text, "nvlink info    : a\nnvlink info    : b\n");
        let (text, _) = rendered(|reporter| reporter.silence_deviations = true, &info);
        assert_eq!(text, "");
    }

    #[test]
    fn codes_are_shown_if_everything_is_explained() {
        let all = |reporter: &mut Reporter<'_>| reporter.explain_all = true;
        let (text, _) = rendered(all, &Diagnostic::error(link::UNDEFINED, "x"));
        assert_eq!(
            text,
            "nvlink error   : x\n  note: code link/undefined, see `cuweld explain link/undefined`\n"
        );
    }

    #[test]
    fn what_is_unsupported_says_so() {
        let (text, _) = rendered(|_| (), &Diagnostic::refusal(mercury::TWO_VIEWS));
        assert_eq!(
            text,
            "nvlink fatal   : cuweld: unsupported: the two views of an object do not stand for each other\n"
        );
    }

    #[test]
    fn what_is_reported_as_is_ignores_the_options() {
        let mut out = Vec::new();
        let mut reporter = Reporter::new(&mut out, Style::Nvlink);
        reporter.werror = true;
        reporter.silence_warnings = true;
        reporter
            .report_as_is(&Diagnostic::warning(link::UNDEFINED, "x"))
            .expect("a Vec takes everything");
        assert_eq!((reporter.exit_code(), reporter.failed()), (0, false));
        assert_eq!(out, b"nvlink warning : x\n");
    }

    #[test]
    fn the_worst_finding_decides() {
        let mut out = Vec::new();
        let mut reporter = Reporter::new(&mut out, Style::Nvlink);
        for diagnostic in [
            Diagnostic::fatal(link::UNDEFINED, "f"),
            Diagnostic::error(link::UNDEFINED, "e"),
            Diagnostic::warning(link::UNDEFINED, "w"),
        ] {
            reporter
                .report(&diagnostic)
                .expect("a Vec takes everything");
            assert_eq!(reporter.exit_code(), 1);
        }
    }
}
