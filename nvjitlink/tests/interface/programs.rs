//! Links of generated programs by both libraries: `CUWELD_JITLINK_PROGRAMS=500` of them for each
//! target, beside `CUWELD_JITLINK_CASES`, which names the version (`cargo xtask jitlink compare`).
//! Their objects are made by the compilers of the folder `CUWELD_JITLINK_COMPILERS`, or of `PATH`.

use std::fs;
use std::path::Path;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Mutex;

use super::cases::Job;
use super::cases::compare;
use super::cases::version;
use super::library::here;

const TARGETS: [&str; 4] = ["sm_80", "sm_90", "sm_100", "sm_120"];

/// The options that links have in turn.
const OPTIONS: [&str; 4] = ["", "-g", "-r", ""];

#[test]
fn links_of_programs_are_those_of_nvidias_library() {
    let count = std::env::var("CUWELD_JITLINK_PROGRAMS").ok();
    let (Some(version), Some(count)) = (version(), count) else {
        return;
    };
    let count: usize = count.parse().expect("a number of programs");
    let folder = tempfile::tempdir().unwrap();
    let all: Vec<(usize, &str)> = TARGETS
        .iter()
        .flat_map(|target| (0..count).map(move |seed| (seed, *target)))
        .collect();
    let left = Mutex::new(all.into_iter());
    let work = || {
        let mut jobs = Vec::new();
        loop {
            let next = left.lock().unwrap().next();
            let Some((seed, target)) = next else {
                return jobs;
            };
            jobs.extend(program(folder.path(), seed, target));
        }
    };
    let mut jobs: Vec<Job> = std::thread::scope(|scope| {
        let other = scope.spawn(work);
        let mut jobs = work();
        jobs.extend(other.join().unwrap());
        jobs
    });
    jobs.sort_by(|one, other| one.line.cmp(&other.line));
    compare(&jobs, &version);
}

/// Makes the program of a seed, and compiles it; `None` if a compiler refuses it.
fn program(root: &Path, seed: usize, target: &str) -> Option<Job> {
    let folder = root.join(format!("{target}-{seed}"));
    fs::create_dir_all(&folder).unwrap();
    let made = Command::new("python3")
        .arg(here("../tests/conformance/generate.py"))
        .args([&seed.to_string(), folder.to_str()?, target])
        .status();
    assert!(made.unwrap().success());
    let modules = fs::read_to_string(folder.join("modules.txt")).unwrap();
    let compilers = PathBuf::from(std::env::var_os("CUWELD_JITLINK_COMPILERS").unwrap_or_default());
    let mut files = Vec::new();
    for line in modules.lines() {
        let (module, options) = line.split_once(' ').unwrap_or((line, ""));
        let object = folder.join(format!("{module}.cubin"));
        let arch = format!("-arch={target}");
        let (compiler, words, source) = match module.ends_with(".cu") {
            true => ("nvcc", ["-rdc=true", "-cubin"], module.to_owned()),
            false => ("ptxas", ["-m64", "-c"], format!("{module}.ptx")),
        };
        let mut compiler = Command::new(compilers.join(compiler));
        compiler.current_dir(&folder).arg(arch).args(words);
        compiler.args(options.split_whitespace());
        let done = compiler
            .arg(source)
            .arg("-o")
            .arg(&object)
            .output()
            .unwrap();
        if !done.status.success() {
            return None;
        }
        files.push(object.to_str()?.to_owned());
    }
    let option = OPTIONS[seed % OPTIONS.len()];
    Some(Job {
        line: format!("{target}|{option}|{}", files.join(" ")),
        target: target.to_owned(),
    })
}
