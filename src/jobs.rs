//! How many threads a link uses: `-j`, `CUWELD_JOBS`, make's jobserver, the machine.
//!
//! The outcome never depends on it: work is divided among threads, its results come back in the order of the work. Threads are
//! started where the work pays for them, once for the whole link; with a jobserver anew for each work, for which it is asked for tokens
//! that go back when the work is done.
//!
//! Architecture Invariant: no environment variable is read here; [`Jobs::new`] is given what the command line found there.

mod jobserver;

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::OnceLock;

use rayon::ThreadPool;
use rayon::ThreadPoolBuilder;
use rayon::prelude::*;

use cuweld_passes::threads::Second;
use cuweld_passes::threads::Threads;

use jobserver::Tokens;

/// Threads that a link starts without being asked for a number: what it divides among more wins next to nothing, and they take time to start.
const MOST_THREADS: usize = 8;

/// What limits the number of threads.
#[derive(Clone, Debug, Default)]
pub struct Jobs {
    /// `-j`, which nothing else limits.
    asked: Option<NonZeroUsize>,
    /// `MAKEFLAGS` as make left it.
    makeflags: Option<String>,
    /// What the first work for threads finds out and starts, for all clones.
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    /// How many the machine runs at once.
    available: OnceLock<usize>,
    /// The first thread is that which starts the pool.
    pool: OnceLock<Option<ThreadPool>>,
}

impl Jobs {
    /// As many as were asked for, at least one; else what make's jobserver and the machine allow.
    pub fn new(asked: Option<usize>, makeflags: Option<String>) -> Self {
        Jobs {
            asked: asked.map(|count| NonZeroUsize::new(count).unwrap_or(NonZeroUsize::MIN)),
            makeflags,
            shared: Arc::default(),
        }
    }

    /// Threads for so many pieces of work; none are started for one. All work shares them, but for what a jobserver allows.
    pub fn team(&self, pieces: usize) -> Team<'_> {
        self.allowed(pieces, |count, is_shared| match is_shared {
            true => self.shared_pool().map(Pool::Shared),
            false => own_pool(count),
        })
    }

    /// Threads that do nothing but wait, for other programs: as many as there may be at once.
    pub fn waiting(&self, pieces: usize) -> Team<'_> {
        self.allowed(pieces, |count, _| own_pool(count))
    }

    /// Threads for so many pieces of work, made for how many there may be, and whether all work may share them: not what a jobserver gave.
    fn allowed<'jobs>(
        &self,
        pieces: usize,
        make: impl FnOnce(usize, bool) -> Option<Pool<'jobs>>,
    ) -> Team<'jobs> {
        // Asking the machine takes time.
        if pieces <= 1 {
            return Team::default();
        }
        let (count, tokens) = self.leave(pieces);
        let pool = (count > 1).then(|| make(count, tokens.is_none()));
        Team {
            threads: pool.flatten().map(|pool| AllowedPool {
                pool,
                _tokens: tokens,
            }),
        }
    }

    /// Does both, at once where all work shares a pool that was started and the caller is one of its threads. Returns whether it did: else
    /// nothing was done.
    pub(crate) fn join(&self, here: impl FnOnce() + Send, there: impl FnOnce() + Send) -> bool {
        let pool = self.shared.pool.get().and_then(Option::as_ref);
        let is_ready = pool.is_some_and(|pool| pool.current_thread_index().is_some());
        if is_ready {
            rayon::join(here, there);
        }
        is_ready
    }

    /// How many threads there may be.
    fn limit(&self) -> usize {
        match self.asked {
            Some(count) => count.get(),
            None => *self.shared.available.get_or_init(available),
        }
    }

    /// How many threads may run for so many pieces of work, with what they hold while they do if there is a jobserver.
    fn leave(&self, pieces: usize) -> (usize, Option<Tokens>) {
        let count = self.limit().min(pieces);
        if self.asked.is_none()
            && count > 1
            && let Some(makeflags) = &self.makeflags
            && let Some(taken) = Tokens::take(makeflags, count - 1)
        {
            return (taken.count() + 1, Some(taken));
        }
        (count, None)
    }

    /// The pool that all work shares, whose first thread is that of the first caller: it need not wake another for its own part.
    fn shared_pool(&self) -> Option<&ThreadPool> {
        let count = match self.asked {
            Some(_) => self.limit(),
            None => self.limit().min(MOST_THREADS),
        };
        let threads = || ThreadPoolBuilder::new().num_threads(count);
        // A thread can be in one pool.
        let build = || {
            let pool = threads().use_current_thread().build();
            pool.or_else(|_| threads().build()).ok()
        };
        self.shared.pool.get_or_init(build).as_ref()
    }
}

