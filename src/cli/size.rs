//! `cuweld size`: how large device code is, and what of it.

use std::io;
use std::io::BufWriter;
use std::io::Write;
use std::path::PathBuf;

use crate::file_name;
use crate::input::InputArena;
use crate::inspect::Node;
use crate::inspect::inspect_file;
use crate::size::ObjectMap;
use crate::size::Options;
use crate::size::SizeReport;
use crate::size::Source;
use crate::size::text::write_csv;
use crate::size::text::write_table;

/// Arguments of `cuweld size`.
#[derive(clap::Args, Debug)]
pub struct SizeArgs {
    /// Cubins, fatbins, host objects, executables and archives; all together are measured.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
    /// Compare with these files: rows say by how much they grew since.
    #[arg(last = true, value_name = "BASE")]
    base: Vec<String>,
    /// What sizes are grouped by, outermost first: kinds (of sections), sections, symbols, kernels,
    /// templates, objects, members, files, archs.
    #[arg(short = 'd', value_name = "SOURCE", value_delimiter = ',', default_value = "kinds", value_parser = parse_source)]
    sources: Vec<Source>,
    /// Show at most N rows of each level, and sum up the others; 0 for all. 20 by default in text.
    #[arg(short = 'n', value_name = "N")]
    rows: Option<usize>,
    /// Only code for this architecture, such as sm_90. May be repeated.
    #[arg(long, value_name = "ARCH")]
    arch: Vec<String>,
    /// The map of the link that wrote a file, as JSON: says which object each part came from. May be
    /// repeated; each linked file takes the map that fits.
    #[arg(long, value_name = "FILE.json", value_parser = file_name::parse)]
    map: Vec<PathBuf>,
    /// What is written: text, JSON (described by docs/using/inspect.md) or CSV.
    #[arg(long, value_name = "FORM", default_value = "text", value_parser = ["text", "json", "csv"])]
    format: String,
    /// Show names as they are, without their form in the source.
    #[arg(long)]
    no_demangle: bool,
}

/// How many rows of a level are shown as text.
const ROWS: usize = 20;

fn parse_source(name: &str) -> Result<Source, String> {
    Source::from_name(name).ok_or_else(|| {
        let known: Vec<&str> = Source::ALL.iter().map(|(_, name, _)| *name).collect();
        format!("no such source; known are {}", known.join(", "))
    })
}

/// Runs the command. 1 if a part of a file could not be read, 2 if nothing could be measured.
pub fn run(args: &SizeArgs, stdout: &mut dyn Write, stderr: &mut dyn Write) -> io::Result<u8> {
    let arena = InputArena::new();
    let files: Vec<Node<'_>> = args
        .files
        .iter()
        .map(|it| inspect_file(it, &arena))
        .collect();
    let base: Vec<Node<'_>> = args
        .base
        .iter()
        .map(|it| inspect_file(it, &arena))
        .collect();
    let maps = match read_maps(&args.map) {
        Ok(maps) => maps,
        Err(error) => {
            writeln!(stderr, "error: {error}")?;
            return Ok(2);
        }
    };
    let options = Options {
        sources: &args.sources,
        archs: &args.arch,
        maps: &maps,
        demangles: !args.no_demangle,
    };
    let mut report = match SizeReport::new(&files, &base, options) {
        Ok(report) => report,
        Err(error) => {
            writeln!(stderr, "error: {error}")?;
            return Ok(2);
        }
    };
    let most = args.rows.or((args.format == "text").then_some(ROWS));
    if let Some(most) = most.filter(|most| *most != 0) {
        report.limit(most);
    }
    let mut out = BufWriter::new(stdout);
    match &*args.format {
        "json" => {
            serde_json::to_writer_pretty(&mut out, &report)?;
            writeln!(out)?;
        }
        "csv" => write_csv(&report, &mut out)?,
        _ => write_table(&report, &mut out)?,
    }
    out.flush()?;
    let mut code = 0;
    for (place, error) in files.iter().chain(&base).flat_map(Node::all_errors) {
        writeln!(stderr, "error: {place}: {error}")?;
        code = 1;
    }
    Ok(code)
}

/// Reads link maps in JSON; an error names the file.
pub fn read_maps(paths: &[PathBuf]) -> Result<Vec<ObjectMap>, String> {
    let maps = paths.iter().map(|path| {
        let read = std::fs::read(path).map_err(|error| error.to_string());
        let map = read.and_then(|bytes| ObjectMap::parse(&bytes).map_err(|it| it.to_string()));
        map.map_err(|error| format!("'{}': {error}", file_name::of_path(path)))
    });
    maps.collect()
}
