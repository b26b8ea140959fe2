//! `mercury-schedule`: code for sm_100 and later that NVIDIA's finalizer makes anew is made as it makes
//! it, where that is known.
//!
//! - **Scoreboards** [scoreboard-allocation]: nothing waits for the first load, of the stack pointer,
//!   of kernels that call nothing, so that its scoreboard is free for others: which scoreboards
//!   instructions set, and which they wait for, changes. The pass allocates them by the finalizer's
//!   rules, where it has proved itself: the same rules, with the first load as it was compiled, have
//!   to give each control bit of the object, which the finalizer's allocator made; and rules that
//!   decide seldom have to have decided there if they do in the output.
//! - **Memory barriers** of kernels that call nothing lose what they have for other code
//!   [fences-alone].
//! - **Ends** of code for the debugger get barriers [debugger-ends].
//!
//! Where instructions are added or taken out, all that names places in the code follows. Other code,
//! and code of which something is not known, stays, which `mercury-encode` tells (deviation D12).
//!
//! The link says what it has made anew (deviation D31), once it is known not to fail. With
//! `strict-finalize` nothing is, and code that nvlink makes anew is refused; with `finalize keep` nothing
//! is, and all code stays; with `finalize trust` scoreboards are also those of rules that did not
//! prove themselves, to measure them.
//!
//! Linear in the instructions of functions: code that needs more than a fixed number of steps for
//! each keeps its scoreboards.

mod blocks;
mod edited;
mod ends;
mod issue;
mod latency;
mod scoreboards;
mod step;

use std::fmt;

use cuweld_elf::mercury::edit;
use cuweld_elf::mercury::edit::Edited;
use cuweld_elf::mercury::edit::Places;
use cuweld_elf::sass::Instruction;
use cuweld_elf::toolkit::Toolkit;
use cuweld_ir::Finalize;
use cuweld_ir::FunctionId;
use cuweld_ir::Module;
use cuweld_ir::Phase;
use cuweld_ir::Remade;
use cuweld_ir::SectionContent;

use self::blocks::Code;
use self::scoreboards::Allocator;
use self::scoreboards::Barriers;
use self::scoreboards::Needs;
use self::scoreboards::Rule;
use crate::analyses::Preserved;
use crate::analyses::code_changes::CodeChange;
use crate::analyses::code_changes::CodeChanges;
use crate::analyses::code_changes::frees_first_load;
use crate::pass::Changed;
use crate::pass::Pass;
use crate::pass::PassCx;
use crate::pass::PassError;
use crate::pass::PassInfo;
use crate::remark::Remark;
use crate::remark::RemarkInfo;
use crate::threads::Work;

const SCHEDULED: RemarkInfo = RemarkInfo {
    name: "scheduled",
    doc: "A function is made anew: it gets other scoreboards, or other barriers",
};
const NOT_PROVED: RemarkInfo = RemarkInfo {
    name: "not-proved",
    doc: "The rules do not give a kernel the scoreboards that it was compiled with, or do not know its code, so that it keeps it",
};

/// The instructions that are looked at at most for a kernel, and for each of its instructions.
const STEPS: (usize, usize) = (400_000, 2_000);

/// The `mercury-schedule` pass.
#[derive(Debug, Default)]
pub struct MercurySchedule;

impl Pass for MercurySchedule {
    fn info(&self) -> PassInfo {
        PassInfo {
            name: "mercury-schedule",
            summary: "Make code anew as NVIDIA's finalizer does, where that is known: scoreboards, memory barriers, ends for the debugger",
            doc: include_str!("mercury_schedule.rs"),
            requires: Phase::Propagated,
            before: Some(Phase::Placed),
            preserves: Preserved::All,
            remarks: &[SCHEDULED, NOT_PROVED],
            ..PassInfo::DEFAULT
        }
    }

