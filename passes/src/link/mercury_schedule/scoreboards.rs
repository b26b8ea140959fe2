//! Which of the six scoreboards each instruction sets and waits for, as NVIDIA's finalizer decides
//! block by block [scoreboard-allocation].
//!
//! An instruction whose time is not fixed sets a scoreboard: one when it has written its registers,
//! or one when it has read them. What comes later and would be in conflict waits for it. Which
//! instructions set one is taken from the code as it was compiled.

mod block_ends;
mod choice;
mod loops;
mod proof;
mod waits;

use std::fmt;

use cuweld_elf::sass::operands::Registers;

use self::choice::latest;
use super::blocks::Code;
use super::latency;
use super::step::Step;

pub(super) use self::proof::Proof;
pub(super) use self::proof::Rule;

/// The number of scoreboards.
const SCOREBOARDS: usize = 6;

/// The cycles by which the measured times may be wrong where one scoreboard is cheaper than another.
const NEAR_COST: i64 = 3;

/// The part of the time of the block by which they may be wrong besides.
const NEAR_PART: i64 = 16;

/// The scoreboard for loads that outlive their block.
const FOR_LOADS: usize = 5;

/// Control bits of an instruction: the scoreboards that it sets, 7 for none, and a bit for each that
/// it waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Barriers {
    pub(super) write: u8,
    pub(super) read: u8,
    pub(super) waits: u8,
}

impl fmt::Display for Barriers {
    /// Writes them as `cuweld disasm` does.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("B")?;
        for number in 0..SCOREBOARDS {
            match self.waits >> number & 1 {
                0 => f.write_str("-")?,
                _ => write!(f, "{number}")?,
            }
        }
        for (name, number) in [("R", self.read), ("W", self.write)] {
            match number {
                7 => write!(f, " {name}-")?,
                number => write!(f, " {name}{number}")?,
            }
        }
        Ok(())
    }
}

/// Whether an instruction sets a scoreboard when it has written its registers and when it has read
/// them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Needs {
    pub(super) write: bool,
    pub(super) read: bool,
}

/// What a scoreboard says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Registers are written: whoever reads or writes them waits.
    Written,
    /// Registers are read: whoever writes them waits.
    Read,
}

/// A use of a scoreboard that nobody has waited for yet.
#[derive(Clone, Copy, Debug)]
struct Entry {
    /// The instruction that sets it.
    setter: usize,
    kind: Kind,
    registers: Registers,
    /// The first instruction of the block that conflicts with it; the end of the block if none
    /// does.
    conflict: usize,
    /// When it is over, in cycles of the block; `None` if it comes from a block before.
    finish: Option<i64>,
    /// The cycles after which it is over, counted from the beginning of the block, if it comes from
    /// a block before; else those after which that is over which the scoreboard held before it, 0 for
    /// nothing.
    left: i64,
}

impl Entry {
    /// Returns the cycles of the block after which its scoreboard is over.
    fn over(&self) -> i64 {
        self.finish.unwrap_or(self.left).max(self.left)
    }

    fn is_inherited(&self) -> bool {
        self.finish.is_none()
    }
}

/// The entries of each scoreboard.
type Live = [Vec<Entry>; SCOREBOARDS];

/// The allocation of scoreboards to a kernel.
pub(super) struct Allocator<'c> {
    code: &'c Code,
    needs: &'c [Needs],
    /// Whether something loads registers from far memory: the scoreboard for such loads is then that
    /// of atomic operations whose result nobody wants, too.
    loads: bool,
    /// What each block leaves, of the latest pass over the code.
    left: Vec<Option<Live>>,
    /// What each block found, of this pass.
    found: Vec<Option<Live>>,
    /// Whether a block was allocated in this pass.
    is_done: Vec<bool>,
    /// What is pending where a loop comes back to its head, by block.
    returning: Vec<Live>,
    /// How many instructions may still be looked at.
    budget: usize,
    /// The instructions where a rule decided.
    followed: Vec<(usize, Rule)>,
}

