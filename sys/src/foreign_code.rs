//! Code from elsewhere that ends the process: by a signal such as SIGSEGV or SIGABRT, or by `exit`.
//!
//! [`watch`] says what is written to the standard error stream if that happens before the value that
//! it returns is dropped. The process then ends as it would have: signals go to who took them before,
//! `exit` ends with exit code 1 whatever it was given, so that nobody takes the link for done.
//! What calls the system by itself (`_exit`) is not seen.

#[cfg(target_os = "linux")]
pub use linux::Watched;
#[cfg(target_os = "linux")]
pub use linux::watch;

/// Means that code is watched.
#[cfg(not(target_os = "linux"))]
#[derive(Debug)]
pub struct Watched(());

/// Watches nothing: only Linux is known here.
#[cfg(not(target_os = "linux"))]
pub fn watch(_: &[u8], _: &[u8]) -> Option<Watched> {
    None
}

#[cfg(target_os = "linux")]
mod linux {
    use std::ffi::c_int;
    use std::ffi::c_void;
    use std::sync::Mutex;
    use std::sync::Once;
    use std::sync::PoisonError;
    use std::sync::atomic::AtomicBool;
    use std::sync::atomic::AtomicU8;
    use std::sync::atomic::AtomicUsize;
    use std::sync::atomic::Ordering;

    use rustix::io::write;
    use rustix::stdio::stderr;

    use crate::end::end_at_once;
    use crate::signals;
    use crate::signals::Action;

    /// Exit code of a link that code from elsewhere has ended by `exit`.
    const FAILED: c_int = 1;

    /// The signals that a fault raises, with their names.
    const SIGNALS: [(c_int, &[u8]); 7] = [
        (libc::SIGSEGV, b"SIGSEGV"),
        (libc::SIGBUS, b"SIGBUS"),
        (libc::SIGILL, b"SIGILL"),
        (libc::SIGFPE, b"SIGFPE"),
        (libc::SIGABRT, b"SIGABRT"),
        (libc::SIGTRAP, b"SIGTRAP"),
        (libc::SIGSYS, b"SIGSYS"),
    ];

    /// The most bytes of the text before or after the cause.
    const ROOM: usize = 8192;

    /// A text that a signal handler can read without memory or locks.
    struct Text {
        bytes: [AtomicU8; ROOM],
        length: AtomicUsize,
    }

    impl Text {
        const fn new() -> Self {
            Text {
                bytes: [const { AtomicU8::new(0) }; ROOM],
                length: AtomicUsize::new(0),
            }
        }

        fn set(&self, text: &[u8]) {
            for (place, byte) in self.bytes.iter().zip(text) {
                place.store(*byte, Ordering::Relaxed);
            }
            self.length.store(text.len().min(ROOM), Ordering::Release);
        }

        /// Writes the text, a piece at a time: the stack for signals is small.
        fn write(&self) {
            let length = self.length.load(Ordering::Acquire);
            let mut piece = [0; 256];
            for bytes in self
                .bytes
                .get(..length)
                .unwrap_or_default()
                .chunks(piece.len())
            {
                for (place, byte) in piece.iter_mut().zip(bytes) {
                    *place = byte.load(Ordering::Relaxed);
                }
                say_bytes(piece.get(..bytes.len()).unwrap_or_default());
            }
        }
    }

    /// Writes to the standard error stream. Nobody may be there to read it.
    fn say_bytes(mut bytes: &[u8]) {
        while let Ok(count @ 1..) = write(stderr(), bytes) {
            bytes = bytes.get(count..).unwrap_or_default();
            if bytes.is_empty() {
                break;
            }
        }
    }

    /// Whether somebody holds a [`Watched`]; only the holder changes what follows.
    static IS_TAKEN: AtomicBool = AtomicBool::new(false);
    /// Whether the texts are whole and code is watched.
    static IS_ARMED: AtomicBool = AtomicBool::new(false);
    /// The process that is watched, and not one that it has forked.
    static PROCESS: AtomicUsize = AtomicUsize::new(0);
    static BEFORE: Text = Text::new();
    static AFTER: Text = Text::new();
    /// What signals did before. Handlers do not wait for it.
    static ACTIONS: Mutex<[Option<libc::sigaction>; SIGNALS.len()]> =
        Mutex::new([None; SIGNALS.len()]);

    /// Means that code is watched, as long as it lives.
    #[derive(Debug)]
    pub struct Watched(());

    /// Watches the process: `before`, the cause and `after` are what is written. Returns `None` if
    /// another thread watches already, whose text would be the wrong one.
    ///
    /// Both texts are cut after 8 KiB.
    pub fn watch(before: &[u8], after: &[u8]) -> Option<Watched> {
        static AT_EXIT: Once = Once::new();
        if IS_TAKEN.swap(true, Ordering::Acquire) {
            return None;
        }
        // SAFETY: the function takes nothing and does not unwind.
        AT_EXIT.call_once(|| unsafe {
            libc::atexit(exits);
        });
        BEFORE.set(before);
        AFTER.set(after);
        PROCESS.store(std::process::id() as usize, Ordering::Relaxed);
        let mut before = ACTIONS.lock().unwrap_or_else(PoisonError::into_inner);
        for ((signal, _), before) in SIGNALS.iter().zip(&mut *before) {
            // On the stack for signals, where a thread has one: its own may have overflowed.
            *before = signals::set(*signal, Action::Call(dies, libc::SA_ONSTACK));
        }
        drop(before);
        IS_ARMED.store(true, Ordering::Release);
        Some(Watched(()))
    }

    impl Drop for Watched {
        fn drop(&mut self) {
            IS_ARMED.store(false, Ordering::Release);
            restore();
            IS_TAKEN.store(false, Ordering::Release);
        }
    }

    /// Gives signals back to who took them before. Returns `false` if that is not known: a thread is
    /// about to watch, or to give them back.
    fn restore() -> bool {
        let Ok(mut before) = ACTIONS.try_lock() else {
            return false;
        };
        for ((signal, _), before) in SIGNALS.iter().zip(&mut *before) {
            if let Some(before) = before.take() {
                signals::set(*signal, Action::Before(&before));
            }
        }
        true
    }

    /// Writes what ended the process, if it is the one that is watched. Takes no memory and no lock.
    fn say(cause: &[u8]) -> bool {
        if !IS_ARMED.swap(false, Ordering::AcqRel)
            || PROCESS.load(Ordering::Relaxed) != std::process::id() as usize
        {
            return false;
        }
        BEFORE.write();
        say_bytes(cause);
        AFTER.write();
        true
    }

    /// Runs for a signal.
    extern "C" fn dies(signal: c_int, info: &libc::siginfo_t, _: *mut c_void) {
        let name = SIGNALS.iter().find(|(number, _)| *number == signal);
        say(name.map_or(b"a signal", |(_, name)| name));
        if !restore() {
            signals::set(signal, Action::Default);
        }
        // A fault comes again when this function returns. A signal that was sent does not.
        if info.si_code <= 0 {
            // SAFETY: the call has no conditions.
            unsafe {
                libc::raise(signal);
            }
        }
    }

    /// Runs when the process exits.
    extern "C" fn exits() {
        if say(b"exit") {
            end_at_once(FAILED)
        }
    }
}
