//! Links of programs that are made from tables of what PTX and the linker's inputs have (`tests/language`), not from what the linker knows:
//! run by nvlink 13.0.88 and by cuweld, and compared in bytes, messages and exit code.
//!
//! A seed is a link. Each leads with one pair of values, so that as many seeds as there are pairs have them all;
//! the rest is drawn. `CUWELD_LANGUAGE=FROM..TO` links a range, `CUWELD_LANGUAGE_PAIRS=FILE` writes what became of each pair,
//! `CUWELD_LANGUAGE_SHRINK=SEED` cuts a link that differs down.
//! Without the oracle nothing runs.

mod code;
mod links;
mod module;
mod pairs;
mod program;
mod rows;
mod tables;
mod variables;

use std::collections::BTreeMap;
use std::error::Error;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use libtest_mimic::{Arguments, Conclusion, Trial};

use crate::engine::execute::Engine;
use crate::engine::link::{Code, Link, Wrap};
use crate::engine::packaging::Codec;
use crate::engine::pool::Pool;
use crate::engine::summary::Summary;
use crate::engine::{known_in, seeds_of, shrink_link, target_folder};
use crate::harness::command;
use crate::harness::oracle::Reference;
use crate::harness::threads::on_all;
use crate::harness::verdict::{Verdict, message_template};
use pairs::Pairs;
use tables::Tables;

/// Links of `cargo test`.
const DEFAULT_LINKS: &str = "0..200";

pub fn run_all(arguments: &Arguments) -> Result<Conclusion, Box<dyn Error>> {
    let mut trials = vec![Trial::test("language::seeds", || Ok(run_seeds()?))];
    if std::env::var_os("CUWELD_LANGUAGE").is_none() {
        trials.extend(TOOLKITS.map(|(version, seeds)| {
            let name = format!("language::toolkit-{version}");
            Trial::test(name, move || Ok(run_toolkit(version, seeds)?))
        }));
    }
    Ok(libtest_mimic::run(arguments, trials))
}

/// Other toolkits with whose linkers `cargo test` compares, if `tests/tools/toolkit` has installed them: the newest, one between, and
/// the last of CUDA 12; with seeds of each. The library in the place of CUDA 12's linker makes one link of ten.
const TOOLKITS: [(&str, &str); 3] = [
    ("13.5.37", "0..110"),
    ("13.3.73", "0..110"),
    ("12.9.86", "0..400"),
];

/// What a run has shown.
struct Run {
    summary: Summary,
    pairs: Pairs,
    /// Seeds whose pair cannot be.
    impossible: u32,
    /// Links that the library in nvlink's place does not make.
    not_taken: u32,
    /// What the compiler refuses: count and a seed.
    uncompiled: BTreeMap<String, (u32, u32)>,
}

/// Where links come from and go to.
struct Setting {
    tables: Tables,
    reference: Reference,
    cuweld: PathBuf,
    kept: PathBuf,
}

impl Setting {
    fn new(reference: Reference) -> Result<Self, Box<dyn Error>> {
        Ok(Setting {
            tables: Tables::read()?,
            reference,
            cuweld: command::program(),
            kept: target_folder().join("language"),
        })
    }

    /// Both linkers, with a pool of objects in a folder.
    fn engine(&self, objects: &Path) -> Engine {
        Engine {
            pool: Pool::new(objects.to_owned(), self.reference.compilers.clone()),
            reference: self.reference.clone(),
            cuweld: self.cuweld.clone(),
            kept: self.kept.clone(),
        }
    }
}

/// Links the seeds that the environment asks for; an error where one differs.
fn run_seeds() -> Result<(), Box<dyn Error>> {
    let mut out = std::io::stdout();
    let Some(reference) = Reference::chosen() else {
        writeln!(
            out,
            "language: ran 0 links, there is no nvlink (see tests/tools/oracle)"
        )?;
        return Ok(());
    };
    let asked = std::env::var("CUWELD_LANGUAGE").unwrap_or_else(|_| DEFAULT_LINKS.to_owned());
    let seeds = seeds_of(&asked)?;
    let setting = Setting::new(reference)?;
    if let Ok(seed) = std::env::var("CUWELD_LANGUAGE_SHRINK") {
        return shrink_seed(&setting, seed.parse()?);
    }
    let known = known_in("tests/language/known.txt")?;
    link_seeds(&setting, &seeds, &known)
}

