//! A `tracing` span for every pass, and an event for every remark.

use cuweld_ir::Module;
use cuweld_ir::table::EntityId;
use tracing::span::EnteredSpan;

use super::Instrument;
use super::InstrumentError;
use super::PassReport;
use super::RunInfo;
use super::StepInfo;
use crate::pass::Changed;
use crate::pass::PassError;
use crate::remark::Remark;
use crate::remark::RemarkFilter;
use crate::remark::TRACING_TARGET;

/// Opens a span around the run and around every pass, and emits what passes count and remark as
/// events.
#[derive(Default)]
pub struct TracingSpans {
    /// The remarks that are events, if the subscriber takes any.
    filter: RemarkFilter,
    run: Option<EnteredSpan>,
    pass: Option<EnteredSpan>,
}

impl TracingSpans {
    /// Builds an instrument with no open span.
    pub fn new() -> Self {
        Self::default()
    }

    /// Leaves out remarks that the filter does not take.
    pub fn with_remarks(self, filter: RemarkFilter) -> Self {
        TracingSpans { filter, ..self }
    }
}

/// Emits a remark as an event: the index of each row that it is about as a field of its kind, its
/// arguments, and the sentence.
fn emit(module: &Module<'_>, pass: &'static str, remark: &Remark) {
    let subject = remark.subject();
    let row = |kind: &str| {
        let subject = subject.filter(|subject| subject.kind() == kind)?;
        Some(subject.index() as u64)
    };
    let arguments = remark.arguments();
    let arguments: Vec<String> = arguments
        .map(|(key, value)| format!("{key}={value}"))
        .collect();
    tracing::trace!(
        target: TRACING_TARGET,
        pass,
        kind = remark.kind(),
        object = subject.map(|subject| subject.object(module).index() as u64),
        section = row("section"),
        symbol = row("symbol"),
        link_symbol = row("link-symbol"),
        function = row("function"),
        relocation = row("relocation"),
        arguments = arguments.join(" "),
        "{}",
        remark.message(module)
    );
}

impl Instrument for TracingSpans {
    fn before_run(&mut self, run: &RunInfo<'_>, _: &Module<'_>) -> Result<(), InstrumentError> {
        let (pipeline, steps) = (run.pipeline, run.steps);
        self.run = Some(tracing::info_span!("pipeline", name = pipeline, steps).entered());
        Ok(())
    }

    fn before_pass(&mut self, step: &StepInfo<'_>, _: &Module<'_>) -> Result<(), InstrumentError> {
        let (name, step) = (step.name, step.number);
        self.pass = Some(tracing::info_span!("pass", name, step).entered());
        Ok(())
    }

    fn after_pass(
        &mut self,
        _: &StepInfo<'_>,
        _: &Module<'_>,
        report: &PassReport<'_>,
    ) -> Result<(), InstrumentError> {
        for &(counter, count) in report.statistics.counters() {
            tracing::debug!(counter, count);
        }
        let changed = report.changed == Changed::Yes;
        let diagnostics = report.diagnostics.len();
        tracing::info!(changed, diagnostics, "pass is done");
        self.pass = None;
        Ok(())
    }

    fn wants_remarks(&self, pass: &str) -> bool {
        tracing::enabled!(target: TRACING_TARGET, tracing::Level::TRACE)
            && self.filter.takes_pass(pass)
    }

    fn remarks(&mut self, step: &StepInfo<'_>, module: &Module<'_>, remarks: &[Remark]) {
        if !self.wants_remarks(step.name) {
            return;
        }
        for remark in remarks {
            if self.filter.takes(module, step.name, remark) {
                emit(module, step.name, remark);
            }
        }
    }

    fn after_failed(&mut self, _: &StepInfo<'_>, _: &Module<'_>, error: &PassError) {
        tracing::error!(%error, "pass failed");
        self.pass = None;
    }

    fn after_run(&mut self, _: &RunInfo<'_>, _: &Module<'_>) {
        // Of a pass after which another instrument ended the link, the span is still open.
        self.pass = None;
        self.run = None;
    }
}

#[cfg(test)]
mod tests {
    use std::fmt;
    use std::sync::Arc;
    use std::sync::Mutex;

    use tracing::field::Field;
    use tracing::field::Visit;
    use tracing::span;

    use super::*;
    use crate::manager::tests::Bench;

    /// Writes spans and events as lines.
    #[derive(Clone, Default)]
    struct Recorder {
        lines: Arc<Mutex<Vec<String>>>,
        spans: Arc<Mutex<Vec<String>>>,
    }

    struct Fields(String);

    impl Visit for Fields {
        fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
            self.0.push_str(&format!(" {}={value:?}", field.name()));
        }
    }

    impl Recorder {
        fn span(&self, id: &span::Id) -> String {
            self.spans.lock().unwrap()[id.into_u64() as usize - 1].clone()
        }
    }

    impl tracing::Subscriber for Recorder {
        fn enabled(&self, _: &tracing::Metadata<'_>) -> bool {
            true
        }
        fn new_span(&self, attributes: &span::Attributes<'_>) -> span::Id {
            let mut fields = Fields(attributes.metadata().name().to_owned());
            attributes.record(&mut fields);
            let mut spans = self.spans.lock().unwrap();
            spans.push(fields.0);
            span::Id::from_u64(spans.len() as u64)
        }
        fn record(&self, _: &span::Id, _: &span::Record<'_>) {}
        fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}
        fn event(&self, event: &tracing::Event<'_>) {
            let mut fields = Fields(event.metadata().level().to_string());
            event.record(&mut fields);
            self.lines.lock().unwrap().push(fields.0);
        }
        fn enter(&self, id: &span::Id) {
            self.lines
                .lock()
                .unwrap()
                .push(format!("> {}", self.span(id)));
        }
        fn exit(&self, id: &span::Id) {
            self.lines
                .lock()
                .unwrap()
                .push(format!("< {}", self.span(id)));
        }
    }

    fn record(pipeline: &str) -> Vec<String> {
        let recorder = Recorder::default();
        tracing::subscriber::with_default(recorder.clone(), || {
            // A pipeline that fails is traced as well.
            let _ = Bench::new(pipeline).run(&mut [&mut TracingSpans::new()]);
        });
        let lines = recorder.lines.lock().unwrap();
        lines.clone()
    }

    #[test]
    fn a_pass_is_a_span_with_its_counts() {
        assert_eq!(
            record("classify"),
            [
                "> pipeline name=\"test\" steps=1",
                "> pass name=\"classify\" step=1",
                "DEBUG counter=\"runs\" count=1",
                "INFO message=pass is done changed=true diagnostics=0",
                "< pass name=\"classify\" step=1",
                "> remarks pass=\"classify\"",
                "TRACE message=it runs pass=\"classify\" kind=\"runs\" arguments=\"\"",
                "TRACE message=9 bytes pass=\"classify\" kind=\"ran\" arguments=\"bytes=9\"",
                "< remarks pass=\"classify\"",
                "< pipeline name=\"test\" steps=1",
            ]
        );
    }

    #[test]
    fn a_failing_pass_closes_its_spans() {
        assert_eq!(
            record("fail"),
            [
                "> pipeline name=\"test\" steps=1",
                "> pass name=\"fail\" step=1",
                "ERROR message=pass failed error=the link was stopped by an error",
                "< pass name=\"fail\" step=1",
                "< pipeline name=\"test\" steps=1",
            ]
        );
    }
}
