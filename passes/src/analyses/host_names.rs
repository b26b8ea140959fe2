//! Which kernels and variables host code refers to: the lists that options and host information
//! give.

use cuweld_elf::symbol::Binding;
use cuweld_ir::LinkOptions;
use cuweld_ir::Symbol;

use crate::analyses::name_patterns::NamePatterns;
use crate::analyses::name_patterns::contains;

/// The kernels, or the variables, that host code refers to, as far as the link knows.
pub(crate) enum HostNames<'options> {
    /// Nothing is known: all of them.
    All,
    /// `-kernels-used`, `-variables-used`: those whose name contains one of these.
    Containing(&'options [String]),
    /// Host information: those that match a pattern for their binding.
    Matching {
        external: Box<NamePatterns<'options>>,
        internal: Box<NamePatterns<'options>>,
    },
}

impl<'options> HostNames<'options> {
    /// Returns the kernels that are roots of liveness. `-variables-used` alone leaves the list
    /// empty: all die.
    pub(crate) fn kernels(options: &'options LinkOptions) -> Self {
        if options.host.kernels_used.is_some() || options.host.variables_used.is_some() {
            return Self::Containing(options.host.kernels_used.as_deref().unwrap_or(&[]));
        }
        match (
            &options.host.kernels_external,
            &options.host.kernels_internal,
        ) {
            (None, None) => Self::All,
            (external, internal) => Self::matching(
                external.as_deref().unwrap_or(&[]),
                internal.as_deref().unwrap_or(&[]),
            ),
        }
    }

    /// Returns the variables that host code can name.
    pub(crate) fn variables(options: &'options LinkOptions) -> Self {
        if let Some(used) = &options.host.variables_used {
            return Self::Containing(used);
        }
        match (
            &options.host.variables_external,
            &options.host.variables_internal,
        ) {
            (Some(external), Some(internal)) => Self::matching(external, internal),
            _ => Self::All,
        }
    }

    fn matching(external: &'options [String], internal: &'options [String]) -> Self {
        Self::Matching {
            external: Box::new(NamePatterns::new(external)),
            internal: Box::new(NamePatterns::new(internal)),
        }
    }

    /// Returns `true` if the names hold that of a symbol.
    pub(crate) fn hold(&self, symbol: &Symbol<'_>) -> bool {
        match self {
            Self::All => true,
            Self::Containing(parts) => parts
                .iter()
                .any(|part| contains(symbol.name, part.as_bytes())),
            Self::Matching { internal, .. } if symbol.bind == Binding::LOCAL => {
                internal.match_name(symbol.name)
            }
            Self::Matching { external, .. } => external.match_name(symbol.name),
        }
    }
}
