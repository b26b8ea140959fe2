//! Times cuweld, nvlink where it is in `PATH`, and the floor (reading every byte of the inputs,
//! unpacking what is packed, and writing every byte of the output), in turn, and prints a table
//! with what is aimed at and whether it holds.
//!
//! ```text
//! cargo build --release --bin cuweld && cargo run --release -p cuweld-benches
//!     --all           also what nvlink takes minutes for
//!     --only WORD,..  the cases of these names, or whose names contain a word that is no case's name
//!     --chart FILE    also draw a chart of the run, as SVG
//!     --warmed        before each run take memory and give it back, so that a virtual machine has it
//!     --runs N        runs of each program; 5 if not given, and up to 21 of links that take milliseconds
//!     --limit S       seconds after which nvlink is ended; 300 if not given
//!     --cuweld FILE   another cuweld
//!     --before FILE   a cuweld to compare with, run in turn with the first
//!     --folder PATH   where inputs are kept
//!     --zstd          the two libraries that unpack Zstandard, on cubins of 14 MB or those of PATH; needs ptxas and fatbinary
//!     --in-process    libnvJitLink, NVIDIA's and ours, each in a process that links again and again
//!     --device-link   nvcc -dlink and cuweld dlink, as whole processes
//!     --checks        what of a link's time the checks take that every link has
//!     --templates PATH  compile the objects of benches/templates anew, and end
//!     PATH ...        a folder with inputs and `args.txt`, nvlink's words one a line, or a reproducer of `--cuweld-repro`, in
//!                     place of the built-in cases, or after those that --only names
//! ```
#![expect(clippy::print_stdout, reason = "a program whose output is a table")]

mod aims;
mod chart;
mod checks;
mod device_link;
mod floor;
mod in_process;
mod jitlink;
mod measure;
mod ptx;
mod reproducer;
mod run;
mod shapes;
mod table;
mod tools;
mod unpack;
mod wrap;

use std::ffi::OsString;
use std::path::Path;
use std::path::PathBuf;
use std::process::ExitCode;

use crate::chart::Pair;
use crate::in_process::Libraries;
use crate::run::Effort;
use crate::run::Measured;
use crate::shapes::CASES;
use crate::shapes::Case;
use crate::tools::Failure;
use crate::tools::Tools;

struct Arguments {
    all: bool,
    only: Option<String>,
    chart: Option<PathBuf>,
    effort: Effort,
    cuweld: Option<PathBuf>,
    before: Option<PathBuf>,
    folder: PathBuf,
    templates: Option<PathBuf>,
    zstd: bool,
    in_process: bool,
    device_link: bool,
    checks: bool,
    paths: Vec<PathBuf>,
}

impl Arguments {
    /// Returns `true` if a built-in case is to be measured: those that are named, or all that are
    /// not too long.
    fn wants(&self, case: &Case) -> bool {
        let is_short = self.all || !case.long;
        let Some(words) = &self.only else {
            return self.paths.is_empty() && is_short;
        };
        words.split(',').any(|word| {
            if CASES.iter().any(|case| case.name == word) {
                case.name == word
            } else {
                case.name.contains(word) && is_short
            }
        })
    }
}

fn arguments() -> Result<Arguments, Failure> {
    let mut found = Arguments {
        all: false,
        only: None,
        chart: None,
        effort: Effort {
            runs: 5,
            limit: 300.0,
            warmed: false,
        },
        cuweld: None,
        before: None,
        folder: PathBuf::from("target/benches"),
        templates: None,
        zstd: false,
        in_process: false,
        device_link: false,
        checks: false,
        paths: Vec::new(),
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or(format!("'{word}' needs a value"));
        let number = |text: String| {
            text.parse::<f64>()
                .map_err(|_| format!("'{text}' is no number"))
        };
        match word.as_str() {
            "--zstd" => found.zstd = true,
            "--in-process" => found.in_process = true,
            "--device-link" => found.device_link = true,
            "--checks" => found.checks = true,
            "--all" => found.all = true,
            "--only" => found.only = Some(value()?),
            "--chart" => found.chart = Some(value()?.into()),
            "--warmed" => found.effort.warmed = true,
            "--runs" => found.effort.runs = number(value()?)?.max(1.0) as usize,
            "--limit" => found.effort.limit = number(value()?)?,
            "--cuweld" => found.cuweld = Some(value()?.into()),
            "--before" => found.before = Some(value()?.into()),
            "--templates" => found.templates = Some(value()?.into()),
            "--folder" => found.folder = value()?.into(),
            option if option.starts_with('-') => return Err(format!("unknown option '{option}'")),
            path => found.paths.push(path.into()),
        }
    }
    Ok(found)
}

fn main() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    let done = match words.split_first() {
        Some((first, words)) if first == "measure" => {
            measure::measure(words).map_err(|error| error.to_string())
        }
        _ => work(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            println!("{failure}");
            ExitCode::FAILURE
        }
    }
}

