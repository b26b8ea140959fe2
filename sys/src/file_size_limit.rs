//! Files that become larger than the process may write (`ulimit -f`).
//!
//! The system ends the program with SIGXFSZ at such a write, unless that is ignored: then the write
//! fails with an error, which is reported as that of a full disk is.

/// Has a write beyond the limit fail in place of ending the program.
#[cfg(unix)]
pub fn report() {
    // SAFETY: no handler is installed, and nothing else of the process looks at this signal.
    unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
    }
}

/// Does nothing: there is no such limit.
#[cfg(not(unix))]
pub fn report() {}
