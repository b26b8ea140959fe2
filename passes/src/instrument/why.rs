//! Answers to "why is this in the output?": remarks on liveness and on objects that take part.
//!
//! The rules are those of `callgraph-dce`, `symbol-resolve` and `select-objects`; they are applied
//! again to the module that these passes left, so that a link without questions does nothing for
//! them.

mod extract;
mod live;
mod resources;

use cuweld_ir::Module;
use cuweld_ir::Phase;

use super::Instrument;
use super::InstrumentError;
use super::PassReport;
use super::StepInfo;
use resources::Resource;

/// What of a link is to be explained, each by names; by default nothing.
#[derive(Clone, Debug, Default)]
pub struct Questions {
    /// Why functions and variables stay or go.
    pub live: Vec<String>,
    /// Why objects take part or do not.
    pub extract: Vec<String>,
    /// Which calls make up the stack of kernels.
    pub stack: Vec<String>,
    /// Which calls give kernels their registers.
    pub registers: Vec<String>,
}

impl Questions {
    /// Returns all names that something is asked about.
    fn names(&self) -> impl Iterator<Item = &String> {
        let Questions {
            live,
            extract,
            stack,
            registers,
        } = self;
        [extract, live, stack, registers].into_iter().flatten()
    }

    /// Returns `true` if nothing is asked.
    pub fn is_empty(&self) -> bool {
        self.names().next().is_none()
    }
}

/// Explains names, as soon as what is asked for is decided.
#[derive(Debug, Default)]
pub struct Why {
    questions: Questions,
    text: String,
}

impl Why {
    /// Answers these questions.
    pub fn new(questions: Questions) -> Self {
        Why {
            questions,
            text: String::new(),
        }
    }

    /// Returns the answers, with a line for each question that the run did not get to.
    pub fn report(&self) -> String {
        let mut text = self.text.clone();
        for name in self.questions.names() {
            text.push_str(&format!(
                "'{name}': the run ended before this was decided\n"
            ));
        }
        text
    }
}

impl Instrument for Why {
    fn after_pass(
        &mut self,
        _: &StepInfo<'_>,
        module: &Module<'_>,
        _: &PassReport<'_>,
    ) -> Result<(), InstrumentError> {
        let Questions {
            live,
            extract,
            stack,
            registers,
        } = &mut self.questions;
        let mut answer =
            |since: Phase, names: &mut Vec<String>, explain: &dyn Fn(&str) -> String| {
                if module.phase >= since {
                    for name in std::mem::take(names) {
                        self.text.push_str(&explain(&name));
                    }
                }
            };
        answer(Phase::Selected, extract, &|name| {
            extract::explain(module, name)
        });
        answer(Phase::Live, live, &|name| live::explain(module, name));
        let resource = |resource| move |name: &str| resources::explain(module, name, resource);
        answer(Phase::Placed, stack, &resource(Resource::Stack));
        answer(Phase::Placed, registers, &resource(Resource::Registers));
        Ok(())
    }
}
