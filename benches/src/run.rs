//! One link, measured: cuweld, the floor and nvlink in turn.

use std::fmt::Display;
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::process::Stdio;
use std::time::Duration;
use std::time::Instant;

use crate::tools::Failure;
use crate::tools::Tools;

/// What a run of a program took.
#[derive(Clone, Copy, Debug)]
pub struct Taken {
    /// Seconds from start to end.
    pub wall: f64,
    /// Seconds in the program.
    pub user: f64,
    /// Seconds in the system.
    pub system: f64,
    /// Peak memory in bytes.
    pub peak: u64,
    /// Peak anonymous memory in bytes, where that was looked at.
    pub anonymous: u64,
    /// Exit code, -1 if it ran too long.
    pub code: i32,
}

/// All runs of one link.
pub struct Measured {
    /// Runs of cuweld.
    pub cuweld: Vec<Taken>,
    /// Runs of the cuweld to compare with; none without it.
    pub before: Vec<Taken>,
    /// Peak anonymous memory of cuweld in bytes.
    pub anonymous: u64,
    /// Runs of nvlink; none without it.
    pub nvlink: Vec<Taken>,
    /// Runs of cuweld with one thread, of links whose time is that of their bytes.
    pub single: Vec<Taken>,
    /// Seconds of the floor.
    pub floor: Vec<f64>,
    /// Number of inputs, their bytes, and those of the output.
    pub sizes: (usize, u64, u64),
    /// Bytes of the inputs, what is packed counted as it is unpacked.
    pub decoded: u64,
    /// Sections, symbols and relocations of the device images.
    pub entities: usize,
    /// Whether nvlink gave the same file, if both linked.
    pub identical: Option<bool>,
}

/// From this many bytes on a link is one of bytes, if it has few rows.
const HEAVY: u64 = 30_000_000;

/// Fewer bytes for a section, symbol or relocation are many rows.
const BYTES_PER_ROW: u64 = 500;

impl Measured {
    /// Returns `true` if there is more than one section, symbol or relocation for 500 bytes.
    pub fn is_dense(&self) -> bool {
        self.entities as u64 * BYTES_PER_ROW > self.decoded
    }

    /// Returns `true` if the link is one of bytes.
    pub fn is_heavy(&self) -> bool {
        self.decoded > HEAVY && !self.is_dense()
    }

    /// Returns the limit for anonymous memory in bytes.
    pub fn memory_limit(&self) -> u64 {
        self.sizes.2 + self.decoded / 4 + 20_000_000
    }

    /// Returns the ratio of the link's time to the floor.
    pub fn floor_ratio(&self, runs: &[Taken]) -> f64 {
        median(runs.iter().map(|run| run.wall)) / median(self.floor.iter().copied())
    }
}

/// Links that take milliseconds are run more often than was asked for, as their times differ most:
/// until cuweld and the floor took so long, and so often at most.
const SHORT: Duration = Duration::from_secs(2);
const MOST_RUNS: usize = 21;

/// How often and how long.
pub struct Effort {
    /// Runs of each program, at least.
    pub runs: usize,
    /// Seconds after which nvlink is ended.
    pub limit: f64,
    /// Take memory and give it back before each run.
    pub warmed: bool,
}

/// Measures a link. `words` are nvlink's arguments, without `-o`, relative to the folder.
pub fn measure(
    tools: &Tools,
    folder: &Path,
    words: &[String],
    effort: &Effort,
) -> Result<Measured, Failure> {
    let inputs: Vec<&String> = words
        .iter()
        .filter(|word| !word.starts_with('-') && folder.join(word).is_file())
        .collect();
    let size = |name: &str| std::fs::metadata(folder.join(name)).map_or(0, |file| file.len());
    let (ours, theirs) = ("cuweld.out", "nvlink.out");
    let input_bytes = inputs.iter().map(|name| size(name)).sum();
    let own = |cuweld: &Path, limit: &str, jobs: Option<usize>| {
        let mut all = vec![
            "run".to_owned(),
            limit.to_owned(),
            cuweld.to_string_lossy().into_owned(),
            "nvlink".to_owned(),
        ];
        all.push("--cuweld-stamp=nvlink-13.0.88".to_owned());
        all.extend(jobs.map(|count| format!("--cuweld-jobs={count}")));
        all.extend(words.iter().cloned());
        all.extend(["-o".to_owned(), ours.to_owned()]);
        effort.warm(tools, input_bytes);
        taken(tools, folder, &all)
    };
    let watched = own(&tools.cuweld, "-1", None)?;
    if watched.code != 0 {
        let program = tools.cuweld.display();
        return Err(format!("{program} nvlink ends with {}", watched.code));
    }
    let mut measured = Measured {
        cuweld: Vec::new(),
        before: Vec::new(),
        anonymous: watched.anonymous,
        nvlink: Vec::new(),
        single: Vec::new(),
        floor: Vec::new(),
        sizes: (inputs.len(), input_bytes, size(ours)),
        decoded: 0,
        entities: 0,
        identical: None,
    };
    let target = target(words).ok_or("no target among the words of the link")?;
    let mut too_slow = false;
    let mut spent = Duration::ZERO;
    for run in 0.. {
        let is_short = run < MOST_RUNS && spent < SHORT;
        if run >= effort.runs && !is_short {
            break;
        }
        let begun = Instant::now();
        // What runs second finds caches and memory as the first one left them: they take turns.
        let mut order = [Some(&tools.cuweld), tools.before.as_ref()];
        order.rotate_left(run % 2);
        for program in order.into_iter().flatten() {
            let one = own(program, "0", None)?;
            match program == &tools.cuweld {
                true => measured.cuweld.push(one),
                false => measured.before.push(one),
            }
        }
        effort.warm(tools, input_bytes);
        let (seconds, decoded, entities) = floor(tools, folder, &inputs, (target, ours))?;
        measured.floor.push(seconds);
        (measured.decoded, measured.entities) = (decoded as u64, entities as usize);
        if measured.is_heavy() {
            measured.single.push(own(&tools.cuweld, "0", Some(1))?);
        }
        spent += begun.elapsed();
        let Some(nvlink) = tools.nvlink.as_ref().filter(|_| !too_slow) else {
            continue;
        };
        let mut all = vec![
            "run".to_owned(),
            if run == 0 {
                effort.limit.to_string()
            } else {
                "0".to_owned()
            },
            nvlink.to_string_lossy().into_owned(),
        ];
        all.extend(words.iter().cloned());
        all.extend(["-o".to_owned(), theirs.to_owned()]);
        effort.warm(tools, input_bytes);
        let one = taken(tools, folder, &all)?;
        // Once is enough for what takes seconds; a limited run is looked at, which costs the short
        // ones.
        too_slow = one.wall > 2.0 || one.code < 0;
        if too_slow || run > 0 || effort.runs == 1 {
            measured.nvlink.push(one);
        }
        if run == 0 && one.code == 0 {
            let read = |name| std::fs::read(folder.join(name)).unwrap_or_default();
            measured.identical = Some(read(ours) == read(theirs));
        }
    }
    for name in [ours, theirs, "floor.out"] {
        // What is not there need not go.
        let _ = std::fs::remove_file(folder.join(name));
    }
    Ok(measured)
}

