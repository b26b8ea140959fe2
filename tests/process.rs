//! cuweld as a process: standard streams that are closed, readers that are gone.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// A file that is opened never takes the number of a stream that messages go to.
#[cfg(target_os = "linux")]
#[test]
fn closed_streams_are_the_null_device() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe.cubin");
    let made = Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    // It waits for somebody to write into its input, and can be looked at.
    let mut child = Command::new("sh")
        .args(["-c", "exec \"$@\" <&- >&- 2>&-", "sh"])
        .arg(env!("CARGO_BIN_EXE_cuweld"))
        .args(["nvlink", "-arch=sm_90", "-o", "out.cubin", "pipe.cubin"])
        .current_dir(folder.path())
        .spawn()
        .unwrap();
    let streams = || -> Vec<PathBuf> {
        let of = |number: u32| format!("/proc/{}/fd/{number}", child.id());
        (0..3)
            .filter_map(|number| std::fs::read_link(of(number)).ok())
            .collect()
    };
    let is_null = |stream: &PathBuf| stream == Path::new("/dev/null");
    let begun = Instant::now();
    while streams().iter().filter(|stream| is_null(stream)).count() < 3 {
        assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", streams());
        sleep(Duration::from_millis(1));
    }
    drop(File::options().write(true).open(&pipe).unwrap());
    // An empty input is no failure, as with nvlink.
    assert!(child.wait().unwrap().success());
}

/// Messages that nobody reads are a failure, not the end of the program by a signal.
#[test]
fn a_reader_that_is_gone_makes_it_fail() {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let status = Command::new(env!("CARGO_BIN_EXE_cuweld"))
        .args(["nvlink", "--help"])
        .stdout(Stdio::from(writer))
        .status()
        .unwrap();
    assert_eq!(status.code(), Some(1));
}
