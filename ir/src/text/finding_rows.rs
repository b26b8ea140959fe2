//! The rows of what was found, and of the pass that ended the link.
//!
//! A finding is a row that begins with its severity; what more is known of it and what can be done
//! stands in the rows `note` and `help` below, and what it counts in rows with `part`.

use cuweld_diagnostics::Code;
use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::NvlinkPhase;
use cuweld_diagnostics::Severity;
use cuweld_diagnostics::code;
use cuweld_diagnostics::codes::report;
use cuweld_diagnostics::deviation;

use super::fields::Row;
use super::fields::Spelling;
use super::fields::Visitor;
use super::lexer::Parsed;
use super::lexer::Position;
use super::parse::Parser;
use super::print::Printer;
use super::quote::put;
use super::quote::put_quoted;
use super::values::Decimal;
use super::values::OneOf;
use super::words::Words;

const SEVERITIES: Words<Severity> = Words::new(&[
    (Severity::Report, "report"),
    (Severity::Note, "remark"),
    (Severity::Info, "info"),
    (Severity::Warning, "warning"),
    (Severity::ErrorLine, "error-line"),
    (Severity::Error, "error"),
    (Severity::Fatal, "fatal"),
]);

const PHASES: Words<NvlinkPhase> = Words::new(&[
    (NvlinkPhase::Inputs, "inputs"),
    (NvlinkPhase::CallGraph, "call-graph"),
    (NvlinkPhase::Resources, "resources"),
]);

/// How deep parts of findings may lie in each other.
const DEEPEST: u32 = 4;

/// A finding without its severity, notes, helps and parts.
#[derive(Clone)]
struct FindingRow {
    code: Code,
    message: String,
    order: (u32, u32),
    phase: Option<NvlinkPhase>,
    deviation: Option<&'static str>,
    /// In how many findings it lies.
    part: u32,
}

impl Default for FindingRow {
    fn default() -> Self {
        FindingRow {
            code: report::TEXT,
            message: String::new(),
            order: (0, 0),
            phase: None,
            deviation: None,
            part: 0,
        }
    }
}

impl<'data> Row<'data> for FindingRow {
    fn fields(&mut self, v: &mut impl Visitor<'data>) {
        v.word(&mut self.code, CodeName);
        v.word(&mut self.message, Message);
        v.sparse("order", &mut self.order, Order);
        v.optional("phase", &mut self.phase, OneOf(PHASES));
        v.optional("deviation", &mut self.deviation, Deviation);
        v.sparse("part", &mut self.part, Decimal);
    }
}

/// A code, `KIND/WORDS`.
struct CodeName;
/// A text in quotes.
struct Message;
/// The place in the order of messages: input and entity.
struct Order;
/// An entry of the list of deviations.
struct Deviation;

impl Spelling<'_, Code> for CodeName {
    fn print(&self, value: &Code, out: &mut Printer<'_, '_>) {
        out.out.push_str(value.name());
    }
    fn parse(&self, parser: &mut Parser<'_, '_, '_>) -> Parsed<Code> {
        let position = parser.cursor.position();
        let kind = parser.cursor.word("a code such as `link/undefined`")?;
        parser.cursor.expect("/")?;
        let name = format!("{kind}/{}", parser.cursor.word("the words of a code")?);
        code(&name).ok_or_else(|| {
            position.error(format!(
                "expected a code such as `link/undefined`, found `{name}`"
            ))
        })
    }
}

impl Spelling<'_, String> for Message {
    fn print(&self, value: &String, out: &mut Printer<'_, '_>) {
        put_quoted(&mut out.out, value.as_bytes());
    }
    fn parse(&self, parser: &mut Parser<'_, '_, '_>) -> Parsed<String> {
        parser.cursor.string()
    }
}

impl Spelling<'_, (u32, u32)> for Order {
    fn print(&self, value: &(u32, u32), out: &mut Printer<'_, '_>) {
        put!(out.out, "{}/{}", value.0, value.1);
    }
    fn parse(&self, parser: &mut Parser<'_, '_, '_>) -> Parsed<(u32, u32)> {
        let input = parser.cursor.narrow()?;
        parser.cursor.expect("/")?;
        Ok((input, parser.cursor.narrow()?))
    }
}

