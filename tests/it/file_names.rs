//! Names of files that are no UTF-8: they open, they are recorded, and messages have their bytes.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::{Command, Output};

use crate::harness::command::stderr;

const INPUT: &[u8] = b"a\xff\xc3.cubin";
const OUTPUT: &[u8] = b"o\xfe.cubin";

/// Runs a command in a folder that has an object under such a name.
fn run(folder: &Path, words: &[&[u8]]) -> Output {
    let case = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/links/debug/debug-link/sm_90");
    for (from, to) in [
        ("a.cubin", INPUT),
        ("a.cubin", b"a12.cubin"),
        ("b.cubin", b"b.cubin"),
    ] {
        std::fs::copy(case.join(from), folder.join(OsStr::from_bytes(to))).unwrap();
    }
    Command::new(env!("CARGO_BIN_EXE_cuweld"))
        .args(words.iter().map(|word| OsStr::from_bytes(word)))
        .current_dir(folder)
        .output()
        .unwrap()
}

fn read(folder: &Path, name: &[u8]) -> Vec<u8> {
    std::fs::read(folder.join(OsStr::from_bytes(name))).unwrap()
}

/// Puts other bytes of the same length in place of a name.
fn replaced(mut bytes: Vec<u8>, from: &[u8], to: &[u8]) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let places = (0..bytes.len()).filter(|at| bytes[*at..].starts_with(from));
    let places: Vec<usize> = places.collect();
    assert!(!places.is_empty());
    for at in places {
        bytes[at..at + to.len()].copy_from_slice(to);
    }
    bytes
}

#[test]
fn links_record_the_bytes_of_names() {
    let folder = tempfile::tempdir().unwrap();
    let link = |input: &[u8], output: &[u8]| {
        let words: [&[u8]; 7] = [
            b"nvlink",
            b"-arch=sm_90",
            b"-g",
            input,
            b"b.cubin",
            b"-o",
            output,
        ];
        let done = run(folder.path(), &words);
        assert!(done.status.success(), "{}", stderr(&done));
        read(folder.path(), output)
    };
    let plain = link(b"a12.cubin", b"o1.cubin");
    let expected = replaced(replaced(plain, b"a12.cubin", INPUT), b"o1.cubin", OUTPUT);
    assert!(link(INPUT, OUTPUT) == expected);
}

#[test]
fn the_own_command_line_takes_such_names() {
    let folder = tempfile::tempdir().unwrap();
    let words: [&[u8]; 7] = [
        b"link", b"--arch", b"sm_90", INPUT, b"b.cubin", b"-o", OUTPUT,
    ];
    let done = run(folder.path(), &words);
    assert!(done.status.success(), "{}", stderr(&done));
    let words: [&[u8]; 7] = [
        b"link",
        b"--arch",
        b"sm_90",
        b"a12.cubin",
        b"b.cubin",
        b"-o",
        b"x",
    ];
    run(folder.path(), &words);
    assert!(read(folder.path(), OUTPUT) == read(folder.path(), b"x"));
}

#[test]
fn messages_have_the_bytes_of_names() {
    let folder = tempfile::tempdir().unwrap();
    for (input, message) in [
        (INPUT, &b"Undefined reference to"[..]),
        (b"none\xff", b"Could not open input file"),
    ] {
        let done = run(
            folder.path(),
            &[b"nvlink".as_slice(), b"-arch=sm_90", input, b"-o", b"x"],
        );
        let expected = [b"'", input, b"'"].concat();
        let has = |text: &[u8]| done.stderr.windows(text.len()).any(|part| part == text);
        assert!(
            !done.status.success() && has(message) && has(&expected),
            "{}",
            stderr(&done)
        );
    }
}
