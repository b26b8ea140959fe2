//! How definitions of one name met: the history that resolution records.

use crate::ids::SymbolId;

/// A definition met the one that prevailed until then.
///
/// The first definition of a name meets nothing and has no event: a name without events has the one
/// definition that its resolved symbol gives. Events stand in the order in which objects are
/// merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct MergeEvent {
    /// The definition that was merged.
    pub newcomer: SymbolId,
    /// The definition of the name that prevailed before.
    pub prevailing: SymbolId,
    /// What became of the two.
    pub outcome: MergeOutcome,
}

impl MergeEvent {
    /// Returns the definition that prevails after the event.
    pub fn prevailing(&self) -> SymbolId {
        match self.outcome.replaces() {
            true => self.newcomer,
            false => self.prevailing,
        }
    }

    /// Returns the definition that does not prevail after the event.
    pub fn discarded(&self) -> SymbolId {
        match self.outcome.replaces() {
            true => self.prevailing,
            false => self.newcomer,
        }
    }
}

/// Which of two definitions of a name prevails, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum MergeOutcome {
    /// The newcomer replaces a weak definition.
    ReplacesWeak,
    /// The newcomer replaces a weak copy of a function that needs more registers.
    ReplacesMoreRegisters,
    /// The newcomer replaces a weak copy of a function: it needs as many registers, and was
    /// compiled for a higher virtual architecture than the first copy.
    ReplacesOlder,
    /// The newcomer is initialised and replaces a tentative definition.
    ReplacesTentative,
    /// The newcomer is weak and the definition before it is not: it is discarded.
    YieldsToStrong,
    /// The newcomer is a weak copy of a function that needs more registers than the one before it:
    /// it is discarded.
    YieldsToFewerRegisters,
    /// Both are weak and alike: the newcomer is discarded.
    #[default]
    YieldsToFirst,
    /// The newcomer is tentative and the definition before it is initialised: it is discarded.
    YieldsToInitialised,
    /// The newcomer's memory becomes that of a tentative definition, which prevails.
    YieldsToTentative,
    /// Both are tentative: the memory grows to the newcomer's size.
    Grows,
    /// Both are tentative, and the memory is large enough.
    Joins,
}

impl MergeOutcome {
    /// Returns `true` if the newcomer prevails.
    pub fn replaces(self) -> bool {
        matches!(
            self,
            MergeOutcome::ReplacesWeak
                | MergeOutcome::ReplacesMoreRegisters
                | MergeOutcome::ReplacesOlder
                | MergeOutcome::ReplacesTentative
        )
    }

    /// Returns the reason why the definition that lost does not prevail, as the end of a sentence
    /// about it.
    pub fn reason(self) -> &'static str {
        match self {
            MergeOutcome::ReplacesWeak => "it is weak, and this one is not",
            MergeOutcome::ReplacesMoreRegisters => "it needs more registers",
            MergeOutcome::ReplacesOlder => "it was compiled for a lower virtual architecture",
            MergeOutcome::ReplacesTentative => "it is tentative",
            MergeOutcome::YieldsToStrong => "it is weak, and the one before it is not",
            MergeOutcome::YieldsToFewerRegisters => "it needs more registers",
            MergeOutcome::YieldsToFirst => "the first of equal ones stays",
            MergeOutcome::YieldsToInitialised => {
                "it is tentative, and the one before it is initialised"
            }
            MergeOutcome::YieldsToTentative => "the one before it is tentative, and stays so",
            MergeOutcome::Grows => "both are tentative, and share the memory of the larger",
            MergeOutcome::Joins => "both are tentative, and share the memory of the larger",
        }
    }
}
