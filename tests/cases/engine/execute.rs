//! Builds the inputs of a link, runs both linkers on them, and judges.

use std::collections::BTreeSet;
use std::error::Error;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use super::features::{self, option_name};
use super::link::{Code, Input, Link, Source, Step, Wrap};
use super::packaging::{archive, fatbin, host_object};
use super::pool::Pool;
use super::static_names;
use crate::harness::kept_schedule::{self, Kept};
use crate::harness::link::Outcome;
use crate::harness::oracle::{NOT_TAKEN, Reference};
use crate::harness::own_names;
use crate::harness::reported;
use crate::harness::verdict::{Verdict, judge, message_template};
use crate::mutate::mutation::{Numbers, mutate};
use crate::mutate::object::Object;

/// nvlink needs milliseconds for these links; some changed inputs make it loop.
const TIME_LIMIT: Duration = Duration::from_secs(20);

/// What a link showed.
pub struct Seen {
    /// How it ended.
    pub verdict: Verdict,
    /// What it had to do with.
    pub features: BTreeSet<String>,
    /// What was changed in an input.
    pub change: Option<String>,
    /// The command lines, for reports.
    pub commands: Vec<String>,
    /// What kernels that keep their code left to be compared, if there are any.
    pub kept: Option<Kept>,
    /// Time in nvlink and in cuweld.
    pub times: [Duration; 2],
    /// Both ended the last step with an exit code that is not 0.
    pub both_fail: bool,
}

/// Both linkers and the pool.
pub struct Engine {
    /// The compiled modules.
    pub pool: Pool,
    /// NVIDIA's linker, and how ours stands in for it.
    pub reference: Reference,
    /// Ours.
    pub cuweld: PathBuf,
    /// Where links that differ stay.
    pub kept: PathBuf,
}

