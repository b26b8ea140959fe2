//! What can be written at a place.

use std::ops::Range;

/// What a name or word can be completed to.
pub struct Proposal {
    /// The word.
    pub word: String,
    /// What it is, in a line.
    pub detail: String,
    /// What it is, in Markdown.
    pub text: String,
    /// The bytes that it stands in place of.
    pub place: Range<usize>,
    /// What is put there.
    pub insert: String,
}
