//! What an allocation depends on.

use std::fmt;

/// The cycles by which measured times may be wrong in code without barriers in front of its ends.
const NEAR: i64 = 4;

/// Rules that decide seldom, and whose measured form may not be the whole truth. Where an allocation
/// follows one, another has to have followed it at the same instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::link::mercury_schedule) enum Rule {
    /// All scoreboards are in use, and another would be the cheapest if times were wrong by a few
    /// cycles.
    NearCost {
        /// The scoreboard that is taken.
        number: usize,
        /// The instruction that set it first.
        with: usize,
    },
    /// What a loop leaves pending is waited for in its head, with what comes from before it.
    ComesBack,
    /// What a loop leaves pending is waited for at the end of its head.
    EndOfHead {
        /// The instruction of the loop that set it first.
        with: usize,
    },
    /// What sets a scoreboard waits for what a loop leaves pending on it.
    SetsPending,
    /// A load from far memory whose result nobody wants outlives its block, in a kernel without others.
    UnwantedLoad {
        /// The scoreboard that is taken.
        number: usize,
    },
    /// One is taken that is not in use where a block that follows begins, and not the lowest.
    Unoccupied {
        /// The scoreboard that is taken.
        number: usize,
    },
    /// A memory barrier sets a scoreboard right after an instruction that waited.
    BarrierAfterWait,
    /// Uniform registers are waited for where threads meet again or end.
    ThreadsMeet,
    /// The head of a loop waits for loads from before it.
    LoadsBeforeLoop,
    /// What comes from other blocks is waited for with what the block set.
    Inherited,
    /// What was set before a barrier of the block is over.
    AcrossBarrier,
    /// An instruction is over, or not yet, by these few cycles where its block ends.
    Near(i64),
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Rule::NearCost { .. } => "two scoreboards cost nearly the same",
            Rule::Unoccupied { .. } => "other blocks use a scoreboard",
            Rule::UnwantedLoad { .. } => "nobody wants the result of a load",
            Rule::ComesBack | Rule::EndOfHead { .. } | Rule::SetsPending => {
                "a loop leaves something pending"
            }
            Rule::BarrierAfterWait => "a memory barrier follows what waits",
            Rule::ThreadsMeet => "threads meet again",
            Rule::LoadsBeforeLoop => "loads from before a loop are pending",
            Rule::Inherited => "other blocks leave something pending",
            Rule::AcrossBarrier => "a barrier stands between",
            Rule::Near(_) => "something is over by few cycles, or not yet, where the block ends",
        })
    }
}

/// What an allocation depends on that may not be the whole truth: instructions and rules, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::link::mercury_schedule) struct Proof(Vec<(usize, Rule)>);

impl Proof {
    /// Makes it of the instructions at which rules decided.
    pub(super) fn new(mut followed: Vec<(usize, Rule)>) -> Proof {
        followed.sort_unstable();
        Proof(followed)
    }

    /// Returns the same for code whose instructions have other numbers: pairs of those here and
    /// there, in order of the former. What depends on others is kept as no instruction's.
    pub(in crate::link::mercury_schedule) fn renumbered(self, numbers: &[(usize, usize)]) -> Proof {
        let number = |at: usize| {
            let place = numbers.binary_search_by_key(&at, |(here, _)| *here);
            place.map_or(usize::MAX, |place| numbers[place].1)
        };
        let renumber = |(at, rule)| {
            let rule = match rule {
                Rule::NearCost { number: best, with } => Rule::NearCost {
                    number: best,
                    with: number(with),
                },
                Rule::EndOfHead { with } => Rule::EndOfHead { with: number(with) },
                other => other,
            };
            (number(at), rule)
        };
        Proof::new(self.0.into_iter().map(renumber).collect())
    }

    /// Returns `true` if it depends on what loops leave pending.
    pub(in crate::link::mercury_schedule) fn depends_on_loops(&self) -> bool {
        self.0.iter().any(|(_, rule)| {
            matches!(
                rule,
                Rule::ComesBack | Rule::EndOfHead { .. } | Rule::SetsPending
            )
        })
    }

    /// Returns `true` if what other blocks left is over by few cycles at this end of a block, or not yet.
    pub(in crate::link::mercury_schedule) fn is_near(&self, end: usize) -> bool {
        let mut rules = self.0.iter();
        rules.any(|(at, rule)| *at == end && matches!(rule, Rule::Near(-2..=2)))
    }

    /// Returns the first instruction at which it depends on a rule that another allocation, which is
    /// known to be right, does not depend on there, with the rule. Most rules are known unless ends are
    /// `guarded`, which takes time and frees scoreboards.
    pub(in crate::link::mercury_schedule) fn unconfirmed(
        &self,
        other: &Proof,
        guarded: bool,
    ) -> Option<(usize, Rule)> {
        let is_known = |rule: Rule| {
            !guarded
                && match rule {
                    Rule::NearCost { .. }
                    | Rule::EndOfHead { .. }
                    | Rule::ComesBack
                    | Rule::SetsPending
                    | Rule::UnwantedLoad { .. }
                    | Rule::BarrierAfterWait => false,
                    Rule::Near(left) => left.abs() > NEAR,
                    _ => true,
                }
        };
        let mut followed = self.0.iter().filter(|(_, rule)| !is_known(*rule));
        let found = followed.find(|followed| other.0.binary_search(followed).is_err());
        found.copied()
    }
}
