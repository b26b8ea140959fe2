//! The links of several targets in one process: the code of each is that of a link alone, over files that are opened once.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use cuweld::InputArena;
use cuweld::internals::decompress::decompress;
use cuweld::internals::fatbin;

use super::dlink;
use super::fixture;
use super::run;
use crate::harness::case::Case;
use crate::harness::command::program;
use crate::harness::command::said;

/// Returns what `cuweld link` writes.
fn linked(folder: &Path, target: &str, words: &[String]) -> Option<Vec<u8>> {
    let output = tempfile::tempdir().unwrap();
    let file = output.path().join("link.cubin");
    let done = Command::new(program())
        .args(["link", "--arch", target, "-o"])
        .arg(&file)
        .args(words)
        .current_dir(folder)
        .output()
        .unwrap();
    assert_eq!(done.status.success(), file.exists(), "{}", said(&done));
    fs::read(file).ok()
}

/// Returns the images of a fatbin.
fn images(bytes: &[u8]) -> Vec<Vec<u8>> {
    let arena = InputArena::new();
    let members = fatbin::parse(bytes).unwrap();
    members
        .iter()
        .map(|member| decompress(member, &arena).unwrap().to_vec())
        .collect()
}

#[test]
fn each_target_is_linked_as_alone() {
    let folder = tempfile::tempdir().unwrap();
    let inputs = [fixture("a.o"), fixture("b.o")];
    let words: Vec<_> = inputs
        .iter()
        .map(|path| path.to_str().unwrap().to_owned())
        .collect();
    let targets = ["sm_100", "sm_80", "sm_90"];
    for jobs in ["1", "2", "8"] {
        run(dlink(folder.path())
            .args([
                "-j",
                jobs,
                "--arch",
                &targets.join(","),
                "-o",
                "link.fatbin",
            ])
            .args(&inputs));
        let images = images(&fs::read(folder.path().join("link.fatbin")).unwrap());
        assert_eq!(images.len(), targets.len());
        for (target, image) in targets.iter().zip(images) {
            assert!(
                linked(folder.path(), target, &words) == Some(image),
                "{target}"
            );
        }
    }
}

/// The inputs of the link cases that are host objects or archives, for each target.
#[test]
fn cases_are_linked_as_by_link() {
    let mut compared = 0;
    for case in Case::all().unwrap() {
        // Of links that register modules nvlink takes the lists of such objects otherwise: `host-lists-registered-fatbin-without-code`.
        if case.name == "host-lists-beside-fatbin-without-code" {
            continue;
        }
        let is_of_host = |input: &String| input.ends_with(".o") || input.ends_with(".a");
        if !case.inputs.iter().any(is_of_host)
            || !case.options.is_empty()
            || !case.missing.is_empty()
        {
            continue;
        }
        for target in &case.arch {
            let words: Vec<String> = case
                .inputs
                .iter()
                .map(|input| input.replace("{arch}", target))
                .collect();
            let expected = linked(&case.folder, target, &words);
            let output = tempfile::tempdir().unwrap();
            let file = output.path().join("link.cubin");
            let done = dlink(&case.folder)
                .args(["--arch", target, "-o"])
                .arg(&file)
                .args(&words)
                .output()
                .unwrap();
            let image = fs::read(file).ok();
            assert_eq!(
                done.status.success(),
                image.is_some(),
                "{}: {}",
                case.path,
                said(&done)
            );
            assert!(image == expected, "{} {target}: {}", case.path, said(&done));
            compared += 1;
        }
    }
    assert!(compared > 15, "{compared}");
}

/// Returns how often a program opens each file of a folder, as `strace` says.
fn opened(folder: &Path, words: &[&str]) -> BTreeMap<String, usize> {
    let log = folder.join("calls");
    run(Command::new("strace")
        .args([
            "-f",
            "-qq",
            "-e",
            "trace=open,openat",
            "-s",
            "4096",
            "-e",
            "signal=none",
            "-o",
        ])
        .arg(&log)
        .arg(program())
        .args(words)
        .current_dir(folder)
        .env_remove("LD_LIBRARY_PATH"));
    let mut counts = BTreeMap::new();
    for line in fs::read_to_string(&log).unwrap().lines() {
        let name = line.split('"').nth(1).unwrap_or_default();
        if !name.is_empty() && !name.starts_with('/') {
            *counts.entry(name.to_owned()).or_insert(0) += 1;
        }
    }
    fs::remove_file(&log).unwrap();
    counts
}

#[test]
fn files_are_opened_once() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a.o", "b.o"] {
        fs::copy(fixture(name), folder.path().join(name)).unwrap();
    }
    run(Command::new("ar")
        .args(["rcs", "libb.a", "b.o"])
        .current_dir(folder.path()));
    for (targets, inputs) in [
        ("sm_80,sm_90,sm_100", ["a.o", "b.o"]),
        ("all", ["a.o", "b.o"]),
        ("all", ["a.o", "libb.a"]),
        ("sm_80,sm_90,sm_100", ["a.o", "-lb"]),
    ] {
        let words = ["dlink", "-L.", "-j", "4", "--arch", targets, "-o", "link.o"];
        let opened = opened(folder.path(), &[&words[..], &inputs].concat());
        for input in inputs {
            let file = if input == "-lb" { "./libb.a" } else { input };
            assert_eq!(
                opened.get(file),
                Some(&1),
                "{targets} {inputs:?}: {opened:?}"
            );
        }
    }
}
