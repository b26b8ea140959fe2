//! The IR is the whole state: every link case is stopped after every pass, printed, parsed by a new process, and goes on to the same bytes.
//!
//! The modules that are printed are verified after every pass as well. `cargo test --test cases resume::weak` runs the cases whose name contains a word.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::harness::case::{Case, Expect};
use crate::harness::command::program;
use cuweld_diagnostics::codes::internal;
use libtest_mimic::{Arguments, Conclusion, Failed, Trial};

/// The pass that every case begins with.
const FIRST_STEP: &str = "check-objects";

/// How the name of the dump after the last pass ends.
const LAST_DUMP: &str = "-emit.after.lir";

pub fn run_all(arguments: &Arguments) -> Result<Conclusion, Box<dyn Error>> {
    let mut trials = Vec::new();
    for case in Case::all()? {
        for arch in case.arch.clone() {
            let case = case.clone();
            let name = format!("resume::{}/{arch}", case.path);
            trials.push(Trial::test(name, move || run(&case, &arch)));
        }
    }
    if trials.is_empty() {
        return Err("no case in tests/links: nothing would be tested".into());
    }
    Ok(libtest_mimic::run(arguments, trials))
}

fn run(case: &Case, arch: &str) -> Result<(), Failed> {
    let out = tempfile::tempdir()?;
    let dumps = out.path().join("dumps");
    let image = out.path().join("out.cubin");
    let direct = cuweld(&case.folder)
        .args(["nvlink", "--cuweld-verify-each", "--cuweld-dump-bytes=full"])
        .arg(format!("--cuweld-dump-before={FIRST_STEP}"))
        .arg("--cuweld-dump-after=all")
        .arg(format!("--cuweld-dump-dir={}", dumps.display()))
        .args(case.arguments(arch))
        .arg("-o")
        .arg(&image)
        // Messages name their codes.
        .env("CUWELD_EXPLAIN", "all")
        .output()?;
    let messages = text(&direct);
    if messages.contains(internal::BROKEN_MODULE.name()) {
        return Err(messages.into());
    }
    let dumps = sorted(&dumps)?;
    let complete = dumps
        .last()
        .is_some_and(|last| last.to_string_lossy().ends_with(LAST_DUMP));
    let image = match std::fs::read(&image) {
        Ok(image) => Some(image),
        // A link that only its command line makes fail (`-Werror`) has its image all the same.
        Err(_) if complete => resume(dumps.last().unwrap_or(&image), out.path())?.0,
        Err(_) => None,
    };
    if case.expect == Expect::Identical && !(complete && image.is_some()) {
        return Err(format!("the link did not get to its end:\n{messages}").into());
    }
    let mut differences = String::new();
    for dump in &dumps {
        if let Err(difference) = go_on(dump, out.path(), image.as_deref(), direct.status.code()) {
            let name = dump.file_name().unwrap_or_default().display();
            differences.push_str(&format!("{name}: {difference}\n"));
        }
    }
    if differences.is_empty() {
        Ok(())
    } else {
        Err(differences.into())
    }
}

/// Goes on from a dump and compares what comes of it; a link that failed fails again.
fn go_on(
    dump: &Path,
    out: &Path,
    image: Option<&[u8]>,
    exit: Option<i32>,
) -> Result<(), Box<dyn Error>> {
    match (resume(dump, out)?, image) {
        ((Some(found), _), Some(image)) if found == image => Ok(()),
        ((Some(_), _), Some(_)) => Err("the outputs differ".into()),
        ((None, done), None) if done.status.code() == exit => Ok(()),
        ((_, done), _) => Err(format!("{:?}: {}", done.status.code(), text(&done)).into()),
    }
}

/// Goes on from a dump in a new process, away from the inputs.
fn resume(dump: &Path, out: &Path) -> std::io::Result<(Option<Vec<u8>>, Output)> {
    let name = dump.file_name().unwrap_or_default().to_string_lossy();
    let number = name.split('-').next().unwrap_or_default();
    let start = if name.contains(".before.") {
        "0"
    } else {
        number
    };
    let target = out.join("resumed.cubin");
    let done = cuweld(out)
        .arg("opt")
        .arg(dump)
        .args(["--start-after", start, "-o"])
        .arg(&target)
        .output()?;
    let found = std::fs::read(&target).ok();
    if found.is_some() {
        std::fs::remove_file(&target)?;
    }
    Ok((found, done))
}

fn cuweld(folder: &Path) -> Command {
    let mut command = Command::new(program());
    command
        .current_dir(folder)
        .env_remove("LIBRARY_PATH")
        .stdin(Stdio::null());
    command
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The dumps in a folder by name, which is in order of steps; none if the link did not get so far. A pass that failed leaves a module that no
/// pass goes on from.
fn sorted(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    if !folder.exists() {
        return Ok(Vec::new());
    }
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if !path.to_string_lossy().ends_with(".failed.lir") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}