/// Links some seeds with another toolkit's linker.
fn run_toolkit(version: &str, seeds: &str) -> Result<(), Box<dyn Error>> {
    let Some(reference) = Reference::of_toolkit(version) else {
        let why = "it is not installed (see tests/tools/toolkit)";
        writeln!(std::io::stdout(), "language: 0 links of {version}, {why}")?;
        return Ok(());
    };
    let setting = Setting::new(reference)?;
    link_seeds(&setting, &seeds_of(seeds)?, &[])
}

/// Links seeds and prints what became of them; an error where one differs that is not known.
fn link_seeds(setting: &Setting, seeds: &[u32], known: &[u32]) -> Result<(), Box<dyn Error>> {
    let mut out = std::io::stdout();
    let start = Instant::now();
    let mut run = run(setting, seeds)?;
    run.summary.mismatches.sort_by_key(|mismatch| mismatch.seed);
    for mismatch in &run.summary.mismatches {
        writeln!(out, "seed {}: {}", mismatch.seed, mismatch.report)?;
    }
    if let Some(file) = std::env::var_os("CUWELD_LANGUAGE_PAIRS") {
        std::fs::write(file, run.pairs.report(&setting.tables, true))?;
    }
    let mut uncompiled: Vec<_> = run.uncompiled.iter().collect();
    uncompiled.sort_by_key(|(reason, (count, _))| (std::cmp::Reverse(*count), *reason));
    for (reason, (count, seed)) in &uncompiled {
        writeln!(out, "not compiled {count:>6}: {reason} (seed {seed})")?;
    }
    for (feature, count) in run.summary.features() {
        if feature.starts_with("message error") || feature.starts_with("message fatal") {
            writeln!(out, "nvlink's {feature}: {count}")?;
        }
    }
    let report = run.pairs.report(&setting.tables, false);
    writeln!(out, "{}", report.lines().last().unwrap_or_default())?;
    write!(
        out,
        "language: {} seeds, {} whose pair cannot be, {} not taken, {} not compiled, {:.0} s\n{}",
        seeds.len(),
        run.impossible,
        run.not_taken,
        uncompiled.iter().map(|(_, (count, _))| count).sum::<u32>(),
        start.elapsed().as_secs_f64(),
        run.summary
    )?;
    let mut differ = run.summary.mismatches.iter().map(|mismatch| mismatch.seed);
    match differ.all(|seed| known.contains(&seed)) {
        true => Ok(()),
        false => Err("links differ, see above".into()),
    }
}

fn run(setting: &Setting, seeds: &[u32]) -> Result<Run, Box<dyn Error>> {
    let next = AtomicUsize::new(0);
    let pairs = Pairs::new(&setting.tables);
    let run = Mutex::new(Run {
        summary: Summary::default(),
        pairs: Pairs::new(&setting.tables),
        impossible: 0,
        not_taken: 0,
        uncompiled: BTreeMap::new(),
    });
    let work = || -> Result<(), String> {
        while let Some(&seed) = seeds.get(next.fetch_add(1, Ordering::Relaxed)) {
            one(setting, &pairs, seed, &run).map_err(|error| format!("seed {seed}: {error}"))?;
        }
        Ok(())
    };
    on_all(work)?;
    Ok(run.into_inner().unwrap_or_else(|error| error.into_inner()))
}

/// Links a seed and counts it. What differs stays, with sources and a report.
fn one(
    setting: &Setting,
    pairs: &Pairs,
    seed: u32,
    run: &Mutex<Run>,
) -> Result<(), Box<dyn Error>> {
    let lock = || run.lock().unwrap_or_else(|error| error.into_inner());
    let Ok(program) = program::program(seed, &setting.tables, pairs) else {
        lock().impossible += 1;
        return Ok(());
    };
    let mut link = links::link(&program, &setting.tables, seed);
    if setting.reference.by_library && !for_library(&mut link) {
        lock().not_taken += 1;
        return Ok(());
    }
    let objects = tempfile::tempdir()?;
    let folder = tempfile::tempdir()?;
    let engine = setting.engine(objects.path());
    if let Err(error) = compile(&engine, &link) {
        let reason = refusal(&error.to_string());
        if std::env::var_os("CUWELD_LANGUAGE_KEEP").is_some() {
            write_sources(&link, folder.path())?;
            engine.keep(folder.path(), &format!("link-{seed}"), &error.to_string())?;
        }
        lock().uncompiled.entry(reason).or_insert((0, seed)).0 += 1;
        return Ok(());
    }
    let mut seen = engine.run(&link, folder.path())?;
    let differs = matches!(seen.verdict, Verdict::Differs(_));
    if differs || std::env::var_os("CUWELD_LANGUAGE_KEEP").is_some() {
        let said = match &seen.verdict {
            Verdict::Differs(report) => report.trim_end().replace('\n', "\n    "),
            other => format!("{other:?}"),
        };
        let commands = seen.commands.join("\n    ");
        let report = format!("{said}\n    {commands}\n    {}", rows_of(&program));
        write_sources(&link, folder.path())?;
        engine.keep(folder.path(), &format!("link-{seed}"), &report)?;
        if differs {
            seen.verdict = Verdict::Differs(report);
        }
    }
    let mut run = lock();
    run.pairs.add(&program);
    run.summary.add(seed, &link, seen);
    let (done, wrong) = (run.summary.links, run.summary.mismatches.len());
    drop(run);
    if done % 1000 == 0 {
        writeln!(std::io::stdout(), "{done} links, {wrong} mismatches")?;
    }
    Ok(())
}

