//! Places in `.debug_frame` of the SASS view (measured, `docs/MERCURY.md`).
//!
//! In an object, rows by which an entry names its CIE have the same addend in both views: the place in the
//! frames of the Mercury view. nvlink writes the place of the same entry in those of the SASS view.

use cuweld_ir::SectionId;
use cuweld_ir::mercury::frames::entries;
use foldhash::fast::FixedState;
use hashbrown::HashMap;

/// The entries of both views of one object's `.debug_frame`, by where they begin, in bytes.
struct Frames {
    mercury: Vec<u64>,
    sass: Vec<u64>,
}

/// The frames of all objects with Mercury, by the section of the SASS view.
#[derive(Default)]
pub(super) struct FramePlaces(HashMap<SectionId, Frames, FixedState>);

impl FramePlaces {
    /// Reads the frames of a pair of debug sections.
    pub(super) fn add(&mut self, id: SectionId, sass: &[u8], mercury: &[u8]) {
        let (mercury, sass) = (entries(mercury), entries(sass));
        self.0.insert(id, Frames { mercury, sass });
    }

    /// Whether a section is a `.debug_frame` of the SASS view with a Mercury form.
    pub(super) fn has(&self, section: SectionId) -> bool {
        self.0.contains_key(&section)
    }

    /// The place in the frames of the SASS view of the entry at a place in those of the Mercury view.
    pub(super) fn in_sass(&self, section: SectionId, mercury: u64) -> Option<u64> {
        let frames = self.0.get(&section)?;
        if frames.mercury.len() != frames.sass.len() {
            return None;
        }
        let ordinal = frames.mercury.binary_search(&mercury).ok()?;
        frames.sass.get(ordinal).copied()
    }
}
