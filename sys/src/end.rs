//! The end of the program from where nothing else can be done.

use std::ffi::c_int;

/// Ends all threads with this exit code, without what the program does at its end: that takes memory
/// and locks, which a signal handler must not.
pub(crate) fn end_at_once(code: c_int) -> ! {
    // SAFETY: the call has no conditions, and does not come back.
    unsafe { libc::_exit(code) }
}
