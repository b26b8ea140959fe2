//! Outputs of commands, and what is said where one cannot be written.

use std::fmt::Display;
use std::io::Write;
use std::path::Path;

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::codes::system;

use super::module_args::is_standard;
use crate::file_name;
use crate::output::write_atomically;

/// Writes a file, whole or not at all.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), Diagnostic> {
    let written = write_atomically(path, bytes);
    written.map(drop).map_err(|error| unwritten(path, &error))
}

/// Writes a file, or the standard output if it stands for that.
pub fn write_or_print(path: &Path, bytes: &[u8], stdout: &mut dyn Write) -> Result<(), Diagnostic> {
    let _span = tracing::info_span!("write", bytes = bytes.len()).entered();
    match is_standard(path) {
        true => stdout
            .write_all(bytes)
            .map_err(|error| unwritten(path, &error)),
        false => write(path, bytes),
    }
}

/// Says why a file was not written.
pub fn unwritten(path: &Path, error: &dyn Display) -> Diagnostic {
    let name = file_name::of_path(path);
    let message = format!("cannot write '{name}': {error}");
    Diagnostic::fatal(system::CANNOT_WRITE, message)
}
