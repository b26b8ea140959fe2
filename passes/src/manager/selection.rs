//! Which steps of a pipeline run: where to start and stop, what to skip.

use std::fmt;
use std::str::FromStr;

use cuweld_ir::Phase;
use thiserror::Error;

use crate::pipeline::LeftOut;
use crate::pipeline::PhaseError;
use crate::pipeline::Provider;
use crate::pipeline::Resolved;
use crate::pipeline::ResolvedStep;
use crate::pipeline::Walls;
use crate::pipeline::check_step;
use crate::pipeline::writes_link;
use crate::suggest;

/// Why a step is left out that the options say to skip.
const SKIPPED: &str = "it is skipped";

/// Names a step of a pipeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StepSelector {
    /// The step with this number, counted from one.
    Number(usize),
    /// The step that runs this pass.
    Pass(String),
}

impl FromStr for StepSelector {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(text.parse().map_or_else(
            |_| StepSelector::Pass(text.to_owned()),
            StepSelector::Number,
        ))
    }
}

impl fmt::Display for StepSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StepSelector::Number(number) => write!(f, "{number}"),
            StepSelector::Pass(name) => f.write_str(name),
        }
    }
}

/// Which steps to run; by default all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunOptions {
    /// The last step that the module has been through already; `Number(0)` for none.
    pub start_after: Option<StepSelector>,
    /// The last step to run.
    pub stop_after: Option<StepSelector>,
    /// Steps to leave out; a name means every step that runs this pass.
    pub skip: Vec<StepSelector>,
    /// How many of the optional steps to run, counted from the first of the pipeline; the others
    /// are left out. `None` for all.
    pub optional_limit: Option<usize>,
}

/// Why steps cannot be run as asked.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SelectionError {
    /// The pipeline does not run this pass.
    #[error("pipeline '{pipeline}' has no pass '{name}'{}", .suggestion.map_or(String::new(), |word| format!("; did you mean '{word}'?")))]
    NoSuchPass {
        /// Name of the pipeline.
        pipeline: String,
        /// The name.
        name: String,
        /// What was probably meant.
        suggestion: Option<&'static str>,
    },
    /// The pipeline has fewer steps.
    #[error("pipeline '{pipeline}' has no step {number}; it has {steps}")]
    NoSuchStep {
        /// Name of the pipeline.
        pipeline: String,
        /// The number.
        number: usize,
        /// How many there are.
        steps: usize,
    },
    /// The pipeline runs this pass more than once.
    #[error("pass '{name}' is steps {} of pipeline '{pipeline}'; name the one that is meant by its number", list(.steps))]
    Ambiguous {
        /// Name of the pipeline.
        pipeline: String,
        /// The pass.
        name: String,
        /// The steps that run it.
        steps: Vec<usize>,
    },
    /// The run would stop before it starts.
    #[error("nothing is left to run: the start is after step {start}, the stop after step {stop}")]
    Nothing {
        /// Steps that the module has been through.
        start: usize,
        /// The last step to run.
        stop: usize,
    },
    /// The module is not where the start is.
    #[error("the module is '{}', but {} it would be '{}'", .found.name(), if *.after == 0 { "at the start of the pipeline".to_owned() } else { format!("after step {after} of the pipeline") }, .expected.name())]
    WrongPhase {
        /// Steps that the module should have been through.
        after: usize,
        /// The phase of the module.
        found: Phase,
        /// The phase after these steps.
        expected: Phase,
    },
    /// With steps left out, the order does not work.
    #[error(transparent)]
    Phase(#[from] PhaseError),
}

fn list(numbers: &[usize]) -> String {
    let words: Vec<String> = numbers.iter().map(usize::to_string).collect();
    words.join(" and ")
}

/// The steps to run.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Selection {
    /// How many steps the module has been through.
    pub start: usize,
    /// The number of the last step to run.
    pub stop: usize,
    /// Numbers of steps to leave out.
    skip: Vec<usize>,
}

impl Selection {
    /// Finds the steps and checks that they can run in this order on a module of this phase.
    pub fn new(
        pipeline: &Resolved,
        options: &RunOptions,
        phase: Phase,
    ) -> Result<Self, SelectionError> {
        let start = match &options.start_after {
            None => 0,
            Some(selector) => start(pipeline, selector)?,
        };
        let selection = Self::from(pipeline, options, start)?;
        selection.check(pipeline, phase)?;
        Ok(selection)
    }

    /// Finds the steps after the one in which a pass has stopped the link: that from which to go on,
    /// or the last that runs this pass.
    pub fn after_stop(
        pipeline: &Resolved,
        options: &RunOptions,
        pass: &str,
    ) -> Result<Self, SelectionError> {
        let runs = |(_, step): &(usize, &ResolvedStep)| step.pass.info().name == pass;
        let start = match &options.start_after {
            Some(selector) => start(pipeline, selector)?,
            None => numbered(pipeline)
                .filter(runs)
                .last()
                .map_or(0, |(number, _)| number),
        };
        Self::from(pipeline, options, start)
    }

