//! `CUWELD_LOG`: spans and events on standard error.

use std::fs::File;
use std::io;
use std::io::Write;
use std::os::fd::AsFd;
use std::sync::Mutex;

use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::format::FmtSpan;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

/// The variable that holds the filter, such as `info` or `cuweld_passes=debug`.
const VARIABLE: &str = "CUWELD_LOG";

/// Begins to write what the filter lets through, if there is a filter. Warns if its text is not a
/// filter.
pub fn start(stderr: &mut dyn Write) -> io::Result<()> {
    let Some(filter) = std::env::var_os(VARIABLE).filter(|value| !value.is_empty()) else {
        return Ok(());
    };
    let filter = match filter.to_string_lossy().parse::<Targets>() {
        Ok(filter) => filter,
        Err(error) => return writeln!(stderr, "warning: {VARIABLE}: {error}"),
    };
    // Messages are written under a lock that the main thread holds to the end; this is the same
    // file without it.
    let file = File::from(io::stderr().as_fd().try_clone_to_owned()?);
    let lines = tracing_subscriber::fmt::layer()
        .with_span_events(FmtSpan::CLOSE)
        .with_ansi(false)
        .with_writer(Mutex::new(file));
    let subscriber = tracing_subscriber::registry().with(lines).with(filter);
    if let Err(error) = subscriber.try_init() {
        writeln!(stderr, "warning: {VARIABLE}: {error}")?;
    }
    Ok(())
}
