//! The thread that parses and verifies modules: of each document only the newest version.

use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::panic::catch_unwind;
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use super::files::Folders;
use super::finding::Finding;
use super::lir;

/// How long nothing must have changed before a check begins.
const QUIET: Duration = Duration::from_millis(50);

/// A version of a document to check.
pub struct Job {
    /// The document.
    pub uri: String,
    /// Its version.
    pub version: i32,
    /// Its text.
    pub text: Arc<String>,
    /// Where inputs are that it names.
    pub folders: Folders,
}

/// What was found in a version of a document.
pub struct Checked {
    /// The document.
    pub uri: String,
    /// Its version.
    pub version: i32,
    /// What there is to say of it.
    pub findings: Vec<Finding>,
}

/// Checks what comes until no more can come or nobody takes what is found.
pub fn run(jobs: &Receiver<Job>, report: impl Fn(Checked) -> bool) {
    let mut waiting: BTreeMap<String, Job> = BTreeMap::new();
    loop {
        let next = match waiting.is_empty() {
            true => jobs.recv().map_err(|_| RecvTimeoutError::Disconnected),
            false => jobs.recv_timeout(QUIET),
        };
        match next {
            Ok(job) => {
                waiting.insert(job.uri.clone(), job);
                continue;
            }
            Err(RecvTimeoutError::Disconnected) if waiting.is_empty() => return,
            Err(_) => {}
        }
        let Some((uri, job)) = waiting.pop_first() else {
            continue;
        };
        let check = || lir::check(&job.text, &job.folders);
        let findings = catch_unwind(AssertUnwindSafe(check)).unwrap_or_else(|_| {
            vec![Finding::error(
                0..0,
                "cuweld: the check of this module panicked",
            )]
        });
        let version = job.version;
        if !report(Checked {
            uri,
            version,
            findings,
        }) {
            return;
        }
    }
}