    /// Finds the steps after one, in whatever order they are.
    fn from(
        pipeline: &Resolved,
        options: &RunOptions,
        start: usize,
    ) -> Result<Self, SelectionError> {
        let steps = pipeline.steps().len();
        let stop = match &options.stop_after {
            None => steps,
            Some(selector) => one(pipeline, selector)?,
        };
        if stop < start {
            return Err(SelectionError::Nothing { start, stop });
        }
        let mut skip = Vec::new();
        for selector in &options.skip {
            skip.extend(all(pipeline, selector)?);
        }
        if let Some(limit) = options.optional_limit {
            skip.extend(optional_steps(pipeline).skip(limit));
        }
        Ok(Selection { start, stop, skip })
    }

    /// Returns the steps that run, with their numbers.
    pub fn steps<'p>(
        &self,
        pipeline: &'p Resolved,
    ) -> impl Iterator<Item = (usize, &'p ResolvedStep)> {
        numbered(pipeline)
            .take(self.stop)
            .skip(self.start)
            .filter(|(number, _)| !self.skip.contains(number))
    }

    fn check(&self, pipeline: &Resolved, phase: Phase) -> Result<(), SelectionError> {
        let mut walls = Walls::new(pipeline.start());
        for (number, step) in numbered(pipeline).take(self.start) {
            if !self.skip.contains(&number) {
                walls.pass(&step.pass.info(), number);
            }
        }
        if walls.reached != phase {
            let (after, expected) = (self.start, walls.reached);
            return Err(SelectionError::WrongPhase {
                after,
                found: phase,
                expected,
            });
        }
        for (number, step) in self.steps(pipeline) {
            let info = step.pass.info();
            // The order was checked as a whole, so what is missing is what was left out.
            let provider = |missing| {
                let left_out = numbered(pipeline).find(|(number, step)| {
                    self.skip.contains(number)
                        && step
                            .pass
                            .info()
                            .establishes
                            .is_some_and(|phase| phase >= missing)
                });
                left_out.map_or(Provider::Unknown, |(_, step)| Provider::LeftOut {
                    pass: step.pass.info().name,
                    why: SKIPPED.to_owned(),
                })
            };
            check_step(&mut walls, &info, number, provider)?;
        }
        let mut skipped = numbered(pipeline).filter(|(number, _)| self.skip.contains(number));
        if writes_link(phase, walls.reached)
            && let Some((_, step)) = skipped.find(|(_, step)| step.required)
        {
            let pass = step.pass.info().name;
            let missing = LeftOut::Because(SKIPPED.to_owned());
            return Err(PhaseError::Needed { pass, missing }.into());
        }
        Ok(())
    }
}

/// Returns the numbers of the steps that a link is right without
/// ([`crate::PassInfo::is_optional`]), in order.
pub fn optional_steps(pipeline: &Resolved) -> impl Iterator<Item = usize> {
    numbered(pipeline)
        .filter(|(_, step)| step.pass.info().is_optional())
        .map(|(number, _)| number)
}

fn numbered(pipeline: &Resolved) -> impl Iterator<Item = (usize, &ResolvedStep)> {
    (1..).zip(pipeline.steps())
}

/// Returns the steps that a selector names.
fn all(pipeline: &Resolved, selector: &StepSelector) -> Result<Vec<usize>, SelectionError> {
    let steps = pipeline.steps().len();
    let name = match selector {
        StepSelector::Number(number) if (1..=steps).contains(number) => return Ok(vec![*number]),
        StepSelector::Number(number) => {
            let (pipeline, number) = (pipeline.name().to_owned(), *number);
            return Err(SelectionError::NoSuchStep {
                pipeline,
                number,
                steps,
            });
        }
        StepSelector::Pass(name) => name,
    };
    let found: Vec<usize> = numbered(pipeline)
        .filter(|(_, step)| step.pass.info().name == name)
        .map(|(number, _)| number)
        .collect();
    if found.is_empty() {
        return Err(SelectionError::NoSuchPass {
            pipeline: pipeline.name().to_owned(),
            name: name.clone(),
            suggestion: suggest::nearest(
                name,
                pipeline.steps().iter().map(|step| step.pass.info().name),
            ),
        });
    }
    Ok(found)
}

/// Returns the number of the step after which to start; 0 is before the first.
fn start(pipeline: &Resolved, selector: &StepSelector) -> Result<usize, SelectionError> {
    match selector {
        StepSelector::Number(0) => Ok(0),
        selector => one(pipeline, selector),
    }
}

/// Returns the one step that a selector names.
fn one(pipeline: &Resolved, selector: &StepSelector) -> Result<usize, SelectionError> {
    match *all(pipeline, selector)? {
        [number] => Ok(number),
        ref steps => Err(SelectionError::Ambiguous {
            pipeline: pipeline.name().to_owned(),
            name: selector.to_string(),
            steps: steps.to_vec(),
        }),
    }
}
