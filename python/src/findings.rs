//! What a link says.

use cuweld::diagnostics::Diagnostic;
use pyo3::prelude::*;

/// What a link says: a warning, an error, a part of a report that was asked for.
#[pyclass(frozen, get_all, skip_from_py_object, module = "cuweld")]
#[derive(Clone, Debug)]
pub struct Finding {
    /// "report", "note", "info", "warning", "error" or "fatal"; a link that succeeds may have errors
    /// which nvlink writes, too, and links.
    severity: &'static str,
    /// What it is about, such as "link/undefined": `cuweld explain` says more.
    code: &'static str,
    /// What nvlink would say, or one line that begins with "cuweld: ".
    message: String,
    /// What more is known, one line each.
    notes: Vec<String>,
    /// What can be done, one line each.
    helps: Vec<String>,
    /// The entry of docs/deviations.md that applies, such as "D01".
    deviation: Option<&'static str>,
}

#[pymethods]
impl Finding {
    fn __str__(&self) -> &str {
        &self.message
    }

    fn __repr__(&self) -> String {
        format!("<Finding {}: {}>", self.severity, self.message)
    }
}

impl From<&Diagnostic> for Finding {
    fn from(finding: &Diagnostic) -> Self {
        Finding {
            severity: finding.severity.name(),
            code: finding.code.name(),
            message: finding.text().into_owned(),
            notes: finding.notes.clone(),
            helps: finding.helps.clone(),
            deviation: finding.deviation,
        }
    }
}
