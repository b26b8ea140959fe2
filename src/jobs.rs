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

use cuweld_passes::threads::Leave;
use cuweld_passes::threads::Threads;

use crate::heap;
use jobserver::Tokens;

/// Threads that a link starts without being asked for a number: what it divides among more wins next to nothing, and they take time to start.
const MOST_THREADS: usize = 8;

/// Work of passes in fewer pieces is done by one thread where nobody asked for a number: links of less than 20 ms took as long with two
/// threads as with one, or a tenth longer (measured on two processors).
const LEAST_PIECES: usize = 8;

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
        // Asking the machine takes reading several files.
        if pieces <= 1 {
            return Team::default();
        }
        let (count, tokens) = self.leave(pieces);
        let pool = match tokens {
            _ if count <= 1 => None,
            Some(_) => start(count).map(Pool::Own),
            None => self.shared_pool().map(Pool::Shared),
        };
        Team {
            pool,
            _tokens: tokens,
        }
    }

    /// Threads that do nothing but wait, for other programs: as many as there may be at once.
    pub fn waiting(&self, pieces: usize) -> Team<'_> {
        if pieces <= 1 {
            return Team::default();
        }
        let (count, tokens) = self.leave(pieces);
        Team {
            pool: (count > 1).then(|| start(count)).flatten().map(Pool::Own),
            _tokens: tokens,
        }
    }

    /// Where a thread may run beside all others without leave, what it does first: it does little, and not for long.
    pub(crate) fn beside(&self) -> Option<impl Fn() + Send + 'static> {
        let is_shared = self.asked.is_none() && self.makeflags.is_some();
        (!is_shared && self.limit() > 1).then(|| {
            heap::share();
            apart()
        })
    }

    /// How many threads there may be.
    fn limit(&self) -> usize {
        let available = || std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
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
        let here = || {
            let apart = apart();
            let begin = move |thread| match thread {
                0 => {}
                _ => apart(),
            };
            ThreadPoolBuilder::new()
                .num_threads(count)
                .use_current_thread()
                .start_handler(begin)
        };
        // A thread can be in one pool.
        let built = || {
            heap::share();
            here().build().ok().or_else(|| start(count))
        };
        self.shared.pool.get_or_init(built).as_ref()
    }
}

/// What threads do first that the caller starts: they leave its processor to it, where Linux often puts them on virtual machines though others are
/// idle (measured, BENCHMARKS.md). The caller itself may still be moved.
#[cfg(target_os = "linux")]
fn apart() -> impl Fn() + Send + Sync + 'static {
    use rustix::thread;
    let here = thread::sched_getcpu();
    move || {
        if let Ok(mut processors) = thread::sched_getaffinity(None) {
            processors.unset(here);
            // Where there is no other, the system refuses.
            let _ = thread::sched_setaffinity(None, &processors);
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn apart() -> impl Fn() + Send + Sync + 'static {
    || {}
}

/// A pool of so many threads beside the caller's.
fn start(count: usize) -> Option<ThreadPool> {
    ThreadPoolBuilder::new().num_threads(count).build().ok()
}

impl Threads for Jobs {
    fn with(&self, pieces: usize, work: &mut (dyn FnMut(usize) + Send)) {
        let is_enough = self.asked.is_some() || pieces >= LEAST_PIECES;
        let team = self.team(if is_enough { pieces } else { 1 });
        let size = team.size();
        match team.pool() {
            None => work(1),
            Some(pool) => pool.install(|| work(size)),
        }
    }

    fn second(&self) -> Option<Leave> {
        let (count, tokens) = self.leave(2);
        (count > 1).then(|| {
            heap::share();
            Leave {
                held: Box::new(tokens),
                begin: Box::new(apart()),
            }
        })
    }
}

/// Threads that wait for work.
#[derive(Default)]
pub struct Team<'jobs> {
    /// `None` for the caller's thread alone.
    pool: Option<Pool<'jobs>>,
    _tokens: Option<Tokens>,
}

enum Pool<'jobs> {
    Shared(&'jobs ThreadPool),
    /// Ends with the value.
    Own(ThreadPool),
}

impl Team<'_> {
    fn pool(&self) -> Option<&ThreadPool> {
        self.pool.as_ref().map(|pool| match pool {
            Pool::Shared(pool) => pool,
            Pool::Own(pool) => pool,
        })
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