/// A block while it is allocated.
struct Place {
    start: usize,
    end: usize,
    /// Whether nothing follows.
    is_last: bool,
    /// Whether a load from far memory outlives the block, or one from before is pending.
    has_outliving_load: bool,
    /// Whether it is the head of a loop.
    is_head: bool,
    /// Scoreboards that are in use where the block leads to.
    occupied: [bool; SCOREBOARDS],
    /// When each of its instructions is issued if it waits only for what it needs, in cycles, and
    /// when the block ends.
    times: Vec<i64>,
}

/// What is known between two instructions of a block.
struct State {
    live: Live,
    /// When what each scoreboard held is over that was waited for without time passing, and what
    /// other blocks left on it, in cycles of the block. 0 for nothing.
    inherited: [i64; SCOREBOARDS],
    /// What is written by instructions of the block whose scoreboards have been waited for since, by
    /// others that do not need it.
    unheld: Vec<Entry>,
    /// What the loop leaves where it comes back to the block, its head.
    returning: Live,
    /// The scoreboards of these that nobody has waited for.
    is_pending: [bool; SCOREBOARDS],
    /// The same of those that an instruction which sets the scoreboard waits for.
    is_set_pending: [bool; SCOREBOARDS],
    /// The cycles since the block began.
    time: i64,
    /// When the instructions before were issued.
    times: Vec<i64>,
    /// Whether the instruction waits for general registers that it reads.
    waits_for_sources: bool,
    /// The last instruction that waited for something.
    waited: Option<usize>,
    /// The last instruction that lost time by waiting.
    delayed: Option<usize>,
}

impl<'c> Allocator<'c> {
    /// Allocates the scoreboards of all instructions of a kernel, and says what that depends on.
    /// `budget` is how many instructions may be looked at, and is left with those that remain; `None`
    /// if they do not suffice.
    pub(super) fn run(
        code: &'c Code,
        needs: &'c [Needs],
        budget: &mut usize,
    ) -> Option<(Vec<Barriers>, Proof)> {
        let blocks = code.blocks.len();
        let mut steps = code.steps.iter().zip(needs);
        let loads = steps.any(|(step, needs)| {
            needs.write && latency::is_long(step.operands.name) && !written(step).is_empty()
        });
        let mut allocator = Allocator {
            code,
            needs,
            loads,
            left: vec![None; blocks],
            found: vec![None; blocks],
            is_done: vec![false; blocks],
            returning: vec![Live::default(); blocks],
            budget: *budget,
            followed: Vec::new(),
        };
        let mut barriers = allocator.pass()?;
        // What is pending at the end of a loop is known only then.
        if allocator.find_returning() {
            allocator.is_done.fill(false);
            allocator.found.fill(None);
            allocator.followed.clear();
            barriers = allocator.pass()?;
        }
        *budget = allocator.budget;
        Some((barriers, Proof::new(allocator.followed)))
    }

    /// Allocates all blocks.
    fn pass(&mut self) -> Option<Vec<Barriers>> {
        const NONE: Barriers = Barriers {
            write: 7,
            read: 7,
            waits: 0,
        };
        let mut barriers = vec![NONE; self.code.steps.len()];
        for index in 0..self.code.order.len() {
            let block = self.code.order[index];
            let live = self.block(block, &mut barriers)?;
            self.left[block] = Some(live);
            self.is_done[block] = true;
        }
        Some(barriers)
    }

