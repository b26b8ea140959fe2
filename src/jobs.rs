//! How many threads a link uses: `-j`, `CUWELD_JOBS`, make's jobserver, the machine.
//!
//! The outcome never depends on it.
//!
//! Architecture Invariant: but for make's jobserver no environment variable is read here.

use std::num::NonZeroUsize;
use std::thread::available_parallelism;

use cuweld_passes::threads::Threads;
use jobserver::Acquired;
use jobserver::Client;
use jobserver::FromEnvErrorKind;

/// Threads that a link starts without being asked for a number: what it divides among more wins
/// next to nothing, and they take time to start.
const MOST_THREADS: usize = 8;

/// Threads that a link starts at most: each takes memory, and none is of use beyond the processors.
pub const MOST_ASKED: usize = 256;

/// Returns the threads for a link: as many as were asked for, from 1 to 256; else the number that
/// make's jobserver and the machine allow.
pub fn threads(asked: Option<usize>) -> Threads {
    Threads::new(move || allowed_threads(asked))
}

/// Returns the number of threads that may run, if so many are asked for or none is, with what
/// permits them: it is kept as long as they run.
pub fn allowed_threads(asked: Option<usize>) -> (usize, Vec<Acquired>) {
    match asked {
        Some(count) => (count.clamp(1, MOST_ASKED), Vec::new()),
        None => allowed(),
    }
}

/// Returns the number of threads that may run, with the tokens that they hold while they do if
/// there is a jobserver.
fn allowed() -> (usize, Vec<Acquired>) {
    let available = available_parallelism().map_or(1, NonZeroUsize::get);
    let most = available.min(MOST_THREADS);
    // SAFETY: the files that make names are its pipe, which it leaves to the programs that it
    // starts; others than pipes are refused.
    let found = unsafe { Client::from_env_ext(true) };
    match found.client {
        Ok(client) => {
            let tokens = std::iter::from_fn(|| client.try_acquire().ok().flatten());
            let tokens: Vec<Acquired> = tokens.take(most - 1).collect();
            (tokens.len() + 1, tokens)
        }
        Err(error) => match error.kind() {
            FromEnvErrorKind::NoEnvVar | FromEnvErrorKind::NoJobserver => (most, Vec::new()),
            // A jobserver that cannot be reached has no tokens.
            _ => (1, Vec::new()),
        },
    }
}

#[cfg(test)]
mod tests {
    use cuweld_passes::threads::Work;

    use super::threads;

    #[test]
    fn the_number_that_was_asked_for_has_limits() {
        let count = |asked| threads(Some(asked)).count(Work::Bytes(usize::MAX));
        assert_eq!([0, 3, usize::MAX].map(count), [1, 3, super::MOST_ASKED]);
    }
}
