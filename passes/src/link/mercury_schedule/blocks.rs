//! The instructions of a kernel and its basic blocks.

use std::ops::Range;

use cuweld_elf::sass::Instruction;
use cuweld_elf::sass::operands::Generation;
use cuweld_elf::sass::operands::Guard;
use cuweld_elf::sass::operands::Operands;

use super::issue::Distances;
use super::step::Step;

/// What an instruction does to the flow of control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flow {
    /// The next instruction follows.
    On,
    /// The next instruction follows, and begins a block.
    Ends,
    /// It goes elsewhere, and to the next instruction if it is conditional.
    Branch { target: usize, is_conditional: bool },
    /// It names another place that begins a block.
    Marks { target: usize },
    /// It ends the thread, but for those threads that its guard leaves.
    Exit { is_conditional: bool },
}

/// A kernel's code: instructions, and the blocks that they are divided into.
#[derive(Debug)]
pub(super) struct Code {
    /// Its instructions, without the branch to itself and the filling after it.
    pub(super) steps: Vec<Step>,
    /// Its blocks in order of their instructions.
    pub(super) blocks: Vec<Block>,
    /// The blocks in reverse postorder.
    pub(super) order: Vec<usize>,
    /// The cycles that instructions need between them and those before them.
    distances: Distances,
}

/// A basic block.
#[derive(Debug, Default)]
pub(super) struct Block {
    pub(super) steps: Range<usize>,
    /// The blocks that can follow, in the order in which the finalizer visits them.
    pub(super) successors: Vec<usize>,
    /// The blocks that it can follow, but for those that come back to it.
    pub(super) predecessors: Vec<usize>,
    /// The blocks that come back to it: it is the head of loops.
    pub(super) latches: Vec<usize>,
}

impl Code {
    /// Reads the code of a kernel without calls for sm_`sm`; an error, its number, for an instruction
    /// that is not known or a jump whose target is not.
    pub(super) fn read(code: &[u8], sm: u16) -> Result<Code, usize> {
        let mut words: Vec<Instruction> = Instruction::all(code).collect();
        while words.last().is_some_and(|word| word.is_filling()) {
            words.pop();
        }
        if words.last().is_some_and(|word| word.branch() == Some(-1)) {
            words.pop();
        }
        let mut steps = Vec::with_capacity(words.len());
        let mut flows = Vec::with_capacity(words.len());
        let mut last_fence = None;
        for (at, word) in words.into_iter().enumerate() {
            let operands = Operands::of(Generation::Sm100, word).ok_or(at)?;
            if word.is_memory_barrier() {
                last_fence = Some(word);
            }
            let is_of_fence = word.waits_for_shared()
                || word.is_weak_block_barrier()
                || word.is_error_barrier()
                    && last_fence.is_some_and(|fence: Instruction| !fence.is_end_barrier());
            let step = Step {
                word,
                operands,
                sm,
                is_of_fence,
            };
            flows.push(flow(at, &step).ok_or(at)?);
            steps.push(step);
        }
        let mut is_leader = vec![false; steps.len() + 1];
        is_leader[0] = true;
        for (at, flow) in flows.iter().enumerate() {
            if let Flow::Branch { target, .. } | Flow::Marks { target } = flow {
                *is_leader.get_mut(*target).ok_or(at)? = true;
            }
            if !matches!(flow, Flow::On | Flow::Marks { .. }) {
                is_leader[at + 1] = true;
            }
        }
        let leaders: Vec<usize> = (0..steps.len()).filter(|at| is_leader[*at]).collect();
        let ends = leaders.iter().skip(1).copied().chain([steps.len()]);
        let ranges = leaders.iter().copied().zip(ends);
        let mut blocks: Vec<Block> = ranges
            .map(|(start, end)| Block {
                steps: start..end,
                ..Block::default()
            })
            .collect();
        let count = blocks.len();
        for (index, block) in blocks.iter_mut().enumerate() {
            let next = (index + 1 < count).then_some(index + 1);
            // A branch to what was cut off leads nowhere.
            let at = |target: usize| leaders.binary_search(&target).ok();
            let (next, other) = match flows[block.steps.end - 1] {
                Flow::On | Flow::Ends | Flow::Marks { .. } => (next, None),
                Flow::Branch {
                    target,
                    is_conditional,
                } => (next.filter(|_| is_conditional), at(target)),
                Flow::Exit { is_conditional } => (next.filter(|_| is_conditional), None),
            };
            block.successors.extend(next);
            block
                .successors
                .extend(other.filter(|other| Some(*other) != next));
        }
        for block in &mut blocks {
            block.successors.sort_by_key(|block| bucket(*block));
        }
        let order = link(&mut blocks);
        let distances = Distances::of(&steps, blocks.iter().map(|block| block.steps.clone()));
        Ok(Code {
            steps,
            blocks,
            order,
            distances,
        })
    }