    /// Returns what blocks before leave to a block, as it is when the block begins.
    fn inherited(&mut self, block: usize) -> Option<Live> {
        let mut live = Live::default();
        let (start, end) = self.range(block);
        for before in &self.code.blocks[block].predecessors {
            let Some(left) = &self.left[*before] else {
                continue;
            };
            for (live, left) in live.iter_mut().zip(left) {
                for entry in left {
                    self.budget = self.budget.checked_sub(1 + live.len())?;
                    let is_known =
                        |known: &Entry| known.setter == entry.setter && known.kind == entry.kind;
                    if !live.iter().any(is_known) {
                        live.push(Entry {
                            finish: None,
                            ..*entry
                        });
                    }
                }
            }
        }
        for entry in live.iter_mut().flatten() {
            entry.conflict = self.conflict(None, start, end, entry.kind, &entry.registers)?;
        }
        Some(live)
    }

    fn range(&self, block: usize) -> (usize, usize) {
        let steps = &self.code.blocks[block].steps;
        (steps.start, steps.end)
    }

    /// Returns the first instruction of `start..end` that conflicts with registers that `setter`
    /// writes or reads, `end` if none does.
    fn conflict(
        &mut self,
        setter: Option<usize>,
        start: usize,
        end: usize,
        kind: Kind,
        registers: &Registers,
    ) -> Option<usize> {
        let found = (start..end).find(|at| self.conflicts(setter, *at, kind, registers));
        let found = found.unwrap_or(end);
        self.budget = self.budget.checked_sub(found - start + 1)?;
        Some(found)
    }

    /// Returns `true` if an instruction has to wait for registers that `setter`, in its block,
    /// writes or reads.
    fn conflicts(
        &self,
        setter: Option<usize>,
        at: usize,
        kind: Kind,
        registers: &Registers,
    ) -> bool {
        let step = &self.code.steps[at];
        // Whatever follows a memory barrier waits until it is met.
        if kind == Kind::Read
            && setter.is_some_and(|setter| self.code.steps[setter].word.is_memory_barrier())
        {
            return !step.prepares_fence();
        }
        // After an access that acquires the cache is emptied, when the access is over.
        let acquires = || kind == Kind::Written && setter.is_some_and(|setter| setter + 1 == at);
        if step.operands.name == "CCTL" && acquires() {
            return true;
        }
        // What was read and is a predicate was written then.
        let written = match kind {
            Kind::Written => *registers,
            Kind::Read => registers.predicates(),
        };
        let used = match step.operands.name {
            // Who decides whether the debugger's barriers are met is waited for at the second.
            "MEMBAR" => step.operands.used.without(&step.operands.used.predicates()),
            _ => step.operands.used,
        };
        let meets = step.operands.defined.meets(registers) || used.meets(&written);
        let is_free = |setter: usize| {
            self.code.is_either(setter, at)
                || kind == Kind::Read && reads_first(&self.code.steps[setter], step)
        };
        meets && !setter.is_some_and(is_free)
    }

    /// Returns `true` for an instruction whose result nobody wants if something after it, before `end`,
    /// waits for all scoreboards.
    fn is_emptied(&self, setter: usize, end: usize) -> bool {
        let mut after = self.code.steps[setter + 1..end].iter();
        written(&self.code.steps[setter]).is_empty() && after.any(Step::waits_for_all)
    }

    /// Returns what is known of a block before it is allocated.
    fn place(&mut self, block: usize, live: &Live) -> Option<Place> {
        let (start, end) = self.range(block);
        let is_last = self.code.blocks[block].successors.is_empty();
        let mut has_outliving_load = self.loads && !live[FOR_LOADS].is_empty();
        for at in start..end {
            let step = &self.code.steps[at];
            if !is_last && self.needs[at].write && latency::is_long(step.operands.name) {
                let defined = written(step);
                let conflict = self.conflict(Some(at), at + 1, end, Kind::Written, &defined)?;
                has_outliving_load |= conflict == end && self.loads && !self.is_emptied(at, end);
            }
        }
        let mut occupied = [false; SCOREBOARDS];
        for successor in &self.code.blocks[block].successors {
            self.occupy(block, *successor, &mut occupied);
        }
        Some(Place {
            start,
            end,
            is_last,
            has_outliving_load,
            is_head: !self.code.blocks[block].latches.is_empty(),
            occupied,
            times: self.times(start, end)?,
        })
    }

