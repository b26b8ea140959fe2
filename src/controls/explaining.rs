//! What of a link is explained.

use cuweld_passes::instrument::Why;

/// What of a link is explained; by default nothing.
#[derive(Clone, Debug, Default)]
pub struct Explaining {
    /// Explain why these functions and variables stay or go.
    pub why_live: Vec<String>,
    /// Explain why these objects take part or do not.
    pub why_extract: Vec<String>,
}

impl Explaining {
    /// Returns `true` if anything is to be explained.
    pub(super) fn is_any(&self) -> bool {
        !self.why_live.is_empty() || !self.why_extract.is_empty()
    }

    /// Makes the instrument that explains, if anything is to be explained.
    pub(crate) fn instrument(&self) -> Option<Why> {
        self.is_any()
            .then(|| Why::new(&self.why_live, &self.why_extract))
    }
}
