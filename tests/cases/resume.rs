//! The IR is the whole state: every link case is stopped after every pass, printed, parsed by a new process, and goes on to the same bytes, or
//! to the same exit code and no output. What is said in all is the same, too.
//!
//! The modules that are printed are verified after every pass as well. `cargo test --test cases resume::weak` runs the cases whose name contains a word.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::harness::case::{Case, Expect};
use crate::harness::command::program;
use cuweld_diagnostics::codes::internal;
use libtest_mimic::{Arguments, Conclusion, Failed, Trial};
use serde_json::Value;

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
        .arg("--cuweld-message-format=json")
        .arg(format!("--cuweld-dump-before={FIRST_STEP}"))
        .arg("--cuweld-dump-after=all")
        .arg(format!("--cuweld-dump-dir={}", dumps.display()))
        .args(case.strict.then_some("--cuweld-strict"))
        .args(case.arguments(arch))
        .arg("-o")
        .arg(&image)
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
    let is_silencer = |word: &String| matches!(word.as_str(), "-w" | "-disable-infos");
    let is_silenced = case.arguments(arch).iter().any(is_silencer);
    let mut differences = String::new();
    for dump in &dumps {
        if let Err(difference) = go_on(dump, out.path(), image.as_deref(), &direct, is_silenced) {
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

/// Goes on from a dump and compares what comes of it and what is said; a link that failed fails again.
fn go_on(
    dump: &Path,
    out: &Path,
    image: Option<&[u8]>,
    direct: &Output,
    is_silenced: bool,
) -> Result<(), Box<dyn Error>> {
    let done = match (resume(dump, out)?, image) {
        ((Some(found), done), Some(image)) if found == image => done,
        ((Some(_), _), Some(_)) => return Err("the outputs differ".into()),
        ((None, done), None) if done.status.code() == direct.status.code() => done,
        ((_, done), _) => {
            return Err(format!("{:?}: {}", done.status.code(), text(&done)).into());
        }
    };
    let (expected, found) = (said(direct)?, said(&done)?);
    // What a command line silences is no option of the link.
    let is_same = match is_silenced {
        true => expected.iter().all(|said| found.contains(said)),
        false => expected == found,
    };
    match is_same {
        true => Ok(()),
        false => Err(format!("it says {found:#?}, not {expected:#?}").into()),
    }
}

/// The findings that a program has told of the link and not of its command line, without severities and targets: command lines change them.
fn said(output: &Output) -> Result<Vec<Value>, Box<dyn Error>> {
    let lines = std::str::from_utf8(&output.stderr)?.lines();
    let mut said = Vec::new();
    for line in lines {
        let mut line: Value = serde_json::from_str(line).map_err(|_| format!("no JSON: {line}"))?;
        let fields = line.as_object_mut().ok_or("no object")?;
        fields.remove("severity");
        fields.remove("target");
        let is_of_link =
            |code: &Value| !code.as_str().is_some_and(|code| code.starts_with("usage/"));
        if fields.get("code").is_none_or(is_of_link) {
            said.push(line);
        }
    }
    Ok(said)
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
        .args(["--start-after", start, "--message-format=json", "-o"])
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

/// The dumps in a folder by name, which is in order of steps; none if the link did not get so far.
fn sorted(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    if !folder.exists() {
        return Ok(Vec::new());
    }
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        files.push(entry?.path());
    }
    files.sort();
    Ok(files)
}
