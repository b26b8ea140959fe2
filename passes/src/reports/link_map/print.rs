//! The link map as text: a table with lld's columns, then what was dropped.

use std::fmt;
use std::fmt::Write as _;

use super::DropReason;
use super::LinkMap;
use super::MapInput;
use super::MapSymbol;

/// The name of a piece that the linker made.
const MADE: &str = "<internal>";

/// The widths of the columns of numbers, in characters.
struct Widths {
    offset: usize,
    address: usize,
    size: usize,
    align: usize,
}

impl Widths {
    /// Returns the width that the largest number of each column needs, at least that of its title.
    fn of(map: &LinkMap) -> Self {
        let (mut offset, mut address, mut size, mut align) = (0, 0, 0, 0);
        for section in &map.sections {
            let end = section.offset.saturating_add(section.size);
            (offset, size) = (end.max(offset), section.size.max(size));
            align = section.align.max(align);
            for piece in &section.pieces {
                let at = section.address.saturating_add(piece.offset);
                (address, size) = (at.max(address), piece.size.max(size));
                align = piece.align.max(align);
                for symbol in &piece.symbols {
                    let at = section.offset.saturating_add(symbol.value);
                    offset = at.max(offset);
                    let at = section.address.saturating_add(symbol.value);
                    (address, size) = (at.max(address), symbol.size.max(size));
                }
            }
        }
        let dropped = map.dropped.iter().map(|dropped| dropped.size);
        size = dropped.fold(size, u64::max);
        let digits = |number: u64| format!("{number:x}").len();
        Widths {
            offset: digits(offset).max("Offset".len()),
            address: digits(address).max("Address".len()),
            size: digits(size).max("Size".len()),
            align: align.to_string().len().max("Align".len()),
        }
    }

    fn numbers(
        &self,
        f: &mut fmt::Formatter<'_>,
        (offset, address): (u64, u64),
        size: u64,
        align: u64,
    ) -> fmt::Result {
        let Widths {
            offset: of_offset,
            address: of_address,
            size: of_size,
            align: of_align,
        } = self;
        write!(
            f,
            "{offset:of_offset$x} {address:of_address$x} {size:of_size$x} {align:of_align$} "
        )
    }
}

impl fmt::Display for LinkMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let widths = Widths::of(self);
        let Widths {
            offset,
            address,
            size,
            align,
        } = widths;
        writeln!(
            f,
            "{:>offset$} {:>address$} {:>size$} {:>align$} Out     In      Symbol",
            "Offset", "Address", "Size", "Align"
        )?;
        // The null section is no part of the output's contents.
        for section in self.sections.iter().skip(1) {
            let at = |offset: u64| {
                let file = section.offset.saturating_add(offset);
                (file, section.address.saturating_add(offset))
            };
            widths.numbers(f, at(0), section.size, section.align)?;
            writeln!(f, "{}", Printable(&section.name))?;
            for piece in &section.pieces {
                widths.numbers(f, at(piece.offset), piece.size, piece.align)?;
                match &piece.input {
                    Some(input) => writeln!(f, "        {input}")?,
                    None => writeln!(f, "        {MADE}:({})", Printable(&section.name))?,
                }
                for symbol in &piece.symbols {
                    widths.numbers(f, at(symbol.value), symbol.size, 1)?;
                    writeln!(f, "                {symbol}")?;
                }
            }
        }
        if self.dropped.is_empty() {
            return Ok(());
        }
        writeln!(f, "\n{:>size$} {:12} Dropped", "Size", "Reason")?;
        for dropped in &self.dropped {
            let reason = dropped.reason.name();
            writeln!(f, "{:size$x} {reason:12} {}", dropped.size, dropped.input)?;
        }
        Ok(())
    }
}

impl DropReason {
    /// Returns the word for the reason in both forms of the map.
    pub fn name(self) -> &'static str {
        match self {
            DropReason::Discarded => "discarded",
            DropReason::Replaced => "replaced",
            DropReason::Folded => "folded",
            DropReason::Unreachable => "unreachable",
            DropReason::Unreferenced => "unreferenced",
            DropReason::LeftOut => "left-out",
        }
    }
}

impl fmt::Display for MapInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", Printable(&self.name))?;
        if let Some(member) = &self.member {
            write!(f, ":{}", Printable(member))?;
        }
        write!(f, ":({}", Printable(&self.section))?;
        match self.offset {
            0 => f.write_char(')'),
            offset => write!(f, "+{offset:#x})"),
        }
    }
}

/// Shows the name as in the source.
impl fmt::Display for MapSymbol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.demangled.as_ref().unwrap_or(&self.name);
        write!(f, "{}", Printable(name))
    }
}

/// A name of an input, whose control characters are escaped so that a row stays one line.
struct Printable<'a>(&'a str);

impl fmt::Display for Printable<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0;
        while let Some(at) = rest.find(char::is_control) {
            let (plain, tail) = rest.split_at(at);
            f.write_str(plain)?;
            let mut characters = tail.chars();
            if let Some(control) = characters.next() {
                write!(f, "{}", control.escape_default())?;
            }
            rest = characters.as_str();
        }
        f.write_str(rest)
    }
}
