//! A link in steps: inputs as a module, passes over it, the file that comes of it.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering;

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::Diagnostics;
use cuweld_diagnostics::codes::internal;
use cuweld_diagnostics::codes::usage;
use cuweld_ir::Arena;
use cuweld_ir::Module;
use cuweld_ir::ObjectId;
use cuweld_ir::Phase;
use cuweld_ir::elf;
use cuweld_passes::pipeline::Facts;
use cuweld_passes::remark::Shown;

use super::LinkError;
use super::Linker;
use super::numbers;
use super::recorded_options;
use super::told_of_cancelling;
use crate::controls::Controls;
use crate::diagnostics::Reporter;
use crate::diagnostics::Style;
use crate::driver::read_inputs;
use crate::input::InputArena;
use crate::run::run_pipeline;

/// What a module borrows: the inputs it was read from, and the bytes that passes make.
#[derive(Default)]
pub struct ModuleMemory {
    inputs: InputArena,
    input_count: usize,
    arena: Arena,
}

impl ModuleMemory {
    /// Makes memory without inputs, for a module in text form.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the owner of the bytes that passes make.
    pub fn arena(&self) -> &Arena {
        &self.arena
    }
}

/// What there is to say of passes that were run.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Ran {
    /// Warnings, deviations, reports that were asked for.
    pub diagnostics: Vec<Diagnostic>,
    /// What passes decided and why, if [`Linker::set`] asked for `remarks`.
    pub remarks: Vec<Shown>,
}

impl Linker {
    /// Takes the inputs that were added, for [`Self::lower`].
    pub fn take_inputs(&mut self) -> ModuleMemory {
        let inputs = std::mem::take(&mut self.inputs);
        self.input_bytes = 0;
        ModuleMemory {
            input_count: inputs.len(),
            inputs: InputArena::of_inputs(inputs),
            arena: Arena::new(),
        }
    }

    /// Reads inputs to a module that no pass has seen. What there is to say of the inputs has to be
    /// handed to the first [`Self::run_passes`].
    pub fn lower<'data>(&self, memory: &'data ModuleMemory) -> (Module<'data>, Diagnostics) {
        let names = numbers(memory.input_count);
        let mut request = self.request(self.discover(&names));
        let record = &mut request.options.record;
        if record.options.is_empty() {
            record.options = recorded_options(self.target, self.options.relocatable);
        }
        let mut text = Vec::new();
        let reporter = Reporter::new(&mut text, Style::Native);
        let read = read_inputs(&request, &memory.inputs, &memory.arena, &reporter);
        (read.module, read.findings)
    }

    /// Runs the pipeline over a module as it is, up to a pass if one is named. The module may have
    /// been changed if this fails.
    ///
    /// # Errors
    ///
    /// Pipelines that cannot run on the module, and what passes find.
    pub fn run_passes<'data>(
        &self,
        module: &mut Module<'data>,
        arena: &'data Arena,
        findings: Diagnostics,
        stop_after: Option<&str>,
    ) -> Result<Ran, LinkError> {
        let mut controls = self.controls.clone();
        controls.selection.stop_after = stop_after.map(str::to_owned);
        self.run(controls, module, arena, findings)
    }

    /// Runs the rest of the pipeline over a module, up to a pass if one is named: the steps after
    /// `start_after`, or after the one that established the module's phase.
    ///
    /// # Errors
    ///
    /// Those of [`Self::run_passes`].
    pub fn run_rest<'data>(
        &self,
        module: &mut Module<'data>,
        arena: &'data Arena,
        findings: Diagnostics,
        [start_after, stop_after]: [Option<&str>; 2],
    ) -> Result<Ran, LinkError> {
        let mut controls = self.controls.clone();
        let selection = &mut controls.selection;
        selection.stop_after = stop_after.map(str::to_owned);
        selection.start_after = match start_after {
            Some(step) => Some(step.to_owned()),
            None => self.established(module).map(|number| number.to_string()),
        };
        self.run(controls, module, arena, findings)
    }

    /// Returns the number of the step of the pipeline that establishes the module's phase, or the
    /// one before it where no step does. An error of the pipeline is told when it runs.
    fn established(&self, module: &Module<'_>) -> Option<usize> {
        let facts = Facts::new(module.target, &module.options);
        let manager = self.controls.manager(facts, Phase::Lowered).ok()?;
        let steps = manager.pipeline().steps();
        let is_done = |establishes: Option<Phase>| establishes.is_some_and(|it| it <= module.phase);
        let last = steps
            .iter()
            .rposition(|step| is_done(step.pass.info().establishes));
        last.map(|index| index + 1)
    }

    fn run<'data>(
        &self,
        mut controls: Controls,
        module: &mut Module<'data>,
        arena: &'data Arena,
        findings: Diagnostics,
    ) -> Result<Ran, LinkError> {
        let is_cancelled = Arc::new(AtomicBool::new(false));
        let progress = self.progress.clone();
        controls.watching.progress =
            progress.map(|progress| told_of_cancelling(progress, &is_cancelled));
        // With a start in its middle the pipeline begins where it always does.
        let start = match controls.selection.start_after {
            Some(_) => Phase::Lowered,
            None => module.phase,
        };
        let facts = Facts::new(module.target, &module.options);
        let mut ran = Ran::default();
        let mut text = Vec::new();
        let failed = {
            let mut reporter = Reporter::new(&mut text, Style::Native);
            reporter.keep(&mut ran.diagnostics);
            reporter.keep_remarks(&mut ran.remarks);
            let result = match controls.manager(facts, start) {
                Ok(manager) => {
                    let manager = manager.with_threads(self.threads());
                    run_pipeline(&controls, &manager, module, arena, findings, &mut reporter)
                }
                Err(diagnostic) => reporter.report(&diagnostic),
            };
            // A buffer takes all that is written.
            result.is_err() || reporter.failed()
        };
        match (failed, is_cancelled.load(Ordering::Relaxed)) {
            (_, true) => Err(LinkError::Cancelled),
            (true, false) => Err(LinkError::Failed {
                diagnostics: ran.diagnostics,
            }),
            (false, false) => Ok(ran),
        }
    }

    /// Writes the device ELF of a module: what was linked, or, of a module with one object before
    /// `resolved`, that object again.
    ///
    /// # Errors
    ///
    /// Modules that are neither.
    pub fn cubin<'data>(
        module: &Module<'data>,
        arena: &'data Arena,
    ) -> Result<Vec<u8>, Diagnostic> {
        if let Some(image) = &module.image {
            return Ok(image.clone());
        }
        let objects: Vec<ObjectId> = module.objects.ids().collect();
        let phase = module.phase;
        let &[object] = objects.as_slice() else {
            return Err(no_cubin(phase, "a module of several objects"));
        };
        if phase >= Phase::Resolved {
            return Err(no_cubin(phase, "a link that is under way"));
        }
        let plan = elf::plan_object(module, object, arena);
        elf::write(module, &plan).map_err(|error| {
            Diagnostic::fatal(
                internal::FAULT,
                format!("the object cannot be written again: {error}"),
            )
        })
    }
}

fn no_cubin(phase: Phase, what: &str) -> Diagnostic {
    Diagnostic::fatal(
        usage::OUTPUT,
        format!(
            "{what} is no cubin before it is 'emitted'; the module is '{}'",
            phase.name()
        ),
    )
}