impl Spelling<'_, &'static str> for Deviation {
    fn print(&self, value: &&'static str, out: &mut Printer<'_, '_>) {
        out.out.push_str(value);
    }
    fn parse(&self, parser: &mut Parser<'_, '_, '_>) -> Parsed<&'static str> {
        let position = parser.cursor.position();
        let name = parser.cursor.word("a deviation such as `D07`")?;
        deviation(name).ok_or_else(|| {
            position.error(format!("expected a deviation such as D07, found `{name}`"))
        })
    }
}

impl Printer<'_, '_> {
    /// Prints what was found, and which pass ended the link.
    pub(super) fn findings(&mut self) {
        let module = self.module;
        self.group("\nfindings\n", |p| {
            for finding in module.findings.list() {
                if p.shows(finding.message.as_bytes()) {
                    p.finding(finding, 0);
                }
            }
        });
        if let Some(pass) = module.stopped {
            self.out.push_str("\nstopped ");
            put_quoted(&mut self.out, pass.as_bytes());
            self.out.push('\n');
        }
    }

    fn finding(&mut self, finding: &Diagnostic, part: u32) {
        let row = FindingRow {
            code: finding.code,
            message: finding.message.to_string(),
            order: finding.position,
            phase: finding.phase,
            deviation: finding.deviation,
            part,
        };
        let severity = SEVERITIES.word(finding.severity).unwrap_or("error");
        self.row(format_args!("  {severity}"), &row);
        let notes = finding.notes.iter().map(|note| ("note", note));
        for (word, text) in notes.chain(finding.helps.iter().map(|help| ("help", help))) {
            put!(self.out, "    {word} ");
            put_quoted(&mut self.out, text.as_bytes());
            self.out.push('\n');
        }
        for of_finding in &finding.parts {
            self.finding(of_finding, part + 1);
        }
    }
}

/// Findings that are read: each with the number of findings that it is a part of.
#[derive(Default)]
pub(super) struct FindingsRead(Vec<(u32, Diagnostic)>);

impl FindingsRead {
    /// Returns the findings with their parts in them.
    pub(super) fn nested(self) -> Vec<Diagnostic> {
        let mut done = Vec::new();
        // A finding of each depth, with its parts so far.
        let mut open: Vec<(Diagnostic, Vec<Diagnostic>)> = Vec::new();
        let mut close = |open: &mut Vec<(Diagnostic, Vec<Diagnostic>)>| {
            if let Some((mut finding, parts)) = open.pop() {
                finding.parts = parts.into_boxed_slice();
                match open.last_mut() {
                    Some((_, parts)) => parts.push(finding),
                    None => done.push(finding),
                }
            }
        };
        for (depth, finding) in self.0 {
            while open.len() > depth as usize {
                close(&mut open);
            }
            open.push((finding, Vec::new()));
        }
        while !open.is_empty() {
            close(&mut open);
        }
        done
    }
}

impl<'data> Parser<'_, 'data, '_> {
    /// Reads a row of what was found that begins with this word. Returns `false` if there is no such
    /// row.
    pub(super) fn finding_row(&mut self, position: Position, word: &str) -> Parsed<bool> {
        match word {
            "note" | "help" => {
                let text = self.cursor.string()?;
                let Some((_, finding)) = self.findings.0.last_mut() else {
                    return Err(position.error("expected a finding above this row"));
                };
                match word {
                    "note" => finding.notes.push(text),
                    _ => finding.helps.push(text),
                }
            }
            "stopped" => {
                let pass = self.cursor.string()?;
                if self.module.stopped.is_some() {
                    return Err(position.error("a second row `stopped`"));
                }
                self.module.stopped = Some(self.arena.string(&pass));
            }
            _ => match SEVERITIES.value(word) {
                Some(severity) => self.finding(position, severity)?,
                None => return Ok(false),
            },
        }
        Ok(true)
    }

    fn finding(&mut self, position: Position, severity: Severity) -> Parsed<()> {
        let mut row = FindingRow::default();
        self.fields(position, &mut row)?;
        let deepest = self.findings.0.last().map_or(0, |(depth, _)| depth + 1);
        if row.part > deepest.min(DEEPEST) {
            let what = format!("a part of {} findings, but there is no such one", row.part);
            return Err(position.error(what));
        }
        let finding = Diagnostic {
            phase: row.phase,
            deviation: row.deviation,
            position: row.order,
            ..Diagnostic::new(severity, row.code, row.message)
        };
        self.findings.0.push((row.part, finding));
        Ok(())
    }
}
