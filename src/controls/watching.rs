//! What is checked and measured around passes.

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
    }
}
