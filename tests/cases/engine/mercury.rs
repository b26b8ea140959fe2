//! `cargo xtask conformance --mercury`: a number of generated programs in each way of linking for sm_100 and later, with the counts of each
//! target.
//!
//! Programs are linked until each way has as many links as are wanted that both linkers do; what cuweld refuses and what nvlink
//! has an error for is counted beside. Of kernels that keep their code (deviation D12) the control bits are not compared.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use super::execute::{Engine, Seen};
use super::leaf_kernels;
use super::link::{Code, Input, Link, Mode, Source, Step, Wrap};
use super::plan::{MERCURY, MERCURY_TURNS};
use super::pool::{Generator, Program};
use crate::harness::kept_schedule::Kept;
use crate::harness::threads::on_all;
use crate::harness::verdict::Verdict;

/// How objects are compiled.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Compiled {
    Plainly,
    WithLines,
    ForDebugger,
}

/// What is linked.
#[derive(Clone, Copy, PartialEq, Eq)]
enum What {
    /// The objects of a program.
    Program,
    /// Objects of kernels that nvlink schedules anew.
    Leaves,
    /// The objects of a program, some or all of SASS alone.
    SassAlone,
}

/// A way of linking.
struct Way {
    name: &'static str,
    what: What,
    compiled: Compiled,
    relocatable: bool,
    /// Objects for sm_120 are linked for sm_121.
    next_target: bool,
    /// Links that are wanted, of those that `CUWELD_MERCURY` wants in all.
    share: u32,
}

const fn way(name: &'static str, what: What, relocatable: bool) -> Way {
    Way {
        name,
        what,
        compiled: Compiled::Plainly,
        relocatable,
        next_target: false,
        share: 1,
    }
}

const WAYS: [Way; 11] = [
    way("-r", What::Program, true),
    Way {
        next_target: true,
        ..way("-r, sm_120 for sm_121", What::Program, true)
    },
    way("executable", What::Program, false),
    Way {
        next_target: true,
        ..way("executable, sm_120 for sm_121", What::Program, false)
    },
    way("executable, but for control bits", What::Leaves, false),
    way("SASS alone, -r", What::SassAlone, true),
    way("SASS alone, executable", What::SassAlone, false),
    debug("-lineinfo, -r", Compiled::WithLines, true),
    debug("-lineinfo, executable", Compiled::WithLines, false),
    debug("-G, -r", Compiled::ForDebugger, true),
    debug("-G, executable", Compiled::ForDebugger, false),
];

const fn debug(name: &'static str, compiled: Compiled, relocatable: bool) -> Way {
    Way {
        compiled,
        share: 5,
        ..way(name, What::Program, relocatable)
    }
}

/// What came of the links of a way.
#[derive(Clone, Default)]
struct Tally {
    /// Identical links by target.
    identical: BTreeMap<&'static str, u32>,
    /// Links with kernels that keep their code and differ in more than control bits, which are not compared.
    rescheduled: u32,
    /// Errors of nvlink that are ours too.
    errors: u32,
    refused: u32,
    different: Vec<String>,
}

impl Tally {
    fn links(&self) -> u32 {
        self.identical.values().sum()
    }
}

/// Runs the measurement with `wanted` links in each way, of programs from number `first` on; the report, and whether nothing differed and all
/// were found.
pub fn measure(engine: &Engine, wanted: u32, first: u32) -> Result<(String, bool), Box<dyn Error>> {
    let tallies = Mutex::new(vec![Tally::default(); WAYS.len()]);
    let next = AtomicU32::new(first);
    let last = first.saturating_add(wanted.saturating_mul(12).max(100));
    let work = || -> Result<(), String> {
        let mut generator = Generator::start().map_err(|error| error.to_string())?;
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let open = |index: usize| {
                let tallies = tallies.lock().unwrap_or_else(|error| error.into_inner());
                tallies[index].links() < wanted / WAYS[index].share
            };
            if number >= last || !(0..WAYS.len()).any(open) {
                return Ok(());
            }
            let target = MERCURY_TURNS[number as usize % MERCURY_TURNS.len()];
            let mut program = None;
            for (index, way) in WAYS.iter().enumerate() {
                let Some(source) = source_of(way, target).filter(|_| open(index)) else {
                    continue;
                };
                let link = match &mut program {
                    Some((known, program)) if *known == source => program,
                    other => {
                        let made = generator.program(MERCURY + number, source);
                        let made = made.map_err(|error| error.to_string())?;
                        &mut other.insert((source, made)).1
                    }
                };
                let seen = build(engine, way, number, (source, target), link)
                    .and_then(|link| {
                        let folder = tempfile::tempdir()?;
                        let seen = engine.run(&link, folder.path())?;
                        if let Verdict::Differs(report) = &seen.verdict {
                            let report = format!("{report}\n{}\n", seen.commands.join("\n"));
                            engine.keep(
                                folder.path(),
                                &format!("program-{number}-{index}"),
                                &report,
                            )?;
                        }
                        Ok(seen)
                    })
                    .map_err(|error| format!("{}, program {number}: {error}", way.name))?;
                let mut tallies = tallies.lock().unwrap_or_else(|error| error.into_inner());
                add(&mut tallies[index], way, (number, target), seen);
            }
            engine.pool.forget();
        }
    };
    on_all(work)?;
    let tallies = tallies
        .into_inner()
        .unwrap_or_else(|error| error.into_inner());
    Ok(report(&tallies, wanted))
}

