//! What the end of a block waits for.

use super::Allocator;
use super::Entry;
use super::Kind;
use super::Rule;
use super::State;
use crate::link::mercury_schedule::latency;

/// The cycles by which the measured times may be wrong where a block ends.
const NEAR_END: i64 = 2;

/// The same for what was set before an instruction that lost time by waiting.
const NEAR_DELAYED: i64 = 8;

impl Allocator<'_> {
    /// Says whether the last instruction of a block waits for a scoreboard that it does not set, and
    /// waits for it: what the block set is over by the count of cycles, so that waiting costs
    /// nothing; a loop leaves it pending where it comes back; or threads for which uniform
    /// registers were written meet again or end. Where nothing follows, only the last counts.
    pub(super) fn drains(
        &mut self,
        state: &mut State,
        scoreboard: usize,
        at: usize,
        is_last: bool,
    ) -> bool {
        let entries = &mut state.live[scoreboard];
        let name = self.code.steps[at].operands.name;
        let is_over = |entry: &Entry| {
            let setter = self.code.steps[entry.setter].operands.name;
            let is_long = entry.kind == Kind::Written && latency::is_long(setter);
            match entry.finish {
                // Threads that end have not set it.
                Some(_) if name == "EXIT" && self.code.is_either(entry.setter, at) => false,
                Some(finish) => finish <= state.time && !is_long,
                None => is_long || entry.left <= state.time,
            }
        };
        let is_met = matches!(name, "BSYNC" | "EXIT") && holds_uniform(entries);
        if is_last {
            if is_met {
                self.followed.push((at, Rule::ThreadsMeet));
            }
            return is_met;
        }
        let has_own = entries.iter().any(|entry| !entry.is_inherited());
        let has_inherited = entries.iter().any(Entry::is_inherited);
        let is_own_over = has_own && entries.iter().all(is_over);
        let is_over = is_own_over && state.inherited[scoreboard] <= state.time;
        let start = at + 1 - state.times.len();
        let has_fence = |from: usize| {
            let mut between = self.code.steps[from..at].iter();
            between.any(|step| step.word.is_memory_barrier() && !step.word.is_end_barrier())
        };
        let left = state.inherited[scoreboard] - state.time;
        let is_near = state.inherited[scoreboard] > 0 && left.abs() <= NEAR_DELAYED;
        if is_own_over && (is_near || !is_over && has_fence(start)) {
            self.followed.push((at, Rule::Near(left)));
        }
        // What decides: all that are over, or the one that lasts longest.
        let own = entries.iter().filter(|entry| !entry.is_inherited());
        let finishes = own.filter_map(|entry| Some((entry.setter, entry.finish? - state.time)));
        let longest = finishes.clone().map(|(_, left)| left).max();
        // What waited took a time that is known less well than that of stalls, and so did what stands
        // before the debugger's barriers.
        let before = at.checked_sub(1).map(|before| self.code.steps[before].word);
        let is_guarded = is_over && before.is_some_and(|before| before.is_error_barrier());
        let near = finishes.filter(|(setter, left)| {
            let is_delayed = state.delayed.is_some_and(|delayed| delayed > *setter);
            // So is the time that memory barriers take.
            let limit = if is_delayed && name != "EXIT" || is_guarded || has_fence(*setter) {
                NEAR_DELAYED
            } else {
                NEAR_END
            };
            left.abs() <= limit && (is_over || Some(*left) == longest)
        });
        let near = near.map(|(setter, left)| (setter, Rule::Near(left)));
        self.followed.extend(near);
        let setters = entries.iter().filter(|entry| !entry.is_inherited());
        let first = setters.map(|entry| entry.setter).min().unwrap_or(at);
        let mut between = self.code.steps[first..at].iter();
        if is_over && between.any(|step| step.operands.name == "BAR") {
            self.followed.push((at, Rule::AcrossBarrier));
        }
        let is_collective = name == "ENDCOLLECTIVE" && !entries.is_empty();
        if is_over || is_met || is_collective {
            entries.clear();
        }
        let is_pending = std::mem::take(&mut state.is_pending[scoreboard]);
        if is_pending {
            let setters = state.returning[scoreboard].iter();
            let with = setters.map(|entry| entry.setter).min().unwrap_or(at);
            self.followed.push((at, Rule::EndOfHead { with }));
        }
        if is_met && !is_over {
            self.followed.push((at, Rule::ThreadsMeet));
        }
        if is_over && has_inherited {
            self.followed.push((at, Rule::Inherited));
        }
        is_over || is_met || is_pending || is_collective
    }
}

/// Returns `true` if an entry is for uniform registers that are written.
fn holds_uniform(entries: &[Entry]) -> bool {
    entries
        .iter()
        .any(|entry| entry.kind == Kind::Written && !entry.registers.uniform().is_empty())
}
