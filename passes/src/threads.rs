//! Threads that the work of a link is divided among.
//!
//! What is done never depends on how many there are: results come back in the order of the work.

use std::fmt;
use std::sync::Arc;
use std::sync::LazyLock;

use rayon::FnContext;
use rayon::ThreadPool;
use rayon::ThreadPoolBuilder;
use rayon::join_context;
use rayon::prelude::*;

use crate::traced::Traced;

/// The least that is handed to another thread, in rows: less takes about as long as to wake one.
const ROWS_PER_TASK: usize = 8 << 10;

/// Tasks for each thread, so that none waits long for the last.
const TASKS_PER_THREAD: usize = 4;

/// How much there is to do. All kinds are compared by about how many rows of a table take as long.
#[derive(Clone, Copy, Debug)]
pub enum Work {
    /// Rows of a table, each looked at.
    Rows(usize),
    /// Bytes of contents, each looked at.
    Bytes(usize),
    /// Sections or symbols of the output, which are made from several rows.
    Sections(usize),
    /// Objects, or functions with their code.
    Objects(usize),
    /// Files that are opened.
    Files(usize),
    /// Runs of other programs.
    Programs(usize),
}

impl Work {
    fn rows(self) -> usize {
        let (count, rows) = match self {
            Work::Rows(count) => (count, 1),
            Work::Bytes(count) => (count / 16, 1),
            Work::Sections(count) => (count, 16),
            Work::Objects(count) => (count, 128),
            Work::Files(count) => (count, 512),
            Work::Programs(count) => (count, ROWS_PER_TASK),
        };
        count.saturating_mul(rows)
    }
}

/// The threads of a link; clones share them. They are started for the first work that is worth it,
/// and end with the last clone.
#[derive(Clone, Default)]
pub struct Threads {
    /// `None` for the caller's thread alone.
    started: Option<Arc<Lazy>>,
}

type Lazy = LazyLock<Option<Started>, Box<dyn FnOnce() -> Option<Started> + Send>>;

struct Started {
    pool: ThreadPool,
    /// What allows as many as these, until they have ended.
    _permit: Box<dyn Send + Sync>,
}

impl fmt::Debug for Threads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Threads")
    }
}

impl Threads {
    /// Starts threads when they are needed first: as many as `allow` says then, the caller's among
    /// them, with what is to be kept as long as they run. The caller's thread stays one of them: no
    /// other thread pool can have it later.
    pub fn new<P: Send + Sync + 'static>(
        allow: impl FnOnce() -> (usize, P) + Send + 'static,
    ) -> Self {
        Self::started_by(move || {
            let (count, permit) = allow();
            let builder = || ThreadPoolBuilder::new().num_threads(count);
            if count < 2 {
                return None;
            }
            // A thread can be in one pool.
            let pool = builder().use_current_thread().build();
            Some(Started {
                pool: pool.or_else(|_| builder().build()).ok()?,
                _permit: Box::new(permit),
            })
        })
    }

    /// Starts so many threads when they are needed first, while the caller's waits.
    pub fn beside_caller(count: usize) -> Self {
        Self::started_by(move || {
            let pool = (count > 1).then(|| ThreadPoolBuilder::new().num_threads(count).build())?;
            Some(Started {
                pool: pool.ok()?,
                _permit: Box::new(()),
            })
        })
    }

    fn started_by(start: impl FnOnce() -> Option<Started> + Send + 'static) -> Self {
        Threads {
            started: Some(Arc::new(LazyLock::new(Box::new(start)))),
        }
    }

    /// Returns the pool and the number of tasks to divide the work into; `None` if the caller's
    /// thread is to do it alone.
    fn divide(&self, work: Work) -> Option<(&ThreadPool, usize)> {
        let most = work.rows() / ROWS_PER_TASK;
        if most < 2 {
            return None;
        }
        let started: &Lazy = self.started.as_ref()?;
        let pool = &started.as_ref()?.pool;
        Some((
            pool,
            most.min(TASKS_PER_THREAD * pool.current_num_threads()),
        ))
    }

    /// Returns the number of threads that share the work.
    pub fn count(&self, work: Work) -> usize {
        let divided = self.divide(work);
        divided.map_or(1, |(pool, tasks)| pool.current_num_threads().min(tasks))
    }

    /// Returns the number of tasks into which the work is divided: 1 if the caller's thread is to
    /// do it alone.
    pub fn tasks(&self, work: Work) -> usize {
        self.divide(work).map_or(1, |(_, tasks)| tasks)
    }

    /// Maps each item.
    pub fn map<T: Sync, R: Send>(
        &self,
        work: Work,
        items: &[T],
        task: impl Fn(&T) -> R + Sync,
    ) -> Vec<R> {
        let Some((pool, tasks)) = self.divide(work) else {
            return items.iter().map(task).collect();
        };
        let least = items.len() / tasks;
        let all = items.par_iter().with_min_len(least.max(1));
        let traced = Traced::here();
        pool.install(|| {
            all.map_init(|| traced.begin(), |_, item| task(item))
                .collect()
        })
    }

    /// Maps parts of the items: one part if the caller's thread does it alone.
    pub fn map_chunks<T: Sync, R: Send>(
        &self,
        work: Work,
        items: &[T],
        task: impl Fn(&[T]) -> R + Sync,
    ) -> Vec<R> {
        let Some((pool, tasks)) = self.divide(work) else {
            return vec![task(items)];
        };
        let chunks = items.par_chunks(items.len().div_ceil(tasks).max(1));
        let traced = Traced::here();
        pool.install(|| chunks.map(|chunk| traced.run(|| task(chunk))).collect())
    }

    /// Maps parts of the items, which it may change, each with the number of its first item.
    pub fn map_chunks_mut<T: Send, R: Send>(
        &self,
        work: Work,
        items: &mut [T],
        task: impl Fn(usize, &mut [T]) -> R + Sync,
    ) -> Vec<R> {
        let Some((pool, tasks)) = self.divide(work) else {
            return vec![task(0, items)];
        };
        let size = items.len().div_ceil(tasks).max(1);
        let chunks = items.par_chunks_mut(size).enumerate();
        let traced = Traced::here();
        let task = |(at, chunk): (usize, &mut [T])| traced.run(|| task(at * size, chunk));
        pool.install(|| chunks.map(task).collect())
    }

    /// Changes each item.
    pub fn for_each<T: Send>(&self, work: Work, items: &mut [T], task: impl Fn(&mut T) + Sync) {
        match self.divide(work) {
            None => items.iter_mut().for_each(task),
            Some((pool, _)) => {
                let traced = Traced::here();
                let all = items.par_iter_mut();
                pool.install(|| all.for_each_init(|| traced.begin(), |_, item| task(item)));
            }
        }
    }

    /// Does two things, at once if they are worth it.
    pub fn join<A: Send, B: Send>(
        &self,
        work: Work,
        one: impl FnOnce() -> A + Send,
        other: impl FnOnce() -> B + Send,
    ) -> (A, B) {
        match self.divide(work) {
            None => (one(), other()),
            Some((pool, _)) => {
                let traced = Traced::here();
                pool.join(|| traced.run(one), || traced.run(other))
            }
        }
    }

    /// Does something `here`, and something `there` if another thread takes it before that is done.
    pub fn join_if_taken<A: Send, B: Send>(
        &self,
        work: Work,
        here: impl FnOnce() -> A + Send,
        there: impl FnOnce() -> B + Send,
    ) -> (A, Option<B>) {
        let Some((pool, _)) = self.divide(work) else {
            return (here(), None);
        };
        let traced = Traced::here();
        let there = |context: FnContext| context.migrated().then(|| traced.run(there));
        pool.install(|| join_context(|_| here(), there))
    }

    /// Lends a second thread, if the work is worth one.
    pub fn second(&self, work: Work) -> Option<Second<'_>> {
        self.divide(work).map(|(pool, _)| Second(pool))
    }
}

