//! Runs a pipeline over a module, with the instruments that were asked for.

mod guard;
mod instruments;

use std::io;
use std::panic::AssertUnwindSafe;
use std::panic::catch_unwind;

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::Diagnostics;
use cuweld_diagnostics::Kind;
use cuweld_diagnostics::NvlinkPhase;
use cuweld_diagnostics::codes::internal;
use cuweld_diagnostics::codes::usage;
use cuweld_ir::Arena;
use cuweld_ir::Module;
use cuweld_passes::instrument::Instrument;
use cuweld_passes::instrument::InstrumentError;
use cuweld_passes::manager::PassManager;
use cuweld_passes::manager::RunError;
use cuweld_passes::pass::PassError;
use cuweld_passes::remark::Shown;

use self::guard::Guard;
use self::instruments::Instruments;
use crate::controls::Controls;
use crate::diagnostics::Reporter;
use crate::dump::DumpTo;
use crate::report::PassRecorder;

/// Runs a pipeline with the instruments that were asked for; what there is to say goes to the
/// reporter, with the `findings` about the inputs that were made before.
pub fn run_pipeline<'data>(
    controls: &Controls,
    manager: &PassManager,
    module: &mut Module<'data>,
    arena: &'data Arena,
    findings: Diagnostics,
    reporter: &mut Reporter<'_>,
) -> io::Result<()> {
    let start = Start {
        findings,
        remarks: Vec::new(),
        last: None,
    };
    run_until(controls, manager, module, arena, start, None, reporter).map(drop)
}

/// Returns the step before the last one, if the last one only writes the planned file and nobody
/// looks at the image: the file can then be written from the plan, without an image in memory.
pub fn step_before_emit(controls: &Controls, manager: &PassManager) -> Option<usize> {
    let steps = manager.pipeline().steps();
    let writes_plan = steps
        .last()
        .is_some_and(|step| step.pass.info().writes_plan);
    let runs_through = !controls.observe() && !controls.selection.leaves_out();
    (writes_plan && runs_through).then(|| steps.len().saturating_sub(1))
}

/// What a run begins with, and where it ends.
pub struct Start {
    /// What there is to say of the inputs.
    pub findings: Diagnostics,
    /// The remarks on their discovery.
    pub remarks: Vec<Shown>,
    /// The last step to run, if it is not that of the controls.
    pub last: Option<usize>,
}

/// Runs a pipeline as [`run_pipeline`] does, up to a step, and records it for a report if
/// there is to be one. Returns `false` if the inputs cannot be linked.
pub fn run_until<'data>(
    controls: &Controls,
    manager: &PassManager,
    module: &mut Module<'data>,
    arena: &'data Arena,
    start: Start,
    recorder: Option<&mut PassRecorder>,
    reporter: &mut Reporter<'_>,
) -> io::Result<bool> {
    let Start {
        findings,
        remarks,
        last,
    } = start;
    let is_unreadable = findings.has_errors();
    let of_passes = std::mem::replace(&mut module.findings, findings);
    module.findings.add_sorted(of_passes);
    let run = controls.selection.run_options(last);
    let mut sink = DumpTo::new(controls.dumping.dir.clone());
    let mut instruments = Instruments::new(controls, remarks);
    let mut guard = Guard::new(manager.pipeline(), controls, reporter);
    let result = {
        let mut dump = controls.dumping.instrument(&mut sink);
        let dump = dump.as_mut().map(|it| it as &mut dyn Instrument);
        let recorder = recorder.map(|it| it as &mut dyn Instrument);
        let guard = guard.as_mut().map(|it| it as &mut dyn Instrument);
        // Inputs that could not be read are no part of the module: it is not what a link works on.
        let mut instruments: Vec<_> = match is_unreadable {
            true => guard.into_iter().collect(),
            false => {
                let listed = dump.into_iter().chain(recorder);
                listed.chain(instruments.list(guard)).collect()
            }
        };
        let run = || manager.run(module, arena, &run, &mut instruments);
        // What a panic leaves behind is only looked at for messages: no output is written.
        catch_unwind(AssertUnwindSafe(run))
    };
    let result = result.unwrap_or_else(|_| {
        let error = PassError::Internal("a pass panicked".to_owned());
        Err(RunError::Pass {
            pass: "?",
            step: 0,
            error,
        })
    });
    let is_linked = report_findings(module.findings.list(), reporter)?;
    let crash = guard.and_then(Guard::finding);
    match (is_linked, crash, result) {
        (true, Some(crash), _) => reporter.report(&crash)?,
        (true, None, Err(error)) => report_error(&error, reporter)?,
        _ => {}
    }
    reporter.text(sink.text())?;
    instruments.report(controls, manager, reporter)?;
    Ok(is_linked)
}

/// Reports the findings of a run. Returns `false` if those about the inputs hold an error: nvlink
/// links nothing after an error while it reads its inputs.
fn report_findings(findings: &[Diagnostic], reporter: &mut Reporter<'_>) -> io::Result<bool> {
    let of_inputs = |finding: &&Diagnostic| finding.phase == Some(NvlinkPhase::Inputs);
    let (inputs, of_link) = findings.split_at(findings.iter().take_while(of_inputs).count());
    let is_linked = reporter.report_inputs(inputs)?;
    if is_linked {
        for diagnostic in of_link {
            reporter.report(diagnostic)?;
        }
    }
    Ok(is_linked)
}

/// Reports why a run ended early, unless a finding says so already.
fn report_error(error: &RunError, reporter: &mut Reporter<'_>) -> io::Result<()> {
    if let RunError::Instrument {
        error: InstrumentError::Remarks(error),
        ..
    } = error
    {
        let message = format!("cuweld: remarks: {error}");
        return reporter.report(&Diagnostic::fatal(usage::UNKNOWN_NAME, message));
    }
    let code = match error {
        RunError::Pass { error, .. } => match error {
            PassError::Diagnosed => return Ok(()),
            PassError::Crashed(diagnostic) => return reporter.report(diagnostic),
            PassError::Internal(_) | PassError::Panicked(_) => internal::FAULT,
        },
        RunError::Stopped => return Ok(()),
        RunError::Instrument {
            error: InstrumentError::Broken(_),
            ..
        } => internal::BROKEN_MODULE,
        RunError::Instrument {
            error: InstrumentError::Claim(_),
            ..
        } => internal::WRONG_CLAIM,
        RunError::Instrument { .. } | RunError::Selection(_) => usage::PIPELINE,
    };
    reporter.internal_error |= code.kind() == Kind::Internal;
    reporter.report(&Diagnostic::fatal(code, format!("cuweld: {error}")))
}
