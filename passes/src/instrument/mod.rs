//! Hooks around passes: everything that watches a link is an instance of [`Instrument`].
//!
//! Architecture Invariant: an instrument sees the module and never changes it, so that a link with
//! instruments writes the same bytes as one without.

mod dump;
mod remarks;
mod statistics;
mod timing;
mod tracing_spans;
mod verify_each;
mod why;

pub use dump::DiffText;
pub use dump::Dump;
pub use dump::DumpPasses;
pub use dump::DumpSink;
pub use remarks::RemarkList;
pub use statistics::PassStatistics;
pub use timing::Timing;
pub use tracing_spans::TracingSpans;
pub use verify_each::VerifyEach;
pub use why::Questions;
pub use why::Why;

use cuweld_diagnostics::Diagnostic;
use cuweld_ir::Module;
use thiserror::Error;

use crate::analyses::Analyses;
use crate::pass::Changed;
use crate::pass::PassError;
use crate::pass::Statistics;
use crate::remark::Remark;
use crate::remark::UnknownName;

/// Something that watches passes run.
///
/// Before a pass, instruments are called in order; after it, in reverse: the last one is closest to
/// the pass and measures nothing of the others. An error ends the link.
pub trait Instrument {
    /// Runs before the first pass.
    fn before_run(
        &mut self,
        run: &RunInfo<'_>,
        module: &Module<'_>,
    ) -> Result<(), InstrumentError> {
        let _ = (run, module);
        Ok(())
    }

    /// Runs before each pass.
    fn before_pass(
        &mut self,
        step: &StepInfo<'_>,
        module: &Module<'_>,
    ) -> Result<(), InstrumentError> {
        let _ = (step, module);
        Ok(())
    }

    /// Runs after each pass that succeeded.
    fn after_pass(
        &mut self,
        step: &StepInfo<'_>,
        module: &Module<'_>,
        report: &PassReport<'_>,
    ) -> Result<(), InstrumentError> {
        let _ = (step, module, report);
        Ok(())
    }

    /// Returns `true` if the instrument takes the remarks of a pass.
    fn wants_remarks(&self, pass: &str) -> bool {
        let _ = pass;
        false
    }

    /// Takes the remarks of a pass, if the instrument or another one wants them. Runs after all
    /// instruments were told of the end of the pass, so that the time it takes to make remarks is not
    /// the pass's.
    fn remarks(&mut self, step: &StepInfo<'_>, module: &Module<'_>, remarks: &[Remark]) {
        let _ = (step, module, remarks);
    }

    /// Runs after a pass that stopped the link.
    fn after_failed(&mut self, step: &StepInfo<'_>, module: &Module<'_>, error: &PassError) {
        let _ = (step, module, error);
    }

    /// Runs after the last pass, whether it succeeded or not.
    fn after_run(&mut self, run: &RunInfo<'_>, module: &Module<'_>) {
        let _ = (run, module);
    }

    /// Returns what a link says of what an [embedder's](crate::registry::Registry::register_instrument)
    /// instrument saw: lines that are written after the findings.
    fn said(&self) -> String {
        String::new()
    }
}

/// A run of a pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunInfo<'a> {
    /// Name of the pipeline.
    pub pipeline: &'a str,
    /// How many steps it has, with those that do not run.
    pub steps: usize,
}

/// A step of a pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepInfo<'a> {
    /// Its place, counted from one, the same whatever is skipped.
    pub number: usize,
    /// How many steps the pipeline has.
    pub of: usize,
    /// Name of the pass.
    pub name: &'static str,
    /// Names of the included pipelines that it comes from, outermost first.
    pub via: &'a [String],
}

impl StepInfo<'_> {
    /// Returns the number and name, such as `03-callgraph-dce`, so that sorted labels are in order
    /// of steps.
    pub fn label(&self) -> String {
        let width = self.of.to_string().len().max(2);
        format!("{:0width$}-{}", self.number, self.name)
    }
}

/// What a pass did.
#[derive(Clone, Copy, Debug)]
pub struct PassReport<'a> {
    /// Whether it says that it changed the module.
    pub changed: Changed,
    /// What it counted.
    pub statistics: &'a Statistics,
    /// What it found, sorted.
    pub diagnostics: &'a [Diagnostic],
    /// The analyses that are valid after it, by what it says.
    pub analyses: &'a Analyses,
}

/// Why an instrument ends the link.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum InstrumentError {
    /// The verifier found a module broken.
    #[error("the module is broken: {}", .0.join("; "))]
    Broken(Vec<String>),
    /// What a pass says of itself is not so.
    #[error("{0}")]
    Claim(String),
    /// A check from outside failed.
    #[error("{0}")]
    Check(String),
    /// Remarks are asked for about something that is not there.
    #[error("{0}")]
    Remarks(#[from] UnknownName),
    /// A dump could not be written.
    #[error("cannot write dump '{name}': {message}")]
    Dump {
        /// Name of the dump.
        name: String,
        /// What the sink says.
        message: String,
    },
}