    fn run<'data>(
        &self,
        module: &mut Module<'data>,
        cx: &mut PassCx<'_, 'data>,
    ) -> Result<Changed, PassError> {
        // What other releases do is not known.
        let is_measured = module.toolkit.release == Toolkit::DEFAULT.release;
        if !module.is_capmerc()
            || module.options.mercury.strict
            || module.options.mercury.finalize == Finalize::Keep
            || !is_measured
            || module.findings.has_errors()
        {
            return Ok(Changed::No);
        }
        let view = &*module;
        let changes = cx.analyses.get::<CodeChanges>(view);
        // Of functions that are no kernels only the ends change.
        let may_change = |id: &FunctionId| {
            let symbol = view.functions[*id].symbol;
            view.is_function_live(*id) && (changes.guards_ends() || view.symbols[symbol].is_entry())
        };
        let live: Vec<FunctionId> = view.functions.ids().filter(may_change).collect();
        let remake = |id: &FunctionId| {
            let change = changes.of(view, *id)?;
            Some((
                *id,
                remade(view, *id, change, changes.thins_fences(view, *id))?,
            ))
        };
        let made = cx
            .threads
            .map_chunks(Work::Objects(live.len()), &live, |live| {
                live.iter().filter_map(remake).collect::<Vec<_>>()
            });
        let (mut edited, mut scheduled) = (Vec::new(), Vec::new());
        let mut asked = 0;
        for (id, made) in made.into_iter().flatten() {
            asked += 1;
            match made {
                Ok(NewCode::Scheduled(code)) => scheduled.push((id, code)),
                Ok(NewCode::Edited(change, code)) => {
                    edited.push(edited::Function::new(id, change, code));
                }
                Err(why) => cx.remarks.emit(|| not_proved(id, &why)),
            }
        }
        cx.statistics.add("functions to make anew", asked);
        edited::find(view, &mut edited);
        for function in &edited {
            let (id, change) = (function.id, function.change);
            if !function.is_known() {
                cx.remarks.emit(|| not_proved(id, &Unproved::Places));
                continue;
            }
            cx.remarks.emit(|| remade_as(id, change));
            module.functions[id].remade = match change.guards_ends() {
                true => Remade::ForDebugger,
                false => Remade::Scheduled,
            };
        }
        edited::apply(module, cx.arena, edited);
        for (id, code) in scheduled {
            cx.remarks.emit(|| remade_as(id, CodeChange::FirstLoad));
            let text = module.functions[id].views.sass.text;
            module.sections[text].content = SectionContent::Bytes(cx.arena.bytes(&code));
            module.functions[id].remade = Remade::Scheduled;
        }
        let mut made = 0;
        for function in module.functions.values() {
            made += u64::from(function.remade != Remade::No);
        }
        cx.statistics.add("functions made anew", made);
        Ok(Changed::from(made > 0))
    }
}

/// Says what was done to a function.
fn remade_as(function: FunctionId, change: CodeChange) -> Remark {
    Remark::about(&SCHEDULED, function).words(match change {
        _ if change.guards_ends() => {
            " gets the debugger's barriers in front of its ends"
        }
        CodeChange::WorkAround | CodeChange::GuardedEnd => {
            " is scheduled anew, without the work-arounds at memory barriers: it calls nothing, and the rules give the scoreboards that its object has"
        }
        _ => {
            " is scheduled anew: it calls nothing, and the rules give the scoreboards that its object has"
        }
    })
}

fn not_proved(function: FunctionId, why: &Unproved) -> Remark {
    Remark::about(&NOT_PROVED, function).words(format!(" keeps its code: {why}"))
}

/// The code of a function as the finalizer makes it.
enum NewCode {
    /// With other scoreboards.
    Scheduled(Vec<u8>),
    /// With instructions added or taken out, for this reason.
    Edited(CodeChange, Edited),
}

