//! Links of programs of CUDA C++ that are made from a table of what a unit can define and refer to (`tests/language/cxx.toml`): compiled
//! by nvcc, run by nvlink 13.0.88 and by cuweld, and compared in bytes, messages and exit code.
//!
//! A seed is a program about one pair of entities. `CUWELD_CXX=FROM..TO` links the programs of a range, `CUWELD_CXX_PAIRS=FILE` writes
//! how often each pair was linked. Without the oracle nothing runs.

mod program;

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use libtest_mimic::{Arguments, Conclusion, Trial};

use crate::engine::packaging::archive;
use crate::engine::{seeds_of, target_folder};
use crate::harness::oracle;
use crate::harness::tally::Tally;
use crate::harness::threads::on_all;
use program::{Entity, Form, Program};

/// Programs of `cargo test`.
const DEFAULT_PROGRAMS: &str = "0..12";

pub fn run_all(arguments: &Arguments) -> Result<Conclusion, Box<dyn Error>> {
    let trial = Trial::test("cxx::seeds", || Ok(run_seeds()?));
    Ok(libtest_mimic::run(arguments, vec![trial]))
}

/// What a run has shown.
#[derive(Default)]
struct Run {
    tally: Tally,
    /// How often the entities of a pair were in one program that was linked.
    pairs: BTreeMap<(usize, usize), u32>,
    /// What the compiler says of programs that it refuses: count and a seed.
    uncompiled: BTreeMap<String, (u32, u32)>,
}

/// Links the programs that the environment asks for; an error where a link differs.
fn run_seeds() -> Result<(), Box<dyn Error>> {
    let mut out = std::io::stdout();
    let tools = oracle::tools().filter(|tools| tools.join("nvcc").exists());
    let Some(tools) = tools else {
        writeln!(out, "cxx: ran 0 links, there is no nvcc 13.0.88")?;
        return Ok(());
    };
    let asked = std::env::var("CUWELD_CXX").unwrap_or_else(|_| DEFAULT_PROGRAMS.to_owned());
    let seeds = seeds_of(&asked)?;
    let table = program::entities()?;
    let run = Mutex::new(Run::default());
    let next = AtomicUsize::new(0);
    let work = || -> Result<(), String> {
        while let Some(&seed) = seeds.get(next.fetch_add(1, Ordering::Relaxed)) {
            one(&tools, seed, &table, &run).map_err(|error| format!("seed {seed}: {error}"))?;
        }
        Ok(())
    };
    on_all(work)?;
    let run = run.into_inner()?;
    for (reason, (count, seed)) in &run.uncompiled {
        writeln!(out, "not compiled {count:>4}: {reason} (seed {seed})")?;
    }
    if let Some(file) = std::env::var_os("CUWELD_CXX_PAIRS") {
        std::fs::write(file, pairs(&table, &run.pairs))?;
    }
    let all = table.len() * (table.len() + 1) / 2;
    let hit = run.pairs.len();
    writeln!(out, "cxx: {hit} of {all} pairs of entities, {}", run.tally)?;
    match run.tally.different.is_empty() {
        true => Ok(()),
        false => Err("links differ, see above".into()),
    }
}

/// Returns how often each pair was linked, a line for each entity and the entities that it was with.
fn pairs(table: &[Entity], counts: &BTreeMap<(usize, usize), u32>) -> String {
    let mut text = String::new();
    for (one, entity) in table.iter().enumerate() {
        let _ = write!(text, "{}:", entity.name);
        for (other, with) in table.iter().enumerate() {
            let pair = (one.min(other), one.max(other));
            let count = counts.get(&pair).copied().unwrap_or(0);
            let _ = write!(text, " {} {count}", with.name);
        }
        text += "\n";
    }
    text
}

