//! Objects with one field changed, of any structure that is in them, linked by nvlink 13.0.88 and by cuweld. Where nvlink links, we
//! make the same bytes, refuse, or report a deviation; where it does not, we do not either.
//!
//! `mutate` asks whether rules of relocations, symbols and attributes are nvlink's; this asks whether a file that no compiler wrote
//! can become another program without a word. What was found is in `tests/structure`, which needs no oracle; the seeds do. Without a
//! number they are of objects for SASS targets; `CUWELD_STRUCTURE=5000` tries all, `17..18` one, `CUWELD_STRUCTURE_PARTS=note,names`
//! only some parts, `CUWELD_STRUCTURE_MERCURY=1` only objects with Mercury. What falls short stays in `target/structure/<seed>`.

mod fields;
mod refused;

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::harness::kept_schedule;
use crate::harness::link::{Linker, Outcome};
use crate::harness::oracle;
use crate::harness::reported;
use crate::harness::threads::on_all;
use crate::harness::verdict::{Verdict, judge, message_template};
use crate::mutate::mutation::Numbers;
use crate::mutate::{Fixture, fixtures, seeds_of};
use fields::{Part, Place, Target, number, swap, targets};
use libtest_mimic::{Arguments, Conclusion, Trial};

/// Which seeds are run.
const SEEDS: &str = "CUWELD_STRUCTURE";

/// Restricts the seeds to links of objects with Mercury, where it is set.
const MERCURY: &str = "CUWELD_STRUCTURE_MERCURY";

const DEFAULT_SEEDS: u32 = 200;

/// How a link of a changed object compares, in the order of the table.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Identical,
    /// But for code that is kept and said so.
    Kept,
    SameError,
    /// Both refuse, in other words.
    OtherError,
    /// nvlink crashes, runs too long or finds a fault of its own; we say an error.
    Crash,
    Refused,
    /// A deviation is reported.
    Reported,
    /// nvlink links, and we say an error of nvlink's.
    Stricter,
    /// The same bytes, other warnings.
    Warnings,
    /// nvlink says an error, and we link without a word.
    Laxer,
    /// Other bytes without a word, or a crash of ours.
    Different,
}

impl Kind {
    const ALL: [(&'static str, Kind); 11] = [
        ("identical", Kind::Identical),
        ("kept", Kind::Kept),
        ("same error", Kind::SameError),
        ("other error", Kind::OtherError),
        ("crash", Kind::Crash),
        ("refused", Kind::Refused),
        ("reported", Kind::Reported),
        ("stricter", Kind::Stricter),
        ("warnings", Kind::Warnings),
        ("laxer", Kind::Laxer),
        ("different", Kind::Different),
    ];

    /// Whether the link breaks the promise.
    fn is_fault(&self) -> bool {
        *self >= Kind::Stricter
    }
}

/// A link, what was changed in it and what came of it.
struct Seen {
    seed: u32,
    part: Part,
    /// The link, the input and how that was changed.
    change: String,
    kind: Kind,
    report: String,
}

/// Runs the subject.
pub fn run_all(arguments: &Arguments) -> Result<Conclusion, Box<dyn Error>> {
    let mut trials = refused::trials()?;
    trials.push(Trial::test("structure::seeds", || Ok(run_seeds()?)));
    Ok(libtest_mimic::run(arguments, trials))
}

fn run_seeds() -> Result<(), Box<dyn Error>> {
    let mut out = std::io::stdout();
    let Some(tools) = oracle::tools() else {
        let why = "there is no nvlink 13.0.88 (see tests/tools/oracle)";
        return Ok(writeln!(out, "structure: ran nothing, {why}")?);
    };
    // Of objects with Mercury differences are known that cannot be told (docs/formats/mercury.md).
    let fixtures = match (std::env::var_os(SEEDS), std::env::var_os(MERCURY)) {
        (Some(_), None) => fixtures(|_| true)?,
        (Some(_), Some(_)) => fixtures(|image| image.get(48) == Some(&2))?,
        (None, _) => fixtures(|image| image.get(48) != Some(&2))?,
    };
    let parts = parts()?;
    let seeds = seeds_of(SEEDS, DEFAULT_SEEDS)?;
    let next = AtomicU32::new(seeds.start);
    let seen = Mutex::new(Vec::new());
    let nvlink = Linker::nvlink(tools.join("nvlink"));
    let work = || -> Result<(), String> {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= seeds.end {
                return Ok(());
            }
            let found = run(seed, &fixtures, &parts, &nvlink)
                .map_err(|error| format!("seed {seed}: {error}"))?;
            let mut seen = seen.lock().unwrap_or_else(|error| error.into_inner());
            seen.extend(found);
        }
    };
    on_all(work)?;
    let mut seen = seen.into_inner().unwrap_or_else(|error| error.into_inner());
    seen.sort_by_key(|seen| seen.seed);
    out.write_all(table(&seen).as_bytes())?;
    match seen.iter().filter(|seen| seen.kind.is_fault()).count() {
        0 => Ok(()),
        count => Err(format!("{count} links fall short").into()),
    }
}

