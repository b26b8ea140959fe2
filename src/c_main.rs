//! Where the C library begins the program. Rust's runtime, which it would call in its place, reads where the stack ends from
//! `/proc/self/maps` and sets handlers to tell of stacks that overflow: 0.07 of the 1.2 ms of a small link. What else it does is done here.

use std::ffi::CStr;
use std::ffi::c_char;
use std::ffi::c_int;

/// What a Rust program that panics ends with.
const PANICKED: u8 = 101;

// SAFETY: no other function has this name, and the C library calls it with the words of the command line, as the C standard says.
#[unsafe(no_mangle)]
extern "C" fn main(count: c_int, words: *const *const c_char) -> c_int {
    prepare_streams();
    let count = usize::try_from(count).unwrap_or(0);
    // SAFETY: there are so many texts, each of which ends with NUL; they stay as long as the program runs.
    let words = (0..count).map(|at| unsafe { CStr::from_ptr(*words.add(at)) }.to_bytes());
    let words: Vec<&[u8]> = words.collect();
    let code = std::panic::catch_unwind(|| cuweld::cli::exit_code(&words, &[]));
    cuweld::teardown::leave();
    code.unwrap_or(PANICKED).into()
}

/// Messages to a reader that is gone fail rather than end the program. A standard stream that is closed is `/dev/null`: the next file that is
/// opened would be taken for it.
fn prepare_streams() {
    // SAFETY: calls that take no memory but a constant string, before there is a second thread.
    unsafe {
        libc::signal(libc::SIGPIPE, libc::SIG_IGN);
        for stream in [libc::STDIN_FILENO, libc::STDOUT_FILENO, libc::STDERR_FILENO] {
            if libc::fcntl(stream, libc::F_GETFD) == -1 {
                libc::open(c"/dev/null".as_ptr(), libc::O_RDWR);
            }
        }
    }
}
