//! Releases memory in a background process so that the user does not wait for it: after a large
//! link the system takes as long as some passes to take back memory, mapped inputs and the blocks
//! of the output that was replaced (2.3 of 23 ms for 10,000 kernels). A process that shares all of
//! these outlives the program for that time. It does nothing but end: nothing is lost if it is
//! ended early.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering;

static IS_REQUESTED: AtomicBool = AtomicBool::new(false);

/// Asks [`start`] to do something: the link was one whose memory takes long to give back.
pub fn request() {
    IS_REQUESTED.store(true, Ordering::Relaxed);
}

/// Hands the address space to a process that outlives this one, if that was requested and the
/// system can do so. Nothing but the end of the program may follow.
pub fn start() {
    // Tools that watch a program by a library of theirs do not know processes that share memory:
    // valgrind ends it.
    if IS_REQUESTED.load(Ordering::Relaxed) && std::env::var_os("LD_PRELOAD").is_none() {
        #[cfg(target_os = "linux")]
        linux::start();
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::ffi::c_int;
    use std::ffi::c_void;

    /// Bytes of the stack of the background process.
    const STACK: usize = 16 << 10;

    /// The end of a pipe that is read from, and that which is written to.
    type Pipe = [c_int; 2];

    pub(super) fn start() {
        let pipe: *mut Pipe = Box::into_raw(Box::new([0; 2]));
        let stack: &'static mut [u128] = Vec::leak(vec![0; STACK / size_of::<u128>()]);
        let top = stack.as_mut_ptr_range().end;
        // SAFETY: the pipe has room for two numbers. The new process runs on a stack of its own
        // that is never given back, aligned as stacks have to be, and reads two numbers that nobody
        // changes again; it calls the system and nothing else, so that it does not matter where
        // other threads are. If there can be no such process, the program ends as others do.
        unsafe {
            if libc::pipe2(pipe.cast(), libc::O_CLOEXEC) == 0 {
                libc::clone(end_after, top.cast(), libc::CLONE_VM, pipe.cast());
            }
        }
    }

    /// Waits until the program has ended, and ends. This function is all that the background
    /// process runs.
    extern "C" fn end_after(pipe: *mut c_void) -> c_int {
        let mut byte = 0_u8;
        // SAFETY: this is what `start` passes. The process has file descriptors of its own; closing
        // one changes none of the program's.
        unsafe {
            let [reads, writes] = *pipe.cast::<Pipe>();
            for stream in [libc::STDIN_FILENO, libc::STDOUT_FILENO, libc::STDERR_FILENO] {
                // Readers of the program's messages need not wait.
                libc::close(stream);
            }
            // The program has the only other one: its end ends the wait.
            libc::close(writes);
            libc::read(reads, (&raw mut byte).cast(), 1);
            libc::_exit(0)
        }
    }
}
