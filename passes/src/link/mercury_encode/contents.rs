//! Contents of many sections, which threads make from the objects alone.

use super::Refusal;

/// The contents of some sections, one after the other, with what was refused on the way.
pub(super) struct Contents {
    pub(super) bytes: Vec<u8>,
    ends: Vec<usize>,
    pub(super) refusals: Vec<Refusal>,
}

impl Contents {
    /// Builds empty contents with room for sections of these sizes in bytes.
    pub(super) fn with_room(sizes: impl ExactSizeIterator<Item = usize>) -> Self {
        Contents {
            ends: Vec::with_capacity(sizes.len()),
            bytes: Vec::with_capacity(sizes.sum()),
            refusals: Vec::new(),
        }
    }

    /// Ends a section.
    pub(super) fn end(&mut self) {
        self.ends.push(self.bytes.len());
    }

    /// Returns the contents of each section; `bytes` are those of all.
    pub(super) fn sections<'data>(
        &self,
        bytes: &'data [u8],
    ) -> impl Iterator<Item = &'data [u8]> + use<'data, '_> {
        let starts = [0].into_iter().chain(self.ends.iter().copied());
        let ranges = starts.zip(&self.ends);
        ranges.map(|(start, end)| bytes.get(start..*end).unwrap_or(&[]))
    }
}
