//! Includes: a pipeline with the steps of what it includes in their place.

use std::ops::Range;

use super::error::PipelineError;
use super::error::PipelineErrorKind;
use super::model::Action;
use super::model::Condition;
use super::model::MOST_STEPS;
use super::model::Pipeline;
use super::model::Place;
use super::model::Setting;
use super::model::Side;
use super::model::Source;
use super::model::Step;
use super::source::PipelineSource;
use super::toml_form;
use crate::suggest;

/// A step that runs a pass, with where it comes from.
pub(super) struct Expanded {
    /// Name of the pass.
    pub name: String,
    /// Its options.
    pub options: Vec<Setting>,
    /// Its own conditions and those of the includes around it, each with its text.
    pub when: Vec<(Condition, usize)>,
    /// Where the name stands.
    pub place: Place,
    /// Its text, an index into [`Expansion::sources`].
    pub source: usize,
    /// Names of the included pipelines around it, outermost first.
    pub via: Vec<String>,
}

/// A condition of a pipeline itself: it is for links where that holds.
pub(super) struct Want {
    /// Name of the pipeline.
    pub pipeline: String,
    /// The condition, with its text.
    pub condition: (Condition, usize),
    /// Conditions of the includes around it, each with its text.
    pub when: Vec<(Condition, usize)>,
}

/// A pipeline without includes.
#[derive(Default)]
pub(super) struct Expansion {
    /// Its steps.
    pub steps: Vec<Expanded>,
    /// What pipelines want of the link.
    pub wants: Vec<Want>,
    /// The texts that steps come from.
    pub sources: Vec<Option<Source>>,
}

impl Expansion {
    /// Returns the text of a step or condition.
    pub fn source(&self, index: usize) -> Option<&Source> {
        self.sources.get(index)?.as_ref()
    }
}

/// Puts the steps of included pipelines in the place of their includes.
pub(super) fn expand(
    pipeline: &Pipeline,
    source: &dyn PipelineSource,
) -> Result<Expansion, PipelineError> {
    let mut expansion = Expansion::default();
    let mut open = vec![pipeline.name.clone()];
    walk(pipeline, source, &mut open, &[], &mut expansion)?;
    Ok(expansion)
}

/// Returns which steps a step takes the place of: none, at the end or beside another one, or that
/// one. `first` is the first step of the pipeline that it belongs to.
fn place_of(
    (pipeline, step): (&Pipeline, &Step),
    steps: &[Expanded],
    first: usize,
) -> Result<Range<usize>, PipelineError> {
    let Some(anchor) = &step.anchor else {
        return Ok(steps.len()..steps.len());
    };
    let own = steps.get(first..).unwrap_or(&[]);
    let mut found = (first..)
        .zip(own)
        .filter(|(_, step)| step.name == anchor.pass);
    let count = found.clone().count();
    let pass = anchor.pass.clone();
    let kind = match (found.next(), count) {
        (Some((at, _)), 1) => {
            return Ok(match anchor.side {
                Side::Before => at..at,
                Side::After => at + 1..at + 1,
                Side::Replace => at..at + 1,
            });
        }
        (None, _) => {
            let names = own.iter().map(|step| step.name.as_str());
            let suggestion = suggest::nearest(&pass, names).map(str::to_owned);
            PipelineErrorKind::NoAnchor { pass, suggestion }
        }
        (Some(_), count) => PipelineErrorKind::ManyAnchors { pass, count },
    };
    let text = pipeline.source.as_ref();
    Err(PipelineError::new(kind, text, &anchor.place))
}

/// Appends a pipeline's steps. `open` names the pipelines that are being expanded, which bounds the
/// depth: a pipeline is open once, and there are as many as the source has. Files are named by
/// their paths.
fn walk(
    pipeline: &Pipeline,
    source: &dyn PipelineSource,
    open: &mut Vec<String>,
    outer: &[(Condition, usize)],
    expansion: &mut Expansion,
) -> Result<(), PipelineError> {
    let (text, first) = (expansion.sources.len(), expansion.steps.len());
    expansion.sources.push(pipeline.source.clone());
    expansion
        .wants
        .extend(pipeline.when.iter().map(|condition| Want {
            pipeline: pipeline.name.clone(),
            condition: (condition.clone(), text),
            when: outer.to_vec(),
        }));
    for step in &pipeline.steps {
        let mut when = outer.to_vec();
        when.extend(step.when.iter().map(|condition| (condition.clone(), text)));
        let included = match &step.action {
            Action::Pass { name, options } => {
                let at = place_of((pipeline, step), &expansion.steps, first)?;
                let new = Expanded {
                    name: name.clone(),
                    options: options.clone(),
                    when,
                    place: step.place.clone(),
                    source: text,
                    via: open.get(1..).unwrap_or(&[]).to_vec(),
                };
                match at.start == expansion.steps.len() {
                    true => expansion.steps.push(new),
                    false => drop(expansion.steps.splice(at, [new])),
                }
                continue;
            }
            Action::Include { pipeline } => pipeline,
        };
        let refuse = |kind| {
            Err(PipelineError::new(
                kind,
                pipeline.source.as_ref(),
                &step.place,
            ))
        };
        if expansion.steps.len() + expansion.sources.len() > MOST_STEPS {
            return refuse(PipelineErrorKind::TooManySteps);
        }
        if let Some(first) = open.iter().position(|name| name == included) {
            let mut chain = open.split_off(first);
            chain.push(included.clone());
            return refuse(PipelineErrorKind::IncludeCycle(chain));
        }
        let Some(file) = source.find(included, pipeline.source.as_ref()) else {
            let names = source.names();
            let suggestion = suggest::nearest(included, names.iter().map(String::as_str));
            return refuse(PipelineErrorKind::UnknownPipeline {
                name: included.clone(),
                suggestion: suggestion.map(str::to_owned),
            });
        };
        let inner = toml_form::parse(file)?;
        open.push(included.clone());
        let end = expansion.steps.len();
        walk(&inner, source, open, &when, expansion)?;
        open.pop();
        let steps = expansion.steps.split_off(end);
        let at = place_of((pipeline, step), &expansion.steps, first)?;
        expansion.steps.splice(at, steps);
    }
    Ok(())
}
