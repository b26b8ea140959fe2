//! Findings as JSON, an object a line: `--message-format=json`.

use std::borrow::Cow;
use std::collections::BTreeMap;

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::Severity;
use cuweld_passes::remark::Shown;
use serde::Serialize;

use super::demangle::explain_names;

/// A line. What is empty is left out.
#[derive(Serialize)]
struct Line<'a> {
    severity: &'static str,
    /// Its code, which `cuweld explain` explains.
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'static str>,
    /// The words of the first line without its prefix.
    message: Cow<'a, str>,
    /// The mangled names in it, each with what it means.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    names: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    notes: &'a [String],
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    helps: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    deviation: Option<&'static str>,
    /// What the message counts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    parts: Vec<Line<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<&'a str>,
}

/// Returns the line of a finding, with the target that `-report-arch` asks for.
pub fn line_of(severity: Severity, diagnostic: &Diagnostic, target: Option<&str>) -> String {
    text_of(&line(severity, diagnostic, target))
}

/// A remark as a line.
#[derive(Serialize)]
struct RemarkLine<'a> {
    severity: &'static str,
    #[serde(flatten)]
    remark: &'a Shown,
}

/// Returns the line of a remark.
pub fn line_of_remark(remark: &Shown) -> String {
    let severity = "remark";
    // Keys are texts.
    serde_json::to_string(&RemarkLine { severity, remark }).unwrap_or_default()
}

/// Returns the line of a text that stands alone.
pub fn line_of_text(text: &str) -> String {
    text_of(&Line {
        severity: Severity::Report.name(),
        code: None,
        message: Cow::Borrowed(text),
        names: BTreeMap::new(),
        notes: &[],
        helps: &[],
        deviation: None,
        parts: Vec::new(),
        target: None,
    })
}

fn line<'a>(severity: Severity, diagnostic: &'a Diagnostic, target: Option<&'a str>) -> Line<'a> {
    let texts = diagnostic.notes.iter().map(String::as_str);
    let names = std::iter::once(&*diagnostic.message)
        .chain(texts)
        .flat_map(explain_names);
    Line {
        severity: severity.name(),
        code: Some(diagnostic.code.name()),
        message: diagnostic.text(),
        names: names.collect(),
        notes: &diagnostic.notes,
        helps: &diagnostic.helps,
        deviation: diagnostic.deviation,
        parts: diagnostic
            .parts
            .iter()
            .map(|part| line(severity, part, target))
            .collect(),
        target,
    }
}

fn text_of(line: &Line<'_>) -> String {
    // Keys and values are texts.
    serde_json::to_string(line).unwrap_or_default()
}
