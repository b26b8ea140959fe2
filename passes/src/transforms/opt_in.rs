//! What opt-in passes have in common: refusals, and names that users write.

use std::collections::BTreeSet;

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::codes::unsupported;
use cuweld_diagnostics::codes::usage;
use cuweld_ir::Module;
use cuweld_ir::Phase;

use crate::pass::PassCx;
use crate::pass::PassError;

/// Ends the link: a pass cannot do this soundly.
pub(crate) fn refuse(pass: &str, what: &str, cx: &mut PassCx<'_, '_>) -> Result<(), PassError> {
    cx.diagnostics.emit(Diagnostic::fatal(
        unsupported::TRANSFORM,
        format!("{pass}: {what}"),
    ));
    Err(PassError::Diagnosed)
}

/// Refuses a module that has reached a phase at which the pass comes too late.
pub(crate) fn before(
    pass: &str,
    phase: Phase,
    module: &Module<'_>,
    cx: &mut PassCx<'_, '_>,
) -> Result<(), PassError> {
    if module.phase < phase {
        return Ok(());
    }
    let what = format!("the module is '{}' already", module.phase.name());
    refuse(pass, &what, cx)
}

/// Refuses objects that hold Mercury beside SASS.
pub(crate) fn without_mercury(
    pass: &str,
    module: &Module<'_>,
    cx: &mut PassCx<'_, '_>,
) -> Result<(), PassError> {
    if module.target.is_mercury() {
        return refuse(pass, "objects for sm_100 and up", cx);
    }
    Ok(())
}

/// Refuses relocatable output.
pub(crate) fn without_relocatable(
    pass: &str,
    module: &Module<'_>,
    cx: &mut PassCx<'_, '_>,
) -> Result<(), PassError> {
    if module.options.relocatable {
        let what = "relocatable output, which a later link may refer to";
        return refuse(pass, what, cx);
    }
    Ok(())
}

/// Warns of names that an option gives and that nothing has.
pub(crate) fn warn_of_unknown(pass: &str, names: BTreeSet<&str>, cx: &mut PassCx<'_, '_>) {
    for name in names {
        cx.diagnostics.emit(Diagnostic::warning(
            usage::UNKNOWN_NAME,
            format!("cuweld: {pass}: there is no '{name}'"),
        ));
    }
}
