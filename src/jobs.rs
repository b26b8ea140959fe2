//! How many threads a link uses: `-j`, `CUWELD_JOBS`, make's jobserver, the machine.
//!
//! The outcome never depends on it: work is divided among threads, its results come back in the order of the work. Threads are
//! started where the work pays for them, and only then is a jobserver asked for tokens, which go back when the work is done.
//!
//! Architecture Invariant: no environment variable is read here; [`Jobs::new`] is given what the command line found there.

mod jobserver;

use std::num::NonZeroUsize;

use rayon::ThreadPool;
use rayon::ThreadPoolBuilder;
use rayon::prelude::*;

use cuweld_passes::threads::Leave;
use cuweld_passes::threads::Threads;

use jobserver::Tokens;

/// What limits the number of threads.
#[derive(Clone, Debug, Default)]
pub struct Jobs {
    /// `-j`, which nothing else limits.
    asked: Option<NonZeroUsize>,
    /// `MAKEFLAGS` as make left it.
    makeflags: Option<String>,
}

impl Jobs {
    /// As many as were asked for, at least one; else what make's jobserver and the machine allow.
    pub fn new(asked: Option<usize>, makeflags: Option<String>) -> Self {
        Jobs {
            asked: asked.map(|count| NonZeroUsize::new(count).unwrap_or(NonZeroUsize::MIN)),
            makeflags,
        }
    }

    /// Threads for so many pieces of work; none are started for one.
    pub fn team(&self, pieces: usize) -> Team {
        // Asking the machine takes reading several files.
        if pieces <= 1 {
            return Team::default();
        }
        let (count, tokens) = self.leave(pieces);
        let pool = (count > 1).then(|| ThreadPoolBuilder::new().num_threads(count).build());
        Team {
            pool: pool.and_then(Result::ok),
            _tokens: tokens,
        }
    }

    /// How many threads may run for so many pieces of work, with what they hold while they do.
    fn leave(&self, pieces: usize) -> (usize, Tokens) {
        let available = || std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let limit = self.asked.map_or_else(available, NonZeroUsize::get);
        let count = limit.min(pieces);
        if self.asked.is_none()
            && count > 1
            && let Some(makeflags) = &self.makeflags
            && let Some(taken) = Tokens::take(makeflags, count - 1)
        {
            return (taken.count() + 1, taken);
        }
        (count, Tokens::default())
    }
}

impl Threads for Jobs {
    fn with(&self, pieces: usize, work: &mut (dyn FnMut(usize) + Send)) {
        let team = self.team(pieces);
        let size = team.size();
        match &team.pool {
            None => work(1),
            Some(pool) => pool.install(|| work(size)),
        }
    }

    fn second(&self) -> Option<Leave> {
        let (count, tokens) = self.leave(2);
        (count > 1).then(|| Box::new(tokens) as Leave)
    }
}

/// Threads that wait for work; they end with the value.
#[derive(Default)]
pub struct Team {
    /// `None` for the caller's thread alone.
    pool: Option<ThreadPool>,
    _tokens: Tokens,
}

impl Team {
    /// The number of threads.
    pub fn size(&self) -> usize {
        self.pool
            .as_ref()
            .map_or(1, ThreadPool::current_num_threads)
    }

    /// Does something with each item; results are in the order of the items.
    pub fn map<T: Sync, R: Send>(&self, items: &[T], task: impl Fn(&T) -> R + Sync) -> Vec<R> {
        match &self.pool {
            None => items.iter().map(task).collect(),
            Some(pool) => pool.install(|| items.par_iter().map(&task).collect()),
        }
    }

    /// Does something with each item, in any order.
    pub fn each<T: Send>(&self, items: &mut [T], task: impl Fn(&mut T) + Sync) {
        match &self.pool {
            None => items.iter_mut().for_each(task),
            Some(pool) => pool.install(|| items.par_iter_mut().for_each(&task)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_order_whatever_the_number() {
        let items: Vec<usize> = (0..1000).collect();
        for asked in [0, 1, 2, 7] {
            let team = Jobs::new(Some(asked), None).team(items.len());
            assert_eq!(team.size(), asked.max(1));
            assert_eq!(team.map(&items, |item| item * 2)[999], 1998);
        }
        assert_eq!(Jobs::new(Some(7), None).team(1).size(), 1);
        assert!(Jobs::default().team(64).size() >= 1);
    }
}