/// Makes the code of a function that nvlink would change; `None` for changes that are not made.
/// `thins` says that nvlink takes out what memory barriers need beside other code alone.
fn remade(
    module: &Module<'_>,
    id: FunctionId,
    change: CodeChange,
    thins: bool,
) -> Option<Result<NewCode, Unproved>> {
    let views = module.functions[id].views;
    let code = module.sections[views.sass.text].bytes();
    let sm = module.target.sm;
    let proof = Proof::of(module);
    let mercury = views
        .merc
        .map_or(&[][..], |view| module.sections[view.text].bytes());
    let edited = match change {
        CodeChange::FirstLoad => {
            let made = schedule(code, code.to_vec(), sm, true, None, proof);
            return Some(made.map(NewCode::Scheduled));
        }
        CodeChange::WorkAround | CodeChange::GuardedEnd => {
            edit::thin_fences(code, mercury).map(|edited| (edited, frees_first_load(code)))
        }
        CodeChange::Debugger | CodeChange::ErrorBarriers => edit::guard_ends(code, mercury)
            .and_then(|mut edited| {
                ends::relax(&mut edited.code)?;
                let edited = match thins {
                    true => edited.then(edit::thin_fences)?,
                    false => edited,
                };
                Some((edited, thins && frees_first_load(code)))
            }),
        CodeChange::Other { .. } => return None,
    };
    let Some((mut edited, frees)) = edited else {
        return Some(Err(Unproved::Moves));
    };
    let by_ends = match change.guards_ends() {
        true => ends::change_scoreboards(code),
        false => Some(false),
    };
    let Some(by_ends) = by_ends else {
        return Some(Err(Unproved::Ends));
    };
    // What other blocks left is over earlier, too.
    let by_ends = by_ends || change.guards_ends() && allocate_otherwise(code, &edited, sm);
    let changes_scoreboards = frees || by_ends;
    if changes_scoreboards && change.guards_ends() && thins {
        // How the two changes go together is not known.
        return Some(Err(Unproved::Ends));
    }
    if !changes_scoreboards {
        return Some(match stalls_suffice(&edited.code) {
            true => Ok(NewCode::Edited(change, edited)),
            false => Err(Unproved::Stall),
        });
    }
    let made = std::mem::take(&mut edited.code);
    let made = schedule(code, made, sm, frees, Some(&edited.places), proof);
    Some(made.map(|made| {
        edited.code = made;
        NewCode::Edited(change, edited)
    }))
}

/// Returns `true` if the rules give instructions of a kernel other scoreboards where others were added;
/// `false` for code of which they do not know an instruction.
fn allocate_otherwise(compiled: &[u8], edited: &Edited, sm: u16) -> bool {
    let read = (Code::read(compiled, sm), Code::read(&edited.code, sm));
    let (Ok(before), Ok(after)) = read else {
        return false;
    };
    let allocated = |code: &Code| {
        let mut budget = STEPS.0 + STEPS.1 * code.steps.len();
        Allocator::run(code, &needs(code), &mut budget)
    };
    let given: Vec<_> = before
        .steps
        .iter()
        .map(|step| barriers(step.word))
        .collect();
    let (Some((before, decided)), Some((after, _))) = (allocated(&before), allocated(&after))
    else {
        return true;
    };
    // The end of the code is no instruction.
    let mut kept = edited.places.kept();
    kept.any(|(was, number)| {
        // Where the object is not as the rules have it by few cycles, those of the barriers decide.
        let waits = |barriers: &[Barriers]| barriers.get(was).map(|barriers| barriers.waits);
        let is_near = || waits(&given) != waits(&before) && decided.is_near(was);
        before.get(was) != after.get(number) || is_near()
    })
}

/// Why a kernel keeps its scoreboards.
enum Unproved {
    /// The instruction of this number is not known, or where it leads.
    Instruction(usize),
    /// Instructions are added or taken out, and something is not known that may have to move.
    Moves,
    /// How barriers where code ends go with its scoreboards is not known.
    Ends,
    /// The code has no first load of the stack pointer.
    FirstLoad,
    /// The instruction of this number names a scoreboard in an operand, of which others are given.
    NamesScoreboard(usize),
    /// No more than a fixed number of steps is taken for each instruction.
    TooLong,
    /// An instruction has other scoreboards than the rules give it.
    Differs {
        at: usize,
        compiled: Barriers,
        made: Barriers,
    },
    /// The output depends at an instruction on a rule that the object does not confirm.
    Unconfirmed { at: usize, rule: Rule },
    /// An instruction would wait for a scoreboard one cycle after it was set.
    Stall,
    /// Something names places in the code in a way that is not known.
    Places,
}

