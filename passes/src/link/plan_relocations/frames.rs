//! Places in `.debug_frame` of the SASS view [frames-of-linked-functions].
//!
//! In an object, rows by which an entry names its CIE have the same addend in both views: the place
//! in the frames of the Mercury view. nvlink writes the place of the same entry in those of the
//! SASS view.

use std::sync::OnceLock;

use cuweld_elf::mercury::frames::entries;
use cuweld_ir::SectionId;
use foldhash::fast::FixedState;
use hashbrown::HashMap;

/// Both views of one object's `.debug_frame`.
struct Frames<'data> {
    mercury: &'data [u8],
    sass: &'data [u8],
    /// Where the entries of each begin, in bytes, once a row asks.
    starts: OnceLock<(Vec<u64>, Vec<u64>)>,
}

/// The frames of all objects with Mercury, by the section of the SASS view.
#[derive(Default)]
pub(super) struct FramePlaces<'data>(HashMap<SectionId, Frames<'data>, FixedState>);

impl<'data> FramePlaces<'data> {
    /// Adds a pair of debug sections.
    pub(super) fn add(&mut self, id: SectionId, sass: &'data [u8], mercury: &'data [u8]) {
        let starts = OnceLock::new();
        let frames = Frames {
            mercury,
            sass,
            starts,
        };
        self.0.insert(id, frames);
    }

    /// Returns `true` if a section is a `.debug_frame` of the SASS view with a Mercury form.
    pub(super) fn has(&self, section: SectionId) -> bool {
        self.0.contains_key(&section)
    }

    /// Returns the offset in the frames of the SASS view of the entry at the offset `place` in
    /// those of the Mercury view.
    pub(super) fn in_sass(&self, section: SectionId, place: u64) -> Option<u64> {
        let frames = self.0.get(&section)?;
        let starts = || (entries(frames.mercury), entries(frames.sass));
        let (mercury, sass) = frames.starts.get_or_init(starts);
        if mercury.len() != sass.len() {
            return None;
        }
        let ordinal = mercury.binary_search(&place).ok()?;
        sass.get(ordinal).copied()
    }
}
