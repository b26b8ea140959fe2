//! Differences as text, one line each.

use std::fmt;
use std::io;
use std::io::Write;

use super::model::DiffReport;
use super::model::Difference;

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.category.name(), self.subject)?;
        let mut notes = [self.within.as_deref(), self.source_name.as_deref()]
            .into_iter()
            .flatten();
        if let Some(note) = notes.next() {
            write!(f, " ({note}")?;
            notes.try_for_each(|note| write!(f, ", {note}"))?;
            write!(f, ")")?;
        }
        match (self.field, &self.left, &self.right) {
            (Some(field), Some(left), Some(right)) => write!(f, ": {field}: {left} -> {right}"),
            (_, Some(row), None) => lone(f, "first", row),
            (_, None, Some(row)) => lone(f, "second", row),
            (None, Some(left), Some(right)) => write!(f, ": {left} -> {right}"),
            (_, None, None) => Ok(()),
        }
    }
}

/// Writes the end of a line about a row that one file has.
fn lone(f: &mut fmt::Formatter<'_>, file: &str, row: &str) -> fmt::Result {
    write!(f, ": only in the {file} file")?;
    if row.is_empty() {
        return Ok(());
    }
    write!(f, ": {row}")
}

/// Writes a report; nothing for identical files.
pub fn write_report(report: &DiffReport, out: &mut dyn Write) -> io::Result<()> {
    if report.identical {
        return Ok(());
    }
    writeln!(out, "--- {}", report.left)?;
    writeln!(out, "+++ {}", report.right)?;
    for difference in &report.differences {
        writeln!(out, "{difference}")?;
    }
    match report.total - report.differences.len() {
        0 => Ok(()),
        more => writeln!(out, "... and {more} more differences; --all lists them"),
    }
}