    /// Returns when each of the instructions `start..end`, a block, is issued if it waits only for
    /// what it needs of the block, and when the block ends.
    fn times(&mut self, start: usize, end: usize) -> Option<Vec<i64>> {
        let mut times = Vec::with_capacity(end - start + 1);
        let mut ready = vec![(i64::MIN, false); end - start + 1];
        for at in start..end {
            let step = &self.code.steps[at];
            let (until, has_sources) = ready[at - start];
            let earliest = self.code.earliest(at, &times);
            let waited = has_sources && until > earliest;
            let time = earliest.max(until);
            times.push(time);
            let kinds = [
                (
                    self.needs[at].read && step.operands.guard.is_none(),
                    Kind::Read,
                ),
                (self.needs[at].write, Kind::Written),
            ];
            for (_, kind) in kinds.into_iter().filter(|(is_set, _)| *is_set) {
                let registers = registers(step, kind);
                // Time passes for what is written whatever the guards.
                let setter = (kind == Kind::Read).then_some(at);
                let conflict = self.conflict(setter, at + 1, end, kind, &registers)?;
                if conflict < end {
                    let finish = time + latency::until(step, kind == Kind::Written, waited);
                    let sources = self.code.steps[conflict].operands.used.general();
                    let is_source = kind == Kind::Written && registers.meets(&sources);
                    let (until, has_sources) = &mut ready[conflict - start];
                    *until = (*until).max(finish);
                    *has_sources |= is_source;
                }
            }
        }
        let last = times.last().zip(self.code.steps[start..end].last());
        times.push(last.map_or(0, |(time, step)| time + step.stall()));
        Some(times)
    }

    /// Adds the scoreboards that are in use where `next` begins, but for what `block` leaves.
    fn occupy(&self, block: usize, next: usize, occupied: &mut [bool; SCOREBOARDS]) {
        let next_block = &self.code.blocks[next];
        let others = next_block.predecessors.iter().chain(&next_block.latches);
        let others = others.filter(|other| **other != block && self.is_done[**other]);
        let left = others.filter_map(|other| self.left[*other].as_ref());
        let comes_back = next_block.latches.contains(&block);
        let found = self.found[next].as_ref().filter(|_| comes_back);
        for live in left.chain(found) {
            for (occupied, live) in occupied.iter_mut().zip(live) {
                *occupied |= !live.is_empty();
            }
        }
    }

    /// Allocates a block and returns what it leaves.
    fn block(&mut self, block: usize, barriers: &mut [Barriers]) -> Option<Live> {
        let live = self.inherited(block)?;
        self.found[block] = Some(live.clone());
        let place = self.place(block, &live)?;
        let returning = std::mem::take(&mut self.returning[block]);
        let inherited = live.each_ref().map(|entries| latest(entries));
        let is_pending = self.pending(&returning, &live, false);
        let is_set_pending = self.pending(&returning, &live, true);
        let mut state = State {
            live,
            inherited,
            unheld: Vec::new(),
            returning,
            is_pending,
            is_set_pending,
            time: 0,
            times: Vec::with_capacity(place.end - place.start),
            waits_for_sources: false,
            waited: None,
            delayed: None,
        };
        for (at, barriers) in (place.start..place.end).zip(&mut barriers[place.start..place.end]) {
            state.time = self.code.earliest(at, &state.times);
            let mut waits = self.waits(&mut state, at)?;
            state.times.push(state.time);
            let (mut read, mut write) = (None, None);
            if self.needs[at].read {
                read = Some(self.set(&mut state, &place, at, Kind::Read, &mut waits)?);
            }
            if self.needs[at].write {
                write = Some(self.set(&mut state, &place, at, Kind::Written, &mut waits)?);
            }
            if waits.contains(&true) {
                state.waited = Some(at);
            }
            if at + 1 == place.end {
                for (scoreboard, waits) in waits.iter_mut().enumerate() {
                    let is_set = read == Some(scoreboard) || write == Some(scoreboard);
                    if !is_set {
                        *waits |= self.drains(&mut state, scoreboard, at, place.is_last);
                    }
                }
            }
            let number = |scoreboard: Option<usize>| scoreboard.map_or(7, |number| number as u8);
            *barriers = Barriers {
                write: number(write),
                read: number(read),
                waits: (0..).zip(waits).fold(0, |bits, (scoreboard, is_waited)| {
                    bits | u8::from(is_waited) << scoreboard
                }),
            };
        }
        let last = &self.code.steps[place.end - 1];
        let ends = state.time + last.stall();
        for entry in state.live.iter_mut().flatten() {
            entry.left = (entry.over() - ends).max(0);
        }
        Some(state.live)
    }

