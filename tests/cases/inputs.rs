//! Inputs of every kind, and what is said about them: one folder of files made by `inputs/build.py`, and links of them
//! (`inputs/*.toml`), each run live by nvlink 13.0.88 and by cuweld. Exit code, messages, output and register file are equal.
//!
//! A link with a `deviation` is compared under `--cuweld-strict`; without it our exit code is the one that is written there, and
//! the deviation is named. Without the oracle (`eval "$(tests/tools/oracle)"`) this runs 0 links and passes.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::harness::command::program;
use crate::harness::oracle;
use libtest_mimic::{Arguments, Conclusion, Failed, Trial};
use serde::Deserialize;

/// Kinds of inputs in the table of architectures, by the end of their names, and the first target that they are linked for: nvlink
/// crashes on members of kind 16 below sm_100.
const FORMS: [(&str, u16); 6] = [
    (".cubin", 0),
    ("-elf.fatbin", 0),
    (".ptx", 0),
    ("-ptx.fatbin", 0),
    ("-bare.fatbin", 0),
    ("-mercury.fatbin", 100),
];
/// Architectures of the inputs, and of the links.
const ARCHITECTURES: [&str; 23] = [
    "75", "80", "86", "87", "88", "89", "90", "90a", "100", "100a", "100f", "103", "103a", "103f",
    "110", "110a", "110f", "120", "120a", "120f", "121", "121a", "121f",
];

/// Links whose table of compiler runs is compared.
const TIMED: [&str; 4] = [
    "-arch=sm_90 a.ptx b.fatbin",
    "-arch=sm_90 -dlto -nvvmpath=nvvm la.o lb.o -Llib -lcudadevrt",
    "-arch=sm_90 -dlto -nvvmpath=nvvm la.o c.ptx lb.o b75.fatbin -Llib -lcudadevrt",
    "-arch=sm_90 -dlto -nvvmpath=nvvm la.o lb.o -r -Llib -lcudadevrt",
];

/// How many generated links have their register files compared.
const REGISTER_FILES: u32 = 50;
/// Inputs of these links: with one id, several, none, stubs, raw files, archives, inputs that hold nothing for the target.
const REGISTERED: [&str; 20] = [
    "a.o",
    "b.o",
    "c.o",
    "d.o",
    "noid.o",
    "ids-abc.o",
    "ids-def.o",
    "ids-ghi.o",
    "stub.o",
    "stub-second.o",
    "plain.o",
    "whole.o",
    "c80.o",
    "l/libc.a",
    "libmixed.a",
    "d90.cubin",
    "elf90.fatbin",
    "c.ptx",
    "prints.o",
    "-Llib -lcudadevrt",
];

/// From this target on nvlink links files named .ptx (D03).
const FIRST_SM_FOR_PTX_FILES: u16 = 90;

/// A file of links.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Links {
    link: Vec<Link>,
}

/// One command line, run in the folder of inputs.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Link {
    /// Arguments, split at blanks; `-o` is added.
    args: String,
    /// Environment variables.
    #[serde(default)]
    env: BTreeMap<String, String>,
    /// What nvlink writes; where it is absent, both still write the same.
    stderr: Option<Vec<String>>,
    /// nvlink's exit code, where it is not 0.
    #[serde(default)]
    exit: Option<i32>,
    /// We differ on purpose unless we are strict: the entry of docs/deviations.md.
    deviation: Option<String>,
    /// Our exit code where we deviate.
    #[serde(default)]
    ours: i32,
    /// nvlink crashes, or gives something else each time: only our exit code and this line of ours are compared.
    refused: Option<String>,
}

/// What is there after a link.
#[derive(Debug, PartialEq, Eq)]
struct Outcome {
    exit: Option<i32>,
    lines: Vec<String>,
    output: Option<Vec<u8>>,
    register: Option<String>,
}

/// What came of the links of the tables and of the register files; printed at the end.
#[derive(Default)]
struct Counts {
    /// Links of the tables with nvlink's outcome: messages, exit code, output, register file.
    identical: AtomicUsize,
    /// Those of them that are identical with `--cuweld-strict` only: deviation D03.
    deviating: AtomicUsize,
    /// Links of the tables that are refused by name (docs/formats/mercury.md).
    refused: AtomicUsize,
    /// Register files that are nvlink's.
    registers: AtomicUsize,
}

