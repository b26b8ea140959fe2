//! Functions of input objects.

use crate::ids::*;
use crate::placement::SharedFrame;

/// A defined function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Function {
    /// The object that holds it.
    pub object: ObjectId,
    /// Its symbol.
    pub symbol: SymbolId,
    /// Its code, once as SASS and on sm_100 and up also as Mercury.
    pub views: Views,
    /// What the link made of this copy.
    pub fate: Fate,
    /// How its code was made anew; set by `mercury-schedule`.
    pub remade: Remade,
    /// Registers (REGCOUNT of the object's `.nv.info`), 0 if it has no record.
    pub registers: u32,
    /// The most bytes of stack that it may use (MAX_STACK_SIZE of the object's `.nv.info`), 0 if
    /// there is no limit; set by `classify`.
    pub stack_limit: u32,
    /// Layout of its shared memory; kernels only, set by `place-memory`.
    pub shared: Option<SharedFrame>,
    /// Address of dynamic shared memory as this function's code sees it, if it uses any; set by
    /// `place-memory`.
    pub dynamic_shared: Option<u64>,
    /// Kernels: where shared memory lies that no symbol names, in bytes; set by `place-memory`.
    pub unnamed_shared: Option<u64>,
    /// Which kinds of header slots at the end of its constant bank 0 the driver has to fill, a set
    /// of [`header`](cuweld_elf::symbol::header); kernels only, set by `place-memory`.
    pub header_kinds: u8,
    /// Size in bytes of its code as Mercury, 0 if it has none.
    pub merc_size: u64,
    /// The barrier count in the section flags of its code, as compilers before 13.0 write it: that
    /// of the input from `classify` on, that of the output once `propagate-resources` has run.
    pub flag_barriers: u8,
}

/// The two forms of a function's code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Views {
    /// Machine code.
    pub sass: FunctionView,
    /// Capsule Mercury, on sm_100 and up.
    pub merc: Option<FunctionView>,
}

impl Views {
    /// Returns the attribute list that the link merges: that of the Mercury view where there is
    /// one.
    pub fn merged_info(&self) -> Option<SectionId> {
        match self.merc {
            Some(merc) => merc.info,
            None => self.sass.info,
        }
    }
}

/// The sections of one form of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct FunctionView {
    /// `.text.F`, or `.nv.capmerc.text.F`.
    pub text: SectionId,
    /// `.nv.info.F`, or `.nv.merc.nv.info.F`; set by `classify`.
    pub info: Option<SectionId>,
}

/// How the code of a function for sm_100 or later was made anew, as NVIDIA's finalizer does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Remade {
    /// It is as it was compiled.
    #[default]
    No,
    /// It has other scoreboards, and no work-arounds at memory barriers.
    Scheduled,
    /// Barriers of the debugger stand in front of its ends.
    ForDebugger,
}

/// What the link made of a copy of a function, which others of the same name may compete with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Fate {
    /// `symbol-resolve` has not run, or its object is not part of the link.
    #[default]
    Candidate,
    /// It is linked if its name is live.
    Prevailing,
    /// It prevailed when its object was merged, and a copy of a later object took its place. Its
    /// calls stay in the call graph.
    Replaced,
    /// It never was part of the link: a copy that prevailed before it stayed.
    Discarded,
    /// A function of another name with the same code is linked in its place; set by
    /// `fold-identical-functions`. Its symbols stand for the resolved symbol of that one.
    Folded,
}

impl Fate {
    /// Returns `true` if the definition prevailed when its object was merged, even if it was
    /// replaced since.
    pub fn ever_prevailed(self) -> bool {
        matches!(self, Fate::Prevailing | Fate::Replaced)
    }

    /// Returns `true` if another definition is linked in the place of this one.
    pub fn is_non_prevailing(self) -> bool {
        matches!(self, Fate::Replaced | Fate::Discarded | Fate::Folded)
    }
}
