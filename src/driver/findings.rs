//! What discovery has to say, on its way to the reporter.

use std::io;

use cuweld_diagnostics::Diagnostic;

use crate::diagnostics::Reporter;
use crate::input::InputDiagnostic;

/// Reports what discovery has to say.
pub(super) fn report_found(
    reporter: &mut Reporter<'_>,
    diagnostics: &[InputDiagnostic],
) -> io::Result<()> {
    for diagnostic in diagnostics {
        if diagnostic.is_about_arch() && reporter.silence_arch_warnings {
            continue;
        }
        match diagnostic.finding() {
            Some(finding) if diagnostic.is_remark() => reporter.remark(&finding)?,
            Some(finding) => reporter.report(&finding)?,
            None => {}
        }
    }
    Ok(())
}

/// Reports findings in their order.
pub(super) fn report_all(reporter: &mut Reporter<'_>, findings: &[Diagnostic]) -> io::Result<()> {
    findings
        .iter()
        .try_for_each(|finding| reporter.report(finding))
}
