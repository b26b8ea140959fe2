//! `cuweld inspect`: what is in a file.

use std::io;
use std::io::BufWriter;
use std::io::Write;

use crate::input::InputArena;
use crate::inspect::Report;
use crate::inspect::Selection;
use crate::inspect::inspect_file;
use crate::inspect::text::TextOptions;
use crate::inspect::text::write_report;

/// Arguments of `cuweld inspect`. Without a choice of tables all are shown.
#[derive(clap::Args, Debug)]
pub struct InspectArgs {
    /// Cubins, fatbins, host objects, executables and archives.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
    /// Write JSON, described by docs/using/inspect.md.
    #[arg(long)]
    json: bool,
    /// Only the tree of files, no tables of device ELF files.
    #[arg(long, conflicts_with_all = ["headers", "sections", "symbols", "relocs", "attributes", "mercury", "notes", "call_graph", "hex"])]
    summary: bool,
    /// File header and program headers.
    #[arg(long)]
    headers: bool,
    /// Section headers.
    #[arg(short = 'S', long)]
    sections: bool,
    /// Symbols.
    #[arg(short, long)]
    symbols: bool,
    /// Relocations.
    #[arg(short, long)]
    relocs: bool,
    /// Records of .nv.info* and .nv.compat.
    #[arg(long, visible_alias = "nv-info")]
    attributes: bool,
    /// Code of the Mercury view, .nv.capmerc.text.*.
    #[arg(long)]
    mercury: bool,
    /// Notes.
    #[arg(short, long)]
    notes: bool,
    /// Call graph and prototypes.
    #[arg(long)]
    call_graph: bool,
    /// Contents of sections.
    #[arg(short = 'x', long)]
    hex: bool,
    /// Only this section: its header, records and symbols, and the relocations for it. May be
    /// repeated.
    #[arg(long = "section", value_name = "NAME")]
    only_sections: Vec<String>,
    /// Show names as they are, without their form in the source.
    #[arg(long)]
    no_demangle: bool,
}

impl InspectArgs {
    fn selection(&self) -> Selection {
        let chosen = Selection {
            headers: self.headers,
            sections: self.sections,
            symbols: self.symbols,
            relocations: self.relocs,
            attributes: self.attributes,
            mercury: self.mercury,
            notes: self.notes,
            call_graph: self.call_graph,
            hex: self.hex,
            only_sections: Vec::new(),
        };
        let mut selection = match (self.summary, chosen == Selection::NONE) {
            (true, _) => Selection::NONE,
            (false, true) => Selection::ALL,
            (false, false) => chosen,
        };
        selection.only_sections.clone_from(&self.only_sections);
        selection
    }
}

/// Runs the command. 1 if a part of a file could not be read.
pub fn run(args: &InspectArgs, stdout: &mut dyn Write, stderr: &mut dyn Write) -> io::Result<u8> {
    let arena = InputArena::new();
    let files = args.files.iter();
    let mut report = Report::new(files.map(|path| inspect_file(path, &arena)).collect());
    let selection = args.selection();
    selection.apply(&mut report);
    let mut out = BufWriter::new(stdout);
    if args.json {
        serde_json::to_writer_pretty(&mut out, &report)?;
        writeln!(out)?;
    } else {
        let options = TextOptions {
            selection,
            demangle: !args.no_demangle,
        };
        write_report(&report, &options, &mut out)?;
    }
    out.flush()?;
    let mut code = 0;
    for (place, error) in report.files.iter().flat_map(|file| file.all_errors()) {
        writeln!(stderr, "error: {place}: {error}")?;
        code = 1;
    }
    Ok(code)
}
