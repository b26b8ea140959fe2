//! What signals do to the program.

use std::ffi::c_int;
use std::ffi::c_void;

/// A function that a signal calls, with its number and what the system knows of it. It runs between
/// any two instructions of any thread: it makes system calls alone, and takes no memory and waits
/// for no lock.
pub(crate) type Handler = extern "C" fn(c_int, &libc::siginfo_t, *mut c_void);

/// What a signal does.
pub(crate) enum Action<'a> {
    /// What the system does if nothing is said.
    Default,
    /// Nothing.
    Ignore,
    /// It calls a function, with these flags of `sigaction` beside `SA_SIGINFO`.
    Call(Handler, c_int),
    /// What it did before, as [`set`] has returned it.
    Before(&'a libc::sigaction),
}

/// Sets what a signal does, and returns what it did before; `None` if the system refuses. May be
/// called by a handler.
pub(crate) fn set(signal: c_int, action: Action<'_>) -> Option<libc::sigaction> {
    // SAFETY: zeros are a `sigaction` for the default without flags and signals. The handler has the
    // type that SA_SIGINFO asks for, and does what a handler may. What was before is as the system
    // returned it. Both places are ours.
    unsafe {
        let mut new: libc::sigaction = std::mem::zeroed();
        match action {
            Action::Default => new.sa_sigaction = libc::SIG_DFL,
            Action::Ignore => new.sa_sigaction = libc::SIG_IGN,
            Action::Call(handler, flags) => {
                new.sa_sigaction = handler as usize;
                new.sa_flags = libc::SA_SIGINFO | flags;
            }
            Action::Before(before) => new = *before,
        }
        let mut old: libc::sigaction = std::mem::zeroed();
        (libc::sigaction(signal, &raw const new, &raw mut old) == 0).then_some(old)
    }
}
