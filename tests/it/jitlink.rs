//! `cuweld jitlink`: where the library is, and programs that find it loaded.

use std::fs;
use std::process::Command;

use crate::harness::command::program;

#[test]
fn programs_find_the_library_loaded() {
    let folder = tempfile::tempdir().unwrap();
    let library = folder.path().join("libnvJitLink.so.13");
    fs::write(&library, "").unwrap();
    let run = |words: &[&str], before: &str| {
        let mut command = Command::new(program());
        command.arg("jitlink").args(words);
        command.env("CUWELD_JITLINK", &library);
        command.env("LD_PRELOAD", before);
        command.output().unwrap()
    };
    let library = library.display();
    let path = run(&["path"], "");
    assert_eq!(
        String::from_utf8_lossy(&path.stdout),
        format!("{library}\n")
    );
    let show = ["run", "--", "sh", "-c", "echo \"$LD_PRELOAD\"; exit 3"];
    let ran = run(&show, "");
    assert_eq!(ran.status.code(), Some(3));
    assert_eq!(String::from_utf8_lossy(&ran.stdout), format!("{library}\n"));
    let ran = run(&show, "/other.so");
    assert_eq!(
        String::from_utf8_lossy(&ran.stdout),
        format!("{library}:/other.so\n")
    );
    let none = run(&["run", "/no/such/program"], "");
    assert_eq!(none.status.code(), Some(1));
    let text = String::from_utf8_lossy(&none.stderr).into_owned();
    assert!(text.contains("cannot run '/no/such/program'"), "{text}");
}

#[test]
fn a_library_that_is_nowhere_is_an_error() {
    let mut command = Command::new(program());
    command
        .args(["jitlink", "path"])
        .env("CUWELD_JITLINK", "/none");
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.contains("looked at /none"), "{text}");
}
