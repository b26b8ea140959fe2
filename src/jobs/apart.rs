//! Threads on other processors than the one that starts them.
//!
//! Linux often puts a new thread on the processor of its starter though others are idle (measured on virtual machines). It begins when its starter's
//! turn has ended, 0.4 ms later, and only then can it go elsewhere by itself: whoever starts it moves it.

use std::io;
use std::thread::Builder;

use crate::heap;

/// Starts a thread that leaves the caller's processor to the caller, which may still be moved to another.
pub fn spawn(work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    heap::share();
    let thread = Builder::new().spawn(work)?;
    #[cfg(target_os = "linux")]
    linux::move_apart(&thread);
    #[cfg(not(target_os = "linux"))]
    drop(thread);
    Ok(())
}

#[cfg(target_os = "linux")]
mod linux {
    use std::os::unix::thread::JoinHandleExt;
    use std::thread::JoinHandle;

    pub(super) fn move_apart(thread: &JoinHandle<()>) {
        // SAFETY: any bits are a set of processors, and the system is told how many there are. The thread can be named as long as its handle lives.
        unsafe {
            let mut processors: libc::cpu_set_t = std::mem::zeroed();
            let size = size_of_val(&processors);
            let is_known = libc::sched_getaffinity(0, size, &mut processors) == 0;
            if let Ok(here) = usize::try_from(libc::sched_getcpu())
                && is_known
                && here < 8 * size
            {
                libc::CPU_CLR(here, &mut processors);
                // Where there is no other, the system refuses.
                libc::pthread_setaffinity_np(thread.as_pthread_t() as _, size, &processors);
            }
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::sync::mpsc::channel;

    use rustix::thread::sched_getaffinity;

    use super::*;

    #[test]
    fn a_thread_has_all_processors_but_the_callers() {
        let own = sched_getaffinity(None).unwrap();
        let (go, start) = channel();
        let (give, found) = channel();
        let work = move || {
            let () = start.recv().unwrap();
            give.send(sched_getaffinity(None).unwrap()).unwrap();
        };
        spawn(work).unwrap();
        go.send(()).unwrap();
        let found = found.recv().unwrap();
        let count = own.count();
        assert_eq!(found.count(), count - u32::from(count > 1));
        let is_own = |processor| own.is_set(processor) || !found.is_set(processor);
        assert!((0..rustix::thread::CpuSet::MAX_CPU).all(is_own));
        assert_eq!(sched_getaffinity(None).unwrap(), own);
    }
}