impl fmt::Display for Unproved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unproved::Instruction(at) => {
                write!(f, "the instruction at {:#x} is not known", at * 16)
            }
            Unproved::Moves => f.write_str("something is not known that may have to move"),
            Unproved::Ends => {
                f.write_str("how barriers at its ends go with its scoreboards is not known")
            }
            Unproved::FirstLoad => f.write_str("it does not load the stack pointer"),
            Unproved::NamesScoreboard(at) => {
                write!(f, "the instruction at {:#x} names a scoreboard", at * 16)
            }
            Unproved::TooLong => f.write_str("the rules take too long"),
            Unproved::Differs { at, compiled, made } => write!(
                f,
                "at {:#x} its object has {compiled}, the rules give {made}",
                at * 16
            ),
            Unproved::Unconfirmed { at, rule } => {
                if *at != usize::MAX {
                    write!(f, "at {:#x} ", at * 16)?;
                }
                write!(
                    f,
                    "the output depends on a rule that its object does not confirm: {rule}"
                )
            }
            Unproved::Stall => f.write_str("a stall would be too short"),
            Unproved::Places => f.write_str("what names places in its code is not known"),
        }
    }
}

/// Returns `true` if code is what this pass makes of other code of a module by other scoreboards alone.
pub(crate) fn is_schedule_of(module: &Module<'_>, code: &[u8], other: &[u8]) -> bool {
    let (sm, proof) = (module.target.sm, Proof::of(module));
    schedule(other, other.to_vec(), sm, true, None, proof).is_ok_and(|made| made == code)
}

/// Whether the rules have to give the scoreboards that code was compiled with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Proof {
    Needed,
    Trusted,
}

impl Proof {
    fn of(module: &Module<'_>) -> Proof {
        match module.options.mercury.finalize {
            Finalize::Certified | Finalize::Keep => Proof::Needed,
            Finalize::Trust => Proof::Trusted,
        }
    }
}

/// Returns code with the scoreboards that the finalizer gives it: where the compiler has some, but for
/// the first load of the stack pointer where that is freed. The code is for sm_`sm`; `places` are
/// those of the instructions of the compiled code, if they are others now. The code as it was
/// compiled has to have those that the same rules give, if a proof is needed.
fn schedule(
    compiled: &[u8],
    mut made: Vec<u8>,
    sm: u16,
    frees_first: bool,
    places: Option<&Places>,
    proof: Proof,
) -> Result<Vec<u8>, Unproved> {
    let code = Code::read(compiled, sm).map_err(Unproved::Instruction)?;
    let mut budget = STEPS.0 + STEPS.1 * code.steps.len();
    let before = code.steps.iter().map(|step| barriers(step.word));
    let run = Allocator::run(&code, &needs(&code), &mut budget);
    let (given, confirmed) = run.ok_or(Unproved::TooLong)?;
    for (at, (compiled, made)) in before.zip(given).enumerate() {
        if compiled != made && proof == Proof::Needed {
            return Err(Unproved::Differs { at, compiled, made });
        }
    }
    let new = Code::read(&made, sm).map_err(Unproved::Instruction)?;
    let mut needs = needs(&new);
    if frees_first {
        let mut steps = new.steps.iter();
        let first = steps.position(|step| step.word.loads_stack_pointer());
        needs[first.ok_or(Unproved::FirstLoad)?].write = false;
    }
    let run = Allocator::run(&new, &needs, &mut budget);
    let (allocated, decided) = run.ok_or(Unproved::TooLong)?;
    let decided = match places {
        Some(places) => {
            let numbers = places.kept().map(|(was, number)| (number, was));
            decided.renumbered(&numbers.collect::<Vec<_>>())
        }
        None => decided,
    };
    // How loops go with barriers at ends is not known.
    let guards_ends = places.is_some() && !frees_first;
    if proof == Proof::Needed && guards_ends && decided.depends_on_loops() {
        return Err(Unproved::Ends);
    }
    if proof == Proof::Needed
        && let Some((at, rule)) = decided.unconfirmed(&confirmed, guards_ends)
    {
        return Err(Unproved::Unconfirmed { at, rule });
    }
    let names = named_scoreboards(&new, &allocated)?;
    let words = made
        .chunks_exact_mut(16)
        .zip(new.steps.iter().zip(&allocated));
    for (bytes, (step, barriers)) in words {
        let Barriers { write, read, waits } = *barriers;
        let word = step.word.with_barriers(write, read, waits);
        bytes.copy_from_slice(&word.0.to_le_bytes());
    }
    for (at, scoreboard) in names {
        let word = new.steps[at].word.naming_scoreboard(scoreboard);
        made[at * 16..at * 16 + 16].copy_from_slice(&word.0.to_le_bytes());
    }
    if !stalls_suffice(compiled) || !stalls_suffice(&made) {
        return Err(Unproved::Stall);
    }
    shorten_stalls(compiled, &mut made, places)?;
    Ok(made)
}

