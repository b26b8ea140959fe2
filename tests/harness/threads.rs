//! Work that several threads share.

/// Runs the work on as many threads as the machine has. Returns the first error of one, or that it
/// panicked.
pub fn on_all(work: impl Fn() -> Result<(), String> + Sync) -> Result<(), String> {
    let threads = std::thread::available_parallelism().map_or(2, |number| number.get());
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(&work)).collect();
        let mut done = workers.into_iter().map(|worker| worker.join());
        done.try_for_each(|done| done.map_err(|_| "a thread panicked".to_owned())?)
    })
}
