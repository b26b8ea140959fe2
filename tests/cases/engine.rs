//! The conformance engine: random links by seed, run by nvlink 13.0.88 and by cuweld, and compared in bytes, messages and exit code.
//!
//! Seeds are spread over all SASS targets, over executable links under random options, `-r` links whose output is linked again, links of fatbins,
//! host objects and archives, and links with one changed object. `cargo xtask conformance FROM..TO` runs a range, `cargo xtask conformance --shrink SEED` cuts
//! a mismatch down to a case for `tests/links`. Without the oracle nothing runs.

pub mod execute;
mod features;
mod fixtures;
mod leaf_kernels;
pub mod link;
mod mercury;
pub mod packaging;
mod plan;
pub mod pool;
mod shrink;
mod static_names;
pub mod summary;

use std::error::Error;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use crate::harness::command::program;
use crate::harness::oracle::Reference;
use crate::harness::threads::on_all;
use crate::harness::verdict::Verdict;
use execute::{Engine, Seen};
use fixtures::{Fixture, fixtures};
use libtest_mimic::{Arguments, Conclusion, Trial};
use pool::{Generator, Pool, Program};
use shrink::Shrinker;
use summary::Summary;

/// Links of `cargo test`.
const DEFAULT_LINKS: u32 = 300;

/// From this many links on every feature of `features.txt` has to occur.
const FULL_RUN: u32 = 10_000;

pub fn run_all(arguments: &Arguments) -> Result<Conclusion, Box<dyn Error>> {
    let trial = Trial::test("engine::seeds", || Ok(run_seeds()?));
    Ok(libtest_mimic::run(arguments, vec![trial]))
}

/// Links the seeds that the environment asks for; an error where one differs.
fn run_seeds() -> Result<(), Box<dyn Error>> {
    let mut out = std::io::stdout();
    let Some(reference) = Reference::chosen() else {
        writeln!(
            out,
            "conformance engine: ran 0 links, there is no nvlink (see tests/tools/oracle)"
        )?;
        return Ok(());
    };
    let target = target_folder();
    let cuweld = program();
    let engine = Engine {
        pool: Pool::new(
            target.join(match &reference.toolkit {
                Some(version) => format!("conformance-pool-{version}"),
                None => "conformance-pool".to_owned(),
            }),
            reference.compilers.clone(),
        ),
        reference,
        cuweld,
        kept: target.join("conformance"),
    };
    if let Ok(seed) = std::env::var("CUWELD_SHRINK") {
        return shrink_seed(&engine, seed.parse()?);
    }
    if let Ok(wanted) = std::env::var("CUWELD_MERCURY") {
        let first = std::env::var("CUWELD_MERCURY_FIRST").unwrap_or_else(|_| "0".to_owned());
        let (report, good) = mercury::measure(&engine, wanted.parse()?, first.parse()?)?;
        write!(out, "{report}")?;
        return match good {
            true => Ok(()),
            false => Err("not every way of linking has its links, see above".into()),
        };
    }
    let seeds = seeds()?;
    let start = Instant::now();
    let mut summary = run(&engine, &seeds)?;
    summary.mismatches.sort_by_key(|mismatch| mismatch.seed);
    for mismatch in &summary.mismatches {
        writeln!(out, "seed {}: {}", mismatch.seed, mismatch.report)?;
    }
    let known = known_in("tests/conformance/known.txt")?;
    let is_known = |seed: u32| known.contains(&seed);
    let unknown = summary.mismatches.iter().filter(|m| !is_known(m.seed));
    let full = summary.links >= FULL_RUN;
    let mut failed = unknown.count() > 0 || full && !summary.mismatches.is_empty();
    for seed in seeds.iter().filter(|seed| is_known(**seed)) {
        if summary.mismatches.iter().all(|m| m.seed != *seed) {
            writeln!(out, "seed {seed} of known.txt does not differ any more")?;
        }
    }
    if let Some(file) = std::env::var_os("CUWELD_FEATURES") {
        let mut text = String::new();
        for (feature, count) in summary.features() {
            text += &format!("{count:>7} {feature}\n");
        }
        std::fs::write(file, text)?;
    }
    let required = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/conformance/features.txt"
    );
    let required = std::fs::read_to_string(required)?;
    let names = || required.lines().filter(|line| !line.starts_with('#'));
    let missing = summary.missing(names());
    writeln!(
        out,
        "features: {} seen; of the {} that a full run has to show {} are missing",
        summary.features().len(),
        names().count(),
        missing.len()
    )?;
    if full {
        for name in &missing {
            writeln!(out, "MISSING feature: {name}")?;
        }
        failed |= !missing.is_empty();
    }
    write!(
        out,
        "conformance engine: {} seeds from {} to {}, {:.0} s\n{summary}",
        seeds.len(),
        seeds.first().copied().unwrap_or_default(),
        seeds.last().copied().unwrap_or_default(),
        start.elapsed().as_secs_f64()
    )?;
    match failed {
        true => Err("links differ, or features are missing, see above".into()),
        false => Ok(()),
    }
}

