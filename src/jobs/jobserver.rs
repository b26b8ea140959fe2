//! The tokens of make's jobserver.
//!
//! A program that make starts with a jobserver may run one thread; for each further one it reads a byte from a pipe, and writes that
//! byte back when the thread has ended. `MAKEFLAGS` names the pipe: `--jobserver-auth=fifo:PATH` (make 4.4 and later), or
//! `--jobserver-auth=R,W` with two open files, in old versions `--jobserver-fds=R,W`. The files are opened anew through `/proc`, so that
//! reading does not wait and make's own files stay as they are.

use std::fs::File;
use std::fs::OpenOptions;
use std::io::Read;
use std::io::Write;
use std::os::unix::fs::FileTypeExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

use rustix::fs::OFlags;

/// Tokens that were taken; they go back with the value.
#[derive(Debug, Default)]
pub(super) struct Tokens {
    bytes: Vec<u8>,
    back: Option<File>,
}

impl Tokens {
    /// Takes up to so many tokens, as many as there are at once. `None` if there is no jobserver; one that cannot be reached has no tokens.
    pub(super) fn take(makeflags: &str, most: usize) -> Option<Self> {
        let [from, to] = pipe(makeflags)?;
        let (Some(mut from), Some(to)) = (open(from, true), open(to, false)) else {
            return Some(Self::default());
        };
        let mut tokens = Tokens {
            bytes: Vec::new(),
            back: Some(to),
        };
        let mut byte = [0];
        while tokens.bytes.len() < most && matches!(from.read(&mut byte), Ok(1)) {
            tokens.bytes.extend(byte);
        }
        Some(tokens)
    }

    pub(super) fn count(&self) -> usize {
        self.bytes.len()
    }
}

impl Drop for Tokens {
    fn drop(&mut self) {
        if let Some(file) = &mut self.back {
            // Nothing can be done if make is gone.
            let _ = file.write_all(&self.bytes);
        }
    }
}

/// The paths of the ends of the pipe: to read from, to write to.
fn pipe(makeflags: &str) -> Option<[PathBuf; 2]> {
    let words = makeflags.split_whitespace().rev();
    let mut values = words.filter_map(|word| {
        let named = |option| word.strip_prefix(option);
        named("--jobserver-auth=").or_else(|| named("--jobserver-fds="))
    });
    // The last counts.
    let value = values.next()?;
    if let Some(path) = value.strip_prefix("fifo:") {
        return Some([path.into(), path.into()]);
    }
    let (from, to) = value.split_once(',')?;
    Some([from, to].map(|number| PathBuf::from(format!("/proc/self/fd/{number}"))))
}

/// Opens an end of the pipe; `None` if that is none, such as the number of a file that make closed.
fn open(path: PathBuf, reads: bool) -> Option<File> {
    let mut options = OpenOptions::new();
    let flags = i32::try_from(OFlags::NONBLOCK.bits()).ok()?;
    options.read(reads).write(!reads).custom_flags(flags);
    let file = options.open(path).ok()?;
    let is_pipe = file.metadata().ok()?.file_type().is_fifo();
    is_pipe.then_some(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_jobserver_counts() {
        let paths =
            |flags| pipe(flags).map(|[from, to]| format!("{} {}", from.display(), to.display()));
        assert_eq!(paths("-j8 -Otarget"), None);
        assert_eq!(
            paths(" -j8 --jobserver-auth=fifo:/tmp/f").unwrap(),
            "/tmp/f /tmp/f"
        );
        assert_eq!(
            paths("-j --jobserver-fds=7,8 --jobserver-auth=3,4 -k").unwrap(),
            "/proc/self/fd/3 /proc/self/fd/4"
        );
    }

    #[test]
    fn a_pipe_that_is_none_has_no_tokens() {
        for flags in [
            "--jobserver-auth=-2,-2",
            "--jobserver-auth=fifo:/dev/null",
            "--jobserver-auth=900,901",
        ] {
            assert_eq!(Tokens::take(flags, 3).unwrap().count(), 0, "{flags}");
        }
    }

    #[test]
    fn tokens_go_back() {
        let (mut reader, mut writer) = std::io::pipe().unwrap();
        writer.write_all(b"+-").unwrap();
        let number = |end: &dyn std::os::fd::AsRawFd| end.as_raw_fd();
        let flags = format!("--jobserver-auth={},{}", number(&reader), number(&writer));
        let taken = Tokens::take(&flags, 3).unwrap();
        assert_eq!(taken.bytes, b"+-");
        assert_eq!(Tokens::take(&flags, 3).unwrap().count(), 0);
        drop(taken);
        let mut one = [0; 2];
        reader.read_exact(&mut one).unwrap();
        assert_eq!(one, *b"+-");
    }
}