/// `CUWELD_STRUCTURE_PARTS`: names of parts.
fn parts() -> Result<Vec<Part>, Box<dyn Error>> {
    let Ok(text) = std::env::var("CUWELD_STRUCTURE_PARTS") else {
        return Ok(Part::ALL.map(|(_, part)| part).to_vec());
    };
    let part = |word: &str| {
        let found = Part::ALL.iter().find(|(name, _)| *name == word);
        Ok(found.ok_or_else(|| format!("no part '{word}'"))?.1)
    };
    text.split(',').map(part).collect()
}

/// Says what fell short, which refusals there were, and counts by part.
fn table(seen: &[Seen]) -> String {
    let mut text = String::new();
    for Seen {
        seed,
        kind,
        change,
        report,
        ..
    } in seen.iter().filter(|seen| seen.kind.is_fault())
    {
        let _ = writeln!(text, "seed {seed} {kind:?}: {change}\n    {report}");
    }
    // What is said of how many, with the first of them.
    let mut said: BTreeMap<(&Kind, &str), (u32, &Seen)> = BTreeMap::new();
    for seen in seen {
        if matches!(seen.kind, Kind::Refused | Kind::Reported) {
            said.entry((&seen.kind, &seen.report))
                .or_insert((0, seen))
                .0 += 1;
        }
    }
    let mut said: Vec<_> = said.into_iter().collect();
    said.sort_by_key(|(_, (count, _))| std::cmp::Reverse(*count));
    for ((kind, what), (count, first)) in said {
        let _ = writeln!(text, "{kind:?} {count}: {what} ({})", first.change);
    }
    let _ = write!(text, "\n{:20}{:>8}", "", "links");
    for (name, _) in &Kind::ALL {
        let _ = write!(text, "{name:>13}");
    }
    let mut row = |name: &str, of: &dyn Fn(&Seen) -> bool| {
        let rows: Vec<&Seen> = seen.iter().filter(|seen| of(seen)).collect();
        if rows.is_empty() {
            return;
        }
        let _ = write!(text, "\n{name:20}{:>8}", rows.len());
        for (_, kind) in &Kind::ALL {
            let count = rows.iter().filter(|seen| seen.kind == *kind).count();
            let _ = write!(text, "{count:>13}");
        }
    };
    for (name, part) in Part::ALL {
        row(name, &|seen| seen.part == part);
    }
    row("structure", &|_| true);
    text + "\n"
}

fn run(
    seed: u32,
    fixtures: &[Fixture],
    parts: &[Part],
    nvlink: &Linker,
) -> Result<Option<Seen>, Box<dyn Error>> {
    let mut numbers = Numbers::new(seed ^ 0x5eed_0000);
    let fixture = &fixtures[numbers.below(fixtures.len())];
    let changed = numbers.below(fixture.inputs.len());
    let mut object = fixture.inputs[changed].clone();
    let part = numbers.one_of(parts).ok_or("no parts")?;
    let all = targets(&object);
    let of_part: Vec<&Target> = all.iter().filter(|target| target.part == part).collect();
    let Some(target) = numbers.one_of(&of_part) else {
        return Ok(None);
    };
    let Some(what) = change(&mut object, target, &of_part, &mut numbers) else {
        return Ok(None);
    };
    let folder = work_folder().join(seed.to_string());
    if folder.exists() {
        std::fs::remove_dir_all(&folder)?;
    }
    std::fs::create_dir_all(&folder)?;
    let arguments = fixture.write(&folder, changed, &object)?;
    let change = format!("{} {changed}.cubin: {what}", fixture.name);
    let (kind, mut report) = compare(&folder, &arguments, nvlink)?;
    if kind.is_fault() {
        let said = report.trim_end().replace('\n', "\n    ");
        report = format!("nvlink {}\n    {said}", arguments.join(" "));
        std::fs::write(folder.join("report.txt"), format!("{change}\n{report}"))?;
    } else {
        std::fs::remove_dir_all(&folder)?;
    }
    Ok(Some(Seen {
        seed,
        part,
        change,
        kind,
        report,
    }))
}