    /// Chooses the scoreboard that an instruction sets, and returns it.
    fn set(
        &mut self,
        state: &mut State,
        place: &Place,
        at: usize,
        kind: Kind,
        waits: &mut [bool; SCOREBOARDS],
    ) -> Option<usize> {
        let step = &self.code.steps[at];
        let registers = registers(step, kind);
        let lasts = latency::until(step, kind == Kind::Written, state.waits_for_sources);
        let new = Entry {
            setter: at,
            kind,
            registers,
            conflict: self.conflict(Some(at), at + 1, place.end, kind, &registers)?,
            finish: Some(state.time + lasts),
            left: 0,
        };
        let scoreboard = self.choose(&state.live, &new, place)?;
        let mut next = self.code.steps[at..place.end].iter().skip(1);
        let is_named = next.next().is_some_and(|next| next.word.names_scoreboard());
        if is_named && state.waited == at.checked_sub(1) {
            self.followed.push((at, Rule::BarrierAfterWait));
        }
        state.is_pending[scoreboard] = false;
        if std::mem::take(&mut state.is_set_pending[scoreboard]) {
            waits[scoreboard] = true;
            self.followed.push((at, Rule::SetsPending));
        }
        let live = &mut state.live[scoreboard];
        // The head of a loop does not add to the loads that come from before it.
        if scoreboard == FOR_LOADS
            && kind == Kind::Written
            && place.is_head
            && live.iter().any(Entry::is_inherited)
        {
            waits[scoreboard] = true;
            live.clear();
            self.followed.push((at, Rule::LoadsBeforeLoop));
        }
        live.push(Entry {
            left: state.inherited[scoreboard],
            ..new
        });
        Some(scoreboard)
    }
}

/// Returns the registers for which an instruction sets a scoreboard.
fn registers(step: &Step, kind: Kind) -> Registers {
    match kind {
        // What it writes itself is waited for until it is written.
        Kind::Read => {
            let read = step.operands.used.general();
            read.without(&step.operands.defined).with(&early(step))
        }
        Kind::Written => written(step),
    }
}

/// Returns what an instruction has written when its scoreboard says so.
fn written(step: &Step) -> Registers {
    step.operands.defined.without(&early(step))
}

/// Returns what an instruction has written as soon as it has read its registers: the predicate of an
/// atomic operation at a generic address, which says whether that is one of shared memory.
fn early(step: &Step) -> Registers {
    match step.operands.name {
        "ATOM" => step.operands.defined.predicates(),
        _ => Registers::NONE,
    }
}

/// Returns `true` if the memory unit has read the registers of an instruction before it writes those
/// of a later one of the block: it takes both in order.
fn reads_first(step: &Step, later: &Step) -> bool {
    match later.operands.name {
        "LDS" => matches!(step.operands.name, "LDS" | "STS" | "STG" | "REDG" | "SHFL"),
        "LDG" | "ATOMG" => matches!(step.operands.name, "LDG" | "ATOMG"),
        "SHFL" => matches!(step.operands.name, "LDS" | "STS" | "STG"),
        _ => false,
    }
}
