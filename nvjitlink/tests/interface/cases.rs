//! Links of all cases of the repository, executable, `-g` and `-r`, by both libraries. Opt-in:
//! `CUWELD_JITLINK_CASES=13.0.88` asks NVIDIA's library of that version, the oracle's or the one
//! that `NVJITLINK_ORACLE` names, and prints the outcomes by target.
//!
//! What ours does not say fails the test: other bytes without a line in the info log.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::num::NonZeroUsize;
use std::path::Path;
use std::path::PathBuf;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering;
use std::thread::available_parallelism;

use sha2::Digest;
use sha2::Sha256;

use super::child::ask;
use super::library::Interface;
use super::library::here;
use super::library::nvidias;
use super::library::shared;

/// A link of a case: its folder, the target, options and files, as one line.
pub struct Job {
    pub line: String,
    pub target: String,
}

fn text(value: &toml::Value, key: &str) -> Vec<String> {
    let list = value.get(key).and_then(toml::Value::as_array);
    let words = list.into_iter().flatten().filter_map(toml::Value::as_str);
    words.map(str::to_owned).collect()
}

/// Returns the links of all cases whose options the interface has.
fn jobs() -> Vec<Job> {
    let mut folders: Vec<PathBuf> = Vec::new();
    for topic in fs::read_dir(here("../tests/links")).unwrap() {
        let topic = topic.unwrap().path();
        if topic.is_dir() {
            let cases = fs::read_dir(topic).unwrap();
            folders.extend(cases.map(|case| case.unwrap().path()));
        }
    }
    folders.sort();
    let mut jobs = Vec::new();
    for folder in folders {
        let Ok(case) = fs::read_to_string(folder.join("case.toml")) else {
            continue;
        };
        let case: toml::Value = toml::from_str(&case).unwrap();
        let options = text(&case, "options");
        let is_known = |option: &String| {
            let names = ["-kernels-used=", "-variables-used="];
            option == "-r" || option == "-g" || names.iter().any(|name| option.starts_with(name))
        };
        if !options.iter().all(is_known) {
            continue;
        }
        for target in text(&case, "arch") {
            let files = text(&case, "inputs");
            let files: Vec<String> = files
                .iter()
                .map(|file| folder.join(file.replace("{arch}", &target)))
                .filter(|file| file.is_file())
                .map(|file| file.display().to_string())
                .collect();
            if files.is_empty() || files.len() != text(&case, "inputs").len() {
                continue;
            }
            for more in ["", "-g", "-r"] {
                if options.iter().any(|option| option == more) {
                    continue;
                }
                let mut options = options.clone();
                options.extend((!more.is_empty()).then(|| more.to_owned()));
                let (options, files) = (options.join(" "), files.join(" "));
                jobs.push(Job {
                    line: format!("{target}|{options}|{files}"),
                    target: target.clone(),
                });
            }
        }
    }
    jobs
}

/// Links what a line says: the results of the calls, the output by its hash, whether the info log
/// says something.
pub fn answer(interface: &Interface, line: &str) -> String {
    let words: Vec<&str> = line.split('|').collect();
    let target = format!("-arch={}", words[0]);
    let options = words[1].split(' ').filter(|option| !option.is_empty());
    let options: Vec<&str> = [target.as_str()].into_iter().chain(options).collect();
    let (mut link, created) = interface.create(&options);
    let mut codes = vec![created];
    for path in words[2].split(' ') {
        let mut bytes = fs::read(path).unwrap();
        let is_cubin = bytes.starts_with(b"\x7fELF") && bytes.get(18..20) == Some(&[0xbe, 0]);
        let kind = match Path::new(path).extension().and_then(|it| it.to_str()) {
            _ if is_cubin => 1,
            Some("ptx") => 2,
            Some("fatbin") => 4,
            Some("o") => 5,
            Some("a") => 6,
            _ => 10,
        };
        if kind == 2 {
            bytes.push(0);
        }
        let name = Path::new(path).file_name().and_then(|it| it.to_str());
        codes.push(link.add(kind, Some(&bytes), name));
    }
    codes.push(link.complete());
    let output = match link.get("LinkedCubin") {
        Ok(bytes) => {
            let hash = Sha256::digest(&bytes);
            hash.iter().map(|byte| format!("{byte:02x}")).collect()
        }
        Err(code) => format!("none ({code})"),
    };
    let says = !link.log("InfoLog").is_empty();
    link.destroy();
    format!("{codes:?}|{output}|{says}")
}

#[test]
fn links_of_cases_are_those_of_nvidias_library() {
    if let Some(version) = version() {
        compare(&jobs(), &version);
    }
}

/// Returns the version that is asked for.
pub fn version() -> Option<String> {
    std::env::var("CUWELD_JITLINK_CASES").ok()
}

/// Links by both libraries, prints the outcomes, and fails if one is other than ours says.
pub fn compare(jobs: &[Job], version: &str) {
    let named = std::env::var_os("NVJITLINK_ORACLE").map(PathBuf::from);
    let nvidias = named.or_else(nvidias).expect("NVIDIA's library");
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
            let ask = |library: &Path| ask("case", &job.line, library, version);
            done.push((job, outcome(&ask(&nvidias), &ask(shared()))));
        }
        done
    };
    let threads = available_parallelism().map_or(1, NonZeroUsize::get);
    let done: Vec<_> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let done = workers.into_iter().map(|worker| worker.join().unwrap());
        done.flatten().collect()
    });
    let mut outcomes: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let mut silent = Vec::new();
    for (job, outcome) in done {
        *outcomes.entry((&job.target, outcome)).or_default() += 1;
        silent.extend((outcome == OTHER).then_some(job.line.as_str()));
    }
    let mut out = std::io::stdout();
    for ((target, outcome), count) in &outcomes {
        writeln!(out, "{target}: {count} {outcome}").unwrap();
    }
    assert!(silent.is_empty(), "{}", silent.join("\n"));
}

/// What must not be.
const OTHER: &str = "OTHER BYTES";

/// Compares what the two libraries have answered.
fn outcome(theirs: &str, ours: &str) -> &'static str {
    let fields = |answer: &str| -> Vec<String> {
        let mut fields: Vec<String> = answer.split('|').map(str::to_owned).collect();
        fields.resize(3, String::new());
        fields
    };
    let (their, our) = (fields(theirs), fields(ours));
    if their[0] == our[0] && their[1] == our[1] {
        "identical"
    } else if their[2].is_empty() {
        "NVIDIA's library dies"
    } else if our[1].starts_with("none") && their[0] == our[0] {
        "refused by both"
    } else if our[1].starts_with("none") {
        "refused by ours"
    } else if their[1].starts_with("none") {
        "refused by NVIDIA's"
    } else if our[2] == "true" || their[0] != our[0] {
        "other bytes, said"
    } else {
        OTHER
    }
}
