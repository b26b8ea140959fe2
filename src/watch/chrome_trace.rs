//! A trace in the format of Chrome's trace viewer, which Perfetto (ui.perfetto.dev) opens.
//!
//! A slice is a span of `tracing`, on the thread that was in it; remarks are instants, and what
//! passes count are arguments of their slices.

use std::fmt;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering;
use std::time::Duration;
use std::time::Instant;

use cuweld_passes::remark::TRACING_TARGET;
use serde_json::Map;
use serde_json::Value;
use serde_json::json;
use tracing::Event;
use tracing::Subscriber;
use tracing::field::Field;
use tracing::field::Visit;
use tracing::span::Attributes;
use tracing::span::Id;
use tracing::span::Record;
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

/// Name of the spans of tasks that a thread does for another; their slices have the name of what
/// they are a part of.
const TASK: &str = "task";

/// Name of the spans of passes, after which the size of memory is looked up.
const PASS: &str = "pass";

/// Collects spans as slices; clones share them.
#[derive(Clone)]
pub struct ChromeTrace {
    start: Instant,
    events: Arc<Mutex<Vec<Value>>>,
}

/// What is known of a span that is not closed.
struct Open {
    title: String,
    arguments: Map<String, Value>,
    /// When it was entered last.
    begun: Duration,
}

impl ChromeTrace {
    /// Starts a trace whose time begins now.
    pub fn new() -> Self {
        ChromeTrace {
            start: Instant::now(),
            events: Arc::default(),
        }
    }

    /// Returns the trace as JSON: slices in the order in which they ended.
    pub fn json(&self) -> String {
        let events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        json!({ "displayTimeUnit": "ms", "traceEvents": *events }).to_string()
    }

    fn push(&self, event: Value) {
        let mut events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        events.push(event);
    }

    fn memory(&self) {
        let Some(bytes) = super::peak_memory() else {
            return;
        };
        self.push(json!({
            "ph": "C", "pid": 1, "name": "peak memory", "ts": microseconds(self.start.elapsed()),
            "args": { "MiB": bytes as f64 / f64::from(1 << 20) },
        }));
    }
}

impl Default for ChromeTrace {
    fn default() -> Self {
        Self::new()
    }
}

fn microseconds(time: Duration) -> f64 {
    time.as_nanos() as f64 / 1e3
}

/// Returns the number of this thread: 1 for the first that asks.
fn thread() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    thread_local! {
        static NUMBER: u64 = NEXT.fetch_add(1, Ordering::Relaxed);
    }
    NUMBER.with(|number| *number)
}

/// Collects fields.
#[derive(Default)]
struct Fields(Map<String, Value>);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let text = format!("{value:?}");
        self.0.insert(field.name().to_owned(), text.into());
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name().to_owned(), value.into());
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.0.insert(field.name().to_owned(), value.into());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.0.insert(field.name().to_owned(), value.into());
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.0.insert(field.name().to_owned(), value.into());
    }
}

impl Fields {
    /// Takes a text out of the fields.
    fn take(&mut self, name: &str) -> Option<String> {
        match self.0.remove(name)? {
            Value::String(text) => Some(text),
            other => Some(other.to_string()),
        }
    }
}

impl<S> Layer<S> for ChromeTrace
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        let parents_title = || {
            let parent = span.parent()?;
            let extensions = parent.extensions();
            extensions.get::<Open>().map(|open| open.title.clone())
        };
        let title = match fields.take("name") {
            None if span.name() == TASK => parents_title(),
            name => name,
        };
        let open = Open {
            title: title.unwrap_or_else(|| span.name().to_owned()),
            arguments: fields.0,
            begun: Duration::ZERO,
        };
        span.extensions_mut().insert(open);
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        let mut fields = Fields::default();
        values.record(&mut fields);
        if let Some(open) = span.extensions_mut().get_mut::<Open>() {
            open.arguments.extend(fields.0);
        }
    }

    fn on_enter(&self, id: &Id, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        if let Some(open) = span.extensions_mut().get_mut::<Open>() {
            open.begun = self.start.elapsed();
        }
    }

    fn on_exit(&self, id: &Id, context: Context<'_, S>) {
        let end = self.start.elapsed();
        let Some(span) = context.span(id) else { return };
        if let Some(open) = span.extensions_mut().get_mut::<Open>() {
            let duration = end.saturating_sub(open.begun);
            self.push(json!({
                "ph": "X", "pid": 1, "tid": thread(), "name": open.title, "cat": span.name(),
                "args": open.arguments, "ts": microseconds(open.begun), "dur": microseconds(duration),
            }));
        }
        if span.name() == PASS {
            self.memory();
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        if event.metadata().target() == TRACING_TARGET {
            let title = fields.take("message").unwrap_or_default();
            self.push(json!({
                "ph": "i", "s": "t", "pid": 1, "tid": thread(), "name": title, "cat": "remark",
                "args": fields.0, "ts": microseconds(self.start.elapsed()),
            }));
            return;
        }
        // A count of a pass, or why it failed.
        let Some(span) = context.event_span(event) else {
            return;
        };
        let mut extensions = span.extensions_mut();
        let Some(open) = extensions.get_mut::<Open>() else {
            return;
        };
        if let (Some(counter), Some(count)) = (fields.take("counter"), fields.0.remove("count")) {
            open.arguments.insert(counter, count);
        } else if let Some(error) = fields.take("error") {
            open.arguments.insert("error".to_owned(), error.into());
        }
    }
}