/// Returns the scoreboards that operands of instructions name: that of the memory barrier in front.
/// Where it is that of another one, which is not known, no instruction may set another than before.
fn named_scoreboards(code: &Code, allocated: &[Barriers]) -> Result<Vec<(usize, u8)>, Unproved> {
    let is_other = |was: u8, now: u8| now != 7 && now != was;
    let mut names = Vec::new();
    for (at, step) in code.steps.iter().enumerate() {
        if !step.word.names_scoreboard() {
            continue;
        }
        let before = at
            .checked_sub(1)
            .map(|before| (code.steps[before].word, allocated[before]));
        match before {
            Some((fence, Barriers { read, .. }))
                if fence.is_memory_barrier()
                    && fence.read_barrier() == step.word.named_scoreboard()
                    && read != 7 =>
            {
                names.push((at, read));
            }
            _ => {
                let mut pairs = code.steps.iter().zip(allocated);
                if pairs.any(|(step, now)| {
                    is_other(step.word.write_barrier(), now.write)
                        || is_other(step.word.read_barrier(), now.read)
                }) {
                    return Err(Unproved::NamesScoreboard(at));
                }
            }
        }
    }
    Ok(names)
}

/// Takes the second cycle off a first load that is freed. What sets a scoreboard takes two where the
/// next one waits for it, and at the end of a block. The finalizer knows whether they are needed for
/// something else: here that is not known, so that other code where it matters is not proved.
fn shorten_stalls(
    compiled: &[u8],
    made: &mut [u8],
    places: Option<&Places>,
) -> Result<(), Unproved> {
    let words: Vec<Instruction> = Instruction::all(made).collect();
    let compiled: Vec<Instruction> = Instruction::all(compiled).collect();
    let numbers: Vec<(usize, usize)> = match places {
        Some(places) => places.kept().collect(),
        None => (0..words.len()).map(|number| (number, number)).collect(),
    };
    for (was, number) in numbers {
        let (Some(before), Some(word)) = (compiled.get(was..was + 2), words.get(number)) else {
            continue;
        };
        if word.stall() != 2 {
            continue;
        }
        let is_freed = before[0].write_barrier() != 7 && word.write_barrier() == 7;
        let next = words.get(number + 1);
        let waits = next.is_some_and(|next| is_waited_for(*word, *next));
        if is_freed {
            let word = word.with_stall(1);
            made[number * 16..number * 16 + 16].copy_from_slice(&word.0.to_le_bytes());
        } else if is_waited_for(before[0], before[1]) && !waits {
            return Err(Unproved::Stall);
        }
    }
    Ok(())
}

/// Returns which instructions set scoreboards.
fn needs(code: &Code) -> Vec<Needs> {
    let words = code.steps.iter().map(|step| step.word);
    words
        .map(|word| Needs {
            write: word.write_barrier() != 7,
            read: word.read_barrier() != 7,
        })
        .collect()
}

fn barriers(word: Instruction) -> Barriers {
    Barriers {
        write: word.write_barrier(),
        read: word.read_barrier(),
        waits: word.waits(),
    }
}

/// Returns `true` if no instruction waits for a scoreboard one cycle after it was set, which the
/// finalizer allows for by another stall.
fn stalls_suffice(code: &[u8]) -> bool {
    let mut pairs = Instruction::all(code).zip(Instruction::all(code).skip(1));
    pairs.all(|(word, next)| word.stall() >= 2 || !is_waited_for(word, next))
}

/// Returns `true` if an instruction waits for a scoreboard that one before it sets.
fn is_waited_for(word: Instruction, next: Instruction) -> bool {
    let waits = |scoreboard: u8| scoreboard < 6 && next.waits() >> scoreboard & 1 != 0;
    waits(word.write_barrier()) || waits(word.read_barrier())
}
