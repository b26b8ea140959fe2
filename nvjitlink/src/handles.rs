//! The links that are open, by handle.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;

use crate::session::Session;

/// The number of an open link; none is 0.
pub(crate) type Handle = usize;

/// All that are open.
static OPEN: Mutex<Table> = Mutex::new(Table {
    last: 0,
    sessions: None,
});

/// A link that one thread at a time works on.
pub(crate) type Shared = Arc<Mutex<Session>>;

struct Table {
    /// The handle that was given last.
    last: Handle,
    sessions: Option<HashMap<Handle, Shared>>,
}

/// A thread that panicked has left its link as it was before a step of it.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Gives a link a handle.
pub(crate) fn open(session: Session) -> Handle {
    let mut table = locked(&OPEN);
    // Handles look like aligned addresses: clients test their bits.
    table.last += 16;
    let handle = table.last;
    let sessions = table.sessions.get_or_insert_default();
    sessions.insert(handle, Arc::new(Mutex::new(session)));
    handle
}

/// Returns the link with a handle.
pub(crate) fn find(handle: Handle) -> Option<Shared> {
    locked(&OPEN).sessions.as_ref()?.get(&handle).cloned()
}

/// Closes the link with a handle. Returns `false` if there is none.
pub(crate) fn close(handle: Handle) -> bool {
    let mut table = locked(&OPEN);
    let Some(sessions) = &mut table.sessions else {
        return false;
    };
    let closed = sessions.remove(&handle);
    if sessions.is_empty() {
        // The library may be unloaded now.
        table.sessions = None;
    }
    // A long link ends without the table.
    drop(table);
    closed.is_some()
}
