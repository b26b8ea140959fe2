//! Listings as text.
//!
//! ```text
//!   0x0070  B------ R- W2 Y S02       LDG        R7 <- R6-R7, UR4-UR5
//!           │       │  │  │ └ cycles until the next instruction
//!           │       │  │  └ another warp may be preferred
//!           │       │  └ the scoreboard that says that R7 is there
//!           │       └ the scoreboard that says that R6, R7 were read
//!           └ the scoreboards that it waits for
//! ```

use std::io;
use std::io::Write;

use cuweld_elf::sass::Control;
use cuweld_elf::sass::operands::Generation;

use super::Function;
use super::Image;
use super::Listing;
use super::rows::Row;
use crate::inspect::Name;

/// What is shown.
#[derive(Clone, Copy, Debug)]
pub struct TextOptions {
    /// Whether the bits of each instruction are shown.
    pub bits: bool,
    /// Whether Mercury items are shown.
    pub mercury: bool,
    /// Whether names are shown as in the source beside the mangled ones.
    pub demangle: bool,
}

/// Writes a listing.
pub fn write_listing(
    listing: &Listing<'_>,
    options: TextOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    for image in &listing.images {
        write_image(image, options, out)?;
    }
    Ok(())
}

fn write_image(image: &Image<'_>, options: TextOptions, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}: {}", image.path, image.arch)?;
    for function in &image.functions {
        let name = shown(function.name, options.demangle);
        write!(
            out,
            "\n{name}, {}, {} bytes:",
            function.section, function.size
        )?;
        if Generation::of(image.sm).is_none() {
            write!(out, " instructions before sm_75 are not read")?;
        }
        writeln!(out)?;
        write_rows(function, options, out)?;
    }
    writeln!(out)
}

fn write_rows(
    function: &Function<'_>,
    options: TextOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut rows = function.instructions.as_slice();
    while let Some((row, rest)) = rows.split_first() {
        for label in &row.labels {
            writeln!(out, "{}:", shown(*label, options.demangle))?;
        }
        if let Some(line) = &row.line {
            writeln!(out, "  {line}")?;
        }
        write!(
            out,
            "  {:#06x}  {}  {}",
            row.offset,
            control(row.control),
            operation(row)
        )?;
        for fixup in &row.relocations {
            write!(
                out,
                "  [{} {}",
                fixup.ty,
                shown(fixup.symbol, options.demangle)
            )?;
            match fixup.addend.unwrap_or(0) {
                0 => write!(out, "]")?,
                addend => write!(out, "{addend:+}]")?,
            }
        }
        if options.mercury {
            for item in &row.mercury {
                write!(out, "  {{{} {}", item.number, item.form)?;
                if let Some(operation) = item.operation {
                    write!(out, " {operation:#x}")?;
                }
                match item.instructions {
                    0 | 1 => write!(out, "}}")?,
                    count => write!(out, " of {count}}}")?,
                }
            }
        }
        if options.bits {
            write!(out, "  0x{}", row.bits)?;
        }
        writeln!(out)?;
        // What fills code up is said once.
        let is_bare = |row: &Row<'_>| row.is_bare(options.mercury);
        let is_same = |next: &&Row<'_>| next.bits == row.bits && is_bare(next);
        let same = rest.iter().take_while(is_same).count();
        rows = rest;
        if is_bare(row) && same > 1 {
            writeln!(out, "          {same} more of these")?;
            rows = &rest[same..];
        }
    }
    Ok(())
}

impl Row<'_> {
    /// Returns `true` if nothing but its bits is to be said of the instruction.
    fn is_bare(&self, mercury: bool) -> bool {
        let is_shown = self.line.is_some() || mercury && !self.mercury.is_empty();
        !is_shown && self.labels.is_empty() && self.relocations.is_empty() && self.target.is_none()
    }
}

fn control(control: Control) -> String {
    let waits = (0..6).map(|number| match control.waits >> number & 1 {
        0 => '-',
        _ => char::from(b'0' + number),
    });
    let barrier = |number: Option<u8>| match number {
        None => '-',
        Some(number) => char::from(b'0' + number),
    };
    format!(
        "B{} R{} W{} {} S{:02}",
        waits.collect::<String>(),
        barrier(control.read_barrier),
        barrier(control.write_barrier),
        if control.is_yield { 'Y' } else { '-' },
        control.stall
    )
}

/// Returns the operation, its guard and its registers.
fn operation(row: &Row<'_>) -> String {
    let guard = row
        .guard
        .as_deref()
        .map_or(String::new(), |guard| format!("@{guard}"));
    let name = row
        .operation
        .map_or_else(|| format!("0x{}", row.bits), str::to_owned);
    let mut text = format!("{guard:>5} {name:<10}");
    match (&row.writes, &row.reads) {
        (Some(writes), Some(reads)) => {
            text.push_str(&writes.join(", "));
            if !reads.is_empty() {
                text.push_str(if writes.is_empty() { "<- " } else { " <- " });
                text.push_str(&reads.join(", "));
            }
        }
        _ => text.push('?'),
    }
    if let Some(target) = row.target {
        text.push_str(&format!(" to {target:#x}"));
    }
    text.trim_end().to_owned()
}

fn shown(name: Name<'_>, demangle: bool) -> String {
    match name.demangled().filter(|_| demangle) {
        Some(source) => format!("{name} ({source})"),
        None => name.to_string(),
    }
}