/// Changes a place of an object and says how; nothing where it stays as it was.
fn change(
    object: &mut [u8],
    target: &Target,
    alike: &[&Target],
    numbers: &mut Numbers,
) -> Option<String> {
    match &target.place {
        Place::Rows(first, second) => {
            if object[first.clone()] == object[second.clone()] {
                return None;
            }
            swap(object, first, second);
            Some(target.name.clone())
        }
        &Place::Field { at, width } => {
            let old = number(object, at, width);
            let field = |name: &str| name.rsplit(' ').next().unwrap_or("").to_owned();
            // What the same field has elsewhere.
            let others: Vec<u64> = alike
                .iter()
                .filter(|other| field(&other.name) == field(&target.name))
                .filter_map(|other| match other.place {
                    Place::Field { at, width: same } if same == width => {
                        Some(number(object, at, width))
                    }
                    _ => None,
                })
                .collect();
            let bit = 1 << numbers.below(width * 8);
            let candidates = [
                old ^ bit,
                numbers.one_of(&others)?,
                numbers.one_of(&others)?,
                old.wrapping_add(1),
                old.wrapping_sub(1),
                old.wrapping_add(0x100),
                old.wrapping_mul(2),
                0,
                1,
                u64::MAX,
                numbers.below(usize::MAX) as u64,
            ];
            let new = numbers.one_of(&candidates)? & (u64::MAX >> (64 - width * 8));
            let bytes = object.get_mut(at..at + width)?;
            bytes.copy_from_slice(&new.to_le_bytes()[..width]);
            (new != old).then(|| format!("{} {old:#x} -> {new:#x}", target.name))
        }
    }
}

/// Links with both.
fn compare(
    folder: &Path,
    arguments: &[String],
    nvlink: &Linker,
) -> Result<(Kind, String), Box<dyn Error>> {
    let mut theirs = nvlink.link(folder, arguments)?;
    let mut ours = Linker::ours().link(folder, arguments)?;
    let report = match judge(&theirs, &ours, true) {
        Verdict::Identical | Verdict::Deviation => return Ok((Kind::Identical, String::new())),
        Verdict::SameError => return Ok((Kind::SameError, String::new())),
        Verdict::Crash => return Ok((Kind::Crash, String::new())),
        Verdict::Refused(what) => return Ok((Kind::Refused, what)),
        Verdict::Reported(report) | Verdict::Differs(report) => report,
    };
    let linked = |outcome: &Outcome| outcome.exit == Some(0);
    let failed = |outcome: &Outcome| outcome.exit.is_some_and(|code| code != 0 && code != 101);
    if failed(&ours) && ours.output.is_none() {
        return Ok(match linked(&theirs) {
            true => (Kind::Stricter, report),
            false => (Kind::OtherError, report),
        });
    }
    let explained = Linker::ours_explaining().link(folder, arguments)?;
    if let Some(codes) = reported::codes(&explained) {
        return Ok((Kind::Reported, message_template(&codes)));
    }
    if linked(&theirs) && linked(&ours) && theirs.output == ours.output {
        return Ok((Kind::Warnings, report));
    }
    if linked(&theirs) && linked(&ours) {
        let arguments = [&["--cuweld-strict-finalize".to_owned()], arguments].concat();
        let strictly = Linker::ours().link(folder, &arguments)?;
        if kept_schedule::mask(&mut theirs, &mut ours, &strictly, |_| false).is_some()
            && matches!(judge(&theirs, &ours, true), Verdict::Identical)
        {
            return Ok((Kind::Kept, String::new()));
        }
        return Ok((Kind::Different, report));
    }
    Ok(match linked(&ours) {
        true => (Kind::Laxer, report),
        false => (Kind::Different, report),
    })
}

fn work_folder() -> PathBuf {
    let temporary = Path::new(env!("CARGO_TARGET_TMPDIR"));
    temporary.parent().unwrap_or(temporary).join("structure")
}