fn work() -> Result<(), Failure> {
    let mut arguments = arguments()?;
    let absolute = |path: &Path| std::path::absolute(path).map_err(|error| error.to_string());
    arguments.folder = absolute(&arguments.folder)?;
    let cuweld = arguments.cuweld.take().map(|path| absolute(&path));
    let mut tools = Tools::find(cuweld.transpose()?, arguments.folder.clone())?;
    let before = arguments.before.take().map(|path| absolute(&path));
    tools.before = before.transpose()?;
    if let Some(folder) = &arguments.templates {
        return shapes::write_templates(&tools, folder);
    }
    if arguments.zstd {
        return unpack_all(&arguments, &tools);
    }
    if arguments.in_process {
        return link_in_process(&arguments, &tools);
    }
    if arguments.device_link {
        return device_links(&arguments, &tools);
    }
    if arguments.checks {
        return time_checks(&arguments, &tools);
    }
    table::head(&tools, &arguments.effort);
    let mut pairs = Vec::new();
    let mut done: Vec<(&Case, Measured)> = Vec::new();
    for case in CASES.iter().filter(|case| arguments.wants(case)) {
        let (folder, words) = inputs(case, &tools, &arguments.folder)?;
        let measured = run::measure(&tools, &folder, &words, &arguments.effort)?;
        let smaller = done
            .iter()
            .rev()
            .find(|(smaller, _)| smaller.is_smaller_of(case));
        let smaller = smaller.map(|(smaller, before)| (*smaller, before));
        let growth =
            smaller.map(|(smaller, before)| aims::growth(case, &measured, smaller, before));
        let aims = aims::aims(case, &measured, smaller);
        table::row(case.name, &measured, growth, aims);
        pairs.extend(Pair::new(chart::label(case), &measured));
        done.push((case, measured));
    }
    for path in &arguments.paths {
        let (folder, words) = reproducer::open(path, &arguments.folder)?;
        let measured = run::measure(&tools, &folder, &words, &arguments.effort)?;
        let name = path
            .file_name()
            .map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        table::row(&name, &measured, None, String::new());
        pairs.extend(Pair::new(name, &measured));
    }
    if let Some(file) = &arguments.chart {
        let text = chart::draw(&pairs, &table::machine(&tools));
        std::fs::write(file, text).map_err(|error| format!("{}: {error}", file.display()))?;
    }
    Ok(())
}

/// Times the libraries that unpack Zstandard.
fn unpack_all(arguments: &Arguments, tools: &Tools) -> Result<(), Failure> {
    unpack::head();
    let runs = arguments.effort.runs;
    for path in &arguments.paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        unpack::row(&name, path, tools, runs)?;
    }
    for case in unpack::CASES.iter().filter(|_| arguments.paths.is_empty()) {
        let (folder, words) = inputs(case, tools, &arguments.folder)?;
        let cubin = words.last().ok_or("no input was made")?;
        unpack::row(case.name, &folder.join(cubin), tools, runs)?;
    }
    Ok(())
}

/// Times the libraries with the interface of libnvJitLink.
fn link_in_process(arguments: &Arguments, tools: &Tools) -> Result<(), Failure> {
    let libraries = Libraries::find(tools)?;
    in_process::head();
    for (name, count) in in_process::CASES {
        let case = CASES.iter().find(|case| case.name == name);
        let case = case.ok_or(format!("there is no case '{name}'"))?;
        let (folder, words) = inputs(case, tools, &arguments.folder)?;
        let words = words.into_iter().filter(|word| !word.starts_with('-'));
        let inputs: Vec<String> = words.take(count).collect();
        in_process::row(name, (case.sm, &folder, &inputs), tools, &libraries)?;
    }
    Ok(())
}

/// Times the checks that every link has.
fn time_checks(arguments: &Arguments, tools: &Tools) -> Result<(), Failure> {
    checks::head();
    for case in CASES.iter().filter(|case| arguments.wants(case)) {
        let (folder, words) = inputs(case, tools, &arguments.folder)?;
        checks::row(case.name, tools, (&folder, &words), &arguments.effort)?;
    }
    for path in &arguments.paths {
        let (folder, words) = reproducer::open(path, &arguments.folder)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        checks::row(&name, tools, (&folder, &words), &arguments.effort)?;
    }
    Ok(())
}

/// Times the whole device-link step.
fn device_links(arguments: &Arguments, tools: &Tools) -> Result<(), Failure> {
    let shadow = device_link::shadow(tools, &arguments.folder)?;
    device_link::head();
    for (name, count, targets) in device_link::PROGRAMS {
        let (folder, inputs) = device_link::program(&arguments.folder, name, count, targets)?;
        device_link::row(name, (&folder, &inputs, targets), tools, &shadow)?;
    }
    for name in device_link::CASES {
        let case = CASES.iter().find(|case| case.name == name);
        let case = case.ok_or(format!("there is no case '{name}'"))?;
        let (folder, words) = inputs(case, tools, &arguments.folder)?;
        let words = words.into_iter().filter(|word| !word.starts_with('-'));
        let cubins: Vec<String> = words.collect();
        let inputs = wrap::host_objects(&folder, case.sm, &cubins)?;
        device_link::row(name, (&folder, &inputs, &[case.sm]), tools, &shadow)?;
    }
    Ok(())
}

/// Returns the folder of a case with its inputs, which are made once, and nvlink's arguments.
fn inputs(case: &Case, tools: &Tools, root: &Path) -> Result<(PathBuf, Vec<String>), Failure> {
    let folder = root.join(case.name);
    let failed = |error: std::io::Error| error.to_string();
    if !folder.join("args.txt").is_file() {
        std::fs::create_dir_all(&folder).map_err(failed)?;
        let names = case.make(tools, &folder)?;
        let mut text = format!("-arch={}\n", case.sm);
        for name in names {
            text += &name;
            text.push('\n');
        }
        std::fs::write(folder.join("args.txt"), text).map_err(failed)?;
    }
    let words = reproducer::words_of(&folder)?;
    Ok((folder, words))
}
