//! What opt-in passes have in common: refusals, and names that users write.

use std::collections::BTreeSet;

use cuweld_ir::LinkOptions;
use cuweld_ir::LinkSymbolId;
use cuweld_ir::Module;
use cuweld_ir::Phase;
use cuweld_ir::symbol::stb;

use crate::callgraph_dce::kernel_roots::NamePatterns;
use crate::callgraph_dce::kernel_roots::contains;
use crate::diagnostic::Diagnostic;
use crate::pass::PassCx;
use crate::pass::PassError;

/// Ends the link: a pass cannot do this soundly.
pub(crate) fn refuse(pass: &str, what: &str, cx: &mut PassCx<'_, '_>) -> Result<(), PassError> {
    cx.diagnostics.emit(Diagnostic::fatal(format!(
        "cuweld: unsupported: {pass}: {what}"
    )));
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
        return refuse(
            pass,
            "relocatable output, which a later link may refer to",
            cx,
        );
    }
    Ok(())
}

/// Warns of names that an option gives and that nothing has.
pub(crate) fn warn_of_unknown(pass: &str, names: BTreeSet<&str>, cx: &mut PassCx<'_, '_>) {
    for name in names {
        cx.diagnostics.emit(Diagnostic::warning(format!(
            "cuweld: {pass}: there is no '{name}'"
        )));
    }
}

/// Which variables host code can name, as far as the link knows (`inputs.md` section 5).
pub(crate) enum HostVariables<'options> {
    /// Nothing is known: all of them.
    All,
    /// `-variables-used`: those whose name contains one of these.
    Containing(&'options [String]),
    /// Host information: those that match a pattern for their binding.
    Matching {
        external: Box<NamePatterns<'options>>,
        internal: Box<NamePatterns<'options>>,
    },
}

impl<'options> HostVariables<'options> {
    pub(crate) fn new(options: &'options LinkOptions) -> Self {
        if let Some(used) = &options.variables_used {
            return Self::Containing(used);
        }
        match (
            &options.host_variables_external,
            &options.host_variables_internal,
        ) {
            (Some(external), Some(internal)) => Self::Matching {
                external: Box::new(NamePatterns::new(external)),
                internal: Box::new(NamePatterns::new(internal)),
            },
            _ => Self::All,
        }
    }

    /// Whether host code can name a variable.
    pub(crate) fn name(&self, module: &Module<'_>, link: LinkSymbolId) -> bool {
        let row = &module.link_symbols[link];
        let symbol = &module.symbols[row.definition.unwrap_or(row.first)];
        match self {
            Self::All => true,
            Self::Containing(parts) => parts
                .iter()
                .any(|part| contains(symbol.name, part.as_bytes())),
            Self::Matching { internal, .. } if symbol.bind == stb::LOCAL => {
                internal.match_name(symbol.name)
            }
            Self::Matching { external, .. } => external.match_name(symbol.name),
        }
    }
}
