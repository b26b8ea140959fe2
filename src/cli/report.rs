//! `cuweld report`: an HTML file that shows what is in files of device code.

use std::io;
use std::io::Write;
use std::path::Path;
use std::path::PathBuf;

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::codes::internal;
use cuweld_diagnostics::codes::usage;

use super::output_file::write_or_print;
use super::size::read_maps;
use crate::driver::LinkedFile;
use crate::file_name;
use crate::input::InputArena;
use crate::inspect::Node;
use crate::inspect::inspect_bytes;
use crate::inspect::inspect_file;
use crate::report::LinkData;
use crate::report::Report;
use crate::report::html;

/// Arguments of `cuweld report`. That of a link is `cuweld link --report`.
#[derive(clap::Args, Debug)]
pub struct ReportArgs {
    /// Cubins, fatbins, host objects, executables and archives.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
    /// The HTML file; `-` is the standard output.
    #[arg(short, long, value_name = "FILE.html", value_parser = file_name::parse)]
    output: PathBuf,
    /// The map of the link that wrote a file, as JSON: says which object each part came from. May be
    /// repeated; each linked file takes the map that fits.
    #[arg(long, value_name = "FILE.json", value_parser = file_name::parse)]
    map: Vec<PathBuf>,
}

/// Runs the command. 1 if a part of a file could not be read or the report not be written, 2 if a map
/// cannot be read.
pub fn run(args: &ReportArgs, stdout: &mut dyn Write, stderr: &mut dyn Write) -> io::Result<u8> {
    let arena = InputArena::new();
    let files = args.files.iter();
    let files: Vec<Node<'_>> = files.map(|path| inspect_file(path, &arena)).collect();
    let maps = match read_maps(&args.map) {
        Ok(maps) => maps,
        Err(error) => {
            writeln!(stderr, "error: {error}")?;
            return Ok(2);
        }
    };
    let title = args.files.join(", ");
    let page = page(&Report::of_files(&title, &files, &maps));
    let mut code = 0;
    if let Err(finding) =
        page.and_then(|page| write_or_print(&args.output, page.as_bytes(), stdout))
    {
        writeln!(stderr, "error: {finding}")?;
        code = 1;
    }
    for (place, error) in files.iter().flat_map(Node::all_errors) {
        writeln!(stderr, "error: {place}: {error}")?;
        code = 1;
    }
    Ok(code)
}

/// Returns the page of a report.
fn page(report: &Report) -> Result<String, Diagnostic> {
    html(report).map_err(|error| Diagnostic::fatal(internal::FAULT, error.to_string()))
}

/// Returns the page of the report of a link, which wrote `file` to `path`.
pub(crate) fn report_of_link(
    data: Option<LinkData>,
    file: &LinkedFile<'_>,
    path: &Path,
) -> Result<String, Diagnostic> {
    let Some(data) = data else {
        let message = "no report is written: link-time optimisation made the whole program";
        return Err(Diagnostic::remark(usage::OUTPUT, message));
    };
    let image = file
        .image()
        .map_err(|error| Diagnostic::fatal(internal::FAULT, error.to_string()))?;
    let arena = InputArena::new();
    let name = file_name::of_path(path);
    let node = inspect_bytes(name.as_bytes(), &image, &arena);
    page(&Report::of_link(&node, data))
}