/// Links the program of a seed and counts it. What differs stays, with its sources.
fn one(tools: &Path, seed: u32, table: &[Entity], run: &Mutex<Run>) -> Result<(), Box<dyn Error>> {
    let lock = || run.lock().unwrap_or_else(|error| error.into_inner());
    let program = program::program(seed, table);
    let folder = tempfile::tempdir()?;
    let folder = folder.path();
    let inputs = match compile(tools, &program, folder)? {
        Ok(inputs) => inputs,
        Err(said) => {
            let of_error = |line: &&str| line.contains("error") || line.contains("fatal");
            let reason = said.lines().find(of_error).unwrap_or(&said).to_owned();
            lock().uncompiled.entry(reason).or_insert((0, seed)).0 += 1;
            return Ok(());
        }
    };
    let tally = link(tools, &program, folder, &inputs, seed)?;
    if !tally.different.is_empty() {
        let kept = target_folder().join(format!("cxx/seed-{seed}"));
        let _ = std::fs::remove_dir_all(&kept);
        std::fs::create_dir_all(&kept)?;
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            std::fs::copy(entry.path(), kept.join(entry.file_name()))?;
        }
    }
    let mut run = lock();
    run.tally.add(tally);
    for (index, &one) in program.entities.iter().enumerate() {
        for &other in program.entities.iter().skip(index + 1) {
            *run.pairs
                .entry((one.min(other), one.max(other)))
                .or_default() += 1;
        }
    }
    Ok(())
}

/// Compiles the units; returns the inputs of the link, or what the compiler says.
fn compile(
    tools: &Path,
    program: &Program,
    folder: &Path,
) -> Result<Result<Vec<String>, String>, Box<dyn Error>> {
    std::fs::write(folder.join("all.h"), &program.header)?;
    let (mut inputs, mut members) = (Vec::new(), Vec::new());
    for (at, unit) in program.units.iter().enumerate() {
        let source = format!("u{at}.cu");
        std::fs::write(folder.join(&source), &unit.text)?;
        let (kind, extension) = match unit.form {
            Form::Cubin => ("-cubin", "cubin"),
            Form::Fatbin => ("-fatbin", "fatbin"),
            Form::Object | Form::Member => ("-c", "o"),
        };
        let output = format!("u{at}.{extension}");
        let done = Command::new(tools.join("nvcc"))
            .args(["-rdc=true", "-w", "--extended-lambda", kind])
            .args(&unit.options)
            .args([&source, "-o", &output])
            .current_dir(folder)
            .output()?;
        if !done.status.success() {
            return Ok(Err(String::from_utf8_lossy(&done.stderr).into_owned()));
        }
        match unit.form {
            Form::Member => members.push((output.clone(), std::fs::read(folder.join(&output))?)),
            _ => inputs.push(output),
        }
    }
    if !members.is_empty() {
        std::fs::write(folder.join("libunits.a"), archive(&members))?;
        inputs.push("libunits.a".to_owned());
    }
    Ok(Ok(inputs))
}

/// Links the program by both: as it is, in reverse, and by `-r` and again.
fn link(
    tools: &Path,
    program: &Program,
    folder: &Path,
    inputs: &[String],
    seed: u32,
) -> Result<Tally, Box<dyn Error>> {
    let mut tally = Tally::default();
    let arch = format!("-arch={}", program.target);
    let library = program.runtime.then(|| {
        tools
            .join("../lib/libcudadevrt.a")
            .to_string_lossy()
            .into_owned()
    });
    let mut try_link = |options: &[&str], inputs: &[String], library: Option<&String>| {
        let mut arguments = vec![arch.clone()];
        arguments.extend(options.iter().map(|&option| option.to_owned()));
        arguments.extend_from_slice(inputs);
        arguments.extend(library.cloned());
        let name = format!("seed {seed}: nvlink {}", arguments.join(" "));
        tally.link(tools, folder, &arguments, &name)
    };
    try_link(&program.options, inputs, library.as_ref());
    let reverse: Vec<_> = inputs.iter().rev().cloned().collect();
    try_link(&[], &reverse, library.as_ref());
    let debug: &[&str] = match seed % 3 {
        0 => &["-r", "-g"],
        _ => &["-r"],
    };
    let partial = try_link(debug, inputs, None).and_then(|outcome| outcome.output);
    if let Some(partial) = partial {
        std::fs::write(folder.join("partial.cubin"), partial)?;
        try_link(&debug[1..], &["partial.cubin".to_owned()], library.as_ref());
    }
    Ok(tally)
}