impl Engine {
    /// Copies the files of a link that differs out of `folder`, as `name`, with a report.
    pub fn keep(&self, folder: &Path, name: &str, report: &str) -> Result<(), Box<dyn Error>> {
        let to = self.kept.join(name);
        if to.exists() {
            std::fs::remove_dir_all(&to)?;
        }
        std::fs::create_dir_all(&to)?;
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            std::fs::copy(entry.path(), to.join(entry.file_name()))?;
        }
        Ok(std::fs::write(to.join("report.txt"), report)?)
    }

    /// Builds a link in `folder`, which is empty, and runs it.
    pub fn run(&self, link: &Link, folder: &Path) -> Result<Seen, Box<dyn Error>> {
        let mut seen = Seen {
            verdict: Verdict::Identical,
            features: BTreeSet::new(),
            change: None,
            commands: Vec::new(),
            kept: None,
            times: [Duration::ZERO; 2],
            both_fail: false,
        };
        let mut previous = None;
        for (number, step) in link.steps.iter().enumerate() {
            let mut images = Vec::new();
            let before = previous.as_deref();
            let mut arguments =
                self.inputs(step, &link.arch, before, folder, (&mut seen, &mut images))?;
            seen.commands
                .push(format!("nvlink {}", arguments.join(" ")));
            for option in &step.options {
                let step = if number == 0 && link.steps.len() > 1 {
                    " with -r"
                } else {
                    ""
                };
                seen.features
                    .insert(format!("option {}{step}", option_name(option)));
            }
            let start = Instant::now();
            let mut theirs = self.theirs(&arguments, folder)?;
            let between = Instant::now();
            let mut ours = self.ours(&[], &arguments, folder)?;
            seen.times[0] += between - start;
            seen.times[1] += between.elapsed();
            for line in &theirs.lines {
                if line.contains(" warning : ")
                    || line.contains(" error   : ")
                    || line.contains(" fatal   : ")
                    || line.contains(" info    : ")
                {
                    let template = message_template(line);
                    let text = template.split_once(' ').map_or("", |(_, text)| text);
                    seen.features.insert(format!("message {text}"));
                }
            }
            // nvlink says nothing of code that it would compile anew if it fails.
            if ours.exit != Some(0) {
                kept_schedule::drop_notes(&mut ours);
            }
            if theirs.exit == Some(NOT_TAKEN) {
                let said = message_template(theirs.stderr.lines().next().unwrap_or_default());
                seen.verdict = Verdict::Reported(said);
                break;
            }
            let named = self.with_own_names(&mut arguments, folder, (&mut theirs, &mut ours))?;
            seen.verdict = judge(&theirs, &ours, link.mode.is_mutated());
            let ends = [theirs.exit, ours.exit];
            let both_linked = ends == [Some(0); 2];
            seen.both_fail = ends.iter().all(|exit| exit.is_some_and(|exit| exit != 0));
            let with = |options: &[&str]| self.ours(options, &arguments, folder);
            if matches!(seen.verdict, Verdict::Differs(_)) {
                let reported = reported::codes(&with(&["--cuweld-explain=on"])?);
                let strict = with(&["--cuweld-strict"])?;
                let finalized = match both_linked {
                    true => Some(with(&["--cuweld-strict-finalize"])?),
                    false => None,
                };
                (seen.verdict, seen.kept) =
                    judge_deviation(&theirs, &ours, &strict, finalized.as_ref());
                let is_made_anew = self.reference.toolkit.as_ref().zip(finalized.as_ref());
                if let (Verdict::Differs(_), Some((toolkit, finalized))) =
                    (&seen.verdict, is_made_anew)
                    && kept_schedule::is_made_anew(finalized, toolkit)
                {
                    seen.verdict = Verdict::Deviation;
                }
                // What the link says is not a silent difference.
                if let (Verdict::Differs(_), Some(codes)) = (&seen.verdict, reported) {
                    seen.verdict = Verdict::Reported(codes);
                    break;
                }
            }
            if matches!(seen.verdict, Verdict::Differs(_))
                && static_names::are_to_blame(&theirs, &ours, images)
            {
                seen.verdict = Verdict::Deviation;
            }
            if named && seen.verdict == Verdict::Identical {
                seen.verdict = Verdict::Deviation;
            }
            if seen.verdict != Verdict::Identical {
                break;
            }
            previous = theirs.output;
        }
        Ok(seen)
    }

    /// Links again with names of their own for local functions of one name, if cuweld links what nvlink's way cannot be had of
    /// (deviation D18): what cuweld wrote has to be the same but for names. Returns `true` if it is.
    fn with_own_names(
        &self,
        arguments: &mut [String],
        folder: &Path,
        (theirs, ours): (&mut Outcome, &mut Outcome),
    ) -> Result<bool, Box<dyn Error>> {
        if ours.exit != Some(0)
            || theirs.output == ours.output
            || !own_names::are_refused(&self.ours(&["--cuweld-strict"], arguments, folder)?)
        {
            return Ok(false);
        }
        let renamed = own_names::renamed_inputs(folder, arguments)?;
        let own = self.ours(&[], &renamed, folder)?;
        if !own_names::are_alike(ours, &own) {
            return Ok(false);
        }
        *theirs = self.theirs(&renamed, folder)?;
        *ours = own;
        arguments.clone_from_slice(&renamed);
        Ok(true)
    }

    /// Runs our linker in nvlink's place, with more options.
    fn ours(
        &self,
        options: &[&str],
        arguments: &[String],
        folder: &Path,
    ) -> Result<Outcome, Box<dyn Error>> {
        let leading = self.reference.ours.iter().map(String::as_str);
        let mut leading: Vec<_> = leading.chain(options.iter().copied()).collect();
        // The library never reads host information.
        if self.reference.by_library && !arguments.iter().any(|word| word.ends_with("-host-info")) {
            leading.push("-ignore-host-info");
        }
        let outcome = execute(&self.cuweld, &leading, arguments, folder)?;
        Ok(self.comparable(outcome))
    }

    /// Runs nvlink.
    fn theirs(&self, arguments: &[String], folder: &Path) -> Result<Outcome, Box<dyn Error>> {
        let outcome = execute(&self.reference.nvlink, &[], arguments, folder)?;
        Ok(self.comparable(outcome))
    }

    fn comparable(&self, mut outcome: Outcome) -> Outcome {
        if self.reference.by_library && outcome.exit != Some(NOT_TAKEN) {
            let is_ours = |line: &String| {
                line.contains("cuweld: unsupported: ") || line.contains("deviation D")
            };
            outcome.lines.retain(is_ours);
            outcome.exit = outcome.exit.map(|exit| exit.min(1));
        }
        match self.reference.toolkit {
            Some(_) => without_barriers(outcome),
            None => outcome,
        }
    }

    /// Writes the inputs of a step and returns its arguments; adds their device code to `images`.
    fn inputs(
        &self,
        step: &Step,
        arch: &str,
        previous: Option<&[u8]>,
        folder: &Path,
        (seen, images): (&mut Seen, &mut Vec<Vec<u8>>),
    ) -> Result<Vec<String>, Box<dyn Error>> {
        let mut arguments = vec![format!("-arch={arch}")];
        arguments.extend(step.options.iter().cloned());
        let mut members = Vec::new();
        for (index, input) in step.inputs.iter().enumerate() {
            let image = self.image(input, arch, previous, seen)?;
            let bytes = wrapped(input, input.arch(arch), &image, seen);
            images.push(image);
            if step.archive_from.is_some_and(|from| index >= from) {
                members.push((input.file(), bytes));
            } else {
                std::fs::write(folder.join(input.file()), bytes)?;
                arguments.push(input.file());
            }
        }
        if !members.is_empty() {
            seen.features.insert("input archive".to_owned());
            std::fs::write(folder.join("lib.a"), archive(&members))?;
            arguments.push("lib.a".to_owned());
        }
        Ok(arguments)
    }

    fn image(
        &self,
        input: &Input,
        arch: &str,
        previous: Option<&[u8]>,
        seen: &mut Seen,
    ) -> Result<Vec<u8>, Box<dyn Error>> {
        let image = match &input.code {
            Code::Source(source) => {
                let compiled = match self.pool.object(source, arch) {
                    // Some options do not fit some sources: registers of callees, mostly.
                    Err(_) if !source.options.is_empty() => {
                        let plain = Source {
                            options: Vec::new(),
                            ..source.clone()
                        };
                        self.pool.object(&plain, arch)?
                    }
                    other => other?,
                };
                if input.change.is_none() {
                    seen.features.extend(compiled.features.iter().cloned());
                }
                for option in &source.options {
                    seen.features
                        .insert(format!("compiler option {}", option_name(option)));
                }
                compiled.bytes.clone()
            }
            Code::File { bytes, .. } => {
                seen.features.extend(features::of_object(bytes));
                bytes.to_vec()
            }
            Code::Previous => {
                let bytes = previous.ok_or("no step before")?;
                let found = features::of_object(bytes);
                seen.features
                    .extend(found.into_iter().map(|name| format!("-r output: {name}")));
                bytes.to_vec()
            }
        };
        Ok(match input.change {
            None => image,
            Some((kind, seed)) => {
                let mut object = Object::new(image).ok_or("not an object")?;
                let change = mutate(&mut object, kind, &mut Numbers::new(seed));
                seen.features.insert(format!("change {kind:?}"));
                seen.features.extend(features::of_object(&object.bytes));
                seen.change = change.map(|what| format!("{}: {what}", input.file()));
                object.bytes
            }
        })
    }
}

