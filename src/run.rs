//! Runs a pipeline over a module, with the instruments that were asked for.

use std::io;
use std::panic::AssertUnwindSafe;
use std::panic::catch_unwind;
use std::path::PathBuf;

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::Diagnostics;
use cuweld_diagnostics::NvlinkPhase;
use cuweld_diagnostics::codes::internal;
use cuweld_diagnostics::codes::system;
use cuweld_diagnostics::codes::usage;
use cuweld_ir::Arena;
use cuweld_ir::Module;
use cuweld_ir::Phase;
use cuweld_ir::text;
use cuweld_ir::text::DumpBytes;
use cuweld_passes::analyses::call_graph_dot;
use cuweld_passes::instrument::Dump;
use cuweld_passes::instrument::INSTRUMENTED;
use cuweld_passes::instrument::Instrument;
use cuweld_passes::instrument::InstrumentError;
use cuweld_passes::instrument::PassStatistics;
use cuweld_passes::instrument::Timing;
use cuweld_passes::instrument::TracingSpans;
use cuweld_passes::instrument::VerifyEach;
use cuweld_passes::instrument::Why;
use cuweld_passes::manager::PassManager;
use cuweld_passes::manager::RunError;
use cuweld_passes::manager::RunOptions;
use cuweld_passes::manager::StepSelector;
use cuweld_passes::manager::optional_steps;
use cuweld_passes::pass::PassError;
use cuweld_passes::pipeline::Embedded;
use cuweld_passes::pipeline::Facts;
use cuweld_passes::pipeline::Pipeline;
use cuweld_passes::pipeline::PipelineError;
use cuweld_passes::pipeline::PipelineSource;
use cuweld_passes::pipeline::Resolved;
use cuweld_passes::pipeline::Source;
use cuweld_passes::pipeline::resolve;
use cuweld_passes::pipeline::text_form;
use cuweld_passes::pipeline::toml_form;

use crate::diagnostics::Reporter;
use crate::dump::DumpTo;
use crate::extend::Extensions;
use crate::invariants::findings;
use crate::pipeline_files::PipelineFiles;
use crate::pipeline_files::files_of;
use crate::watch::ChromeTrace;
use crate::watch::ExecOnChange;
use crate::watch::cpu_time;
use crate::watch::peak_memory;
use crate::watch::unified_diff;

/// How a pipeline runs and what is shown of it.
#[derive(Clone, Debug, Default)]
pub struct Controls {
    /// Passes from outside.
    pub extensions: Extensions,
    /// Do as nvlink even where it loses code.
    pub strict: bool,
    /// Refuse kernels that only NVIDIA's finalizer links as nvlink does.
    pub strict_finalize: bool,
    /// A pipeline: the name of a predefined one, or a file.
    pub pipeline: Option<String>,
    /// A pipeline in its one-line form.
    pub passes: Option<String>,
    /// Check invariants after every pass.
    pub verify_each: bool,
    /// Report times.
    pub time_passes: bool,
    /// Dump before these passes, or `all`.
    pub dump_before: Vec<String>,
    /// Dump after these passes, or `all`.
    pub dump_after: Vec<String>,
    /// Folder for dumps; standard error if there is none.
    pub dump_dir: Option<String>,
    /// How contents stand in dumps.
    pub dump_bytes: DumpBytes,
    /// The last pass that the module has been through already.
    pub start_after: Option<String>,
    /// Last pass to run.
    pub stop_after: Option<String>,
    /// Passes to leave out.
    pub skip: Vec<String>,
    /// How many of the optional passes to run; `None` for all.
    pub bisect_limit: Option<usize>,
    /// Explain why these functions and variables stay or go.
    pub why_live: Vec<String>,
    /// Explain why these objects take part or do not.
    pub why_extract: Vec<String>,
    /// A shell command to run after every pass that changed the module.
    pub exec_on_change: Option<String>,
    /// Dump after passes that changed the module.
    pub dump_changed: Option<DumpChanged>,
    /// Dump only rows with these names; all if there are none.
    pub dump_filter: Vec<String>,
    /// What dumps are.
    pub dump_format: DumpFormat,
    /// Report what passes counted.
    pub statistics: Option<StatisticsForm>,
    /// File for a trace in Chrome's format.
    pub chrome_trace: Option<String>,
    /// File for a reproducer; after an internal error there is one in any case.
    pub repro: Option<String>,
}

