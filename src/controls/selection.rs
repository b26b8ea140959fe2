//! Which passes run: a pipeline, and the steps of it.

use cuweld_diagnostics::Diagnostic;
use cuweld_ir::Phase;
use cuweld_passes::manager::PassManager;
use cuweld_passes::manager::RunOptions;
use cuweld_passes::manager::StepSelector;
use cuweld_passes::manager::optional_steps;
use cuweld_passes::pipeline::Action;
use cuweld_passes::pipeline::Embedded;
use cuweld_passes::pipeline::Facts;
use cuweld_passes::pipeline::Pipeline;
use cuweld_passes::pipeline::Resolved;
use cuweld_passes::pipeline::Source;
use cuweld_passes::pipeline::Step;
use cuweld_passes::pipeline::resolve;
use cuweld_passes::pipeline::text_form;
use cuweld_passes::pipeline::toml_form;
use cuweld_passes::registry::Registry;

use crate::pipeline_files::PipelineFiles;
use crate::pipeline_files::pipeline_source;
use crate::pipeline_files::refused;

/// Which passes run; by default all of the standard pipeline.
#[derive(Clone, Debug, Default)]
pub struct PassSelection {
    /// A pipeline: the name of a predefined one, or a file.
    pub pipeline: Option<String>,
    /// A pipeline in its one-line form, which goes before `pipeline`.
    pub passes: Option<String>,
    /// The last pass that the module has been through already.
    pub start_after: Option<String>,
    /// Last pass to run.
    pub stop_after: Option<String>,
    /// Steps to add, in the one-line form.
    pub insert: Vec<String>,
    /// Passes to leave out.
    pub skip: Vec<String>,
    /// How many of the optional passes to run; `None` for all.
    pub bisect_limit: Option<usize>,
}

impl PassSelection {
    /// Returns `true` if not all steps of the pipeline run.
    pub(crate) fn leaves_out(&self) -> bool {
        self.start_after.is_some()
            || self.stop_after.is_some()
            || !self.skip.is_empty()
            || self.bisect_limit.is_some()
    }

    /// Returns the pipeline as it was asked for: its one-line form, its name or its file.
    pub(crate) fn asked(&self) -> Option<&String> {
        self.passes.as_ref().or(self.pipeline.as_ref())
    }

    /// Parses the pipeline, if one was asked for.
    pub(super) fn parsed(&self) -> Result<Option<Pipeline>, Diagnostic> {
        let parsed = match (&self.passes, &self.pipeline) {
            (Some(text), _) => {
                let texts = std::iter::once(text).chain(&self.insert);
                let texts = texts.map(|text| text.trim());
                let texts: Vec<&str> = texts.filter(|text| !text.is_empty()).collect();
                text_form::parse(Source {
                    name: "--passes".to_owned(),
                    text: texts.join(","),
                })
            }
            (None, Some(name)) if !self.insert.is_empty() => {
                return self.with_inserted(name).map(Some);
            }
            (None, Some(name)) => toml_form::parse(pipeline_source(name)?),
            (None, None) => return Ok(None),
        };
        parsed.map(Some).map_err(refused)
    }

    /// Resolves the pipeline, or the standard one, for a module that has the phase `start`.
    pub(super) fn resolve(
        &self,
        registry: &Registry,
        facts: Facts,
        start: Phase,
    ) -> Result<Resolved, Diagnostic> {
        let parsed = match self.parsed()? {
            Some(parsed) => parsed,
            None if !self.insert.is_empty() => self.with_inserted(Embedded::standard(facts))?,
            None if start == Phase::Lowered => {
                return Resolved::standard(registry, facts).map_err(refused);
            }
            None => {
                let name = Embedded::standard(facts);
                toml_form::parse(pipeline_source(name)?).map_err(refused)?
            }
        };
        resolve(&parsed, registry, &PipelineFiles, facts, start).map_err(refused)
    }

    /// Returns the pipeline of this name, or file, with the steps that are to be added.
    fn with_inserted(&self, name: &str) -> Result<Pipeline, Diagnostic> {
        let added = text_form::parse(Source {
            name: "--insert".to_owned(),
            text: self.insert.join(","),
        });
        let mut whole = added.map_err(refused)?;
        let action = Action::Include {
            pipeline: name.to_owned(),
        };
        let base = Step {
            action,
            ..Step::pass("")
        };
        whole.steps.insert(0, base);
        whole.name = name.to_owned() + " with --insert";
        Ok(whole)
    }

    /// Returns the steps to run for the pass manager: up to step `last`, if there is one.
    pub(crate) fn run_options(&self, last: Option<usize>) -> RunOptions {
        let step = |name: &String| -> Option<StepSelector> { name.parse().ok() };
        RunOptions {
            start_after: self.start_after.as_ref().and_then(step),
            stop_after: match last {
                Some(number) => Some(StepSelector::Number(number)),
                None => self.stop_after.as_ref().and_then(step),
            },
            skip: self.skip.iter().filter_map(step).collect(),
            optional_limit: self.bisect_limit,
        }
    }

    /// Lists which optional passes the limit lets run; the list is empty without a limit.
    pub(crate) fn bisect_report(&self, manager: &PassManager) -> String {
        let mut out = String::new();
        let Some(limit) = self.bisect_limit else {
            return out;
        };
        let steps = manager.pipeline().steps();
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
}
