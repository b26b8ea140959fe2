//! A trace in the format of Chrome's trace viewer, which Perfetto (ui.perfetto.dev) opens.

use std::time::Duration;
use std::time::Instant;

use cuweld_ir::Module;
use cuweld_passes::PassError;
use cuweld_passes::instrument::Instrument;
use cuweld_passes::instrument::InstrumentError;
use cuweld_passes::instrument::PassReport;
use cuweld_passes::instrument::RunInfo;
use cuweld_passes::instrument::StepInfo;
use serde_json::Map;
use serde_json::Value;
use serde_json::json;

/// Collects a slice for every pass, with what it counted, and the size of memory after it.
pub struct ChromeTrace {
    start: Instant,
    run_begun: Duration,
    pass_begun: Duration,
    events: Vec<Value>,
}

impl Default for ChromeTrace {
    fn default() -> Self {
        ChromeTrace {
            start: Instant::now(),
            run_begun: Duration::ZERO,
            pass_begun: Duration::ZERO,
            events: Vec::new(),
        }
    }
}

impl ChromeTrace {
    /// Starts a trace whose time begins now.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the trace as JSON.
    pub fn json(&self) -> String {
        json!({ "displayTimeUnit": "ms", "traceEvents": self.events }).to_string()
    }

    /// Adds a slice that ends now.
    fn slice(&mut self, name: &str, category: &str, begun: Duration, arguments: Value) {
        let end = self.start.elapsed();
        self.events.push(json!({
            "ph": "X", "pid": 1, "tid": 1, "name": name, "cat": category, "args": arguments,
            "ts": microseconds(begun), "dur": microseconds(end.saturating_sub(begun)),
        }));
    }

    fn memory(&mut self) {
        let Some(bytes) = super::peak_memory() else {
            return;
        };
        self.events.push(json!({
            "ph": "C", "pid": 1, "name": "peak memory", "ts": microseconds(self.start.elapsed()),
            "args": { "MiB": bytes as f64 / f64::from(1 << 20) },
        }));
    }
}

fn microseconds(time: Duration) -> f64 {
    time.as_nanos() as f64 / 1e3
}

impl Instrument for ChromeTrace {
    fn before_run(&mut self, _: &RunInfo<'_>, _: &Module<'_>) -> Result<(), InstrumentError> {
        self.run_begun = self.start.elapsed();
        Ok(())
    }

    fn before_pass(&mut self, _: &StepInfo<'_>, _: &Module<'_>) -> Result<(), InstrumentError> {
        self.pass_begun = self.start.elapsed();
        Ok(())
    }

    fn after_pass(
        &mut self,
        step: &StepInfo<'_>,
        _: &Module<'_>,
        report: &PassReport<'_>,
    ) -> Result<(), InstrumentError> {
        let counters = report.statistics.counters().iter();
        let mut arguments: Map<String, Value> = counters
            .map(|(name, count)| ((*name).to_owned(), (*count).into()))
            .collect();
        arguments.insert("step".to_owned(), step.number.into());
        self.slice(step.name, "pass", self.pass_begun, arguments.into());
        self.memory();
        Ok(())
    }

    fn after_failed(&mut self, step: &StepInfo<'_>, _: &Module<'_>, error: &PassError) {
        let arguments = json!({ "error": error.to_string() });
        self.slice(step.name, "pass", self.pass_begun, arguments);
    }

    fn after_run(&mut self, run: &RunInfo<'_>, _: &Module<'_>) {
        let arguments = json!({ "steps": run.steps });
        self.slice(run.pipeline, "pipeline", self.run_begun, arguments);
    }
}
