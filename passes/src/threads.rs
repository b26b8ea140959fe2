//! Threads for passes: whoever runs the pipeline starts them, where the work pays for it.
//!
//! What a pass does never depends on how many there are: results come back in the order of the work.

use std::fmt::Debug;
use std::slice::Chunks;
use std::sync::mpsc::Receiver;
use std::sync::mpsc::TryRecvError;

use rayon::ThreadPool;
use rayon::prelude::*;

/// A second thread, one of a pool that the caller may be in: kept while it is needed.
pub type Second<'t> = Box<dyn AsRef<ThreadPool> + 't>;

/// Starts threads.
pub trait Threads: Debug {
    /// Does some work with threads for at most so many pieces of it. The work is told how many there are: with more than one it
    /// runs in a pool of rayon's, with one in no pool.
    fn with(&self, pieces: usize, work: &mut (dyn FnMut(usize) + Send));

    /// A thread to do something [`beside`] the caller's; `None` if there is no room for one. Whoever has one takes no other.
    fn second(&self) -> Option<Second<'_>>;
}

/// The caller's thread alone.
#[derive(Clone, Copy, Debug, Default)]
pub struct OneThread;

impl Threads for OneThread {
    fn with(&self, _: usize, work: &mut (dyn FnMut(usize) + Send)) {
        work(1);
    }

    fn second(&self) -> Option<Second<'_>> {
        None
    }
}

/// Does something `here` while the second thread does something `there`; each may wait for the other. Returns when both are done.
pub fn beside<R>(second: &Second<'_>, there: impl FnOnce() + Send, here: impl FnOnce() -> R) -> R {
    let pool: &ThreadPool = (**second).as_ref();
    pool.in_place_scope(|scope| {
        scope.spawn(|_| there());
        here()
    })
}

/// Does two things, at once if there are threads for so many pieces of work; each once.
pub fn both(
    threads: &dyn Threads,
    pieces: usize,
    here: &mut (dyn FnMut() + Send),
    there: &mut (dyn FnMut() + Send),
) {
    threads.with(pieces, &mut |count| match count {
        0 | 1 => {
            here();
            there();
        }
        _ => {
            rayon::join(&mut *here, &mut *there);
        }
    });
}

/// How often a thread looks for what another one sends before it sleeps, about as long as it takes to write a block of 256 KB: to wake it takes the
/// other one some microseconds each time.
const LOOKS: usize = 2000;

/// What is sent next; `None` if there is nobody any more who sends.
pub fn receive<T>(from: &Receiver<T>) -> Option<T> {
    for _ in 0..LOOKS {
        match from.try_recv() {
            Ok(sent) => return Some(sent),
            Err(TryRecvError::Disconnected) => return None,
            Err(TryRecvError::Empty) => std::hint::spin_loop(),
        }
    }
    from.recv().ok()
}

/// All that is sent, as [`receive`] has it.
pub fn received<T>(from: Receiver<T>) -> impl Iterator<Item = T> {
    std::iter::from_fn(move || receive(&from))
}

/// Changes each item, by threads for at most so many pieces of the work; items do not depend on each other.
pub fn each<T: Send>(
    threads: &dyn Threads,
    pieces: usize,
    items: &mut [T],
    task: impl Fn(&mut T) + Sync,
) {
    if pieces <= 1 {
        return items.iter_mut().for_each(task);
    }
    threads.with(pieces, &mut |count| match count {
        0 | 1 => items.iter_mut().for_each(&task),
        _ => items.par_iter_mut().for_each(&task),
    });
}

/// Does something with each item, by threads for at most so many pieces of the work; results are in the order of the items.
pub fn map<T: Sync, R: Send>(
    threads: &dyn Threads,
    pieces: usize,
    items: &[T],
    task: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    if pieces <= 1 {
        return items.iter().map(task).collect();
    }
    let mut results = Vec::new();
    threads.with(pieces, &mut |count| {
        results = match count {
            0 | 1 => items.iter().map(&task).collect(),
            _ => items.par_iter().map(&task).collect(),
        };
    });
    results
}

/// As [`map`], for parts of the work that are made when it is known how many threads there are: one part for one thread, which need not
/// be put together.
pub fn map_parts<T: Sync, R: Send>(
    threads: &dyn Threads,
    pieces: usize,
    parts: impl Fn(usize) -> Vec<T> + Sync,
    task: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    let mut results = Vec::new();
    let mut work = |count: usize| {
        results = match count {
            0 | 1 => parts(1).iter().map(&task).collect(),
            _ => parts(pieces).par_iter().map(&task).collect(),
        };
    };
    match pieces {
        0 | 1 => work(1),
        _ => threads.with(pieces, &mut work),
    }
    results
}

/// Parts of the work for each thread, so that none waits long for the last.
const PARTS: usize = 4;

/// Items in parts for [`each`] and [`map`]: one part where there is one piece of work.
pub fn parts<T>(items: &[T], pieces: usize) -> Chunks<'_, T> {
    let size = match pieces {
        0 | 1 => items.len(),
        _ => items.len() / pieces / PARTS,
    };
    items.chunks(size.max(1))
}
