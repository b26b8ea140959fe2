//! `mercury-schedule`: kernels for sm_100 and later get the scoreboards that NVIDIA's finalizer
//! gives them [scoreboard-allocation].
//!
//! nvlink makes the code of kernels that call nothing anew. Nothing waits for their first load, of
//! the stack pointer, any more, so that its scoreboard is free for others: which scoreboards
//! instructions set, and which they wait for, changes, and nothing else does. The pass allocates
//! them by the finalizer's rules.
//!
//! It does so only where it has proved itself: the same rules, with the first load as it was
//! compiled, have to give each control bit of the object, which the finalizer's allocator made; and
//! rules that decide seldom have to have decided there if they do in the output.
//! Other kernels, and those with instructions that are not known, keep their code, which
//! `mercury-encode` tells (deviation D12).
//!
//! The link says which kernels it has scheduled (deviation D31). With `strict-finalize` none is, and
//! those that nvlink schedules anew are refused.
//!
//! Linear in the instructions of kernels: code that needs more than a fixed number of steps for each
//! keeps its scoreboards.

mod blocks;
mod latency;
mod scoreboards;

use std::fmt;

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::codes::deviation;
use cuweld_elf::sass::Instruction;
use cuweld_elf::toolkit::Toolkit;
use cuweld_ir::FunctionId;
use cuweld_ir::Module;
use cuweld_ir::Phase;
use cuweld_ir::SectionContent;

use self::blocks::Code;
use self::scoreboards::Allocator;
use self::scoreboards::Barriers;
use self::scoreboards::Needs;
use crate::analyses::Preserved;
use crate::analyses::code_changes::CodeChange;
use crate::analyses::code_changes::CodeChanges;
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
    doc: "A kernel gets other scoreboards",
};
const NOT_PROVED: RemarkInfo = RemarkInfo {
    name: "not-proved",
    doc: "The rules do not give a kernel the scoreboards that it was compiled with, so that it keeps them",
};

/// The `mercury-schedule` pass.
#[derive(Debug, Default)]
pub struct MercurySchedule;

impl Pass for MercurySchedule {
    fn info(&self) -> PassInfo {
        PassInfo {
            name: "mercury-schedule",
            summary: "Give kernels the scoreboards that NVIDIA's finalizer gives them, where that is proved",
            doc: include_str!("mercury_schedule.rs"),
            requires: Phase::Planned,
            before: Some(Phase::LaidOut),
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
            || module.options.relocatable
            || module.options.mercury.strict
            || !is_measured
            || cx.diagnostics.has_errors()
        {
            return Ok(Changed::No);
        }
        let kernels: Vec<FunctionId> = module
            .functions
            .iter()
            .filter(|(id, row)| {
                module.symbols[row.symbol].is_entry() && module.is_function_live(*id)
            })
            .map(|(id, _)| id)
            .collect();
        let view = &*module;
        let changes = cx.analyses.get::<CodeChanges>(view);
        let is_changed =
            |kernel: FunctionId| changes.of(view, kernel) == Some(CodeChange::FirstLoad);
        let code = |kernel: FunctionId| {
            let text = view.functions[kernel].views.sass.text;
            schedule(view.sections[text].bytes())
        };
        let made = cx
            .threads
            .map_chunks(Work::Objects(kernels.len()), &kernels, |kernels| {
                let changed = kernels.iter().filter(|kernel| is_changed(**kernel));
                let made = changed.map(|kernel| (*kernel, code(*kernel)));
                made.collect::<Vec<_>>()
            });
        let made: Vec<_> = made.into_iter().flatten().collect();
        cx.statistics.add("kernels to schedule", made.len() as u64);
        let mut scheduled = Vec::new();
        for (kernel, code) in made {
            let code = match code {
                Ok(code) => code,
                Err(why) => {
                    cx.remarks.emit(|| {
                        Remark::about(&NOT_PROVED, kernel)
                            .words(format!(" keeps its scoreboards: {why}"))
                    });
                    continue;
                }
            };
            cx.remarks.emit(|| {
                Remark::about(&SCHEDULED, kernel).words(
                    " is scheduled anew: it calls nothing, and the rules give the scoreboards that its object has",
                )
            });
            let text = module.functions[kernel].views.sass.text;
            module.sections[text].content = SectionContent::Bytes(cx.arena.bytes(&code));
            scheduled.push(module.function_name(kernel));
        }
        cx.statistics
            .add("kernels scheduled", scheduled.len() as u64);
        if let Some(first) = scheduled.first() {
            let first = String::from_utf8_lossy(first);
            let text = match scheduled.len() {
                1 => format!("kernel '{first}' is scheduled anew"),
                count => format!("{count} kernels are scheduled anew, the first is '{first}'"),
            };
            let text =
                format!("{text}, by measured rules that give the schedule of the object, too");
            cx.diagnostics
                .emit(Diagnostic::info(deviation::SCHEDULED, text).deviates("D31"));
        }
        Ok(Changed::from(!scheduled.is_empty()))
    }
}

/// Why a kernel keeps its scoreboards.
enum Unproved {
    /// An instruction is not known, or the code has another form.
    Unknown,
    /// No more than a fixed number of steps is taken for each instruction.
    TooLong,
    /// An instruction has other scoreboards than the rules give it.
    Differs {
        at: usize,
        compiled: Barriers,
        made: Barriers,
    },
    /// The output depends on a rule that the object does not confirm.
    Unconfirmed,
    /// An instruction would wait for a scoreboard one cycle after it was set.
    Stall,
}

impl fmt::Display for Unproved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unproved::Unknown => f.write_str("its code is not known"),
            Unproved::TooLong => f.write_str("the rules take too long"),
            Unproved::Differs { at, compiled, made } => write!(
                f,
                "at {:#x} its object has {compiled}, the rules give {made}",
                at * 16
            ),
            Unproved::Unconfirmed => {
                f.write_str("the output depends on a rule that its object does not confirm")
            }
            Unproved::Stall => f.write_str("a stall would be too short"),
        }
    }
}

