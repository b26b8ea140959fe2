//! The code that NVIDIA's finalizer makes anew for sm_100 and later, and whether ours is the same: random kernels (`schedule/kernels.rs`),
//! each in an executable and in a link for the debugger, or the objects of other people's programs.
//!
//! `CUWELD_SCHEDULE=FROM..TO` links the programs of a range of seeds, twelve kernels each, the five SMs in turn; or it names objects, one
//! a line. What is made in another way stays in `target/schedule`, with `CUWELD_SCHEDULE_KEEP=1` what keeps its code, too. Without the
//! oracle nothing runs.

mod kernels;

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use libtest_mimic::{Arguments, Conclusion, Trial};
use object::{Endianness, Object as _, ObjectSection as _};
use serde_json::Value;
use tempfile::TempDir;

use crate::engine::{seeds_of, target_folder};
use crate::harness::link::{Linker, Outcome};
use crate::harness::oracle;
use crate::harness::threads::on_all;
use kernels::Shape;

/// Programs of `cargo test`: two of each shape for each SM.
const DEFAULT_PROGRAMS: &str = "0..20";

/// Targets whose code nvlink makes anew.
const TARGETS: [&str; 5] = ["sm_100", "sm_103", "sm_110", "sm_120", "sm_121"];

pub fn run_all(arguments: &Arguments) -> Result<Conclusion, Box<dyn Error>> {
    let trial = Trial::test("schedule::kernels", || Ok(compare_all()?));
    Ok(libtest_mimic::run(arguments, vec![trial]))
}

/// An object that is linked.
struct Program {
    /// A name for reports.
    name: String,
    /// The folder below `target/schedule` in which its files stay.
    folder: String,
    /// What stands in the table: the shape of its kernels, or that they are other people's.
    shape: &'static str,
    target: String,
    /// A seed, or a file.
    object: Result<u32, PathBuf>,
}

/// How the functions of one row of the table were made.
#[derive(Default)]
struct Count {
    /// nvlink makes them anew.
    anew: usize,
    /// So do we, in the same way.
    same: usize,
    /// We keep what was compiled, and say so.
    kept: usize,
}

