//! `cuweld disasm`: the instructions of device code.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::io;
use std::io::BufWriter;
use std::io::Write;

use cuweld_passes::suggest::nearest;

use crate::disasm::Listing;
use crate::disasm::text::TextOptions;
use crate::disasm::text::write_listing;
use crate::input::InputArena;
use crate::inspect::Node;
use crate::inspect::inspect_file;

/// Arguments of `cuweld disasm`.
#[derive(clap::Args, Debug)]
pub struct DisasmArgs {
    /// Cubins, fatbins, host objects, executables and archives.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
    /// Only this function, by its name in the file or in the source. May be repeated.
    #[arg(long = "function", value_name = "NAME")]
    functions: Vec<String>,
    /// Show the Mercury items that stand for the instructions, on sm_100 and later.
    #[arg(long)]
    mercury: bool,
    /// Show the bits of each instruction.
    #[arg(long)]
    bits: bool,
    /// Write JSON, described by docs/using/inspect.md.
    #[arg(long)]
    json: bool,
    /// Show names as they are, without their form in the source.
    #[arg(long)]
    no_demangle: bool,
}

/// Runs the command. 1 if a part of a file could not be read, or has none of the functions.
pub fn run(args: &DisasmArgs, stdout: &mut dyn Write, stderr: &mut dyn Write) -> io::Result<u8> {
    let arena = InputArena::new();
    let files: Vec<Node<'_>> = args
        .files
        .iter()
        .map(|path| inspect_file(path, &arena))
        .collect();
    // Names that were seen, and those that were asked for among them.
    let (seen, found) = (RefCell::new(BTreeSet::new()), RefCell::new(BTreeSet::new()));
    let wanted = |name: &str| {
        if args.functions.is_empty() {
            return true;
        }
        let is_wanted = args.functions.iter().any(|wanted| wanted == name);
        let names = if is_wanted { &found } else { &seen };
        names.borrow_mut().insert(name.to_owned());
        is_wanted
    };
    let mut listing = Listing::new(&files, &wanted);
    if !args.functions.is_empty() {
        listing.images.retain(|image| !image.functions.is_empty());
    }
    let mut out = BufWriter::new(stdout);
    if args.json {
        serde_json::to_writer_pretty(&mut out, &listing)?;
        writeln!(out)?;
    } else {
        let options = TextOptions {
            bits: args.bits,
            mercury: args.mercury,
            demangle: !args.no_demangle,
        };
        write_listing(&listing, options, &mut out)?;
    }
    out.flush()?;
    let mut code = 0;
    for (place, error) in files.iter().flat_map(Node::all_errors) {
        writeln!(stderr, "error: {place}: {error}")?;
        code = 1;
    }
    let (seen, found) = (seen.into_inner(), found.into_inner());
    for name in args.functions.iter().filter(|name| !found.contains(*name)) {
        writeln!(stderr, "error: no file has a function '{name}'")?;
        if let Some(near) = nearest(name, seen.iter().map(String::as_str)) {
            writeln!(stderr, "help: there is '{near}'")?;
        }
        code = 1;
    }
    Ok(code)
}
