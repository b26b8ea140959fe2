//! Cases of other toolkits: folders `tests/toolkits/<case>`, for each toolkit and architecture that they name. What the linker of
//! that toolkit writes is `expected/<toolkit>/<arch>.cubin`, or its exit code and messages in `<arch>.txt` where it fails. `tests/tools/bless`
//! makes them.

use std::error::Error;

use crate::harness::case::{Case, Expect};
use crate::harness::elf_difference::other_code;
use crate::harness::link::{Expected, Linker, Outcome, compare};
use libtest_mimic::{Arguments, Conclusion, Failed, Trial};

pub fn run_all(arguments: &Arguments) -> Result<Conclusion, Box<dyn Error>> {
    let mut trials = Vec::new();
    for case in Case::of_toolkits()? {
        for toolkit in case.toolkits.clone() {
            for arch in case.arch.clone() {
                let (case, toolkit) = (case.clone(), toolkit.clone());
                let name = format!("toolkits::{}/{toolkit}/{arch}", case.name);
                trials.push(Trial::test(name, move || run(&case, &toolkit, &arch)));
            }
        }
    }
    if trials.is_empty() {
        return Err("no case in tests/toolkits: nothing would be tested".into());
    }
    Ok(libtest_mimic::run(arguments, trials))
}

/// Checks a link that differs on purpose: it says so, and the code is nvlink's.
fn deviates(
    case: &Case,
    (toolkit, arch): (&str, &str),
    ours: &Outcome,
    expected: &Expected,
) -> Result<(), Failed> {
    let (Some(our), Some(their)) = (&ours.output, &expected.output) else {
        return Err(format!("no output: {}", ours.stderr).into());
    };
    let note = format!(
        "note: deviation {}",
        case.deviation.as_deref().unwrap_or("?")
    );
    let explained = Linker::of_toolkit(toolkit).explaining();
    let said = explained.link(&case.folder, &case.arguments(arch))?.stderr;
    if !said.contains(&note) {
        return Err(format!("'{note}' is not said: {said}").into());
    }
    match other_code(our, their) {
        others if others.is_empty() => Ok(()),
        others => Err(format!("other code: {}", others.join(", ")).into()),
    }
}

fn run(case: &Case, toolkit: &str, arch: &str) -> Result<(), Failed> {
    let folder = case.folder.join("expected").join(toolkit);
    let output = std::fs::read(folder.join(format!("{arch}.cubin"))).ok();
    let (exit, lines) = match &output {
        Some(_) => (0, None),
        None => {
            let text = std::fs::read_to_string(folder.join(format!("{arch}.txt")))?;
            let mut lines = text.lines();
            let exit = lines.next().and_then(|line| line.strip_prefix("exit "));
            let exit = exit.ok_or("the first line is not the exit code")?;
            (exit.parse()?, Some(lines.map(str::to_owned).collect()))
        }
    };
    let expected = Expected {
        exit: Some(exit),
        lines,
        output,
    };
    let arguments = case.arguments(arch);
    let ours = Linker::of_toolkit(toolkit).link(&case.folder, &arguments)?;
    if case.expect == Expect::Deviation {
        return deviates(case, (toolkit, arch), &ours, &expected);
    }
    compare(&ours, &expected).map_err(|report| format!("{}\n{report}", case.summary).into())
}
