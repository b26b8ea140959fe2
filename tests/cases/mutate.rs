//! Changed objects, linked by nvlink 13.0.88 and by cuweld: the objects of `tests/links` with one field of a relocation, a symbol or a section
//! header changed by seed. Exit code, messages and bytes have to be equal; what we do not support we may refuse with a message that says so; where
//! nvlink crashes we have to report an error.
//!
//! Without the oracle this runs nothing. `CUWELD_MUTATIONS=5000` tries more, `17..18` one, `CUWELD_MUTATION_KINDS=type,rel` only some kinds.
//! A link that differs stays in `target/mutations/<seed>`.

pub mod mutation;
pub mod object;

use std::error::Error;
use std::fmt::Write as _;
use std::io::Write as _;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::harness::case::{Case, Expect};
use crate::harness::link::Linker;
use crate::harness::oracle;
use crate::harness::verdict::{Verdict, judge};
use libtest_mimic::{Arguments, Conclusion, Trial};
use mutation::{Kind, Numbers, mutate};
use object::Object;

const DEFAULT_SEEDS: u32 = 40;

/// Larger objects take time and have no new kinds of rows.
const LARGEST: usize = 40_000;

/// A link whose inputs are changed.
pub struct Fixture {
    /// Case and target.
    pub name: String,
    /// nvlink's options.
    pub options: Vec<String>,
    /// Contents of the objects.
    pub inputs: Vec<Vec<u8>>,
}

impl Fixture {
    /// Writes the inputs, one of them `changed`, and returns the command line.
    pub fn write(
        &self,
        folder: &Path,
        changed: usize,
        bytes: &[u8],
    ) -> std::io::Result<Vec<String>> {
        let mut arguments = self.options.clone();
        for (index, input) in self.inputs.iter().enumerate() {
            let name = format!("{index}.cubin");
            let bytes = if index == changed { bytes } else { input };
            std::fs::write(folder.join(&name), bytes)?;
            arguments.push(name);
        }
        Ok(arguments)
    }
}

#[derive(Default)]
struct Summary {
    identical: u32,
    errors: u32,
    crashes: u32,
    refused: Vec<String>,
    different: Vec<(u32, String)>,
}

pub fn run_all(arguments: &Arguments) -> Result<Conclusion, Box<dyn Error>> {
    let trial = Trial::test("mutate::seeds", || Ok(run_seeds()?));
    Ok(libtest_mimic::run(arguments, vec![trial]))
}

/// Links the seeds that the environment asks for; an error where one differs.
fn run_seeds() -> Result<(), Box<dyn Error>> {
    let mut out = std::io::stdout();
    let Some(tools) = oracle::tools() else {
        writeln!(
            out,
            "mutate: ran nothing, there is no nvlink 13.0.88 (see tests/tools/oracle)"
        )?;
        return Ok(());
    };
    // Of objects with Mercury nvlink takes the Mercury view, which is not what is changed here.
    let fixtures = fixtures(|image| image.get(48) != Some(&2))?;
    let kinds = kinds()?;
    let seeds = seeds_of("CUWELD_MUTATIONS", DEFAULT_SEEDS)?;
    let next = AtomicU32::new(seeds.start);
    let summary = Mutex::new(Summary::default());
    let nvlink = Linker::nvlink(tools.join("nvlink"));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= seeds.end {
                        break;
                    }
                    let verdict = run(seed, &fixtures, &kinds, &nvlink)
                        .unwrap_or_else(|error| Verdict::Differs(error.to_string()));
                    let mut summary = summary.lock().unwrap_or_else(|error| error.into_inner());
                    match verdict {
                        Verdict::Identical | Verdict::Deviation => summary.identical += 1,
                        Verdict::SameError => summary.errors += 1,
                        Verdict::Crash => summary.crashes += 1,
                        Verdict::Refused(what) => summary.refused.push(what),
                        Verdict::Differs(report) | Verdict::Reported(report) => {
                            summary.different.push((seed, report));
                        }
                    }
                }
            });
        }
    });
    let mut summary = summary
        .into_inner()
        .unwrap_or_else(|error| error.into_inner());
    summary.different.sort();
    summary.refused.sort();
    for (seed, report) in &summary.different {
        writeln!(out, "seed {seed}: {report}")?;
    }
    let mut refusals: Vec<(usize, &str)> = summary
        .refused
        .chunk_by(|a, b| a == b)
        .map(|same| (same.len(), same[0].as_str()))
        .collect();
    refusals.sort_by(|a, b| b.cmp(a));
    for (count, what) in refusals {
        writeln!(out, "refused {count}: {what}")?;
    }
    writeln!(
        out,
        "mutate: {} identical, {} same errors, {} refused, {} where nvlink crashes, {} different",
        summary.identical,
        summary.errors,
        summary.refused.len(),
        summary.crashes,
        summary.different.len()
    )?;
    match summary.different.len() {
        0 => Ok(()),
        number => Err(format!("{number} links differ").into()),
    }
}

