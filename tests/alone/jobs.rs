//! Threads: what a link writes and says does not depend on how many it uses.

use std::path::Path;
use std::process::{Command, Output};

use crate::harness::command::{program, stderr};
use crate::harness::copies::{SM_90, SM_100, copies};

fn link(arch: &str, folder: &Path, files: &[String], jobs: usize) -> Output {
    Command::new(program())
        .args(["nvlink", "-arch", arch, "-o", "out.cubin"])
        .args(files)
        .env("CUWELD_JOBS", jobs.to_string())
        .current_dir(folder)
        .output()
        .unwrap()
}

/// Links of these files with one thread and more write the same.
fn compare_outputs(arch: &str, folder: &Path, files: &[String]) {
    let size: u64 = files
        .iter()
        .map(|file| std::fs::metadata(folder.join(file)).unwrap().len())
        .sum();
    // Enough that reading them is divided, and the work of passes.
    assert!(size > 12 << 20, "{size}");
    let mut outputs = Vec::new();
    for jobs in [1, 2, 5] {
        let done = link(arch, folder, files, jobs);
        assert!(done.status.success(), "{}", stderr(&done));
        outputs.push(std::fs::read(folder.join("out.cubin")).unwrap());
    }
    assert!(outputs[0] == outputs[1] && outputs[0] == outputs[2]);
}

#[test]
fn the_number_of_threads_changes_nothing_with_mercury() {
    let _turn = crate::turn();
    let folder = tempfile::tempdir().unwrap();
    let files = copies(SM_100, folder.path(), 3000);
    compare_outputs("sm_100", folder.path(), &files);
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let _turn = crate::turn();
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let mut files = copies(SM_90, folder, 10_000);
    compare_outputs("sm_90", folder, &files);
    // Two inputs are damaged: the first of them is named.
    let damaged = std::fs::read(folder.join("0.cubin")).unwrap();
    for name in ["bad.cubin", "worse.cubin"] {
        std::fs::write(folder.join(name), &damaged[..damaged.len() - 64]).unwrap();
        files.insert(2000, name.to_owned());
    }
    let said = [1, 2, 5].map(|jobs| stderr(&link("sm_90", folder, &files, jobs)));
    assert!(
        said[0].contains("worse.cubin") && !said[0].contains("bad.cubin"),
        "{}",
        said[0]
    );
    assert_eq!(said[0], said[1]);
    assert_eq!(said[0], said[2]);
}

/// A link that make starts takes no more threads than make has tokens for, and gives them back: the link after it gets them again.
#[test]
fn make_gets_its_tokens_back() {
    let _turn = crate::turn();
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    // Enough that passes divide their work where nobody asks for a number of threads.
    let files = copies(SM_90, folder, 4000).join(" ");
    let program = program().display().to_string();
    let rule = format!("\t+@{program} nvlink -arch=sm_90 -o $@ {files}\n");
    let text = format!("all: a.out\na.out: b.out\n{rule}b.out:\n{rule}");
    std::fs::write(folder.join("Makefile"), text).unwrap();
    let done = Command::new("make")
        .args(["-s", "-j3"])
        .current_dir(folder)
        .output();
    // Not every machine has make.
    let Ok(done) = done else {
        return;
    };
    // Lost tokens are what make complains of at its end.
    assert!(
        done.status.success() && done.stderr.is_empty(),
        "{}",
        stderr(&done)
    );
    let outputs = ["a.out", "b.out"].map(|name| std::fs::read(folder.join(name)).unwrap());
    assert!(outputs[0] == outputs[1]);
}
