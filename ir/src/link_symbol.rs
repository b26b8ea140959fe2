//! What names stand for in the whole link.

use crate::ids::*;

/// One name of the link, or one local symbol: the thing that all symbols resolved to it mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct LinkSymbol {
    /// The first symbol of the link that has this name; gives its name and its list (local or
    /// global) in the output.
    pub first: SymbolId,
    /// The definition that won, if there is one; a tentative definition counts.
    pub definition: Option<SymbolId>,
    /// Whether the output keeps it.
    pub live: Liveness,
    /// Size in bytes: of the definition, or the largest of the tentative ones.
    pub size: u64,
    /// Alignment in bytes of a tentative definition that won, otherwise 0.
    pub common_align: u64,
    /// Value in the output: offset in its output section, or address in shared memory; set by
    /// `place-memory`.
    pub value: Option<u64>,
    /// The kernel that has a shared variable for itself; set by `place-memory`. Other shared
    /// variables with a value lie in the slots of `.nv_debug.shared`.
    pub kernel: Option<FunctionId>,
    /// Whether the output shows it as a local symbol, whatever the inputs say; set by
    /// `internalize`.
    pub internal: bool,
    /// Place of its code among the functions of the output; those without one come after, in
    /// nvlink's order. Set by `order-functions`.
    pub order: Option<u32>,
}

/// Whether something is kept, and why not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Liveness {
    /// `callgraph-dce` has not run.
    #[default]
    Unknown,
    /// Kept.
    Live,
    /// Kept because code that can run may call it by an address in data that nvlink does not count.
    ByAddress,
    /// No kernel that is kept reaches it.
    Unreachable,
    /// A kernel that no host code references.
    Unreferenced,
}

impl Liveness {
    /// Returns `true` if the symbol is kept.
    pub fn is_live(self) -> bool {
        matches!(self, Liveness::Live | Liveness::ByAddress)
    }
}
