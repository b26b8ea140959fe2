//! ELF notes.

use crate::ids::*;

/// A note of `.note.nv.tkinfo` (type 2000), `.note.nv.cuinfo` (type 1000) or another note section.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Note<'data> {
    /// The section it was read from; `None` for the linker's own.
    pub section: Option<SectionId>,
    /// Owner name with its terminating NUL, unpadded.
    pub owner: &'data [u8],
    /// `n_type`.
    pub ty: u32,
    /// Descriptor; CUDA's are padded to 4 bytes within `n_descsz`.
    pub desc: &'data [u8],
}
