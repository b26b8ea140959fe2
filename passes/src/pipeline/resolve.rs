//! From a pipeline to passes ready to run.

use std::fmt;

use cuweld_ir::Phase;

use super::Facts;
use super::error::PipelineError;
use super::error::PipelineErrorKind;
use super::expand::Expansion;
use super::expand::expand;
use super::model::Action;
use super::model::Condition;
use super::model::Pipeline;
use super::model::Place;
use super::model::Setting;
use super::model::Step;
use super::model::pass_options;
use super::phases::LeftOut;
use super::phases::PhaseError;
use super::phases::Provider;
use super::phases::Walls;
use super::phases::check_step;
use super::source::Embedded;
use super::source::PipelineSource;
use crate::pass::Pass;
use crate::pass::PassInfo;
use crate::registry::Origin;
use crate::registry::Registry;

/// A pipeline whose passes are known, made and in an order that works.
#[derive(Debug)]
pub struct Resolved {
    name: String,
    summary: String,
    start: Phase,
    end: Phase,
    steps: Vec<ResolvedStep>,
}

/// A pass ready to run.
pub struct ResolvedStep {
    /// The pass.
    pub pass: Box<dyn Pass>,
    /// Where the pass comes from.
    pub origin: Origin,
    /// Its options as given.
    pub options: Vec<Setting>,
    /// Names of the included pipelines that it comes from, outermost first.
    pub via: Vec<String>,
    /// Whether the link may be wrong without it.
    pub required: bool,
}

impl fmt::Debug for ResolvedStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResolvedStep")
            .field("pass", &self.pass.info().name)
            .field("options", &self.options)
            .field("via", &self.via)
            .finish()
    }
}

impl Resolved {
    /// Returns the pipeline that a link runs if none is asked for, resolved without parsing its
    /// file.
    pub fn standard(registry: &Registry, facts: Facts) -> Result<Self, PipelineError> {
        let pipeline = Embedded::standard_pipeline(facts)?;
        resolve(&pipeline, registry, &Embedded, facts, Phase::Lowered)
    }

    /// Returns the name of the pipeline.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the phase that a module has at its start.
    pub fn start(&self) -> Phase {
        self.start
    }

    /// Returns the phase that a module has at its end.
    pub fn end(&self) -> Phase {
        self.end
    }

    /// Returns the passes, in order. A step's number is its place counted from one.
    pub fn steps(&self) -> &[ResolvedStep] {
        &self.steps
    }

    /// Returns the pipeline with everything decided: no includes, no conditions.
    pub fn to_pipeline(&self) -> Pipeline {
        let steps = self.steps.iter().map(|step| Step {
            action: Action::Pass {
                name: step.pass.info().name.to_owned(),
                options: step.options.clone(),
            },
            when: Vec::new(),
            anchor: None,
            place: Place::default(),
        });
        Pipeline {
            name: self.name.clone(),
            summary: self.summary.clone(),
            when: Vec::new(),
            steps: steps.collect(),
            source: None,
        }
    }
}

/// Finds and makes the passes of a pipeline for a module that has reached `start`, and checks that
/// they can run in this order. Steps whose conditions do not hold are checked, then left out.
pub fn resolve(
    pipeline: &Pipeline,
    registry: &Registry,
    source: &dyn PipelineSource,
    facts: Facts,
    start: Phase,
) -> Result<Resolved, PipelineError> {
    let expansion = expand(pipeline, source)?;
    check_wants(&expansion, facts)?;
    // Each step with the reason why it is left out, if it is. Phases are those of the pass that was
    // made: options may move them.
    let mut found: Vec<(PassInfo, Option<String>)> = Vec::with_capacity(expansion.steps.len());
    let mut steps = Vec::with_capacity(expansion.steps.len());
    for step in &expansion.steps {
        let text = expansion.source(step.source);
        let Some(known) = registry.get(&step.name) else {
            let suggestion = registry.suggest(&step.name);
            let kind = PipelineErrorKind::UnknownPass {
                name: step.name.clone(),
                suggestion,
            };
            return Err(PipelineError::new(kind, text, &step.place));
        };
        let unmet = first_unmet(&expansion, facts, &step.when)?;
        let left_out = unmet.map(|condition| format!("'{condition}' does not hold"));
        let pass = known.make(&pass_options(&step.options)).map_err(|error| {
            let named = step
                .options
                .iter()
                .find(|setting| Some(&*setting.name) == error.option());
            let place = named.map_or(&step.place, |setting| &setting.place);
            let kind = PipelineErrorKind::Option {
                pass: step.name.clone(),
                error: error.clone(),
            };
            PipelineError::new(kind, text, place)
        })?;
        found.push((pass.info(), left_out.clone()));
        if left_out.is_none() {
            steps.push(ResolvedStep {
                options: step.options.clone(),
                via: step.via.clone(),
                required: pass.info().required.holds(facts),
                origin: known.origin.clone(),
                pass,
            });
        }
    }
    let mut walls = Walls::new(start);
    let mut number = 0;
    for (index, (info, left_out)) in found.iter().enumerate() {
        if left_out.is_some() {
            continue;
        }
        number += 1;
        let provider = |missing| provider(&found, index, number, missing, registry);
        let refused = |kind| {
            let step = expansion.steps.get(index);
            let text = step.and_then(|step| expansion.source(step.source));
            let place = step.map(|step| step.place.clone()).unwrap_or_default();
            PipelineError::new(kind, text, &place)
        };
        check_step(&mut walls, info, number, provider)
            .map_err(|error| refused(PipelineErrorKind::Phase(error)))?;
        if let Some(fact) = info.refused_fact(facts) {
            return Err(refused(PipelineErrorKind::RefusedFact {
                pass: info.name,
                fact: fact.doc,
            }));
        }
    }
    if writes_link(start, walls.reached)
        && let Some(error) = needed(&found, registry, facts)
    {
        return Err(PipelineError::new(
            PipelineErrorKind::Phase(error),
            None,
            &Place::default(),
        ));
    }
    Ok(Resolved {
        name: pipeline.name.clone(),
        summary: pipeline.summary.clone(),
        start,
        end: walls.reached,
        steps,
    })
}

