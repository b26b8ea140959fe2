//! cuweld as a process: standard streams that are closed, readers that are gone, its end.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::harness::command::{program, stderr};
use crate::harness::copies::{SM_90, copies};

/// A file that is opened never takes the number of a stream that messages go to.
#[cfg(target_os = "linux")]
#[test]
fn closed_streams_are_the_null_device() {
    let _turn = crate::turn();
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe.cubin");
    let made = Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    // It waits for somebody to write into its input, and can be looked at.
    let mut child = Command::new("sh")
        .args(["-c", "exec \"$@\" <&- >&- 2>&-", "sh"])
        .arg(program())
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
    let _turn = crate::turn();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let status = Command::new(program())
        .args(["nvlink", "--help"])
        .stdout(Stdio::from(writer))
        .status()
        .unwrap();
    assert_eq!(status.code(), Some(1));
}

/// What a large link leaves to another process holds nobody up: the output has taken the place of the old one, its messages end with it, and that
/// process ends by itself.
#[cfg(target_os = "linux")]
#[test]
fn nothing_is_left_of_a_large_link() {
    let _turn = crate::turn();
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let files = copies(SM_90, folder, 1000);
    let copy = folder.join("nvlink");
    std::fs::copy(program(), &copy).unwrap();
    let link = |files: &[String]| {
        let mut command = Command::new(&copy);
        command.args(["-arch=sm_90", "-o", "out.cubin"]).args(files);
        // Set, it keeps the program from leaving anything.
        command.current_dir(folder).env_remove("LD_PRELOAD");
        command.output().unwrap()
    };
    // What outlives the program is this process's then, which does not ask for it: it stays to be seen when it has ended.
    rustix::process::set_child_subreaper(Some(rustix::process::getpid())).unwrap();
    let ended = || {
        let child = format!("(nvlink) Z {} ", std::process::id());
        let is_it = |process: &std::fs::DirEntry| {
            std::fs::read_to_string(process.path().join("stat"))
                .is_ok_and(|text| text.contains(&child))
        };
        let processes = std::fs::read_dir("/proc").unwrap();
        processes
            .filter(|process| process.as_ref().is_ok_and(is_it))
            .count()
    };
    let names = || {
        let names = std::fs::read_dir(folder).unwrap();
        let mut names: Vec<_> = names.map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let output = folder.join("out.cubin");
    std::fs::write(&output, vec![1; 10 << 20]).unwrap();
    std::fs::hard_link(&output, folder.join("old.cubin")).unwrap();
    let before = names();
    for words in [&[][..], &["--cuweld-wait".to_owned()]] {
        let done = link(&[words, &files].concat());
        assert_eq!(
            (done.status.code(), stderr(&done)),
            (Some(0), String::new())
        );
        assert_eq!(names(), before);
    }
    let old = std::fs::read(folder.join("old.cubin")).unwrap();
    assert!(old == vec![1; 10 << 20] && std::fs::read(&output).unwrap().starts_with(b"\x7fELF"));

    let missing = "missing.cubin".to_owned();
    let failed = link(&[&files[..], &[missing]].concat());
    assert!(!failed.status.success() && stderr(&failed).contains("missing.cubin"));

    // The first link leaves a process, and the last.
    let begun = Instant::now();
    while ended() < 2 {
        assert!(begun.elapsed() < Duration::from_secs(20), "{}", ended());
        sleep(Duration::from_millis(1));
    }
    sleep(Duration::from_millis(100));
    assert_eq!(ended(), 2);
}
