//! Runs the passes of a pipeline.
//!
//! Around each pass the manager does the same: instruments are told, the findings of the pass are
//! sorted, the module's phase is set to what the pass establishes, and analyses are dropped that a
//! change may have made wrong. The manager keeps nothing of a link, so that a run can stop after
//! any step and go on from the module alone ([`RunOptions::start_after`]).

#[cfg(test)]
pub(crate) mod fake;
mod panics;
pub mod passes_doc;
mod selection;
#[cfg(test)]
pub(crate) mod tests;

pub use selection::RunOptions;
pub use selection::SelectionError;
pub use selection::StepSelector;
pub use selection::optional_steps;

use cuweld_diagnostics::Diagnostics;
use cuweld_diagnostics::Severity;
use cuweld_ir::Arena;
use cuweld_ir::Module;
use cuweld_ir::Phase;
use selection::Selection;
use thiserror::Error;

use crate::INSTRUMENTED;
use crate::analyses::Analyses;
use crate::instrument::Instrument;
use crate::instrument::InstrumentError;
use crate::instrument::PassReport;
use crate::instrument::RunInfo;
use crate::instrument::StepInfo;
use crate::pass::Changed;
use crate::pass::PassCx;
use crate::pass::PassError;
use crate::pass::Statistics;
use crate::pipeline::Resolved;
use crate::pipeline::ResolvedStep;
use crate::remark::Remarks;
use crate::threads::Threads;

/// Runs a pipeline.
#[derive(Debug)]
pub struct PassManager {
    pipeline: Resolved,
    threads: Threads,
}

/// How far a run came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The step that the module has been through: where to start after to go on.
    pub done: usize,
    /// Whether that was the last step of the pipeline.
    pub complete: bool,
    /// Whether any pass changed the module.
    pub changed: Changed,
}

/// Why a run ended early.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RunError {
    /// The steps cannot be run as asked; none was.
    #[error(transparent)]
    Selection(#[from] SelectionError),
    /// A pass stopped the link.
    #[error("pass '{pass}' (step {step}): {error}")]
    Pass {
        /// The pass.
        pass: &'static str,
        /// Its step.
        step: usize,
        /// What it returned.
        error: PassError,
    },
    /// A pass has stopped the link before this run.
    #[error("the link was stopped by an error")]
    Stopped,
    /// An instrument stopped the link.
    #[error("{place}: {error}")]
    Instrument {
        /// Where in the run.
        place: Place,
        /// What it returned.
        error: InstrumentError,
    },
}

/// A place in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Before the first pass.
    Start,
    /// Before a pass.
    Before {
        /// The pass.
        pass: &'static str,
        /// Its step.
        step: usize,
    },
    /// After a pass.
    After {
        /// The pass.
        pass: &'static str,
        /// Its step.
        step: usize,
    },
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Place::Start => f.write_str("before the first pass"),
            Place::Before { pass, step } => write!(f, "before pass '{pass}' (step {step})"),
            Place::After { pass, step } => write!(f, "after pass '{pass}' (step {step})"),
        }
    }
}

impl PassManager {
    /// Runs this pipeline.
    pub fn new(pipeline: Resolved) -> Self {
        PassManager {
            pipeline,
            threads: Threads::default(),
        }
    }

    /// Lets passes use these threads; else they have the caller's alone.
    pub fn with_threads(self, threads: Threads) -> Self {
        PassManager { threads, ..self }
    }

    /// Returns the pipeline.
    pub fn pipeline(&self) -> &Resolved {
        &self.pipeline
    }

    /// Checks, before any input is read, that the chosen steps can run in this order on a module of
    /// this phase.
    pub fn check(&self, options: &RunOptions, phase: Phase) -> Result<(), SelectionError> {
        Selection::new(&self.pipeline, options, phase).map(|_| ())
    }

    /// Runs the chosen steps on a module. What the passes find is among the module's findings
    /// afterwards, also after an error; a pass that emits errors and returns well lets the link go on
    /// to find more. Of a module that a pass has stopped, only passes that report run.
    pub fn run<'data>(
        &self,
        module: &mut Module<'data>,
        arena: &'data Arena,
        options: &RunOptions,
        instruments: &mut [&mut dyn Instrument],
    ) -> Result<Outcome, RunError> {
        let selection = match module.stopped {
            None => Selection::new(&self.pipeline, options, module.phase)?,
            Some(pass) => Selection::after_stop(&self.pipeline, options, pass)?,
        };
        let steps = self.pipeline.steps().len();
        let run = RunInfo {
            pipeline: self.pipeline.name(),
            steps,
        };
        let mut running = Running {
            arena,
            instruments,
            analyses: Analyses::default(),
            threads: &self.threads,
            changed: Changed::No,
        };
        let result = running.run(&selection, &self.pipeline, &run, module);
        for instrument in watching(running.instruments).rev() {
            instrument.after_run(&run, module);
        }
        result?;
        let done = selection.stop;
        Ok(Outcome {
            done,
            complete: done == steps,
            changed: running.changed,
        })
    }
}

/// Returns the instruments that are told of a run; none if the build has none.
fn watching<'s, 'i>(
    instruments: &'s mut [&'i mut dyn Instrument],
) -> impl DoubleEndedIterator<Item = &'s mut &'i mut dyn Instrument> {
    let count = if INSTRUMENTED { instruments.len() } else { 0 };
    instruments.iter_mut().take(count)
}

/// A run on its way.
struct Running<'r, 'i, 'data> {
    arena: &'data Arena,
    instruments: &'r mut [&'i mut dyn Instrument],
    analyses: Analyses,
    threads: &'r Threads,
    changed: Changed,
}

