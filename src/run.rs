//! Runs a pipeline over a module, with the instruments that were asked for.

use std::io;

use cuweld_ir::Arena;
use cuweld_ir::Module;
use cuweld_ir::Phase;
use cuweld_ir::text;
use cuweld_ir::text::DumpBytes;
use cuweld_passes::Diagnostic;
use cuweld_passes::Diagnostics;
use cuweld_passes::instrument::Dump;
use cuweld_passes::instrument::Instrument;
use cuweld_passes::instrument::Timing;
use cuweld_passes::instrument::VerifyEach;
use cuweld_passes::manager::PassManager;
use cuweld_passes::manager::RunError;
use cuweld_passes::manager::RunOptions;
use cuweld_passes::manager::StepSelector;
use cuweld_passes::pass::PassError;
use cuweld_passes::pipeline::Embedded;
use cuweld_passes::pipeline::Facts;
use cuweld_passes::pipeline::PipelineError;
use cuweld_passes::pipeline::PipelineSource;
use cuweld_passes::pipeline::Resolved;
use cuweld_passes::pipeline::Source;
use cuweld_passes::pipeline::resolve;
use cuweld_passes::pipeline::text_form;
use cuweld_passes::pipeline::toml_form;
use cuweld_passes::registry::Registry;

use crate::diagnostics::Reporter;
use crate::dump::DumpTo;

/// How a pipeline runs and what is shown of it.
#[derive(Clone, Debug, Default)]
pub struct Controls {
    /// Do as nvlink even where it loses code.
    pub strict: bool,
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
}

impl Controls {
    /// The pipeline that was asked for, for a module that has this phase at its start.
    pub fn manager(&self, facts: Facts, start: Phase) -> Result<PassManager, Diagnostic> {
        let registry = Registry::standard();
        let parsed = match (&self.passes, &self.pipeline) {
            (Some(text), _) => {
                let source = Source {
                    name: "--passes".to_owned(),
                    text: text.clone(),
                };
                text_form::parse(source).map_err(refused)?
            }
            (None, Some(name)) => toml_form::parse(pipeline_source(name)?).map_err(refused)?,
            (None, None) if start == Phase::Lowered => {
                let resolved = Resolved::standard(&registry, facts).map_err(refused)?;
                return Ok(PassManager::new(resolved));
            }
            (None, None) => {
                let name = Embedded::standard(facts);
                toml_form::parse(pipeline_source(name)?).map_err(refused)?
            }
        };
        let resolved = resolve(&parsed, &registry, &Embedded, facts, start).map_err(refused)?;
        Ok(PassManager::new(resolved))
    }
}

/// A predefined pipeline, or one in a file.
fn pipeline_source(name: &str) -> Result<Source, Diagnostic> {
    if let Some(source) = PipelineSource::find(&Embedded, name) {
        return Ok(source);
    }
    let text = std::fs::read_to_string(name).map_err(|error| {
        Diagnostic::fatal(format!("cuweld: cannot read pipeline '{name}': {error}"))
    })?;
    Ok(Source {
        name: name.to_owned(),
        text,
    })
}

fn refused(error: PipelineError) -> Diagnostic {
    Diagnostic {
        notes: error.render().lines().map(str::to_owned).collect(),
        ..Diagnostic::fatal(format!("cuweld: {error}"))
    }
}

/// Runs a pipeline with the instruments that were asked for; what there is to say goes to the
/// reporter.
pub fn run_pipeline<'data>(
    controls: &Controls,
    manager: &PassManager,
    module: &mut Module<'data>,
    arena: &'data Arena,
    reporter: &mut Reporter<'_>,
) -> io::Result<()> {
    let mut diagnostics = Diagnostics::default();
    let step = |name: &Option<String>| -> Option<StepSelector> { name.as_deref()?.parse().ok() };
    let run = RunOptions {
        start_after: step(&controls.start_after),
        stop_after: step(&controls.stop_after),
        skip: Vec::new(),
    };
    let mut timing = controls.time_passes.then(Timing::new);
    let mut sink = DumpTo::new(controls.dump_dir.clone());
    let result = {
        let mut instruments: Vec<&mut dyn Instrument> = Vec::new();
        let mut dump;
        if !controls.dump_before.is_empty() || !controls.dump_after.is_empty() {
            dump = Dump::new(
                |module: &Module<'_>| text::print(module, controls.dump_bytes),
                &mut sink,
            );
            for name in &controls.dump_before {
                dump.before.add(name);
            }
            for name in &controls.dump_after {
                dump.after.add(name);
            }
            instruments.push(&mut dump);
        }
        let mut verify_each;
        if controls.verify_each {
            verify_each = VerifyEach::new(findings);
            instruments.push(&mut verify_each);
        }
        if let Some(timing) = &mut timing {
            instruments.push(timing);
        }
        manager.run(module, arena, &mut diagnostics, &run, &mut instruments)
    };
    for diagnostic in diagnostics.list() {
        reporter.report(diagnostic)?;
    }
    match result {
        Ok(_)
        | Err(RunError::Pass {
            error: PassError::Diagnosed,
            ..
        }) => {}
        Err(error) => reporter.report(&Diagnostic::fatal(format!("cuweld: {error}")))?,
    }
    reporter.text(sink.text())?;
    if let Some(timing) = timing {
        reporter.text(&timing.report())?;
    }
    Ok(())
}

/// What the verifier finds, the first of it in full.
pub fn findings(module: &Module<'_>) -> Vec<String> {
    const SHOWN: usize = 20;
    let errors = cuweld_ir::verify(module);
    let mut findings: Vec<String> = errors.iter().take(SHOWN).map(ToString::to_string).collect();
    if errors.len() > SHOWN {
        findings.push(format!("and {} more", errors.len() - SHOWN));
    }
    findings
}