/// The target that objects are compiled for, if a way has links for a target.
fn source_of(way: &Way, target: &'static str) -> Option<&'static str> {
    match (way.next_target, target) {
        (false, _) => Some(target),
        (true, "sm_121f") => Some("sm_120f"),
        (true, "sm_121" | "sm_121a") => Some("sm_120"),
        (true, _) => None,
    }
}

fn add(tally: &mut Tally, way: &Way, (number, target): (u32, &'static str), seen: Seen) {
    let keeps = seen.kept == Some(Kept::ControlBits);
    match seen.verdict {
        Verdict::Identical if way.what != What::Leaves => {
            *tally.identical.entry(target).or_default() += 1;
        }
        Verdict::Deviation if way.what == What::Leaves && keeps => {
            *tally.identical.entry(target).or_default() += 1;
        }
        Verdict::Identical | Verdict::Deviation => tally.rescheduled += 1,
        Verdict::SameError | Verdict::Crash => tally.errors += 1,
        Verdict::Refused(_) => tally.refused += 1,
        Verdict::Differs(report) | Verdict::Reported(report) => {
            let commands = seen.commands.join("; ");
            tally
                .different
                .push(format!("program {number}: {report}\n    {commands}"));
        }
    }
}

fn build(
    engine: &Engine,
    way: &Way,
    number: u32,
    (compiled_for, target): (&str, &str),
    program: &Program,
) -> Result<Link, Box<dyn Error>> {
    let sources: Vec<Source> = match way.what {
        What::Leaves => leaf_kernels::modules(number, compiled_for),
        What::Program | What::SassAlone => program.modules.clone(),
    };
    let mut inputs = Vec::new();
    for (index, mut source) in sources.into_iter().enumerate() {
        let (ptx, cxx): (&[&str], &[&str]) = match way.compiled {
            Compiled::Plainly => (&[], &[]),
            Compiled::WithLines => (&["--generate-line-info"], &["-lineinfo"]),
            Compiled::ForDebugger => (&["-g"], &["-G"]),
        };
        let options = if source.is_cxx() { cxx } else { ptx };
        source.options = options.iter().map(|option| (*option).to_owned()).collect();
        let mut bytes = engine.pool.object(&source, compiled_for)?.bytes.clone();
        // All objects, or one of them; by number.
        let is_sass = way.what == What::SassAlone
            && (number % 3 != 1 || index == number as usize / 3 % program.modules.len());
        if let Some(flags) = bytes.get_mut(KIND).filter(|_| is_sass) {
            *flags = *flags & !7 | 4;
        }
        inputs.push(Input {
            name: format!("m{index}"),
            code: Code::File {
                origin: source.file,
                bytes: Arc::new(bytes),
            },
            change: None,
            wrap: Wrap::Cubin,
        });
    }
    let step = |options: &[&str], inputs| Step {
        options: options.iter().map(|option| (*option).to_owned()).collect(),
        inputs,
        archive_from: None,
    };
    let mut steps = Vec::new();
    // nvlink's own objects of SASS alone.
    if way.what == What::SassAlone && number % 3 == 2 {
        steps.push(step(&["-r"], std::mem::take(&mut inputs)));
        inputs.push(Input {
            name: "r".to_owned(),
            code: Code::Previous,
            change: None,
            wrap: Wrap::Cubin,
        });
    }
    let options: &[&str] = if way.relocatable { &["-r"] } else { &[] };
    steps.push(step(options, inputs));
    Ok(Link {
        arch: target.to_owned(),
        mode: Mode::Executable,
        steps,
    })
}

/// Place in bytes of the kind bits of `e_flags`.
const KIND: usize = 48;

fn report(tallies: &[Tally], wanted: u32) -> (String, bool) {
    let mut text = String::new();
    let mut good = true;
    for (way, tally) in WAYS.iter().zip(tallies) {
        let _ = writeln!(
            text,
            "{}: {} identical, {} different; {} errors of nvlink, {} refused, {} with kernels that nvlink schedules anew",
            way.name,
            tally.links(),
            tally.different.len(),
            tally.errors,
            tally.refused,
            tally.rescheduled
        );
        let of_targets = MERCURY_TURNS.iter().filter_map(|target| {
            let links = tally.identical.get(target)?;
            Some(format!("{target} {links}"))
        });
        let of_targets: Vec<String> = of_targets.collect();
        let _ = writeln!(text, "    {}", of_targets.join(", "));
        for report in &tally.different {
            let _ = writeln!(text, "DIFFERENT {report}");
        }
        good &= tally.different.is_empty() && tally.links() >= wanted / way.share;
    }
    (text, good)
}