impl Counts {
    fn add(count: &AtomicUsize) {
        count.fetch_add(1, Ordering::Relaxed);
    }
}

/// The files to link, and nvlink's tools.
struct Workplace {
    counts: Counts,
    folder: PathBuf,
    tools: PathBuf,
    _owner: tempfile::TempDir,
}

pub fn run_all(arguments: &Arguments) -> Result<Conclusion, Box<dyn Error>> {
    let mut trials = Vec::new();
    let mut done = None;
    match oracle::tools() {
        Some(_) if arguments.list => {}
        Some(tools) => {
            let workplace = Arc::new(build(tools)?);
            done = Some(Arc::clone(&workplace));
            for (form, first) in FORMS {
                for target in ARCHITECTURES
                    .into_iter()
                    .filter(|arch| number(arch) >= first)
                {
                    let workplace = Arc::clone(&workplace);
                    trials.push(Trial::test(
                        format!("inputs::table: *{form} for sm_{target}"),
                        move || table(&workplace, form, target),
                    ));
                }
            }
            for args in TIMED {
                let workplace = Arc::clone(&workplace);
                trials.push(Trial::test(format!("inputs::-time: {args}"), move || {
                    time_table(&workplace, args)
                }));
            }
            for seed in 0..REGISTER_FILES {
                let workplace = Arc::clone(&workplace);
                trials.push(Trial::test(
                    format!("inputs::register file {seed}"),
                    move || register_file(&workplace, seed),
                ));
            }
            for (name, link) in links()? {
                let workplace = Arc::clone(&workplace);
                trials.push(Trial::test(name, move || check(&workplace, &link)));
            }
        }
        None => {
            let mut out = std::io::stdout();
            writeln!(
                out,
                "inputs: ran 0 links, there is no nvlink 13.0.88 (see tests/tools/oracle)"
            )?;
        }
    }
    let conclusion = libtest_mimic::run(arguments, trials);
    if let Some(workplace) = done {
        let counts = &workplace.counts;
        let number = |count: &AtomicUsize| count.load(Ordering::Relaxed);
        writeln!(
            std::io::stdout(),
            "inputs: of the links of {n} x {n} tables {} are identical ({} of them with --cuweld-strict, D03 without), {} are refused by name; \
             {} register files are identical",
            number(&counts.identical),
            number(&counts.deviating),
            number(&counts.refused),
            number(&counts.registers),
            n = ARCHITECTURES.len(),
        )?;
    }
    Ok(conclusion)
}

fn links() -> Result<Vec<(String, Link)>, Box<dyn Error>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/inputs");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)?
        .map(|entry| Ok(entry?.path()))
        .collect::<std::io::Result<_>>()?;
    files.sort();
    let mut links = Vec::new();
    for file in files
        .iter()
        .filter(|file| file.extension().is_some_and(|e| e == "toml"))
    {
        let text = std::fs::read_to_string(file)?;
        let parsed: Links =
            toml::from_str(&text).map_err(|error| format!("{}: {error}", file.display()))?;
        let stem = file
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        for link in parsed.link {
            links.push((format!("inputs::{stem}: {}", link.args), link));
        }
    }
    Ok(links)
}

fn build(tools: PathBuf) -> Result<Workplace, Box<dyn Error>> {
    let owner = tempfile::tempdir()?;
    let folder = owner.path().join("inputs");
    let done = Command::new("python3")
        .arg(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/tests/inputs/build.py"
        ))
        .arg(&folder)
        .arg(&tools)
        .output()?;
    if !done.status.success() {
        return Err(format!(
            "build.py failed:\n{}",
            String::from_utf8_lossy(&done.stderr)
        )
        .into());
    }
    Ok(Workplace {
        counts: Counts::default(),
        folder,
        tools,
        _owner: owner,
    })
}

