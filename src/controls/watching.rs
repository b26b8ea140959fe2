//! What is checked and measured around passes.

use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;

/// What is checked and measured around passes; by default nothing.
#[derive(Clone, Debug, Default)]
pub struct Watching {
    /// Check invariants after every pass.
    pub verify_each: bool,
    /// Report times.
    pub time_passes: bool,
    /// Report what passes counted.
    pub statistics: Option<StatisticsForm>,
    /// File for a trace in Chrome's format.
    pub chrome_trace: Option<String>,
    /// A shell command to run after every pass that changed the module.
    pub exec_on_change: Option<String>,
    /// What is called before every pass.
    pub progress: Option<Progress>,
}

/// A function that is called before every pass, with its name, its number from 1 and their number;
/// `Break` ends the link.
#[derive(Clone)]
pub struct Progress(Arc<Told>);

type Told = dyn Fn(&str, usize, usize) -> ControlFlow<()> + Send + Sync;

impl Progress {
    /// Takes the function.
    pub fn new(
        told: impl Fn(&str, usize, usize) -> ControlFlow<()> + Send + Sync + 'static,
    ) -> Self {
        Progress(Arc::new(told))
    }

    /// Calls it.
    pub fn tell(&self, pass: &str, number: usize, of: usize) -> ControlFlow<()> {
        (self.0)(pass, number, of)
    }
}

impl fmt::Debug for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Progress")
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

impl Watching {
    /// Returns `true` if anything is checked or measured.
    pub(super) fn is_any(&self) -> bool {
        self.verify_each
            || self.time_passes
            || self.statistics.is_some()
            || self.chrome_trace.is_some()
            || self.exec_on_change.is_some()
            || self.progress.is_some()
    }
}