/// A thread that works while the caller's does.
#[derive(Debug)]
pub struct Second<'t>(&'t ThreadPool);

impl Second<'_> {
    /// Does something `here` while the second thread does something `there`; each may wait for the
    /// other. Returns when both are done.
    pub fn beside<R>(&self, there: impl FnOnce() + Send, here: impl FnOnce() -> R) -> R {
        let traced = Traced::here();
        self.0.in_place_scope(|scope| {
            scope.spawn(|_| traced.run(there));
            here()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_order_whatever_the_number() {
        let items: Vec<usize> = (0..100_000).collect();
        for (count, threads) in [0, 1, 2, 7].into_iter().flat_map(|count| {
            let with_caller = Threads::new(move || (count, ()));
            [with_caller, Threads::beside_caller(count)].map(|threads| (count, threads))
        }) {
            for work in [Work::Rows(1), Work::Rows(items.len())] {
                assert_eq!(threads.map(work, &items, |item| 2 * item)[99_999], 199_998);
                let parts = threads.map_chunks(work, &items, <[usize]>::to_vec);
                assert!(parts.concat() == items);
                let mut changed = items.clone();
                let starts = threads.map_chunks_mut(work, &mut changed, |start, part| {
                    part.iter_mut().for_each(|item| *item += 1);
                    part[0] == start + 1
                });
                assert!(starts.iter().all(|is_right| *is_right));
                threads.for_each(work, &mut changed, |item| *item -= 1);
                assert!(changed == items);
                assert_eq!(threads.join(work, || 1, || 2), (1, 2));
                let (here, there) = threads.join_if_taken(work, || 1, || 2);
                assert!(here == 1 && matches!(there, None | Some(2)));
            }
            assert_eq!(threads.count(Work::Programs(64)), count.max(1));
            assert_eq!(threads.count(Work::Programs(1)), 1);
        }
    }

    #[test]
    fn the_permit_ends_with_the_last_clone() {
        let permit = Arc::new(());
        let given = Arc::clone(&permit);
        let threads = Threads::new(move || (2, given));
        let other = threads.clone();
        assert!(other.second(Work::Programs(2)).is_some());
        drop(threads);
        assert_eq!(Arc::strong_count(&permit), 2);
        drop(other);
        assert_eq!(Arc::strong_count(&permit), 1);
    }
}