/// Refuses a pipeline that is for other links.
fn check_wants(expansion: &Expansion, facts: Facts) -> Result<(), PipelineError> {
    for want in &expansion.wants {
        let is_left_out = first_unmet(expansion, facts, &want.when)?.is_some();
        let own = std::slice::from_ref(&want.condition);
        if let Some(condition) = first_unmet(expansion, facts, own)?
            && !is_left_out
        {
            let kind = PipelineErrorKind::OtherLink {
                pipeline: want.pipeline.clone(),
                negated: condition.negated,
                fact: Facts::doc(&condition.fact),
            };
            let text = expansion.source(want.condition.1);
            return Err(PipelineError::new(kind, text, &condition.place));
        }
    }
    Ok(())
}

/// Returns the first of these conditions, each with its text, that does not hold. Refuses one that
/// names no fact, wherever it stands.
fn first_unmet<'c>(
    expansion: &Expansion,
    facts: Facts,
    conditions: &'c [(Condition, usize)],
) -> Result<Option<&'c Condition>, PipelineError> {
    let mut unmet = None;
    for (condition, text) in conditions {
        let Some(holds) = facts.holds(&condition.fact) else {
            let kind = PipelineErrorKind::UnknownFact {
                name: condition.fact.clone(),
                suggestion: Facts::suggest(&condition.fact),
            };
            let text = expansion.source(*text);
            return Err(PipelineError::new(kind, text, &condition.place));
        };
        if holds == condition.negated {
            unmet = unmet.or(Some(condition));
        }
    }
    Ok(unmet)
}

/// Returns `true` if steps that begin and end with these phases make a file of objects. What ran
/// before a later beginning is not known.
pub(crate) fn writes_link(start: Phase, end: Phase) -> bool {
    start == Phase::Lowered && end >= Phase::Emitted
}

/// Returns the error about a pass that links with these facts need and that does not run.
fn needed(
    found: &[(PassInfo, Option<String>)],
    registry: &Registry,
    facts: Facts,
) -> Option<PhaseError> {
    let mut needed = registry.iter().filter(|info| info.required.holds(facts));
    needed.find_map(|needed| {
        let pass = needed.name;
        let mut steps = found.iter().filter(|(info, _)| info.name == pass);
        if steps.clone().any(|(_, left_out)| left_out.is_none()) {
            return None;
        }
        let why = steps.find_map(|(_, left_out)| left_out.clone());
        let missing = why.map_or(LeftOut::Absent, LeftOut::Because);
        Some(PhaseError::Needed { pass, missing })
    })
}

/// Returns `true` if a pass brings a module to the missing phase. One that itself requires it is no
/// help.
fn provides(info: &PassInfo, missing: Phase) -> bool {
    info.requires < missing && info.establishes.is_some_and(|phase| phase >= missing)
}

/// Returns what establishes a phase that is missing before the step at `index`, whose number is
/// `number`.
fn provider(
    found: &[(PassInfo, Option<String>)],
    index: usize,
    mut number: usize,
    missing: Phase,
    registry: &Registry,
) -> Provider {
    for (info, left_out) in found.get(..index).unwrap_or(&[]) {
        if let Some(why) = left_out.as_ref().filter(|_| provides(info, missing)) {
            return Provider::LeftOut {
                pass: info.name,
                why: why.clone(),
            };
        }
    }
    for (info, left_out) in found.get(index + 1..).unwrap_or(&[]) {
        number += usize::from(left_out.is_none());
        if left_out.is_none() && provides(info, missing) {
            return Provider::Later {
                pass: info.name,
                step: number,
            };
        }
    }
    // Of the passes that the pipeline lacks, the one that goes no further than needed.
    let absent = registry
        .iter()
        .filter(|info| provides(info, missing))
        .min_by_key(|info| info.establishes);
    absent.map_or(Provider::Unknown, |info| Provider::Absent {
        pass: info.name,
    })
}