/// What `CUWELD_LINKS` asks for ([`seeds_of`]).
fn seeds() -> Result<Vec<u32>, Box<dyn Error>> {
    match std::env::var("CUWELD_LINKS") {
        Ok(text) => seeds_of(&text),
        Err(_) => Ok((0..DEFAULT_LINKS).collect()),
    }
}

/// Ranges of seeds `FROM..TO` and single seeds, with commas between them.
pub fn seeds_of(text: &str) -> Result<Vec<u32>, Box<dyn Error>> {
    let mut seeds = Vec::new();
    for part in text.split(',') {
        match part.split_once("..") {
            Some((from, to)) => seeds.extend(from.parse()?..to.parse::<u32>()?),
            None => seeds.push(part.parse()?),
        }
    }
    seeds.sort_unstable();
    seeds.dedup();
    Ok(seeds)
}

/// The seeds of a list (a seed and what is wrong in each line), which are known to differ.
pub fn known_in(file: &str) -> Result<Vec<u32>, Box<dyn Error>> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    let text = std::fs::read_to_string(file)?;
    let rows = text.lines().filter(|line| !line.starts_with('#'));
    let mut seeds = Vec::new();
    for row in rows {
        seeds.extend(
            row.split_whitespace()
                .next()
                .map(str::parse::<u32>)
                .transpose()?,
        );
    }
    Ok(seeds)
}

/// Cargo's target folder.
pub fn target_folder() -> PathBuf {
    let temporary = Path::new(env!("CARGO_TARGET_TMPDIR"));
    temporary.parent().unwrap_or(temporary).to_owned()
}

/// Runs all seeds, the links of one program on one thread.
fn run(engine: &Engine, seeds: &[u32]) -> Result<Summary, Box<dyn Error>> {
    let fixtures = fixtures()?;
    let families: Vec<&[u32]> = seeds
        .chunk_by(|a, b| plan::family(*a) == plan::family(*b))
        .collect();
    let next = AtomicUsize::new(0);
    let summary = Mutex::new(Summary::default());
    let work = || -> Result<(), String> {
        let mut generator = Generator::start().map_err(|error| error.to_string())?;
        loop {
            let Some(seeds) = families.get(next.fetch_add(1, Ordering::Relaxed)) else {
                return Ok(());
            };
            let family = seeds.first().copied().map_or(0, plan::family);
            let program = generator
                .program(family, plan::arch(family))
                .map_err(|error| error.to_string())?;
            for &seed in *seeds {
                let (link, seen) = one(engine, seed, &program, &fixtures);
                let mut summary = summary.lock().unwrap_or_else(|error| error.into_inner());
                summary.add(seed, &link, seen);
                let (done, wrong) = (summary.links, summary.mismatches.len());
                drop(summary);
                if done % 1000 == 0 {
                    let _ = writeln!(std::io::stdout(), "{done} links, {wrong} mismatches");
                }
            }
            engine.pool.forget();
        }
    };
    on_all(work)?;
    Ok(summary
        .into_inner()
        .unwrap_or_else(|error| error.into_inner()))
}

/// Runs one seed. What differs stays, with a report ([`Engine::keep`]).
fn one(engine: &Engine, seed: u32, program: &Program, fixtures: &[Fixture]) -> (link::Link, Seen) {
    let link = plan::plan(seed, program, fixtures);
    let seen = (|| -> Result<Seen, Box<dyn Error>> {
        let folder = tempfile::tempdir()?;
        let mut seen = engine.run(&link, folder.path())?;
        if let Verdict::Differs(report) = &mut seen.verdict {
            let commands = seen.commands.join("\n    ");
            let change = seen.change.as_deref().unwrap_or("nothing changed");
            *report = format!(
                "{}\n    {commands}\n    {}, {change}",
                report.trim_end().replace('\n', "\n    "),
                link.mode
            );
            engine.keep(folder.path(), &format!("link-{seed}"), report)?;
        }
        Ok(seen)
    })();
    let seen = seen.unwrap_or_else(|error| Seen {
        verdict: Verdict::Differs(format!("not run: {error}")),
        features: Default::default(),
        change: None,
        commands: Vec::new(),
        kept: None,
        times: Default::default(),
        both_fail: false,
    });
    (link, seen)
}

/// Cuts the link of a seed down and writes it as a case.
fn shrink_seed(engine: &Engine, seed: u32) -> Result<(), Box<dyn Error>> {
    let family = plan::family(seed);
    let program = Generator::start()?.program(family, plan::arch(family))?;
    let link = plan::plan(seed, &program, &fixtures()?);
    shrink_link(engine, &link, &seed.to_string())
}

/// Cuts a link down and writes it as the case of a name.
pub fn shrink_link(engine: &Engine, link: &link::Link, name: &str) -> Result<(), Box<dyn Error>> {
    let mut out = std::io::stdout();
    let Some(mut shrinker) = Shrinker::new(engine, link)? else {
        writeln!(out, "seed {name} does not differ")?;
        return Ok(());
    };
    writeln!(out, "{}", shrinker.class())?;
    let link = shrinker.shrink(link.clone());
    let folder = engine.kept.join(format!("case-{name}"));
    shrink::write_case(engine, &link, shrinker.class(), &folder)?;
    writeln!(out, "{} after {} links", folder.display(), shrinker.runs)?;
    Ok(())
}
