//! Whether passes are in an order that works.

use cuweld_ir::Phase;
use thiserror::Error;

use crate::pass::PassInfo;

/// Why an order of passes does not work.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PhaseError {
    /// A pass comes before the phase that it requires.
    #[error("pass '{pass}' (step {step}) requires phase '{}', but {} the module is only '{}'; {provider}", .requires.name(), after(*.last), .reached.name())]
    Missing {
        /// The pass.
        pass: &'static str,
        /// Its step.
        step: usize,
        /// What it requires.
        requires: Phase,
        /// What is reached at its place.
        reached: Phase,
        /// The pass that reached it.
        last: Option<&'static str>,
        /// What would establish the phase that it requires.
        provider: Provider,
    },
    /// A pass establishes a phase that the module has already passed.
    #[error("pass '{pass}' (step {step}) establishes phase '{}', but {} the module is already '{}'", .establishes.name(), after(*.last), .reached.name())]
    Backward {
        /// The pass.
        pass: &'static str,
        /// Its step.
        step: usize,
        /// What it establishes.
        establishes: Phase,
        /// What is reached at its place.
        reached: Phase,
        /// The pass that reached it.
        last: Option<&'static str>,
    },
    /// A pass comes too late.
    #[error("pass '{pass}' (step {step}) has to run before phase '{}', but {} the module is already '{}'", .before.name(), after(*.last), .reached.name())]
    Late {
        /// The pass.
        pass: &'static str,
        /// Its step.
        step: usize,
        /// The phase at which it is too late.
        before: Phase,
        /// What is reached at its place.
        reached: Phase,
        /// The pass that reached it.
        last: Option<&'static str>,
    },
    /// A pass comes again that may run once.
    #[error("pass '{pass}' (step {step}) runs once, and was step {first}")]
    Again {
        /// The pass.
        pass: &'static str,
        /// Its step.
        step: usize,
        /// Its first step.
        first: usize,
    },
    /// A pass is missing without which the file may be wrong.
    #[error("pass '{pass}', without which the file may be wrong, is {missing}")]
    Needed {
        /// The pass.
        pass: &'static str,
        /// Why it does not run.
        missing: LeftOut,
    },
}

/// Why a pass does not run.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum LeftOut {
    /// A condition does not hold, or it is to be skipped.
    #[error("left out: {0}")]
    Because(String),
    /// The pipeline lacks it.
    #[error("not in the pipeline")]
    Absent,
}

fn after(last: Option<&'static str>) -> String {
    last.map_or_else(
        || "at the start".to_owned(),
        |pass| format!("after '{pass}'"),
    )
}

/// What would establish a missing phase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Provider {
    /// A pass that comes too late.
    Later {
        /// The pass.
        pass: &'static str,
        /// Its step.
        step: usize,
    },
    /// A pass that is left out here.
    LeftOut {
        /// The pass.
        pass: &'static str,
        /// Why.
        why: String,
    },
    /// A pass that the pipeline lacks.
    Absent {
        /// The pass.
        pass: &'static str,
    },
    /// No pass that is known.
    Unknown,
}

impl std::fmt::Display for Provider {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Provider::Later { pass, step } => {
                write!(f, "'{pass}' establishes it only later (step {step})")
            }
            Provider::LeftOut { pass, why } => {
                write!(f, "'{pass}', which establishes it, is left out: {why}")
            }
            Provider::Absent { pass } => {
                write!(f, "'{pass}', which establishes it, is not in the pipeline")
            }
            Provider::Unknown => f.write_str("no known pass establishes it"),
        }
    }
}

/// How far the walls have come while going along a pipeline.
#[derive(Clone, Debug)]
pub(crate) struct Walls {
    /// The phase that is reached.
    pub reached: Phase,
    /// The pass that reached it.
    pub last: Option<&'static str>,
    /// The passes that run once, with their steps.
    once: Vec<(&'static str, usize)>,
}

impl Walls {
    /// Returns the state at the start of a pipeline.
    pub fn new(start: Phase) -> Self {
        Walls {
            reached: start,
            last: None,
            once: Vec::new(),
        }
    }

    /// Goes past a pass.
    pub fn pass(&mut self, info: &PassInfo, step: usize) {
        if let Some(phase) = info.establishes {
            (self.reached, self.last) = (phase, Some(info.name));
        }
        if info.once {
            self.once.push((info.name, step));
        }
    }
}

/// Checks one step and goes past it. `provider` is asked what establishes a missing phase.
pub(crate) fn check_step(
    walls: &mut Walls,
    info: &PassInfo,
    step: usize,
    provider: impl FnOnce(Phase) -> Provider,
) -> Result<(), PhaseError> {
    let &mut Walls { reached, last, .. } = walls;
    let (pass, requires) = (info.name, info.requires);
    if requires > reached {
        let provider = provider(requires);
        return Err(PhaseError::Missing {
            pass,
            step,
            requires,
            reached,
            last,
            provider,
        });
    }
    if let Some(establishes) = info.establishes.filter(|phase| *phase <= reached) {
        return Err(PhaseError::Backward {
            pass,
            step,
            establishes,
            reached,
            last,
        });
    }
    if let Some(before) = info.before.filter(|phase| *phase <= reached) {
        return Err(PhaseError::Late {
            pass,
            step,
            before,
            reached,
            last,
        });
    }
    if let Some((_, first)) = walls.once.iter().find(|(name, _)| *name == pass) {
        let first = *first;
        return Err(PhaseError::Again { pass, step, first });
    }
    walls.pass(info, step);
    Ok(())
}