    /// Returns when an instruction of a block can be issued, by those before it, which were issued at
    /// `times`.
    pub(super) fn earliest(&self, at: usize, times: &[i64]) -> i64 {
        let stall = at
            .checked_sub(1)
            .map_or(0, |before| self.steps[before].stall());
        self.distances.earliest(at, stall, times)
    }

    /// Returns `true` if of two instructions of a block, the second of which follows, only one does
    /// anything: their guards are opposites, and nothing between writes the predicate.
    pub(super) fn is_either(&self, first: usize, second: usize) -> bool {
        let (one, other) = (&self.steps[first], &self.steps[second]);
        let Some(Guard { file, number, .. }) = one.operands.guard else {
            return false;
        };
        let writes = |step: &Step| step.operands.defined.has(file, usize::from(number));
        one.is_opposite(other) && !self.steps[first..second].iter().any(writes)
    }

    /// Returns the blocks of a loop, by its head and a block that comes back to it.
    pub(super) fn loop_blocks(&self, head: usize, latch: usize) -> Vec<bool> {
        let mut is_inside = vec![false; self.blocks.len()];
        is_inside[head] = true;
        let mut work = vec![latch];
        while let Some(block) = work.pop() {
            if !std::mem::replace(&mut is_inside[block], true) {
                let block = &self.blocks[block];
                work.extend(block.predecessors.iter().chain(&block.latches));
            }
        }
        is_inside
    }
}

/// Returns the bucket of a block in the finalizer's sets of blocks: the low three bits of the FNV-1a
/// hash of its number, of four bytes.
fn bucket(block: usize) -> u32 {
    let bytes = (block as u32).to_le_bytes();
    let hash = bytes.iter().fold(0x811c_9dc5_u32, |hash, byte| {
        (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193)
    });
    hash & 7
}

/// Returns what an instruction does to the flow of control; `None` if that is not known.
fn flow(at: usize, step: &Step) -> Option<Flow> {
    let word = step.word;
    let is_guarded = step.operands.guard.is_some();
    let place = |distance: i64| {
        let next = i64::try_from(at).ok()? + 1;
        usize::try_from(next.checked_add(distance)?).ok()
    };
    Some(match step.operands.name {
        "BRA" => Flow::Branch {
            target: place(word.branch()?)?,
            is_conditional: is_guarded || word.is_conditional_branch(),
        },
        "EXIT" | "KILL" => Flow::Exit {
            is_conditional: is_guarded,
        },
        "BSSY" => Flow::Marks {
            target: place(word.marked_place()?)?,
        },
        "WARPSYNC" if step.collects_threads() => Flow::Marks {
            target: place(word.branch()?)?,
        },
        "BSYNC" | "BREAK" => Flow::Ends,
        "BRX" | "BRXU" | "JMP" | "JMX" | "CALL" | "RET" | "RTT" => return None,
        _ => Flow::On,
    })
}

/// Fills in the predecessors of blocks and returns the blocks in reverse postorder. Blocks that
/// nothing leads to come as if they were entries.
fn link(blocks: &mut [Block]) -> Vec<usize> {
    #[derive(Clone, Copy, PartialEq)]
    enum State {
        New,
        Open,
        Done,
    }
    let mut states = vec![State::New; blocks.len()];
    let mut order = Vec::with_capacity(blocks.len());
    for entry in 0..blocks.len() {
        if states[entry] != State::New {
            continue;
        }
        states[entry] = State::Open;
        let mut path = vec![(entry, 0)];
        while let Some((block, next)) = path.last_mut() {
            let (from, index) = (*block, *next);
            *next += 1;
            match blocks[from].successors.get(index).copied() {
                Some(to) => {
                    match states[to] {
                        State::Open => blocks[to].latches.push(from),
                        State::New | State::Done => blocks[to].predecessors.push(from),
                    }
                    if states[to] == State::New {
                        states[to] = State::Open;
                        path.push((to, 0));
                    }
                }
                None => {
                    states[from] = State::Done;
                    order.push(from);
                    path.pop();
                }
            }
        }
    }
    order.reverse();
    for block in blocks {
        block.predecessors.sort_unstable();
        block.latches.sort_unstable();
    }
    order
}