/// How many threads the machine runs at once.
fn available() -> usize {
    // What a container may use stands in several files, which takes 0.12 ms to read, and two threads that share one processor lose little.
    #[cfg(target_os = "linux")]
    if let Ok(processors) = rustix::thread::sched_getaffinity(None)
        && processors.count() <= 2
    {
        return processors.count() as usize;
    }
    std::thread::available_parallelism().map_or(1, NonZeroUsize::get)
}

/// A pool of so many threads for a caller who waits for them.
fn own_pool<'jobs>(count: usize) -> Option<Pool<'jobs>> {
    let pool = ThreadPoolBuilder::new().num_threads(count).build();
    pool.ok().map(Pool::Own)
}

/// Work of fewer pieces is not worth starting threads for, though it is worth those that there are.
const PIECES_FOR_A_START: usize = 4;

impl Threads for Jobs {
    fn with(&self, pieces: usize, work: &mut (dyn FnMut(usize) + Send)) {
        let is_worth_it = pieces >= PIECES_FOR_A_START || self.shared.pool.get().is_some();
        let team = match is_worth_it {
            true => self.team(pieces),
            false => Team::default(),
        };
        let size = team.size();
        match team.pool() {
            None => work(1),
            Some(pool) => {
                pool.install(|| work(size));
            }
        }
    }

    fn second(&self) -> Option<Second<'_>> {
        let one = || ThreadPoolBuilder::new().num_threads(1);
        let team = self.allowed(2, |_, is_shared| match is_shared {
            true => self.shared_pool().map(Pool::Shared),
            false => one().build().ok().map(Pool::Own),
        });
        team.threads.map(|threads| Box::new(threads) as Second<'_>)
    }
}

/// Threads that wait for work.
#[derive(Default)]
pub struct Team<'jobs> {
    /// `None` for the caller's thread alone.
    threads: Option<AllowedPool<'jobs>>,
}

/// A pool, with what a jobserver gave for it.
struct AllowedPool<'jobs> {
    pool: Pool<'jobs>,
    _tokens: Option<Tokens>,
}

enum Pool<'jobs> {
    Shared(&'jobs ThreadPool),
    /// Ends with the value.
    Own(ThreadPool),
}

impl AsRef<ThreadPool> for AllowedPool<'_> {
    fn as_ref(&self) -> &ThreadPool {
        match &self.pool {
            Pool::Shared(pool) => pool,
            Pool::Own(pool) => pool,
        }
    }
}

impl Team<'_> {
    fn pool(&self) -> Option<&ThreadPool> {
        self.threads.as_ref().map(AllowedPool::as_ref)
    }

    /// The number of threads.
    pub fn size(&self) -> usize {
        self.pool().map_or(1, ThreadPool::current_num_threads)
    }

    /// Does something with each item; results are in the order of the items.
    pub fn map<T: Sync, R: Send>(&self, items: &[T], task: impl Fn(&T) -> R + Sync) -> Vec<R> {
        match self.pool() {
            None => items.iter().map(task).collect(),
            Some(pool) => pool.install(|| items.par_iter().map(&task).collect()),
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
            let jobs = Jobs::new(Some(asked), None);
            let team = jobs.team(items.len());
            assert_eq!(team.size(), asked.max(1));
            assert_eq!(team.map(&items, |item| item * 2)[999], 1998);
        }
        assert_eq!(Jobs::new(Some(7), None).team(1).size(), 1);
        assert!(Jobs::default().team(64).size() >= 1);
    }
}
