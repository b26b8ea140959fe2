//! Typed ids of the entities of a module: dense `u32` indices, one type per table, so that an index
//! into one table cannot be used in another. Stored as the index plus one, so that an optional id
//! takes no more room.

use std::num::NonZeroU32;

use crate::table::EntityId;

macro_rules! entity_id {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(NonZeroU32);

        impl EntityId for $name {
            const PREFIX: &'static str = $prefix;
            fn new(index: usize) -> Self {
                // Tables refuse to grow past u32::MAX entities, see `PrimaryMap::push`.
                let next = (index as u32).wrapping_add(1);
                $name(NonZeroU32::new(next).unwrap_or(NonZeroU32::MAX))
            }
            fn index(self) -> usize {
                self.0.get() as usize - 1
            }
        }

        /// The first id of the table.
        impl Default for $name {
            fn default() -> Self {
                $name::new(0)
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!($prefix, "{}"), self.index())
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!($prefix, "{}"), self.index())
            }
        }
    };
}

entity_id!(
    /// An input object; the last one may be the linker's own, `<linker>`.
    ObjectId, "@"
);
entity_id!(
    /// A section of an input object.
    SectionId, "#"
);
entity_id!(
    /// An entry of an input symbol table (SECTION symbols are not entities, see
    /// [`crate::SymbolRef`]).
    SymbolId, "%"
);
entity_id!(
    /// What a name (or a local symbol) stands for in the whole link.
    LinkSymbolId, "$"
);
entity_id!(
    /// A defined function of an input object.
    FunctionId, "fn"
);
entity_id!(
    /// A relocation row.
    RelocId, "r"
);
entity_id!(
    /// A record of a `.nv.info*` or `.nv.compat` section.
    AttributeId, "a"
);
entity_id!(
    /// A row of a `.nv.callgraph` section.
    CallId, "c"
);
entity_id!(
    /// A row of a `.nv.prototype` section.
    PrototypeId, "p"
);
entity_id!(
    /// A note of a `.note.*` section.
    NoteId, "n"
);