/// The file that holds an image.
fn wrapped(input: &Input, arch: &str, image: &[u8], seen: &mut Seen) -> Vec<u8> {
    match &input.wrap {
        Wrap::Cubin => image.to_vec(),
        Wrap::Fatbin(codec) => {
            seen.features.insert(format!("input fatbin {codec:?}"));
            fatbin(&[(arch, image)], *codec)
        }
        Wrap::Host(codec, lists) => {
            let named = if lists.is_some() {
                ""
            } else {
                " without lists"
            };
            seen.features
                .insert(format!("input host object {codec:?}{named}"));
            let id = format!("_id_{}", input.name);
            host_object(&fatbin(&[(arch, image)], *codec), &id, lists.as_ref())
        }
    }
}

/// Judges results that differ by what cuweld makes of the link with `--cuweld-strict`, and with `--cuweld-strict-finalize` if both
/// have linked it.
fn judge_deviation(
    theirs: &Outcome,
    ours: &Outcome,
    strict: &Outcome,
    finalized: Option<&Outcome>,
) -> (Verdict, Option<Kept>) {
    let refused = reported::refused(strict);
    let differs = refused.map_or((|_| false) as fn(&str) -> bool, |refused| refused.differs);
    let without_kept = |outcome: &Outcome| {
        let (mut theirs, mut outcome) = (theirs.clone(), outcome.clone());
        let kept = finalized.and_then(|finalized| {
            kept_schedule::mask(&mut theirs, &mut outcome, finalized, differs)
        });
        (theirs, outcome, kept)
    };
    let (their_rest, our_rest, kept) = without_kept(ours);
    let verdict = judge(&their_rest, &our_rest, false);
    let (of_theirs, of_strict, _) = without_kept(strict);
    let as_strict = judge(&of_theirs, &of_strict, false);
    let is_deviation = verdict == Verdict::Identical
        || matches!(as_strict, Verdict::Identical | Verdict::SameError)
        || refused.is_some_and(|refused| refused.are_alike(&their_rest, &our_rest));
    match is_deviation {
        true => (Verdict::Deviation, kept),
        false => (verdict, kept),
    }
}

