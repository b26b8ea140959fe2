//! In which order the two sides of branches are allocated.
//!
//! The side that comes second avoids the scoreboards that the first leaves in use where they meet
//! again. Which comes first is not known: the target of the branch, or the next block. The object
//! shows it where it matters for the object [scoreboard-allocation].

use super::Unproved;
use super::blocks::Code;
use super::scoreboards::Allocator;
use super::scoreboards::Barriers;
use super::scoreboards::Needs;
use super::scoreboards::Proof;

/// Code, which of its instructions set scoreboards, and the scoreboards that they have.
pub(super) struct Allocated<'c> {
    pub(super) code: Code,
    pub(super) needs: &'c [Needs],
    pub(super) barriers: &'c [Barriers],
}

impl Allocated<'_> {
    /// Orders the sides of branches so that the rules give each instruction the scoreboards that it
    /// has, and returns what that depends on.
    ///
    /// # Errors
    ///
    /// There is no such order, or `budget`, as for [`Allocator::run`], does not suffice to find it.
    pub(super) fn reproduce(&mut self, budget: &mut usize) -> Result<Proof, Unproved> {
        let run = Allocator::run(&self.code, self.needs, budget);
        let (mut made, mut proof) = run.ok_or(Unproved::TooLong)?;
        while let Some(at) = self.difference(&made) {
            let Some(better) = self.turn_for(at, budget)? else {
                let (compiled, made) = (self.barriers[at], made[at]);
                return Err(Unproved::Differs { at, compiled, made });
            };
            (made, proof) = better;
        }
        Ok(proof)
    }

    /// Returns the first instruction that has other scoreboards.
    fn difference(&self, made: &[Barriers]) -> Option<usize> {
        let mut pairs = self.barriers.iter().zip(made);
        pairs.position(|(compiled, made)| compiled != made)
    }

    /// Turns the sides of one branch so that all instructions up to `at` and this one have their
    /// scoreboards: of the nearest branch before it for which that is so, else of one after it. Each
    /// is turned once at most, so that this ends.
    fn turn_for(
        &mut self,
        at: usize,
        budget: &mut usize,
    ) -> Result<Option<(Vec<Barriers>, Proof)>, Unproved> {
        let block = self.code.block_of(at);
        let turned = self.code.turned();
        let mut branches = self.code.branches();
        branches.retain(|branch| turned.binary_search(branch).is_err());
        let (before, after) = branches.split_at(branches.partition_point(|branch| *branch < block));
        for branch in before.iter().rev().chain(after) {
            self.code.turn(&[*branch]);
            let run = Allocator::run(&self.code, self.needs, budget);
            let (made, proof) = run.ok_or(Unproved::TooLong)?;
            if self.difference(&made).is_none_or(|other| other > at) {
                return Ok(Some((made, proof)));
            }
            self.code.turn(&[*branch]);
        }
        Ok(None)
    }

    /// Returns `true` if `other`, the same code with other scoreboards, does not depend on the order
    /// of sides whose order makes no difference here; `None` if `budget` does not suffice to know.
    pub(super) fn decides(
        &mut self,
        other: &mut Allocated<'_>,
        budget: &mut usize,
    ) -> Option<bool> {
        let branches = self.code.branches();
        if !self.stays(&branches, budget)? || !other.stays(&branches, budget)? {
            for branch in branches {
                let branch = &[branch];
                if self.stays(branch, budget)? && !other.stays(branch, budget)? {
                    return Some(false);
                }
            }
        }
        Some(true)
    }

    /// Returns `true` if all scoreboards stay what they are when the sides of `branches` are turned.
    fn stays(&mut self, branches: &[usize], budget: &mut usize) -> Option<bool> {
        self.code.turn(branches);
        let run = Allocator::run(&self.code, self.needs, budget);
        self.code.turn(branches);
        Some(run?.0 == self.barriers)
    }
}
