//! Link cases: every folder `tests/links/<topic>/<case>` for every architecture it names. No oracle is needed; `BLESS=1` asks it first.
//!
//! `cargo test --test cases links::weak` runs the cases whose name contains a word.

use std::collections::BTreeSet;
use std::error::Error;
use std::process::Command;

use crate::harness::case::{Case, Expect};
use crate::harness::link::{Expected, Linker, compare};
use libtest_mimic::{Arguments, Conclusion, Failed, Trial};

pub fn run_all(arguments: &Arguments) -> Result<Conclusion, Box<dyn Error>> {
    let mut trials = Vec::new();
    let mut wanted = BTreeSet::new();
    for case in Case::all()? {
        for arch in &case.arch {
            let (case, path, arch) = (case.clone(), case.path.clone(), arch.clone());
            let trial = Trial::test(format!("links::{path}/{arch}"), move || run(&case, &arch));
            if !arguments.is_filtered_out(&trial) {
                wanted.insert(path);
            }
            trials.push(trial);
        }
    }
    if std::env::var_os("BLESS").is_some_and(|value| value == "1") {
        bless(&wanted)?;
    }
    if trials.is_empty() {
        return Err("no case in tests/links: nothing would be tested".into());
    }
    Ok(libtest_mimic::run(arguments, trials))
}

/// Makes inputs and expectations of cases by NVIDIA's tools, never by this linker.
fn bless(cases: &BTreeSet<String>) -> Result<(), Box<dyn Error>> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/tools/bless");
    let status = Command::new(script).args(cases).status()?;
    if status.success() {
        Ok(())
    } else {
        Err("tests/tools/bless failed".into())
    }
}

fn run(case: &Case, arch: &str) -> Result<(), Failed> {
    for file in case.files(arch) {
        if !file.exists() {
            return Err(format!(
                "{} is not there; run tests/tools/bless {}",
                file.display(),
                case.path
            )
            .into());
        }
    }
    let output = match case.expect {
        Expect::Identical => Some(std::fs::read(case.expected_output(arch))?),
        Expect::Error => None,
        Expect::Deviation => {
            check_deviation(case)?;
            let file = case.expected_output(arch);
            if file.exists() {
                Some(std::fs::read(file)?)
            } else {
                None
            }
        }
    };
    let lines = (case.expect != Expect::Deviation || !case.stderr.is_empty())
        .then(|| case.expected_lines(arch));
    let expected = Expected {
        exit: Some(case.exit),
        lines,
        output,
    };
    let ours = Linker::ours()
        .strict(case.strict)
        .link(&case.folder, &case.arguments(arch))?;
    compare(&ours, &expected).map_err(|report| format!("{}\n{report}", case.summary))?;
    if case.explained.is_empty() {
        return Ok(());
    }
    let ours = Linker::ours_explaining()
        .strict(case.strict)
        .link(&case.folder, &case.arguments(arch))?;
    let explained = ours.stderr.lines().map(str::trim);
    let explained =
        explained.filter(|line| line.starts_with("note: ") || line.starts_with("help: "));
    let (explained, expected) = (
        explained.collect::<Vec<_>>(),
        case.expected_explanations(arch),
    );
    match explained == expected {
        true => Ok(()),
        false => Err(format!("explained by {explained:#?}, expected {expected:#?}").into()),
    }
}

/// A deviation counts only when it is written down.
fn check_deviation(case: &Case) -> Result<(), Failed> {
    let id = case.deviation.as_deref().unwrap_or_default();
    let list = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/deviations.md"))
        .unwrap_or_default();
    if list.lines().any(|line| line.contains(id)) {
        return Ok(());
    }
    Err(format!("docs/deviations.md has no entry {id:?}").into())
}