/// Reads a number of seeds, or a range `FROM..TO`, from an environment variable.
pub fn seeds_of(variable: &str, default: u32) -> Result<Range<u32>, Box<dyn Error>> {
    let Ok(text) = std::env::var(variable) else {
        return Ok(0..default);
    };
    Ok(match text.split_once("..") {
        Some((from, to)) => from.parse()?..to.parse()?,
        None => 0..text.parse()?,
    })
}

/// `CUWELD_MUTATION_KINDS`: names of kinds.
fn kinds() -> Result<Vec<Kind>, Box<dyn Error>> {
    let Ok(text) = std::env::var("CUWELD_MUTATION_KINDS") else {
        return Ok(Kind::ALL[..Kind::RELOCATIONS]
            .iter()
            .map(|(_, kind)| *kind)
            .collect());
    };
    let mut kinds = Vec::new();
    for word in text.split(',') {
        let found = Kind::ALL.iter().find(|(name, _)| *name == word);
        kinds.push(found.ok_or_else(|| format!("no kind '{word}'"))?.1);
    }
    Ok(kinds)
}

/// Reads the links of cubins that succeed, for each architecture, where all objects are `taken`.
pub fn fixtures(taken: fn(&Vec<u8>) -> bool) -> Result<Vec<Fixture>, Box<dyn Error>> {
    let mut fixtures = Vec::new();
    for case in Case::all()? {
        let plain = case.expect == Expect::Identical
            && !case.strict
            && case.libraries.is_empty()
            && case.inputs.iter().all(|input| input.ends_with(".cubin"));
        if !plain {
            continue;
        }
        for arch in &case.arch {
            let mut inputs = Vec::new();
            for file in case.files(arch) {
                inputs.push(std::fs::read(file)?);
            }
            let fits = |image: &Vec<u8>| {
                taken(image) && image.len() < LARGEST && Object::new(image.clone()).is_some()
            };
            if inputs.is_empty() || !inputs.iter().all(fits) {
                continue;
            }
            let mut options = vec![format!("-arch={arch}")];
            options.extend(
                case.options
                    .iter()
                    .map(|option| option.replace("{arch}", arch)),
            );
            fixtures.push(Fixture {
                name: format!("{}/{arch}", case.path),
                options,
                inputs,
            });
        }
    }
    Ok(fixtures)
}

fn run(
    seed: u32,
    fixtures: &[Fixture],
    kinds: &[Kind],
    nvlink: &Linker,
) -> Result<Verdict, Box<dyn Error>> {
    let mut numbers = Numbers::new(seed);
    let fixture = &fixtures[numbers.below(fixtures.len())];
    let changed = numbers.below(fixture.inputs.len());
    let kind = numbers.one_of(kinds).ok_or("no kinds")?;
    let mut object = Object::new(fixture.inputs[changed].clone()).ok_or("not an object")?;
    let Some(what) = mutate(&mut object, kind, &mut numbers) else {
        return Ok(Verdict::Identical);
    };
    let folder = work_folder().join(seed.to_string());
    if folder.exists() {
        std::fs::remove_dir_all(&folder)?;
    }
    std::fs::create_dir_all(&folder)?;
    let arguments = fixture.write(&folder, changed, &object.bytes)?;
    let theirs = nvlink.link(&folder, &arguments)?;
    let ours = Linker::ours().link(&folder, &arguments)?;
    let verdict = judge(&theirs, &ours, true);
    if let Verdict::Differs(report) = verdict {
        let mut text = format!("{} {changed}.cubin: {what}\n", fixture.name);
        let _ = write!(text, "    nvlink {}\n    ", arguments.join(" "));
        text += &report.trim_end().replace('\n', "\n    ");
        std::fs::write(folder.join("report.txt"), &text)?;
        return Ok(Verdict::Differs(text));
    }
    std::fs::remove_dir_all(&folder)?;
    Ok(verdict)
}

fn work_folder() -> PathBuf {
    let temporary = Path::new(env!("CARGO_TARGET_TMPDIR"));
    temporary.parent().unwrap_or(temporary).join("mutations")
}