/// What is dumped of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DumpChanged {
    /// The whole module.
    Module,
    /// A unified diff against the dump before.
    Diff,
}

/// What dumps are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DumpFormat {
    /// The text form.
    #[default]
    Lir,
    /// The rows of the text form as JSON.
    Json,
    /// The call graph, for Graphviz.
    Dot,
}

impl DumpFormat {
    fn extension(self) -> &'static str {
        match self {
            DumpFormat::Lir => "lir",
            DumpFormat::Json => "json",
            DumpFormat::Dot => "dot",
        }
    }
}

/// How counts are reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatisticsForm {
    /// A table to read.
    Table,
    /// A list of steps.
    Json,
}

impl Controls {
    /// Returns `true` if anything looks at the module between passes.
    fn watches(&self) -> bool {
        self.verify_each
            || self.time_passes
            || !self.dump_before.is_empty()
            || !self.dump_after.is_empty()
            || self.dump_changed.is_some()
            || self.exec_on_change.is_some()
            || self.statistics.is_some()
            || self.chrome_trace.is_some()
            || self.explains()
    }

    /// Returns `true` if anything is to be explained.
    fn explains(&self) -> bool {
        !self.why_live.is_empty() || !self.why_extract.is_empty()
    }

    /// Returns `true` if steps are chosen.
    fn selects(&self) -> bool {
        self.start_after.is_some()
            || self.stop_after.is_some()
            || !self.skip.is_empty()
            || self.bisect_limit.is_some()
    }

    /// Returns the pipeline that was asked for, for a module that has this phase at its start.
    pub fn manager(&self, facts: Facts, start: Phase) -> Result<PassManager, Diagnostic> {
        if !INSTRUMENTED && self.watches() {
            return Err(Diagnostic::fatal(
                internal::NO_INSTRUMENTS,
                "cuweld: this build has no instruments",
            ));
        }
        let registry = self.extensions.registry()?;
        let parsed = match self.parsed()? {
            Some(parsed) => parsed,
            None if start == Phase::Lowered => {
                let resolved = Resolved::standard(&registry, facts).map_err(refused)?;
                return Ok(PassManager::new(resolved));
            }
            None => {
                let name = Embedded::standard(facts);
                toml_form::parse(pipeline_source(name)?).map_err(refused)?
            }
        };
        let resolved =
            resolve(&parsed, &registry, &PipelineFiles, facts, start).map_err(refused)?;
        Ok(PassManager::new(resolved))
    }

    /// Returns the pipeline as it was asked for, if one was.
    fn parsed(&self) -> Result<Option<Pipeline>, Diagnostic> {
        let parsed = match (&self.passes, &self.pipeline) {
            (Some(text), _) => text_form::parse(Source {
                name: "--passes".to_owned(),
                text: text.clone(),
            }),
            (None, Some(name)) => toml_form::parse(pipeline_source(name)?),
            (None, None) => return Ok(None),
        };
        parsed.map(Some).map_err(refused)
    }

    /// Returns the files that passes are read from and speak of.
    pub fn files(&self) -> Vec<PathBuf> {
        let given = self.pipeline.iter().chain(&self.extensions.plugins);
        let mut files: Vec<PathBuf> = given.map(PathBuf::from).collect();
        if let (Ok(Some(pipeline)), Ok(registry)) = (self.parsed(), self.extensions.registry()) {
            files.extend(files_of(&pipeline, &registry));
        }
        files
    }
}

/// Returns the source of a predefined pipeline, or of one in a file.
pub(crate) fn pipeline_source(name: &str) -> Result<Source, Diagnostic> {
    if let Some(source) = Embedded.find(name, None) {
        return Ok(source);
    }
    let text = std::fs::read_to_string(name).map_err(|error| {
        Diagnostic::fatal(
            usage::PIPELINE,
            format!("cuweld: cannot read pipeline '{name}': {error}"),
        )
    })?;
    Ok(Source {
        name: name.to_owned(),
        text,
    })
}