/// Returns the target of a link.
fn target(words: &[String]) -> Option<&str> {
    let mut words = words.iter().map(|word| word.trim_start_matches('-'));
    while let Some(word) = words.next() {
        match word.strip_prefix("arch") {
            Some("") => return words.next(),
            Some(value) if value.starts_with('=') => return value.get(1..),
            _ => {}
        }
    }
    None
}

/// Multiple of the bytes of the inputs that exceeds what the programs take, with their files.
const TAKEN: u64 = 16;

/// Smaller links take too little memory for it to matter, and would find their code in no cache.
const SMALLEST_WARMED: u64 = 1 << 20;

impl Effort {
    /// Takes and gives back, with `--warmed`, the memory that the next program takes, so that the
    /// machine has it. `inputs` is the size of that program's inputs in bytes.
    fn warm(&self, tools: &Tools, inputs: u64) {
        if self.warmed && inputs >= SMALLEST_WARMED {
            let bytes = inputs.saturating_mul(TAKEN).to_string();
            // Without it times differ more.
            let _ = tools.measure().args(["warm", &bytes]).status();
        }
    }
}

/// Runs a program, and says what it took. `words` are those of `measure`.
pub fn taken(tools: &Tools, folder: &Path, words: &[String]) -> Result<Taken, Failure> {
    let output = tools
        .measure()
        .args(words)
        // In the place of nvlink, too, where nvcc says how it is called.
        .env("CUWELD_STAMP", "nvlink-13.0.88")
        .current_dir(folder)
        .output()
        .map_err(|error| error.to_string())?;
    let (numbers, text) = numbers(&output.stdout);
    let [wall, user, system, peak, anonymous, code] = numbers.as_slice() else {
        return Err(format!("the process that measures says '{text}'"));
    };
    Ok(Taken {
        wall: *wall,
        user: *user,
        system: *system,
        peak: *peak as u64,
        anonymous: *anonymous as u64,
        code: *code as i32,
    })
}

/// Returns the floor of a link: seconds, bytes of the inputs unpacked, sections, symbols and
/// relocations.
fn floor(
    tools: &Tools,
    folder: &Path,
    inputs: &[&String],
    (target, output): (&str, &str),
) -> Result<(f64, f64, f64), Failure> {
    let mut floor = tools.measure();
    floor.args(["floor", target, output, "floor.out"]);
    let (numbers, text) = of_inputs(floor.current_dir(folder), inputs)?;
    match numbers.as_slice() {
        [seconds, decoded, entities] => Ok((*seconds, *decoded, *entities)),
        _ => Err(format!("the floor says '{text}'")),
    }
}

/// Runs a process that measures with the names of inputs, one a line. Returns the numbers that it
/// prints, and its text.
pub fn of_inputs(
    process: &mut Command,
    inputs: &[impl Display],
) -> Result<(Vec<f64>, String), Failure> {
    let failed = |error: std::io::Error| error.to_string();
    let mut child = process
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    if let Some(mut names) = child.stdin.take() {
        for name in inputs {
            writeln!(names, "{name}").map_err(failed)?;
        }
    }
    let output = child.wait_with_output().map_err(failed)?;
    Ok(numbers(&output.stdout))
}

fn numbers(printed: &[u8]) -> (Vec<f64>, String) {
    let text = String::from_utf8_lossy(printed).into_owned();
    let words = text.split_whitespace();
    (words.filter_map(|word| word.parse().ok()).collect(), text)
}

/// Returns the middle of some numbers.
pub fn median(numbers: impl Iterator<Item = f64>) -> f64 {
    let mut all: Vec<f64> = numbers.collect();
    all.sort_by(f64::total_cmp);
    all.get(all.len() / 2).copied().unwrap_or(f64::NAN)
}
