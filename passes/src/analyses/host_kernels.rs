//! The kernels that host code refers to.

use cuweld_ir::LinkSymbolId;
use cuweld_ir::Module;
use cuweld_ir::table::EntityId;

use super::Analyses;
use super::Analysis;
use super::host_names::HostNames;

/// The defined kernels of a resolved module that host code refers to, as far as the link knows.
#[derive(Debug, PartialEq, Eq)]
pub struct HostKernels {
    /// What says which kernels these are.
    pub known_by: KnownBy,
    /// Whether kernels that the names leave out go as options let them go: by the names of options,
    /// or, of a whole program out of link-time optimisation, by those of the host.
    pub are_of_options: bool,
    /// Whether the names decide which kernels stay.
    pub decide: bool,
    /// The only one, where the names decide. nvlink gives such a link a shorter way: it does not
    /// look at what other kernels do, which then only stay because their address is taken.
    pub only: Option<LinkSymbolId>,
    /// Whether the names leave kernels out of what gets the resources of functions: where they
    /// decide, and with `-g` and `-suppress-debug-info`, where all code stays [suppressed-kernels].
    pub leave_out: bool,
    /// By resolved symbol.
    held: Vec<bool>,
}

/// What says which kernels host code refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KnownBy {
    /// Nothing: host code may refer to all.
    Nothing,
    /// `-kernels-used` and `-variables-used`.
    Options,
    /// Information of the host objects.
    Host,
}

impl HostKernels {
    /// Returns `true` if a name stands for such a kernel.
    pub fn contains(&self, link: LinkSymbolId) -> bool {
        self.held.get(link.index()).copied().unwrap_or(false)
    }
}

impl Analysis for HostKernels {
    fn compute(module: &Module<'_>, _: &Analyses) -> Self {
        let names = HostNames::kernels(&module.options);
        let known_by = match names {
            HostNames::All => KnownBy::Nothing,
            HostNames::Containing(_) => KnownBy::Options,
            HostNames::Matching { .. } => KnownBy::Host,
        };
        let links = module.link_symbols.values();
        let held: Vec<bool> = links
            .map(|link| {
                link.definition.is_some_and(|definition| {
                    let symbol = &module.symbols[definition];
                    symbol.is_entry() && names.hold(symbol)
                })
            })
            .collect();
        let decide = known_by != KnownBy::Nothing && !module.keeps_dead_code();
        let leave_out = known_by != KnownBy::Nothing
            && !module.options.relocatable
            && !module.is_for_debugger();
        let mut ids = module.link_symbols.ids().filter(|id| held[id.index()]);
        let only = match (ids.next(), ids.next()) {
            (only, None) if leave_out => only,
            _ => None,
        };
        HostKernels {
            known_by,
            are_of_options: match known_by {
                KnownBy::Nothing => false,
                KnownBy::Options => true,
                KnownBy::Host => module.options.whole_program,
            },
            decide,
            only,
            leave_out,
            held,
        }
    }

    fn equals(&self, other: &Self) -> Option<bool> {
        Some(self == other)
    }
}
