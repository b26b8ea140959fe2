//! Modules in text form that passes are to take.

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::codes::usage;
use cuweld_ir::Arena;
use cuweld_ir::Module;
use cuweld_ir::text;
use cuweld_ir::text::ImageKey;
use cuweld_ir::text::ParseError;

use crate::invariants::findings;

/// Parses a text that messages call `name`; `resolve` gives the images that it only names.
pub fn parse<'data>(
    name: &str,
    text: &str,
    arena: &'data Arena,
    resolve: &dyn Fn(&ImageKey<'_>) -> Option<&'data [u8]>,
) -> Result<Module<'data>, Diagnostic> {
    text::parse(text, arena, resolve).map_err(|error| refused(name, error))
}

/// Returns the finding about a text that cannot be read.
pub fn refused(name: &str, error: ParseError) -> Diagnostic {
    let diagnostic = Diagnostic::fatal(usage::MODULE, format!("'{name}': {error}"));
    match error.help {
        Some(help) => diagnostic.help(help),
        None => diagnostic,
    }
}

/// Refuses a module that breaks invariants: passes rely on them, and a text may say anything.
pub fn sound(name: &str, module: &Module<'_>) -> Result<(), Diagnostic> {
    let broken = findings(module);
    if broken.is_empty() {
        return Ok(());
    }
    let message = format!("'{name}' is no module that passes can take");
    let mut diagnostic = Diagnostic::fatal(usage::MODULE, message);
    diagnostic.notes = broken;
    Err(diagnostic)
}