/// Returns code whose first load of the stack pointer sets no scoreboard.
fn schedule(bytes: &[u8]) -> Result<Vec<u8>, Unproved> {
    let code = Code::read(bytes).ok_or(Unproved::Unknown)?;
    let words = || code.steps.iter().map(|step| step.word);
    let mut needs: Vec<Needs> = words()
        .map(|word| Needs {
            write: word.write_barrier() != 7,
            read: word.read_barrier() != 7,
        })
        .collect();
    let first = words()
        .position(Instruction::loads_stack_pointer)
        .ok_or(Unproved::Unknown)?;
    let compiled: Vec<Barriers> = words().map(barriers).collect();
    let (reproduced, confirmed) = Allocator::run(&code, &needs).ok_or(Unproved::TooLong)?;
    let mut pairs = compiled.iter().zip(&reproduced);
    if let Some(at) = pairs.position(|(compiled, made)| compiled != made) {
        let (compiled, made) = (compiled[at], reproduced[at]);
        return Err(Unproved::Differs { at, compiled, made });
    }
    needs[first].write = false;
    let (allocated, proof) = Allocator::run(&code, &needs).ok_or(Unproved::TooLong)?;
    if !proof.is_confirmed_by(&confirmed) {
        return Err(Unproved::Unconfirmed);
    }
    if !stalls_suffice(&code, &compiled) || !stalls_suffice(&code, &allocated) {
        return Err(Unproved::Stall);
    }
    let mut made = bytes.to_vec();
    for (bytes, (word, barriers)) in made.chunks_exact_mut(16).zip(words().zip(allocated)) {
        let Barriers { write, read, waits } = barriers;
        bytes.copy_from_slice(&word.with_barriers(write, read, waits).0.to_le_bytes());
    }
    Ok(made)
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
fn stalls_suffice(code: &Code, barriers: &[Barriers]) -> bool {
    let mut pairs = barriers.windows(2).zip(&code.steps);
    pairs.all(|(pair, step)| {
        let waits = |scoreboard: u8| scoreboard < 6 && pair[1].waits >> scoreboard & 1 != 0;
        step.stall() >= 2 || !(waits(pair[0].write) || waits(pair[0].read))
    })
}