/// What a run has shown.
#[derive(Default)]
struct Run {
    /// By shape and way of the link.
    counts: BTreeMap<(&'static str, &'static str), Count>,
    /// By target.
    targets: BTreeMap<String, Count>,
    /// Why functions keep their code, and one of them.
    reasons: BTreeMap<String, (usize, String)>,
    /// Functions that are not as nvlink makes them, without a word.
    wrong: Vec<String>,
    /// Objects that nvlink or we do not link, by what is said.
    unlinked: BTreeMap<String, usize>,
    /// Code that was seen: that of other people's programs is counted once.
    seen: BTreeSet<(String, &'static str, Vec<u8>)>,
}

fn compare_all() -> Result<(), Box<dyn Error>> {
    let mut out = std::io::stdout();
    let Some(tools) = oracle::tools() else {
        writeln!(
            out,
            "schedule: ran 0 links, there is no nvlink (see tests/tools/oracle)"
        )?;
        return Ok(());
    };
    let asked = std::env::var("CUWELD_SCHEDULE").unwrap_or_else(|_| DEFAULT_PROGRAMS.to_owned());
    let programs = programs(&asked)?;
    let run = Mutex::new(Run::default());
    let next = AtomicUsize::new(0);
    on_all(|| {
        while let Some(program) = programs.get(next.fetch_add(1, Ordering::Relaxed)) {
            link_both_ways(&tools, program, &run)
                .map_err(|error| format!("{}: {error}", program.name))?;
        }
        Ok(())
    })?;
    let run = run.into_inner()?;
    run.write(&mut out)?;
    let anew: usize = run.counts.values().map(|count| count.anew).sum();
    match (run.wrong.len(), anew) {
        (0, 0) => Err("nvlink made no function anew".into()),
        (0, _) => Ok(()),
        (wrong, _) => Err(format!("{wrong} functions are made in another way, see above").into()),
    }
}

/// Returns what is asked for: programs of seeds, or files.
fn programs(asked: &str) -> Result<Vec<Program>, Box<dyn Error>> {
    if let Ok(seeds) = seeds_of(asked) {
        let of_seed = |seed: u32| Program {
            name: format!("seed-{seed}"),
            folder: format!("seed-{seed}"),
            shape: Shape::of_seed(seed).word(),
            target: TARGETS[seed as usize % TARGETS.len()].to_owned(),
            object: Ok(seed),
        };
        return Ok(seeds.into_iter().map(of_seed).collect());
    }
    let mut programs = Vec::new();
    for (number, file) in asked.lines().enumerate() {
        let path = std::path::absolute(file)?;
        let bytes = std::fs::read(&path)?;
        let flags = bytes.get(48..52).ok_or("a file is too short")?;
        programs.push(Program {
            name: file.to_owned(),
            folder: format!("file-{number}"),
            shape: "programs",
            // The architecture's number stands in the second byte of `e_flags`.
            target: format!("sm_{}", flags[1]),
            object: Err(path),
        });
    }
    Ok(programs)
}

/// Links an object into an executable and for the debugger, with both linkers, and counts its functions.
fn link_both_ways(tools: &Path, program: &Program, run: &Mutex<Run>) -> Result<(), Box<dyn Error>> {
    let folder = TempDir::new()?;
    let folder = folder.path();
    let object = folder.join("a.cubin");
    match &program.object {
        Ok(seed) => {
            let source = folder.join("a.ptx");
            std::fs::write(&source, kernels::program(*seed, &program.target))?;
            let mut ptxas = Command::new(tools.join("ptxas"));
            ptxas.args(["-c", "-arch", &program.target, "-o"]);
            let done = ptxas.arg(&object).arg(&source).output()?;
            if !done.status.success() {
                let said = String::from_utf8_lossy(&done.stderr).into_owned();
                return Err(said.into());
            }
        }
        Err(path) => drop(std::fs::copy(path, &object)?),
    }
    let compiled = std::fs::read(&object)?;
    for (way, options) in [("executable", &[][..]), ("-g", &["-g"][..])] {
        let mut words = vec![format!("-arch={}", program.target), "a.cubin".to_owned()];
        words.extend(options.iter().map(|word| (*word).to_owned()));
        let theirs = Linker::nvlink(tools.join("nvlink")).link(folder, &words)?;
        let remarks = folder.join("remarks.json");
        words.push("--cuweld-remarks=mercury-schedule".to_owned());
        words.push(format!("--cuweld-remarks-output={}", remarks.display()));
        let ours = Linker::ours_explaining().link(folder, &words)?;
        let why = reasons(&std::fs::read_to_string(&remarks).unwrap_or_default())?;
        let mut run = run.lock().map_err(|error| error.to_string())?;
        let is_left = run.add(program, way, &compiled, (&theirs, &ours), &why)?;
        drop(run);
        if is_left {
            let kept = target_folder().join("schedule").join(&program.folder);
            std::fs::create_dir_all(&kept)?;
            for entry in std::fs::read_dir(folder)? {
                let entry = entry?;
                std::fs::copy(entry.path(), kept.join(entry.file_name()))?;
            }
        }
    }
    Ok(())
}

/// Returns why functions keep their code, by name, from a file of remarks.
fn reasons(remarks: &str) -> Result<BTreeMap<String, String>, Box<dyn Error>> {
    let mut reasons = BTreeMap::new();
    for line in remarks.lines() {
        let remark: Value = serde_json::from_str(line)?;
        let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        if remark["kind"] == "not-proved" {
            let message = word(&remark["message"]);
            let why = message.split_once(" keeps its code: ");
            reasons.insert(
                word(&remark["subject"]["name"]),
                why.map_or(message.clone(), |(_, why)| why.to_owned()),
            );
        }
    }
    Ok(reasons)
}

/// Returns the code of each function of a file, by section.
fn codes(file: &[u8]) -> Result<BTreeMap<String, Vec<u8>>, Box<dyn Error>> {
    let file = object::read::elf::ElfFile64::<Endianness>::parse(file)?;
    let mut codes = BTreeMap::new();
    for section in file.sections() {
        let name = section.name()?;
        if let Some(function) = name.strip_prefix(".text.") {
            codes.insert(function.to_owned(), section.data()?.to_vec());
        }
    }
    Ok(codes)
}

impl Run {
    /// Counts the functions of a link; says whether its files are to be looked at.
    fn add(
        &mut self,
        program: &Program,
        way: &'static str,
        compiled: &[u8],
        (theirs, ours): (&Outcome, &Outcome),
        why: &BTreeMap<String, String>,
    ) -> Result<bool, Box<dyn Error>> {
        let file = |outcome: &Outcome| match outcome.exit {
            Some(0) => outcome.output.clone(),
            _ => None,
        };
        let (Some(their_file), Some(our_file)) = (file(theirs), file(ours)) else {
            if theirs.exit != ours.exit {
                let said = ours.lines.iter().chain(&theirs.lines).next();
                let said = said.map_or("nothing", String::as_str).to_owned();
                *self.unlinked.entry(said).or_default() += 1;
            }
            return Ok(false);
        };
        let (compiled, their_codes, our_codes) =
            (codes(compiled)?, codes(&their_file)?, codes(&our_file)?);
        let (mut is_left, mut is_same) = (false, true);
        for (name, theirs) in &their_codes {
            let (Some(own), Some(compiled)) = (our_codes.get(name), compiled.get(name)) else {
                continue;
            };
            is_same &= own == theirs;
            let is_seen = program.object.is_err()
                && !self
                    .seen
                    .insert((program.target.clone(), way, compiled.clone()));
            // Relocated code differs from what was compiled in other ways, too.
            let is_anew = theirs != compiled;
            let is_said = ours.stderr.contains("deviation D12") && own == compiled;
            let is_kept = own != theirs && (why.contains_key(name) || is_said);
            if is_seen || !is_anew && own == theirs {
                continue;
            }
            let rows = [
                self.counts.entry((program.shape, way)).or_default(),
                self.targets.entry(program.target.clone()).or_default(),
            ];
            for count in rows {
                count.anew += usize::from(is_anew);
                count.same += usize::from(is_anew && own == theirs);
                count.kept += usize::from(is_kept);
            }
            let place = format!("{name} of {} ({}, {way})", program.name, program.target);
            if is_kept {
                is_left |= std::env::var_os("CUWELD_SCHEDULE_KEEP").is_some();
                let why = why
                    .get(name)
                    .map_or("a change that is not made", String::as_str);
                let reason = self.reasons.entry(template(why).to_owned());
                reason.or_insert((0, place)).0 += 1;
            } else if own != theirs {
                is_left = true;
                self.wrong.push(place);
            }
        }
        // Other people's objects may show deviations that are no code.
        let is_ours = program.object.is_ok();
        if is_ours && is_same && their_file != our_file && !ours.stderr.contains("deviation D12") {
            is_left = true;
            self.wrong.push(format!(
                "other sections of {} ({}, {way})",
                program.name, program.target
            ));
        }
        Ok(is_left)
    }

