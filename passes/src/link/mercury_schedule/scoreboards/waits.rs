//! Which scoreboards an instruction waits for, and the time that it loses.

use super::Allocator;
use super::Entry;
use super::Kind;
use super::Rule;
use super::SCOREBOARDS;
use super::State;

impl Allocator<'_> {
    /// Returns the scoreboards that an instruction has to wait for, and waits for them.
    pub(super) fn waits(&mut self, state: &mut State, at: usize) -> Option<[bool; SCOREBOARDS]> {
        let mut waits = [false; SCOREBOARDS];
        let mut time = state.time;
        let sources = self.code.steps[at].operands.used.general();
        state.waits_for_sources = false;
        for (scoreboard, waits) in waits.iter_mut().enumerate() {
            let live = &mut state.live[scoreboard];
            let mut returning = state.returning[scoreboard].iter();
            self.budget = self.budget.checked_sub(1 + live.len() + returning.len())?;
            let holds = |entry: &Entry, setter: Option<usize>| {
                self.conflicts(setter, at, entry.kind, &entry.registers)
            };
            let setter = |entry: &Entry| (!entry.is_inherited()).then_some(entry.setter);
            let is_waited = live.iter().any(|entry| holds(entry, setter(entry)));
            // Waits for what a loop leaves are added when all else is allocated: they free nothing.
            let is_pending = state.is_pending[scoreboard];
            let comes_back = is_pending && returning.any(|entry| holds(entry, None));
            let step = &self.code.steps[at];
            let empties = step.waits_for_all();
            // The scoreboard of a memory barrier is named in its operand.
            *waits = is_waited && !step.word.names_scoreboard() || comes_back || empties;
            if is_waited {
                // Others are counted as over, but take no time, nor what is read under a guard.
                let takes_time = |entry: &Entry| {
                    let setter = &self.code.steps[entry.setter];
                    entry.kind == Kind::Written || setter.operands.guard.is_none()
                };
                let held = live
                    .iter()
                    .filter(|entry| takes_time(entry) && holds(entry, setter(entry)));
                for entry in held {
                    let Some(finish) = entry.finish else { continue };
                    state.waits_for_sources |= entry.kind == Kind::Written
                        && finish > state.time
                        && entry.registers.meets(&sources);
                    time = time.max(finish);
                }
                let written = live.drain(..).filter(|entry| entry.kind == Kind::Written);
                for entry in written {
                    let Some(finish) = entry.finish else { continue };
                    if finish > time {
                        let over = &mut state.inherited[scoreboard];
                        *over = finish.max(*over);
                        state.unheld.push(entry);
                    }
                }
            }
            // Time passes for what is written whatever the guards.
            for entry in &*live {
                if entry.kind == Kind::Written && holds(entry, None) {
                    time = time.max(entry.finish.unwrap_or(time));
                }
            }
            if comes_back && !is_waited && !live.is_empty() {
                self.followed.push((at, Rule::ComesBack));
            }
            state.is_pending[scoreboard] &= !*waits;
            state.is_set_pending[scoreboard] &= !*waits;
            // Threads that are collected wait for all that is pending, which stays so until they part.
            *waits |= self.code.steps[at].collects_threads() && !live.is_empty();
        }
        state.unheld.retain(|entry| entry.finish > Some(state.time));
        self.budget = self.budget.checked_sub(state.unheld.len())?;
        for entry in &state.unheld {
            if self.conflicts(None, at, entry.kind, &entry.registers) {
                state.waits_for_sources |= entry.registers.meets(&sources);
                time = time.max(entry.finish.unwrap_or(time));
            }
        }
        if time > state.time {
            state.time = time;
            state.delayed = Some(at);
        }
        Some(waits)
    }
}
