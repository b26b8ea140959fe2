//! Tests that measure time or count processes, which other tests of the same process would disturb. They run one after another.

#[path = "../harness/mod.rs"]
mod harness;

mod jobs;
mod lir_scale;
mod process;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Waits until no other test of this program runs. A test holds what this returns until its end.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}