    fn write(&self, out: &mut impl std::io::Write) -> std::io::Result<()> {
        for (why, (count, place)) in &self.reasons {
            writeln!(out, "kept {count:>6}: {why}, such as {place}")?;
        }
        for (said, count) in &self.unlinked {
            writeln!(out, "not linked {count:>6}: {said}")?;
        }
        for wrong in &self.wrong {
            writeln!(out, "in another way: {wrong}")?;
        }
        writeln!(out, "made anew by nvlink | as nvlink | kept")?;
        let rows = self
            .counts
            .iter()
            .map(|((shape, way), count)| (format!("{shape}, {way}"), count));
        let targets = self
            .targets
            .iter()
            .map(|(target, count)| (target.clone(), count));
        for (name, count) in rows.chain(targets) {
            let share = 100.0 * count.same as f64 / count.anew.max(1) as f64;
            writeln!(
                out,
                "{:>19} | {:>5} ({share:.1} %) | {:>4} | {name}",
                count.anew, count.same, count.kept
            )?;
        }
        writeln!(out, "schedule: {} in another way", self.wrong.len())
    }
}

/// Returns a reason without the place and the scoreboards of one kernel.
fn template(why: &str) -> &str {
    if why.contains(" its object has ") {
        return "its object has other scoreboards than the rules give";
    }
    match why
        .strip_prefix("at 0x")
        .and_then(|rest| rest.split_once(' '))
    {
        Some((_, reason)) => reason,
        None if why.starts_with("the instruction at ") => "an instruction is not known",
        None => why,
    }
}
