//! Links of two units that declare one name, for every ordered pair of a table of declarations (`tests/language/declarations.toml`): run by
//! nvlink 13.0.88 and by cuweld, and compared in bytes, messages and exit code.
//!
//! `CUWELD_DECLARATIONS=FROM..TO` links a range of numbers, `all` every pair for every target in every way, and the words of a
//! report (`sm_90 -r function-weak kernel-weak`, or `* * texture-* kernel-*`) the links that they describe. Without the oracle nothing runs.

mod table;

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::io::Write as _;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use libtest_mimic::{Arguments, Conclusion, Trial};

use crate::engine::execute::Engine;
use crate::engine::link::{Code, Link};
use crate::engine::pool::Pool;
use crate::engine::summary::Summary;
use crate::engine::{seeds_of, target_folder};
use crate::harness::command;
use crate::harness::oracle::Reference;
use crate::harness::threads::on_all;
use crate::harness::verdict::Verdict;
use table::{Pair, Table};

/// Links of `cargo test`.
const DEFAULT_LINKS: &str = "0..300";

pub fn run_all(arguments: &Arguments) -> Result<Conclusion, Box<dyn Error>> {
    let trials = vec![
        Trial::test("declarations::table", || Ok(check_table()?)),
        Trial::test("declarations::pairs", || Ok(run_pairs()?)),
    ];
    Ok(libtest_mimic::run(arguments, trials))
}

/// What a run has shown.
#[derive(Default)]
struct Run {
    summary: Summary,
    /// Links whose target does not have one of the declarations.
    impossible: usize,
    /// Links that fail with another error than nvlink's.
    other_errors: Vec<String>,
    /// Links of the known list that differ, by what is wrong.
    known: BTreeMap<String, u32>,
    /// Links of the known list that do not differ.
    mended: BTreeSet<String>,
}

/// The words of links that are known to differ, and what is wrong.
type Known = Vec<(String, String)>;

/// Checks that the links of `cargo test` have every declaration, and that the known links are links.
fn check_table() -> Result<(), Box<dyn Error>> {
    let table = Table::read()?;
    let mut missing: BTreeSet<&str> = table
        .declarations
        .iter()
        .map(|declaration| declaration.word.as_str())
        .collect();
    for number in seeds_of(DEFAULT_LINKS)? {
        for declaration in table
            .pair(number as usize)
            .iter()
            .flat_map(|p| p.declarations)
        {
            missing.remove(declaration.word.as_str());
        }
    }
    if !missing.is_empty() {
        return Err(format!("links {DEFAULT_LINKS} do not have {missing:?}").into());
    }
    for (words, _) in known()? {
        if table.numbers(&words).is_empty() {
            return Err(format!("no link is '{words}'").into());
        }
    }
    Ok(())
}

/// Links the pairs that the environment asks for; an error where one differs that is not known.
fn run_pairs() -> Result<(), Box<dyn Error>> {
    let mut out = std::io::stdout();
    let Some(reference) = Reference::chosen() else {
        writeln!(
            out,
            "declarations: ran 0 links, there is no nvlink (see tests/tools/oracle)"
        )?;
        return Ok(());
    };
    let table = Table::read()?;
    let numbers = asked(&table)?;
    let target = target_folder();
    let engine = Engine {
        pool: Pool::new(
            target.join(match &reference.toolkit {
                Some(version) => format!("declarations-pool-{version}"),
                None => "declarations-pool".to_owned(),
            }),
            reference.compilers.clone(),
        ),
        reference,
        cuweld: command::program(),
        kept: target.join("declarations"),
    };
    let start = Instant::now();
    let mut run = run(&engine, &table, &numbers, &known()?)?;
    run.summary.mismatches.sort_by_key(|mismatch| mismatch.seed);
    for mismatch in &run.summary.mismatches {
        writeln!(out, "link {}: {}", mismatch.seed, mismatch.report)?;
    }
    for (why, links) in &run.known {
        writeln!(out, "known to differ {links:>4}: {why}")?;
    }
    for words in &run.mended {
        writeln!(out, "known to differ, and does not any more: {words}")?;
    }
    run.other_errors.sort();
    for other in run.other_errors.iter().take(SHOWN) {
        writeln!(out, "another error: {other}")?;
    }
    write!(
        out,
        "declarations: {} links of {}, {} not of the target, {} with another error than nvlink's, {} known to differ, {:.0} s\n{}",
        numbers.len(),
        table.links(),
        run.impossible,
        run.other_errors.len(),
        run.known.values().sum::<u32>(),
        start.elapsed().as_secs_f64(),
        run.summary
    )?;
    match run.summary.mismatches.len() {
        0 => Ok(()),
        number => Err(format!("{number} links differ, see above").into()),
    }
}