pub(crate) fn refused(error: PipelineError) -> Diagnostic {
    Diagnostic {
        notes: error.render().lines().map(str::to_owned).collect(),
        ..Diagnostic::fatal(usage::PIPELINE, format!("cuweld: {error}"))
    }
}

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
    let start = (findings, None);
    run_until(controls, manager, module, arena, start, reporter).map(drop)
}

/// Returns the step before the last one, if that is `emit` and nothing looks at the image: the file
/// can then be written from the plan, without an image in memory.
pub fn step_before_emit(controls: &Controls, manager: &PassManager) -> Option<usize> {
    let steps = manager.pipeline().steps();
    let ends_in_emit = steps
        .last()
        .is_some_and(|step| step.pass.info().name == "emit");
    let runs_through = !controls.watches() && !controls.selects();
    (ends_in_emit && runs_through).then(|| steps.len().saturating_sub(1))
}

/// Does the same as [`run_pipeline`], up to a step. Returns `false` if the inputs cannot be linked.
pub fn run_until<'data>(
    controls: &Controls,
    manager: &PassManager,
    module: &mut Module<'data>,
    arena: &'data Arena,
    (mut diagnostics, last): (Diagnostics, Option<usize>),
    reporter: &mut Reporter<'_>,
) -> io::Result<bool> {
    let step = |name: &String| -> Option<StepSelector> { name.parse().ok() };
    let run = RunOptions {
        start_after: controls.start_after.as_ref().and_then(step),
        stop_after: match last {
            Some(number) => Some(StepSelector::Number(number)),
            None => controls.stop_after.as_ref().and_then(step),
        },
        skip: controls.skip.iter().filter_map(step).collect(),
        optional_limit: controls.bisect_limit,
    };
    let mut sink = DumpTo::new(controls.dump_dir.clone());
    let mut timing = controls
        .time_passes
        .then(|| Timing::new().with_cpu(cpu_time));
    let mut statistics = controls.statistics.map(|_| PassStatistics::new());
    let mut why = controls
        .explains()
        .then(|| Why::new(&controls.why_live, &controls.why_extract));
    let mut exec = controls.exec_on_change.as_deref().map(ExecOnChange::new);
    let mut trace = controls.chrome_trace.as_ref().map(|_| ChromeTrace::new());
    let mut spans = tracing::dispatcher::has_been_set().then(TracingSpans::new);
    let result = {
        let mut dump = dump(controls, &mut sink);
        let mut verify_each = controls.verify_each.then(|| VerifyEach::new(findings));
        let mut instruments: Vec<&mut dyn Instrument> = Vec::new();
        // The last is closest to the passes.
        instruments.extend(dump.as_mut().map(|it| it as &mut dyn Instrument));
        instruments.extend(verify_each.as_mut().map(|it| it as &mut dyn Instrument));
        instruments.extend(why.as_mut().map(|it| it as &mut dyn Instrument));
        instruments.extend(exec.as_mut().map(|it| it as &mut dyn Instrument));
        instruments.extend(statistics.as_mut().map(|it| it as &mut dyn Instrument));
        instruments.extend(spans.as_mut().map(|it| it as &mut dyn Instrument));
        instruments.extend(trace.as_mut().map(|it| it as &mut dyn Instrument));
        instruments.extend(timing.as_mut().map(|it| it as &mut dyn Instrument));
        // Inputs that could not be read are no part of the module: it is not what a link works on.
        if diagnostics.has_errors() {
            instruments.clear();
        }
        let run = || manager.run(module, arena, &mut diagnostics, &run, &mut instruments);
        // The state after a panic is only looked at for messages: no output is written.
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
    let said = diagnostics.list();
    let of_inputs = |finding: &&Diagnostic| finding.phase == Some(NvlinkPhase::Inputs);
    let (inputs, of_link) = said.split_at(said.iter().take_while(of_inputs).count());
    // nvlink links nothing after an error while it reads its inputs.
    let is_linked = reporter.report_inputs(inputs)?;
    let of_link = if is_linked { of_link } else { &[] };
    for diagnostic in of_link {
        reporter.report(diagnostic)?;
    }
    match result {
        _ if !is_linked => {}
        Ok(_)
        | Err(RunError::Pass {
            error: PassError::Diagnosed,
            ..
        }) => {}
        Err(error) => {
            let is_internal = is_internal(&error);
            reporter.internal_error |= is_internal;
            let code = match is_internal {
                true => internal::FAULT,
                false => usage::PIPELINE,
            };
            reporter.report(&Diagnostic::fatal(code, format!("cuweld: {error}")))?;
        }
    }
    reporter.text(sink.text())?;
    reporter.text(&exec.map_or(String::new(), ExecOnChange::said))?;
    reporter.text(&why.map_or(String::new(), |why| why.report()))?;
    if let Some(limit) = controls.bisect_limit {
        reporter.text(&bisect_lines(manager, limit))?;
    }
    match (statistics, controls.statistics) {
        (Some(counts), Some(StatisticsForm::Json)) => reporter.text(&counts.json())?,
        (Some(counts), _) => reporter.text(&counts.report())?,
        (None, _) => {}
    }
    if let Some(timing) = timing {
        reporter.text(&timing.report())?;
        if let Some(bytes) = peak_memory() {
            reporter.text(&format!("peak memory: {} KiB\n", bytes >> 10))?;
        }
    }
    if let (Some(trace), Some(file)) = (trace, &controls.chrome_trace)
        && let Err(error) = std::fs::write(file, trace.json())
    {
        reporter.report(&Diagnostic::fatal(
            system::CANNOT_WRITE,
            format!("cannot write '{file}': {error}"),
        ))?;
    }
    Ok(is_linked)
}

/// Returns `true` if an error is our fault.
fn is_internal(error: &RunError) -> bool {
    matches!(
        error,
        RunError::Pass {
            error: PassError::Internal(_),
            ..
        } | RunError::Instrument {
            error: InstrumentError::Broken(_),
            ..
        }
    )
}

/// Returns the dumps that were asked for, if any were.
fn dump<'a>(controls: &'a Controls, sink: &'a mut DumpTo) -> Option<Dump<'a>> {
    let none = controls.dump_before.is_empty() && controls.dump_after.is_empty();
    if none && controls.dump_changed.is_none() {
        return None;
    }
    let printer = |module: &Module<'_>| {
        let text = || match controls.dump_filter.as_slice() {
            [] => text::print(module, controls.dump_bytes),
            names => {
                let names = names.to_vec();
                text::print_filtered(module, &text::Filter { names })
            }
        };
        match controls.dump_format {
            DumpFormat::Lir => text(),
            DumpFormat::Json => text::rows_as_json(&text()),
            DumpFormat::Dot => call_graph_dot(module, &controls.dump_filter),
        }
    };
    let mut dump = Dump::new(printer, sink);
    dump.extension = controls.dump_format.extension();
    dump.changed = controls.dump_changed.is_some();
    if controls.dump_changed == Some(DumpChanged::Diff) {
        dump.diff = Some(unified_diff);
    }
    for name in &controls.dump_before {
        dump.before.add(name);
    }
    for name in &controls.dump_after {
        dump.after.add(name);
    }
    Some(dump)
}

/// Returns lines that say which optional passes a limit lets run.
fn bisect_lines(manager: &PassManager, limit: usize) -> String {
    let steps = manager.pipeline().steps();
    let mut out = String::new();
    for (index, number) in optional_steps(manager.pipeline()).enumerate() {
        let name = steps
            .get(number - 1)
            .map_or("", |step| step.pass.info().name);
        let what = if index < limit { "run" } else { "not run" };
        out.push_str(&format!(
            "bisect: {}: step {number} '{name}': {what}\n",
            index + 1
        ));
    }
    out
}
