//! `CUWELD_LOG` and `--trace`: spans and events on standard error and in a file.

use std::fs::File;
use std::io;
use std::io::Write;
use std::os::fd::AsFd;
use std::sync::Mutex;

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::codes::system;
use cuweld_passes::remark::TRACING_TARGET;
use tracing::Level;
use tracing::Subscriber;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::format::FmtSpan;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::diagnostics::Reporter;
use crate::file_name;
use crate::watch::ChromeTrace;

/// The variable that holds the filter, such as `info` or `cuweld_passes=debug`.
const VARIABLE: &str = "CUWELD_LOG";

/// What the targets of all spans and events of cuweld begin with.
const OWN_TARGETS: &str = "cuweld";

/// Begins to write what the filter lets through, if there is a filter. Warns if its text is not a
/// filter.
pub fn start(stderr: &mut dyn Write) -> io::Result<()> {
    let filter = match filter() {
        None => return Ok(()),
        Some(Ok(filter)) => filter,
        Some(Err(error)) => return writeln!(stderr, "warning: {VARIABLE}: {error}"),
    };
    let subscriber = tracing_subscriber::registry().with(lines(filter)?);
    if let Err(error) = subscriber.try_init() {
        writeln!(stderr, "warning: {VARIABLE}: {error}")?;
    }
    Ok(())
}

/// Returns the filter of the environment, if there is one, or what is wrong with it.
fn filter() -> Option<Result<Targets, impl std::fmt::Display>> {
    let text = std::env::var_os(VARIABLE).filter(|value| !value.is_empty())?;
    Some(text.to_string_lossy().parse::<Targets>())
}

/// Returns what writes lines on standard error.
fn lines<S>(filter: Targets) -> io::Result<impl Layer<S>>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    // Messages are written under a lock that the main thread holds to the end; this is the same
    // file without it.
    let file = File::from(io::stderr().as_fd().try_clone_to_owned()?);
    let lines = tracing_subscriber::fmt::layer()
        .with_span_events(FmtSpan::CLOSE)
        .with_ansi(false)
        .with_writer(Mutex::new(file));
    Ok(lines.with_filter(filter))
}

/// Runs a command whose spans make up a trace in a file, if there is to be one; with remarks, if
/// they are asked for. The whole command is the span `name`.
pub fn traced<'w>(
    (name, file): (&'static str, Option<&str>),
    with_remarks: bool,
    reporter: &mut Reporter<'w>,
    run: impl FnOnce(&mut Reporter<'w>) -> io::Result<()>,
) -> io::Result<()> {
    let Some(file) = file else {
        return run(reporter);
    };
    let trace = ChromeTrace::new();
    let mut targets = Targets::new().with_target(OWN_TARGETS, Level::DEBUG);
    if with_remarks {
        targets = targets.with_target(TRACING_TARGET, Level::TRACE);
    }
    // For this command alone, in the place of the subscriber for all.
    let lines = filter().and_then(Result::ok).map(lines).transpose()?;
    let subscriber = tracing_subscriber::registry()
        .with(lines)
        .with(trace.clone().with_filter(targets));
    let result = tracing::subscriber::with_default(subscriber, || {
        let _span = tracing::info_span!("command", name).entered();
        run(reporter)
    });
    if let Err(error) = std::fs::write(file_name::path(file), trace.json()) {
        let message = format!("cannot write '{file}': {error}");
        reporter.report(&Diagnostic::fatal(system::CANNOT_WRITE, message))?;
    }
    result
}
