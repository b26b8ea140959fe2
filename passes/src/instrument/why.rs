//! Answers to "why is this in the output?": remarks on liveness and on objects that take part.
//!
//! The rules are those of `callgraph-dce`, `symbol-resolve` and `select-objects`; they are applied
//! again to the module that these passes left, so that a link without questions does nothing for
//! them.

mod extract;
mod live;

use cuweld_ir::Module;
use cuweld_ir::Phase;

use super::Instrument;
use super::InstrumentError;
use super::PassReport;
use super::StepInfo;

/// Explains names, as soon as what is asked for is decided.
#[derive(Debug, Default)]
pub struct Why {
    live: Vec<String>,
    extract: Vec<String>,
    text: String,
}

impl Why {
    /// Explains why functions and variables stay or go, and why objects take part or do not.
    pub fn new(live: &[String], extract: &[String]) -> Self {
        Why {
            live: live.to_vec(),
            extract: extract.to_vec(),
            text: String::new(),
        }
    }

    /// Returns the answers, with a line for each question that the run did not get to.
    pub fn report(&self) -> String {
        let mut text = self.text.clone();
        for name in self.extract.iter().chain(&self.live) {
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
        if module.phase >= Phase::Selected && !self.extract.is_empty() {
            for name in std::mem::take(&mut self.extract) {
                self.text.push_str(&extract::explain(module, &name));
            }
        }
        if module.phase >= Phase::Live && !self.live.is_empty() {
            for name in std::mem::take(&mut self.live) {
                self.text.push_str(&live::explain(module, &name));
            }
        }
        Ok(())
    }
}