/// Links with another error that are shown.
const SHOWN: usize = 10;

/// Returns the numbers of the links that the environment asks for.
fn asked(table: &Table) -> Result<Vec<u32>, Box<dyn Error>> {
    let asked = std::env::var("CUWELD_DECLARATIONS").unwrap_or_else(|_| DEFAULT_LINKS.to_owned());
    let links = u32::try_from(table.links())?;
    if asked == "all" {
        return Ok((0..links).collect());
    }
    if asked.contains(' ') {
        return Ok(table.numbers(&asked));
    }
    let mut numbers = seeds_of(&asked)?;
    numbers.retain(|number| *number < links);
    Ok(numbers)
}

/// Reads `tests/language/declarations-known.txt`: the words of links, a colon, and what is wrong.
fn known() -> Result<Known, Box<dyn Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(root.join("tests/language/declarations-known.txt"))?;
    let rows = text.lines().filter(|line| !line.starts_with('#'));
    let row = |line: &str| {
        let (words, why) = line.split_once(": ").ok_or(format!("no colon: {line}"))?;
        Ok((words.to_owned(), why.to_owned()))
    };
    rows.map(row).collect()
}

/// Links pairs by number.
fn run(
    engine: &Engine,
    table: &Table,
    numbers: &[u32],
    known: &Known,
) -> Result<Run, Box<dyn Error>> {
    let next = AtomicUsize::new(0);
    let run = Mutex::new(Run::default());
    let work = || -> Result<(), String> {
        while let Some(&number) = numbers.get(next.fetch_add(1, Ordering::Relaxed)) {
            let Some(pair) = table.pair(number as usize) else {
                run.lock()
                    .unwrap_or_else(|error| error.into_inner())
                    .impossible += 1;
                continue;
            };
            one(engine, &pair, number, known, &run)
                .map_err(|error| format!("link {number}, {pair}: {error}"))?;
        }
        Ok(())
    };
    on_all(work)?;
    Ok(run.into_inner().unwrap_or_else(|error| error.into_inner()))
}

/// Links a pair and counts it. What differs stays, with sources and a report.
fn one(
    engine: &Engine,
    pair: &Pair<'_>,
    number: u32,
    known: &Known,
    run: &Mutex<Run>,
) -> Result<(), Box<dyn Error>> {
    let link = pair.link();
    let folder = tempfile::tempdir()?;
    let mut seen = engine.run(&link, folder.path())?;
    let words = pair.to_string();
    let in_list = known.iter().find(|(words, _)| pair.is_like(words));
    let lock = || run.lock().unwrap_or_else(|error| error.into_inner());
    if let Verdict::Differs(report) = &mut seen.verdict {
        if seen.both_fail {
            let said = report.trim_end().replace('\n', "\n    ");
            lock().other_errors.push(format!("{words}: {said}"));
            return Ok(());
        }
        let commands = seen.commands.join("\n    ");
        let said = report.trim_end().replace('\n', "\n    ");
        *report = format!("{words}: {said}\n    {commands}");
        write_sources(&link, folder.path())?;
        engine.keep(folder.path(), &words.replace(' ', "_"), report)?;
        if let Some((_, why)) = in_list {
            *lock().known.entry(why.clone()).or_default() += 1;
            return Ok(());
        }
    } else if in_list.is_some() {
        lock().mended.insert(words);
    }
    let mut run = lock();
    run.summary.add(number, &link, seen);
    let (done, wrong) = (run.summary.links, run.summary.mismatches.len());
    drop(run);
    if done % 1000 == 0 {
        writeln!(std::io::stdout(), "{done} links, {wrong} mismatches")?;
    }
    Ok(())
}

/// Writes the sources beside the inputs.
fn write_sources(link: &Link, folder: &Path) -> Result<(), Box<dyn Error>> {
    for input in link.steps.iter().flat_map(|step| &step.inputs) {
        if let Code::Source(source) = &input.code {
            std::fs::write(folder.join(&source.file), source.text.as_bytes())?;
        }
    }
    Ok(())
}