/// Options that a library of CUDA 12 does not take.
const NOT_OF_LIBRARY: [&str; 9] = [
    "-Werror",
    "-r",
    "-suppress-debug-info",
    "-use-host-info",
    "-preserve-relocs",
    "--force-rela",
    "-allow-undefined-globals",
    "-shared",
    "--reserve-null-pointer",
];

/// Makes a link one that a library of CUDA 12 takes: an executable, without members that are packed by zlib. Returns `false` if it
/// cannot be one, or its target has more than SASS.
fn for_library(link: &mut Link) -> bool {
    for input in link.steps.iter_mut().flat_map(|step| &mut step.inputs) {
        if let Wrap::Fatbin(codec) | Wrap::Host(codec, _) = &mut input.wrap
            && *codec == Codec::Zlib
        {
            *codec = Codec::Plain;
        }
    }
    for step in &mut link.steps {
        step.options
            .retain(|option| !NOT_OF_LIBRARY.contains(&option.as_str()));
    }
    let sm = link
        .arch
        .trim_start_matches("sm_")
        .trim_end_matches(char::is_alphabetic);
    sm.len() == 2 && link.steps.len() == 1
}

/// Cuts the link of a seed down and writes it as a case.
fn shrink_seed(setting: &Setting, seed: u32) -> Result<(), Box<dyn Error>> {
    let pairs = Pairs::new(&setting.tables);
    let program = program::program(seed, &setting.tables, &pairs)?;
    let link = links::link(&program, &setting.tables, seed);
    let objects = tempfile::tempdir()?;
    let engine = setting.engine(objects.path());
    shrink_link(&engine, &link, &seed.to_string())
}

fn compile(engine: &Engine, link: &Link) -> Result<(), Box<dyn Error>> {
    for input in link.steps.iter().flat_map(|step| &step.inputs) {
        if let Code::Source(source) = &input.code {
            engine.pool.object(source, &link.arch)?;
        }
    }
    Ok(())
}

/// The first error of a compiler without its place, or how it ended.
fn refusal(said: &str) -> String {
    let of_line = |line: &str| {
        let at = ["error   :", "fatal   :"].map(|word| line.find(word));
        let at = at.into_iter().flatten().min()?;
        Some(message_template(line.get(at..)?))
    };
    let ended = ["SIGSEGV", "SIGKILL", "SIGABRT", "SIGFPE"];
    let ended = ended.into_iter().find(|signal| said.contains(signal));
    let found = said.lines().find_map(of_line);
    found.unwrap_or_else(|| ended.map_or_else(|| message_template(said), str::to_owned))
}

/// The rows of a program, for a report.
fn rows_of(program: &program::Program<'_>) -> String {
    let row = |row: &rows::Row<'_>| {
        let values = row
            .schema
            .dimensions
            .iter()
            .map(|dimension| format!("{}={}", dimension.name, row.of(&dimension.name)));
        values.collect::<Vec<_>>().join(", ")
    };
    let mut out = format!("link: {}", row(&program.link));
    for entity in &program.entities {
        out += &format!(
            "\n    {} in m{}: {}",
            entity.name,
            entity.home,
            row(&entity.row)
        );
    }
    out
}

/// Writes the sources beside the inputs, and how they are compiled.
fn write_sources(link: &Link, folder: &Path) -> Result<(), Box<dyn Error>> {
    let mut commands = String::new();
    for input in link.steps.iter().flat_map(|step| &step.inputs) {
        if let Code::Source(source) = &input.code {
            std::fs::write(folder.join(&source.file), source.text.as_bytes())?;
            commands += &format!(
                "ptxas {} -m64 -c {} -o {}.cubin\n",
                source.options.join(" "),
                source.file,
                input.name
            );
        }
    }
    Ok(std::fs::write(folder.join("build.sh"), commands)?)
}
