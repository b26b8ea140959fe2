//! Files that become larger than the process may write (`ulimit -f`).
//!
//! The system ends the program with SIGXFSZ at such a write, unless that is ignored: then the write
//! fails with an error, which is reported as that of a full disk is.

/// Has a write beyond the limit fail in place of ending the program.
#[cfg(target_os = "linux")]
pub fn report() {
    crate::signals::set(libc::SIGXFSZ, crate::signals::Action::Ignore);
}

/// Does nothing: only Linux is known here.
#[cfg(not(target_os = "linux"))]
pub fn report() {}
