//! Rows of `.nv.callgraph` and `.nv.prototype`.

use crate::symbol::SymbolRef;

/// A row of `.nv.callgraph`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct CallRecord<'data> {
    /// The group that the row stands in.
    pub kind: CallKind,
    /// The first word: a function.
    pub from: SymbolRef,
    /// The second word of direct calls and candidates: a function.
    pub to: SymbolRef,
    /// The second word of address-taken and indirect rows: a prototype such as `#ii`.
    pub prototype: &'data [u8],
}

/// The groups of `.nv.callgraph`, in the order in which they are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum CallKind {
    /// (0,-1): caller and callee.
    #[default]
    Direct,
    /// (0,-2): a function whose address is taken, with its prototype.
    AddressTaken,
    /// (0,-3): a function that makes an indirect call, with the prototype it calls.
    Indirect,
    /// (0,-4): a function that takes an address, and the function whose address it is.
    TakesAddress,
}

impl CallKind {
    /// All kinds, in group order.
    pub const ALL: [CallKind; 4] = [
        CallKind::Direct,
        CallKind::AddressTaken,
        CallKind::Indirect,
        CallKind::TakesAddress,
    ];

    /// Returns the second word of the group's marker row.
    pub fn marker(self) -> i32 {
        match self {
            CallKind::Direct => -1,
            CallKind::AddressTaken => -2,
            CallKind::Indirect => -3,
            CallKind::TakesAddress => -4,
        }
    }

    /// Returns the kind with this marker.
    pub fn from_marker(marker: i32) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.marker() == marker)
    }

    /// Returns `true` if the second word is a prototype string.
    pub fn has_prototype(self) -> bool {
        matches!(self, CallKind::AddressTaken | CallKind::Indirect)
    }
}

/// A row of `.nv.prototype`: a function and its prototype.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct PrototypeRecord<'data> {
    /// The function.
    pub function: SymbolRef,
    /// Its prototype, an opaque string such as `#ilii`.
    pub prototype: &'data [u8],
}
