//! Why rows cannot be changed.

use thiserror::Error;

use crate::ids::ObjectId;
use crate::module::Phase;
use crate::verify::VerifyError;

/// Why a batch of edits is refused. The module is as it was.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum EditError {
    /// The module is resolved: passes have counted on its rows.
    #[error(
        "rows of objects can be added and erased before 'resolved'; the module is '{}'",
        .0.name()
    )]
    TooLate(Phase),
    /// The module is not the one that the edits were collected for, or has changed since.
    #[error("the edits were collected for another module")]
    OtherModule,
    /// The object has code as Mercury, whose bytes refer to sections and symbols by number.
    #[error("the object {0} has Mercury, whose bytes name its sections and symbols by number")]
    Mercury(ObjectId),
    /// A table would outgrow its `u32` ids.
    #[error("a table would have more rows than ids")]
    TooLarge,
    /// A row is erased, and one that stays refers to it.
    #[error("{row} is erased, and {by} refers to it")]
    StillUsed {
        /// The erased row, by its number before the edits.
        row: String,
        /// The row that stays, by its number after the edits.
        by: String,
    },
    /// A row refers to one that the module does not have.
    #[error("{by} refers to {row}, which does not exist")]
    NoRow {
        /// The row that is missing.
        row: String,
        /// The row that refers to it.
        by: String,
    },
    /// Uses of a symbol would become uses of one of another object.
    #[error("{0} and {1} belong to different objects")]
    OtherObject(String, String),
    /// The module was broken before, or would be broken after the edits.
    #[error("the module would be broken: {0}")]
    Broken(VerifyError),
}
