//! Times cuweld, nvlink where it is in `PATH`, and the floor (reading every byte of the inputs, unpacking what is packed, and writing
//! every byte of the output), in turn, and prints a table with what is aimed at and whether it holds.
//!
//! ```text
//! cargo build --release --bin cuweld && cargo run --release -p cuweld-benches
//!     --all           also what nvlink takes minutes for
//!     --only WORD     cases whose name contains a word
//!     --runs N        runs of each program; 5 if not given, and up to 21 of links that take milliseconds
//!     --limit S       seconds after which nvlink is ended; 300 if not given
//!     --cuweld FILE   another cuweld
//!     --folder PATH   where inputs are kept
//!     --zstd          the two libraries that unpack Zstandard, on cubins of 14 MB or those of PATH; needs ptxas and fatbinary
//!     --templates PATH  compile the objects of benches/templates anew, and end
//!     PATH ...        a folder with inputs and `args.txt`, nvlink's words one a line, or a reproducer of `--cuweld-repro`, in
//!                     place of the built-in cases
//! ```
#![expect(clippy::print_stdout, reason = "a program whose output is a table")]

mod aims;
mod ptx;
mod reproducer;
mod run;
mod shapes;
mod table;
mod tools;
mod unpack;
mod wrap;

use std::path::Path;
use std::path::PathBuf;
use std::process::ExitCode;

use crate::run::Effort;
use crate::run::Measured;
use crate::run::measure;
use crate::shapes::CASES;
use crate::shapes::Case;
use crate::shapes::Failure;
use crate::tools::Tools;

struct Arguments {
    all: bool,
    only: Option<String>,
    effort: Effort,
    cuweld: Option<PathBuf>,
    folder: PathBuf,
    templates: Option<PathBuf>,
    zstd: bool,
    paths: Vec<PathBuf>,
}

fn arguments() -> Result<Arguments, Failure> {
    let mut found = Arguments {
        all: false,
        only: None,
        effort: Effort {
            runs: 5,
            limit: 300.0,
        },
        cuweld: None,
        folder: PathBuf::from("target/benches"),
        templates: None,
        zstd: false,
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
            "--all" => found.all = true,
            "--only" => found.only = Some(value()?),
            "--runs" => found.effort.runs = number(value()?)?.max(1.0) as usize,
            "--limit" => found.effort.limit = number(value()?)?,
            "--cuweld" => found.cuweld = Some(value()?.into()),
            "--templates" => found.templates = Some(value()?.into()),
            "--folder" => found.folder = value()?.into(),
            option if option.starts_with('-') => return Err(format!("unknown option '{option}'")),
            path => found.paths.push(path.into()),
        }
    }
    Ok(found)
}

fn main() -> ExitCode {
    match work() {
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
    let tools = Tools::find(cuweld.transpose()?, arguments.folder.clone())?;
    if let Some(folder) = &arguments.templates {
        return shapes::write_templates(&tools, folder);
    }
    if arguments.zstd {
        return unpack_all(&arguments, &tools);
    }
    table::head(&tools);
    if !arguments.paths.is_empty() {
        for path in &arguments.paths {
            let (folder, words) = reproducer::open(path, &arguments.folder)?;
            let measured = measure(&tools, &folder, &words, &arguments.effort)?;
            let name = path
                .file_name()
                .map_or_else(String::new, |name| name.to_string_lossy().into_owned());
            table::row(&name, &measured, None, String::new());
        }
        return Ok(());
    }
    let mut done: Vec<(&Case, Measured)> = Vec::new();
    for case in CASES {
        let wanted = arguments
            .only
            .as_ref()
            .is_none_or(|word| case.name.contains(word.as_str()));
        if !wanted || case.long && !arguments.all {
            continue;
        }
        let (folder, words) = inputs(case, &tools, &arguments.folder)?;
        let measured = measure(&tools, &folder, &words, &arguments.effort)?;
        let smaller = done
            .iter()
            .rev()
            .find(|(smaller, _)| smaller.is_smaller_of(case));
        let smaller = smaller.map(|(smaller, before)| (*smaller, before));
        let growth =
            smaller.map(|(smaller, before)| aims::growth(case, &measured, smaller, before));
        let aims = aims::aims(case, &measured, smaller);
        table::row(case.name, &measured, growth, aims);
        done.push((case, measured));
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

/// The folder of a case with its inputs, which are made once, and nvlink's words.
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
