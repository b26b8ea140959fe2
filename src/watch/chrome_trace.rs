//! A trace in the format of Chrome's trace viewer, which Perfetto (ui.perfetto.dev) opens.

use std::fmt::Write as _;
use std::time::Duration;
use std::time::Instant;

use cuweld_ir::Module;
use cuweld_passes::PassError;
use cuweld_passes::instrument::Instrument;
use cuweld_passes::instrument::InstrumentError;
use cuweld_passes::instrument::PassReport;
use cuweld_passes::instrument::RunInfo;
use cuweld_passes::instrument::StepInfo;

/// Collects a slice for every pass, with what it counted, and the size of memory after it.
pub struct ChromeTrace {
    start: Instant,
    run_begun: Duration,
    pass_begun: Duration,
    /// Complete events, one a line.
    events: Vec<String>,
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
    /// Time begins now.
    pub fn new() -> Self {
        Self::default()
    }

    /// The trace as JSON.
    pub fn json(&self) -> String {
        format!(
            "{{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n{}\n]}}\n",
            self.events.join(",\n")
        )
    }

    fn slice(
        &mut self,
        name: &str,
        category: &str,
        begun: Duration,
        arguments: &serde_json::Value,
    ) {
        let end = self.start.elapsed();
        let microseconds = |time: Duration| time.as_nanos() as f64 / 1e3;
        self.events.push(format!(
            "{{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"name\":{},\"cat\":\"{category}\",\"ts\":{},\"dur\":{},\"args\":{arguments}}}",
            serde_json::Value::from(name),
            microseconds(begun),
            microseconds(end.saturating_sub(begun)),
        ));
    }

    fn memory(&mut self) {
        let Some(bytes) = super::peak_memory() else {
            return;
        };
        let time = self.start.elapsed().as_nanos() as f64 / 1e3;
        let mut event = String::new();
        let _ = write!(
            event,
            "{{\"ph\":\"C\",\"pid\":1,\"name\":\"peak memory\",\"ts\":{time},\"args\":{{\"MiB\":{}}}}}",
            bytes as f64 / f64::from(1 << 20)
        );
        self.events.push(event);
    }
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
        let mut arguments: serde_json::Map<String, serde_json::Value> = counters
            .map(|(name, count)| ((*name).to_owned(), (*count).into()))
            .collect();
        arguments.insert("step".to_owned(), step.number.into());
        self.slice(step.name, "pass", self.pass_begun, &arguments.into());
        self.memory();
        Ok(())
    }

    fn after_failed(&mut self, step: &StepInfo<'_>, _: &Module<'_>, error: &PassError) {
        let arguments = serde_json::json!({ "error": error.to_string() });
        self.slice(step.name, "pass", self.pass_begun, &arguments);
    }

    fn after_run(&mut self, run: &RunInfo<'_>, _: &Module<'_>) {
        let arguments = serde_json::json!({ "steps": run.steps });
        self.slice(run.pipeline, "pipeline", self.run_begun, &arguments);
    }
}
