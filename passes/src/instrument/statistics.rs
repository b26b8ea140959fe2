//! What passes count.

use std::fmt::Write as _;

use cuweld_ir::Module;

use super::Instrument;
use super::InstrumentError;
use super::PassReport;
use super::StepInfo;
use crate::pass::Changed;
use crate::pass::Statistics;

/// Collects the counters of every step.
#[derive(Debug, Default)]
pub struct PassStatistics {
    steps: Vec<(String, &'static str, Changed, Statistics)>,
}

impl PassStatistics {
    /// Builds an instrument that has counted nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns for each step the label, such as `03-callgraph-dce`, the name, whether it changed
    /// something, and the counters.
    pub fn steps(&self) -> impl Iterator<Item = (&str, &'static str, Changed, &Statistics)> {
        self.steps
            .iter()
            .map(|(label, name, changed, counts)| (&**label, *name, *changed, counts))
    }

    /// Returns the counters as text, one a line.
    pub fn report(&self) -> String {
        let mut out = String::new();
        for (label, _, changed, counts) in self.steps() {
            let unchanged = if changed == Changed::No {
                " (no change)"
            } else {
                ""
            };
            let _ = writeln!(out, "{label}{unchanged}");
            for (name, count) in counts.counters() {
                let _ = writeln!(out, "{count:12}  {name}");
            }
        }
        out
    }

    /// Returns the counters as JSON: a list of steps.
    pub fn json(&self) -> String {
        // Names are those of passes and counters, which hold nothing that JSON escapes but what
        // Rust's own escapes agree on.
        let steps: Vec<String> = self
            .steps()
            .map(|(label, name, changed, counts)| {
                let counters: Vec<String> = counts
                    .counters()
                    .iter()
                    .map(|(name, count)| format!("{name:?}:{count}"))
                    .collect();
                format!(
                    "{{\"step\":{label:?},\"pass\":{name:?},\"changed\":{},\"counters\":{{{}}}}}",
                    changed == Changed::Yes,
                    counters.join(",")
                )
            })
            .collect();
        format!("[{}]\n", steps.join(",\n "))
    }
}

impl Instrument for PassStatistics {
    fn after_pass(
        &mut self,
        step: &StepInfo<'_>,
        _: &Module<'_>,
        report: &PassReport<'_>,
    ) -> Result<(), InstrumentError> {
        self.steps.push((
            step.label(),
            step.name,
            report.changed,
            report.statistics.clone(),
        ));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manager::tests::Bench;

    #[test]
    fn counters_are_kept_per_step() {
        let mut statistics = PassStatistics::new();
        Bench::new("classify,nothing,select-objects")
            .run(&mut [&mut statistics])
            .unwrap();
        assert_eq!(
            statistics.report(),
            "01-classify\n           1  runs\n02-nothing (no change)\n\
             03-select-objects\n           1  runs\n"
        );
        assert_eq!(
            statistics.json(),
            "[{\"step\":\"01-classify\",\"pass\":\"classify\",\"changed\":true,\"counters\":{\"runs\":1}},\n \
             {\"step\":\"02-nothing\",\"pass\":\"nothing\",\"changed\":false,\"counters\":{}},\n \
             {\"step\":\"03-select-objects\",\"pass\":\"select-objects\",\"changed\":true,\"counters\":{\"runs\":1}}]\n"
        );
    }
}
