//! Standard streams that nobody reads.

#![cfg(target_os = "linux")]

use std::fs::File;
use std::process::Command;

/// A link with a warning.
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/links/inputs/ewp/sm_90");

/// Returns the exit code of a command with a full device for messages, or for what it shows.
fn code(arguments: &[&str], shows: bool) -> Option<i32> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cuweld"));
    command.args(arguments).current_dir(FOLDER);
    let full = File::options().write(true).open("/dev/full").unwrap();
    match shows {
        true => command.stdout(full),
        false => command.stderr(full),
    };
    command.status().unwrap().code()
}

#[test]
fn a_message_that_nobody_reads_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("out.cubin");
    let place = output.to_str().unwrap();
    for words in [&["nvlink", "-arch=sm_90"][..], &["link", "--arch", "sm_90"]] {
        let link = |second| code(&[words, &["a.cubin", second, "-o", place]].concat(), false);
        assert_eq!(link("b.cubin"), Some(0));
        std::fs::remove_file(&output).unwrap();
        assert_eq!(link("none.cubin"), Some(1));
        assert!(!output.exists());
    }
}

#[test]
fn what_cannot_be_shown_is_an_error() {
    assert_eq!(code(&["inspect", "a.cubin"], true), Some(1));
}