/// Leaves the barriers of kernels out of what `-v` shows: linkers since 13.1 show other numbers (docs/using/toolkits.md).
fn without_barriers(mut outcome: Outcome) -> Outcome {
    for line in &mut outcome.lines {
        let parts = line.split_once(" registers, used ");
        let parts =
            parts.and_then(|(before, rest)| Some((before, rest.split_once(" barriers")?.1)));
        if let Some((before, after)) = parts {
            *line = format!("{before} registers{after}");
        }
    }
    outcome
}

/// Waits for a process, and ends it where it runs too long.
pub fn wait(child: &mut Child, limit: Duration) -> std::io::Result<ExitStatus> {
    let start = Instant::now();
    let mut pause = Duration::from_micros(500);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if start.elapsed() > limit {
            child.kill()?;
            return child.wait();
        }
        std::thread::sleep(pause);
        pause = (pause * 5 / 4).min(Duration::from_millis(20));
    }
}

/// Runs a linker; its lines are those of stderr, then those of stdout with a mark.
fn execute(
    program: &Path,
    leading: &[&str],
    arguments: &[String],
    folder: &Path,
) -> Result<Outcome, Box<dyn Error>> {
    let out = tempfile::tempdir()?;
    let target = out.path().join("out.cubin");
    // Beside the output's folder, as files: nobody has to drain pipes.
    let texts = tempfile::tempdir()?;
    let (stdout, stderr) = (texts.path().join("stdout"), texts.path().join("stderr"));
    let mut child = Command::new(program)
        .args(leading)
        .args(arguments)
        .arg("-o")
        .arg(&target)
        .current_dir(folder)
        .env("LC_ALL", "C")
        .env_remove("LIBRARY_PATH")
        .stdin(Stdio::null())
        .stdout(File::create(&stdout)?)
        .stderr(File::create(&stderr)?)
        .spawn()?;
    let status = wait(&mut child, TIME_LIMIT)?;
    let mut litter = Vec::new();
    for entry in std::fs::read_dir(out.path())? {
        let name = entry?.file_name();
        if name != "out.cubin" {
            litter.push(name.to_string_lossy().into_owned());
        }
    }
    litter.sort();
    let stderr = String::from_utf8_lossy(&std::fs::read(&stderr)?).into_owned();
    let stdout = String::from_utf8_lossy(&std::fs::read(&stdout)?).into_owned();
    let mut lines: Vec<String> = stderr.lines().map(str::to_owned).collect();
    lines.extend(stdout.lines().map(|line| format!("stdout: {line}")));
    Ok(Outcome {
        exit: status.code(),
        lines,
        stderr,
        output: std::fs::read(&target).ok(),
        litter,
    })
}
