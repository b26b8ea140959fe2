//! The list of `--print-gc-sections`: lld's line for each section that nothing uses.

use std::io;
use std::io::Write;

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::codes::usage;
use cuweld_passes::reports::link_map::DroppedSection;

use crate::diagnostics::Reporter;
use crate::file_name;

/// Prints the sections, or reports that they are not known.
pub(crate) fn print(
    unused: Option<&[DroppedSection]>,
    stdout: &mut dyn Write,
    reporter: &mut Reporter<'_>,
) -> io::Result<()> {
    let Some(unused) = unused else {
        let message = "no unused sections are listed: the run ended before they were known, or \
                       link-time optimisation made the whole program";
        return reporter.report(&Diagnostic::remark(usage::OUTPUT, message));
    };
    for section in unused {
        let line = format!("removing unused section {}\n", section.input);
        // Names that are no UTF-8 are written as they are.
        stdout.write_all(&file_name::bytes(&line))?;
    }
    Ok(())
}