/// A link of some inputs in some order; the register file, and all else, is nvlink's.
fn register_file(workplace: &Workplace, seed: u32) -> Result<(), Failed> {
    let mut state = seed.wrapping_mul(0x9e37_79b9).wrapping_add(1);
    let mut below = |limit: usize| {
        // xorshift32
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state as usize % limit
    };
    let mut names = REGISTERED.to_vec();
    let mut chosen = Vec::new();
    for _ in 0..1 + below(7) {
        chosen.push(names.remove(below(names.len())));
    }
    let relocatable = if below(5) == 0 { " -r" } else { "" };
    let link = Link {
        args: format!("-arch=sm_90 {}{relocatable}", chosen.join(" ")),
        ..Link::default()
    };
    let theirs = run(workplace, &link, false, &[])?;
    let options = ["--cuweld-explain=off", "--cuweld-strict"];
    let ours = run(workplace, &link, true, &options)?;
    if ours == theirs {
        Counts::add(&workplace.counts.registers);
        Ok(())
    } else {
        Err(format!("{}\n{}", link.args, difference(&ours, &theirs)).into())
    }
}

/// The rows of `-time`, but for the times.
fn time_table(workplace: &Workplace, args: &str) -> Result<(), Failed> {
    let rows = |ours: bool| -> Result<Vec<String>, Failed> {
        let out = tempfile::tempdir()?;
        let file = out.path().join("times.csv");
        let link = Link {
            args: format!("{args} -time {}", file.display()),
            ..Link::default()
        };
        run(workplace, &link, ours, &[])?;
        let text = std::fs::read_to_string(&file)?;
        let without_time = |row: &str| -> String {
            let columns: Vec<&str> = row.split(" , ").collect();
            let kept = columns.iter().enumerate().filter(|(at, _)| *at != 6);
            kept.map(|(_, column)| *column)
                .collect::<Vec<_>>()
                .join(",")
        };
        Ok(text.lines().map(without_time).collect())
    };
    let (ours, theirs) = (rows(true)?, rows(false)?);
    if ours == theirs && theirs.len() > 1 {
        Ok(())
    } else {
        Err(format!("{ours:#?}, expected {theirs:#?}").into())
    }
}

/// The SM number of an architecture.
fn number(arch: &str) -> u16 {
    arch.trim_end_matches(['a', 'f']).parse().unwrap_or(0)
}

/// What fits a target: inputs of all architectures, one link each. Strict, for what deviation D03 is about; a link that deviates is
/// done again by default, and has the output of nvlink for the same PTX in a fatbin.
fn table(workplace: &Workplace, form: &str, target: &str) -> Result<(), Failed> {
    let mut report = String::new();
    for member in ARCHITECTURES {
        let link = |form: &str| Link {
            args: format!("-arch=sm_{target} table/{member}{form}"),
            ..Link::default()
        };
        let theirs = run(workplace, &link(form), false, &[])?;
        let strict = ["--cuweld-explain=off", "--cuweld-strict"];
        let ours = run(workplace, &link(form), true, &strict)?;
        if ours == theirs {
            Counts::add(&workplace.counts.identical);
        } else if is_refused(&ours, &theirs) {
            Counts::add(&workplace.counts.refused);
        } else {
            let _ = writeln!(report, "{member}: {}", difference(&ours, &theirs));
        }
        if form == ".ptx" && number(target) < FIRST_SM_FOR_PTX_FILES && theirs.exit == Some(0) {
            Counts::add(&workplace.counts.deviating);
            let theirs = run(workplace, &link("-ptx.fatbin"), false, &[])?;
            let ours = run(workplace, &link(form), true, &[])?;
            let is_said = ours.lines.iter().any(|line| line.contains("deviation D03"));
            if !is_said || ours.output != theirs.output || ours.exit != Some(0) {
                let _ = writeln!(report, "{member}: not the link of D03: {:#?}", ours.lines);
            }
        }
    }
    if report.is_empty() {
        Ok(())
    } else {
        Err(report.into())
    }
}

/// Whether both chose the input's code, but we do not link it (docs/formats/mercury.md).
fn is_refused(ours: &Outcome, theirs: &Outcome) -> bool {
    let is_typed = |line: &String| line.starts_with("nvlink fatal   : cuweld: unsupported: ");
    ours.exit == Some(1)
        && ours.output.is_none()
        && ours.lines.iter().all(is_typed)
        && theirs.exit == Some(0)
        && theirs.lines.is_empty()
}

