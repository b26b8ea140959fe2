//! `cuweld diff`: how two cubins differ.

use std::io;
use std::io::BufWriter;
use std::io::Write;

use crate::diff::Category;
use crate::diff::DiffReport;
use crate::diff::diff_images;
use crate::diff::only_image;
use crate::diff::text::write_report;
use crate::input::InputArena;
use crate::input::mapped;
use crate::inspect::inspect_bytes;

/// Arguments of `cuweld diff`.
#[derive(clap::Args, Debug)]
pub struct DiffArgs {
    /// A cubin, or a file that holds exactly one.
    left: String,
    /// Another.
    right: String,
    /// List at most this many differences.
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: usize,
    /// List all differences.
    #[arg(long, conflicts_with = "limit")]
    all: bool,
    /// Leave out the layout: offsets, indices and string tables, which follow from the rest.
    #[arg(long)]
    ignore_layout: bool,
    /// Write JSON, described by docs/using/inspect.md.
    #[arg(long)]
    json: bool,
}

/// Runs the command. 0 if the files do not differ, 1 if they do, 2 if one cannot be read.
pub fn run(args: &DiffArgs, stdout: &mut dyn Write, stderr: &mut dyn Write) -> io::Result<u8> {
    let arena = InputArena::new();
    let paths = [&args.left, &args.right];
    let read = paths.map(|path| image(path, &arena));
    let [left, right] = match read {
        [Ok(left), Ok(right)] => [left, right],
        read => {
            for message in read.into_iter().filter_map(Result::err) {
                writeln!(stderr, "error: {message}")?;
            }
            return Ok(2);
        }
    };
    let mut differences = match diff_images(left, right) {
        Ok(differences) => differences,
        Err((side, error)) => {
            let path = if side == 0 { &args.left } else { &args.right };
            writeln!(stderr, "error: '{path}': {error}")?;
            return Ok(2);
        }
    };
    if args.ignore_layout {
        differences.retain(|difference| difference.category != Category::Layout);
    }
    let limit = if args.all { usize::MAX } else { args.limit };
    let report = DiffReport::new(&args.left, &args.right, differences, limit);
    let mut out = BufWriter::new(stdout);
    if args.json {
        serde_json::to_writer_pretty(&mut out, &report)?;
        writeln!(out)?;
    } else {
        write_report(&report, &mut out)?;
    }
    out.flush()?;
    Ok(if report.identical { 0 } else { 1 })
}

/// Returns the device ELF that a file is, or that it holds.
fn image<'data>(path: &'data str, arena: &'data InputArena) -> Result<&'data [u8], String> {
    let bytes =
        mapped::load(path, arena).map_err(|error| format!("cannot read '{path}': {error}"))?;
    only_image(&inspect_bytes(path.as_bytes(), bytes, arena))
}
