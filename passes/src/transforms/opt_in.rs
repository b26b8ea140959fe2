//! What opt-in passes have in common: refusals of their own, and names that users write.

use std::collections::BTreeSet;

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::codes::usage;

use crate::pass::Pass;
use crate::pass::PassCx;
use crate::pass::PassError;

/// Ends the link: a pass cannot do this soundly.
pub(crate) fn refuse(
    pass: &dyn Pass,
    what: &str,
    cx: &mut PassCx<'_, '_>,
) -> Result<(), PassError> {
    cx.diagnostics.emit(pass.info().refused(what));
    Err(PassError::Diagnosed)
}

/// Warns of names that an option gives and that nothing has.
pub(crate) fn warn_of_unknown(pass: &dyn Pass, names: BTreeSet<&str>, cx: &mut PassCx<'_, '_>) {
    let pass = pass.info().name;
    for name in names {
        cx.diagnostics.emit(Diagnostic::warning(
            usage::UNKNOWN_NAME,
            format!("cuweld: {pass}: there is no '{name}'"),
        ));
    }
}