fn check(workplace: &Workplace, link: &Link) -> Result<(), Failed> {
    let strict = link.deviation.as_ref().map(|_| "--cuweld-strict");
    if let Some(line) = &link.refused {
        let ours = run(workplace, link, true, &["--cuweld-explain=off"])?;
        if ours.exit != Some(link.ours)
            || !ours.lines.contains(line)
            || ours.output.is_some() != (link.ours == 0)
        {
            return Err(format!(
                "expected exit code {} and '{line}', got {:?} {:#?}",
                link.ours, ours.exit, ours.lines
            )
            .into());
        }
        return Ok(());
    }
    let theirs = run(workplace, link, false, &[])?;
    let mut report = String::new();
    if link.exit.or(Some(0)) != theirs.exit {
        let _ = writeln!(
            report,
            "nvlink exits with {:?}, not with {:?}",
            theirs.exit, link.exit
        );
    }
    if let Some(lines) = link.stderr.as_ref().filter(|lines| **lines != theirs.lines) {
        let _ = writeln!(report, "nvlink writes {:#?}, not {lines:#?}", theirs.lines);
    }
    let options: Vec<&str> = ["--cuweld-explain=off"].into_iter().chain(strict).collect();
    let ours = run(workplace, link, true, &options)?;
    if ours != theirs {
        report.push_str(&difference(&ours, &theirs));
    }
    if let Some(id) = &link.deviation {
        let ours = run(workplace, link, true, &[])?;
        if ours.exit != Some(link.ours) {
            let _ = writeln!(
                report,
                "with deviation {id} we exit with {:?}, not with {}",
                ours.exit, link.ours
            );
        }
        if !ours
            .lines
            .iter()
            .any(|line| line.contains(&format!("deviation {id}")))
        {
            let _ = writeln!(report, "no note of deviation {id}: {:#?}", ours.lines);
        }
        let page =
            std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/deviations.md"))?;
        if !page.contains(&format!("## {id} ")) {
            let _ = writeln!(report, "docs/deviations.md has no {id}");
        }
    }
    if report.is_empty() {
        Ok(())
    } else {
        Err(report.into())
    }
}

fn difference(ours: &Outcome, theirs: &Outcome) -> String {
    let mut report = String::new();
    if ours.exit != theirs.exit {
        let _ = writeln!(
            report,
            "exit code: {:?}, expected {:?}",
            ours.exit, theirs.exit
        );
    }
    if ours.lines != theirs.lines {
        let _ = writeln!(
            report,
            "messages: {:#?}\nexpected: {:#?}",
            ours.lines, theirs.lines
        );
    }
    match (&ours.output, &theirs.output) {
        (Some(ours), Some(theirs)) if ours != theirs => {
            let _ = writeln!(
                report,
                "output differs: {}",
                crate::harness::elf_difference::first_difference(ours, theirs)
            );
        }
        (Some(_), None) => report.push_str("there is an output, expected none\n"),
        (None, Some(_)) => report.push_str("there is no output\n"),
        _ => {}
    }
    if ours.register != theirs.register {
        let _ = writeln!(
            report,
            "register file: {:?}\nexpected: {:?}",
            ours.register, theirs.register
        );
    }
    report
}

fn run(
    workplace: &Workplace,
    link: &Link,
    ours: bool,
    options: &[&str],
) -> Result<Outcome, Failed> {
    let out = tempfile::tempdir()?;
    let mut command = if ours {
        let mut command = Command::new(program());
        command
            .args(["nvlink", "--cuweld-stamp=nvlink-13.0.88"])
            .args(options);
        command.env("CUWELD_PTXAS", workplace.tools.join("ptxas"));
        command
    } else {
        Command::new(workplace.tools.join("nvlink"))
    };
    command.args(link.args.split_whitespace());
    if !link.args.contains("--register-link-binaries") {
        command.arg(format!(
            "--register-link-binaries={}",
            out.path().join("register.h").display()
        ));
    }
    if !link.args.split_whitespace().any(|word| word == "-o") {
        command.arg("-o").arg(out.path().join("out.cubin"));
    }
    let done = command
        .current_dir(&workplace.folder)
        .env("LC_ALL", "C")
        .env_remove("LIBRARY_PATH")
        .envs(&link.env)
        .stdin(Stdio::null())
        .output()?;
    let text = String::from_utf8_lossy(&done.stderr).into_owned();
    let lines = text
        .lines()
        .filter(|line| !line.contains("Compile time = "))
        .map(str::to_owned)
        .collect();
    Ok(Outcome {
        exit: done.status.code(),
        lines,
        output: std::fs::read(out.path().join("out.cubin")).ok(),
        register: std::fs::read_to_string(out.path().join("register.h")).ok(),
    })
}
