//! What of a link is explained.

use cuweld_passes::instrument::Questions;
use cuweld_passes::instrument::Why;

/// What of a link is explained; by default nothing.
#[derive(Clone, Debug, Default)]
pub struct Explaining {
    /// What is asked.
    pub questions: Questions,
}

impl Explaining {
    /// Returns `true` if anything is to be explained.
    pub(super) fn is_any(&self) -> bool {
        let Questions {
            live,
            extract,
            stack,
            registers,
        } = &self.questions;
        [live, extract, stack, registers]
            .iter()
            .any(|names| !names.is_empty())
    }

    /// Makes the instrument that explains, if anything is to be explained.
    pub(crate) fn instrument(&self) -> Option<Why> {
        self.is_any().then(|| Why::new(self.questions.clone()))
    }
}