impl<'data> Running<'_, '_, 'data> {
    fn run(
        &mut self,
        selection: &Selection,
        pipeline: &Resolved,
        run: &RunInfo<'_>,
        module: &mut Module<'data>,
    ) -> Result<(), RunError> {
        for instrument in watching(self.instruments) {
            instrument
                .before_run(run, module)
                .map_err(|error| RunError::Instrument {
                    place: Place::Start,
                    error,
                })?;
        }
        let mut steps = selection.steps(pipeline);
        let mut stopped = module.stopped.map(|_| RunError::Stopped);
        while stopped.is_none()
            && let Some((number, step)) = steps.next()
        {
            let name = step.pass.info().name;
            let info = StepInfo {
                number,
                of: run.steps,
                name,
                via: &step.via,
            };
            stopped = self.step(step, &info, module).err();
        }
        let Some(error) = stopped else {
            return Ok(());
        };
        if can_report(&error, module) {
            for (_, step) in steps {
                self.report(step, module);
            }
        }
        Err(error)
    }

    /// Runs a pass after the link was stopped, if it only reports; nobody watches.
    fn report(&mut self, step: &ResolvedStep, module: &mut Module<'data>) {
        let info = step.pass.info();
        if !info.reports || info.requires > module.phase {
            return;
        }
        let mut found = Diagnostics::default();
        let mut cx = PassCx {
            arena: self.arena,
            analyses: &mut self.analyses,
            diagnostics: &mut found,
            statistics: &mut Statistics::default(),
            remarks: &mut Remarks::default(),
            threads: self.threads,
        };
        // It was stopped already, and for errors that are not worse than those of a report.
        let _ = step.pass.run(module, &mut cx);
        module.findings.add_pass(found);
    }

    fn step(
        &mut self,
        step: &ResolvedStep,
        info: &StepInfo<'_>,
        module: &mut Module<'data>,
    ) -> Result<(), RunError> {
        let (pass, number) = (info.name, info.number);
        for instrument in watching(self.instruments) {
            instrument
                .before_pass(info, module)
                .map_err(|error| RunError::Instrument {
                    place: Place::Before { pass, step: number },
                    error,
                })?;
        }
        let is_heard = watching(self.instruments).any(|instrument| instrument.wants_remarks(pass));
        let mut remarks = Remarks::new(is_heard);
        let mut statistics = Statistics::default();
        let before = module.phase;
        let known = module.findings.list().len();
        let mut found = Diagnostics::default();
        let mut cx = PassCx {
            arena: self.arena,
            analyses: &mut self.analyses,
            diagnostics: &mut found,
            statistics: &mut statistics,
            remarks: &mut remarks,
            threads: self.threads,
        };
        let declared = step.pass.info();
        let result = match declared.refusal(module) {
            None => panics::run(&*step.pass, module, &mut cx),
            Some(refusal) => {
                cx.diagnostics.emit(refusal);
                Err(PassError::Diagnosed)
            }
        };
        module.findings.add_pass(found);
        let result = match result {
            Ok(changed) => set_phase(module, before, declared.establishes).map(|()| changed),
            Err(PassError::Diagnosed) if !module.has_ended() => {
                let what = "the pass ended the link, and said no error";
                Err(PassError::Internal(what.to_owned()))
            }
            error => error,
        };
        if result == Err(PassError::Diagnosed) {
            module.stopped = Some(pass);
        }
        let changed = match result {
            Ok(changed) => changed,
            Err(error) => {
                for instrument in watching(self.instruments).rev() {
                    instrument.after_failed(info, module, &error);
                }
                return Err(RunError::Pass {
                    pass,
                    step: number,
                    error,
                });
            }
        };
        if changed == Changed::Yes {
            self.analyses.invalidate(declared.preserves);
            self.changed = Changed::Yes;
        }
        let diagnostics = module.findings.list().get(known..).unwrap_or(&[]);
        let report = PassReport {
            changed,
            statistics: &statistics,
            diagnostics,
            analyses: &self.analyses,
        };
        for instrument in watching(self.instruments).rev() {
            instrument
                .after_pass(info, module, &report)
                .map_err(|error| RunError::Instrument {
                    place: Place::After { pass, step: number },
                    error,
                })?;
        }
        if remarks.is_on() {
            let _span = tracing::info_span!("remarks", pass).entered();
            step.pass.remarks(module, &mut remarks);
            for instrument in watching(self.instruments) {
                instrument.remarks(info, module, remarks.list());
            }
        }
        Ok(())
    }
}

/// Returns `true` if passes that report still run: the link was stopped by errors, none of them
/// fatal.
fn can_report(error: &RunError, module: &Module<'_>) -> bool {
    let diagnosed = match error {
        RunError::Pass { error, .. } => *error == PassError::Diagnosed,
        error => *error == RunError::Stopped,
    };
    let mut findings = module.findings.list().iter();
    diagnosed && findings.all(|finding| finding.severity < Severity::Fatal)
}

/// Sets the phase that a pass establishes. A pass may set it itself, to nothing else.
fn set_phase(
    module: &mut Module<'_>,
    before: Phase,
    establishes: Option<Phase>,
) -> Result<(), PassError> {
    let expected = establishes.unwrap_or(before);
    if module.phase != before && module.phase != expected {
        return Err(PassError::Internal(format!(
            "the pass set phase '{}' instead of '{}'",
            module.phase.name(),
            expected.name()
        )));
    }
    module.phase = expected;
    Ok(())
}
