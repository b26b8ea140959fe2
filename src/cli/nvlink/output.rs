//! Files that the nvlink-compatible command line writes, and what is said if that fails.

use crate::file_name;
use std::io;

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::codes::internal;
use cuweld_diagnostics::codes::system;

use crate::diagnostics::Reporter;
use crate::output::OutputError;
use crate::output::Replaced;
use crate::output::write_atomically;

/// Writes a file, or reports that it cannot be written.
pub(super) fn write_output(
    path: &str,
    bytes: &[u8],
    strict: bool,
    reporter: &mut Reporter<'_>,
) -> io::Result<()> {
    let written = write_atomically(&file_name::path(path), bytes).map_err(OutputError::Io);
    report_output(path, bytes.len() as u64, strict, written, reporter)
}

/// What nvlink writes only when it closes a file, without looking whether that succeeds.
const WRITTEN_LAST: u64 = 4096;

/// Reports that a file of some size could not be written.
pub(super) fn report_output(
    path: &str,
    size: u64,
    strict: bool,
    written: Result<Replaced, OutputError>,
    reporter: &mut Reporter<'_>,
) -> io::Result<()> {
    match written {
        Ok(replaced) => {
            // Freed with the process.
            std::mem::forget(replaced);
            Ok(())
        }
        Err(OutputError::Io(error)) if is_full(&error) => {
            let is_unseen = size <= WRITTEN_LAST;
            if is_unseen && strict {
                return Ok(());
            }
            let mut diagnostic =
                Diagnostic::fatal(system::CANNOT_WRITE, "Internal error: writing file")
                    .note(format!("'{path}': {error}"));
            diagnostic.deviation = is_unseen.then_some("D13");
            reporter.report(&diagnostic)
        }
        Err(OutputError::Io(error)) => reporter.report(
            &Diagnostic::fatal(
                system::CANNOT_WRITE,
                format!("Could not open output file '{path}'"),
            )
            .note(error.to_string()),
        ),
        Err(error @ OutputError::Changed(_)) => reporter.report(&Diagnostic::fatal(
            system::INPUT_CHANGED,
            format!("cuweld: {error}"),
        )),
        Err(error) => {
            reporter.internal_error = true;
            reporter.report(&Diagnostic::fatal(
                internal::FAULT,
                format!("cuweld: {error}"),
            ))
        }
    }
}

/// Returns `true` if a file could be opened, but does not take all bytes.
fn is_full(error: &io::Error) -> bool {
    use io::ErrorKind;
    matches!(
        error.kind(),
        ErrorKind::StorageFull
            | ErrorKind::QuotaExceeded
            | ErrorKind::FileTooLarge
            | ErrorKind::BrokenPipe
            | ErrorKind::WriteZero
    )
}
