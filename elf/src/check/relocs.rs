//! Relocations of both views.

use std::ops::Range;

use zerocopy::FromBytes;
use zerocopy::Immutable;
use zerocopy::KnownLayout;

use super::Findings;
use super::Rule;
use super::View;
use super::ViewSection;
use super::view::rows;
use crate::known_symbols;
use crate::mercury::offsets::Starts;
use crate::mercury::relocs::LINE_TABLE;
use crate::mercury::relocs::counterparts;
use crate::mercury::relocs::is_instruction_address;
use crate::mercury::relocs::is_mercury;
use crate::raw::ET_REL;
use crate::raw::RawRel;
use crate::raw::RawRela;
use crate::raw::RawSymbol;
use crate::target::relocs::is_yield;
use crate::target::section_types::is_relocs;
use crate::target::section_types::sht;

/// A row of either form.
#[derive(Clone, Copy)]
struct Row {
    offset: u64,
    ty: u32,
    symbol: u32,
    addend: i64,
}

/// Rows as they stand in the file.
trait AsRow: FromBytes + Immutable + KnownLayout {
    fn row(&self) -> Row;
}

impl AsRow for RawRel {
    fn row(&self) -> Row {
        Row {
            offset: self.offset.get(),
            ty: self.ty.get(),
            symbol: self.symbol.get(),
            addend: 0,
        }
    }
}

impl AsRow for RawRela {
    fn row(&self) -> Row {
        Row {
            offset: self.offset.get(),
            ty: self.ty.get(),
            symbol: self.symbol.get(),
            addend: self.addend.get(),
        }
    }
}

/// Checks the sections of a range.
pub(super) fn check(
    view: &View<'_>,
    twins: &[Option<usize>],
    range: Range<usize>,
    findings: &mut Findings,
) {
    // One after the other, so that they share memory.
    let mut starts = Starts::default();
    for (section, twin) in view.with(twins, range) {
        if !is_relocs(section.ty()) {
            continue;
        }
        if section.ty() == sht::REL {
            each::<RawRel>(view, section, findings);
        } else {
            each::<RawRela>(view, section, findings);
        }
        if let (sht::CUDA_MERCURY_RELA, Some(twin)) = (section.ty(), twin) {
            let twin = &view.sections[*twin];
            if twin.ty() == sht::REL {
                pairs::<RawRel>(view, section, twin, &mut starts, findings);
            } else {
                pairs::<RawRela>(view, section, twin, &mut starts, findings);
            }
        }
    }
}

fn each<T: AsRow>(view: &View<'_>, section: &ViewSection<'_>, findings: &mut Findings) {
    let name = section.name;
    let size = section.header.size.get();
    let entry = size_of::<T>() as u64;
    if !size.is_multiple_of(entry) {
        let what = format!("its {size:#x} bytes are no whole rows");
        findings.report(Rule::RelocRows, name, size, what);
    }
    let Some(target) = view.section(section.header.info.get()) else {
        return;
    };
    let symbols = view.section(section.header.link.get());
    let symbols = symbols.map_or(0, |table| rows::<RawSymbol>(table.bytes).len());
    // Places in Mercury code count bytes of Mercury, whose size only the symbol says.
    let in_mercury = target.ty() == sht::CUDA_CAPMERC;
    let limit = match in_mercury {
        true => mercury_size(view, target),
        false => target.header.size.get(),
    };
    let in_code = !in_mercury && target.is_code() && view.headers.file.flags.get() & 3 == 2;
    let of_mercury = section.is_mercury();
    for (index, row) in (0_u64..).zip(rows::<T>(section.bytes)) {
        let row = row.row();
        let low = row.offset & 15;
        let right = if in_mercury {
            matches!(low, 8 | 12)
        } else {
            !in_code || low == 0
        };
        if row.offset < limit
            && (row.symbol as usize) < symbols
            && is_mercury(row.ty) == of_mercury
            && right
        {
            continue;
        }
        let at = index * entry;
        if row.offset >= limit {
            let what = format!("row {index} changes {:#x} of {limit:#x} bytes", row.offset);
            findings.report(Rule::RelocRows, name, at, what);
        }
        if row.symbol as usize >= symbols {
            let what = format!("row {index} names symbol {} of {symbols}", row.symbol);
            findings.report(Rule::RelocRows, name, at + 12, what);
        }
        if is_mercury(row.ty) != of_mercury {
            let what = format!("row {index} has type {:#x} of the other view", row.ty);
            findings.report(Rule::RelocTypes, name, at + 8, what);
        }
        if !right {
            let what = format!(
                "row {index} lies at {:#x} within an instruction",
                row.offset
            );
            findings.report(Rule::RelocPlaces, name, at, what);
        }
    }
}

/// Returns the bytes of a function's Mercury.
fn mercury_size(view: &View<'_>, code: &ViewSection<'_>) -> u64 {
    let table = view.section(code.header.link.get());
    let symbols = table.map_or(&[][..], |table| view.symbols(table));
    let symbol = symbols.get((code.header.info.get() & 0x00ff_ffff) as usize);
    symbol.map_or(0, |symbol| symbol.size.get())
}

/// R_CUDA_64.
const ADDRESS: u32 = 2;

/// Returns `true` if a section holds the rows of a line table.
fn is_line_table(name: &[u8]) -> bool {
    matches!(name, b".rela.debug_line" | b".rela.nv_debug_line_sass")
}

/// Returns `true` if `debug_` is part of a name.
fn is_debug(name: &[u8]) -> bool {
    let mut ends = (0..name.len()).filter(|end| name[*end] == b'_');
    ends.any(|end| name[..end].ends_with(b"debug"))
}

/// Compares the rows of a relocation section of the Mercury view with those that they stand for.
/// `starts` holds the instructions of the code meanwhile.
fn pairs<T: AsRow>(
    view: &View<'_>,
    section: &ViewSection<'_>,
    twin: &ViewSection<'_>,
    starts: &mut Starts,
    findings: &mut Findings,
) {
    if twin.ty() != sht::RELA {
        let what = "rows without addends stand for rows with them";
        findings.report(Rule::RelocPairs, section.name, None, what);
    }
    let (mercury, sass) = (rows::<RawRela>(section.bytes), rows::<T>(twin.bytes));
    // Instructions that yield are found anew in the code.
    let others = sass.iter().map(AsRow::row).filter(|row| !is_yield(row.ty));
    let compared = Compared::new(view, section, twin);
    // The rows of most sections stand for each other, and are looked at once.
    let all_fit = || {
        let mut pairs = mercury.iter().zip(sass);
        pairs.all(|(row, sass)| {
            let (row, sass) = (row.row(), sass.row());
            compared.fits(&row, &sass) && !compared.is_alone(&row)
        })
    };
    if mercury.len() == sass.len() && !is_line_table(twin.name) && all_fit() {
        let pairs = mercury.iter().zip(sass);
        let pairs = pairs.map(|(row, sass)| (row.row(), sass.row()));
        places(view, (section, twin), (0..).zip(pairs), starts, findings);
        return;
    }
    // Debug information but frames has rows of its own in each view.
    if !compared.is_frames && is_debug(section.name) {
        let is_address = |row: &T| row.row().ty == ADDRESS && row.row().addend == 0;
        if is_line_table(twin.name) && !sass.iter().all(is_address) {
            let what = "a row of the SASS view is not the address of a function";
            findings.report(Rule::RelocPairs, twin.name, None, what);
        }
        return;
    }
    let is_alone = |row: &Row| compared.is_alone(row);
    let alone = mercury.iter().filter(|row| is_alone(&row.row())).count();
    let both = mercury.len() - alone;
    let of_sass = others.clone().count();
    if both != of_sass {
        let what = format!(
            "{both} rows stand for {of_sass} of {}",
            String::from_utf8_lossy(twin.name)
        );
        findings.report(Rule::RelocPairs, section.name, None, what);
        return;
    }
    let numbered = (0_u64..).zip(mercury.iter().map(AsRow::row));
    let numbered = numbered.filter(|(_, row)| alone == 0 || !is_alone(row));
    let pairs = numbered.zip(others);
    let pairs = pairs.map(|((index, row), sass)| (index, (row, sass)));
    let mut fit = true;
    for (index, (row, sass)) in pairs.clone() {
        if !compared.fits(&row, &sass) {
            fit = false;
            let what = format!(
                "row {index} ({:#x} symbol {} addend {:#x}) does not stand for ({:#x} symbol {} addend {:#x})",
                row.ty, row.symbol, row.addend, sass.ty, sass.symbol, sass.addend
            );
            findings.report(Rule::RelocPairs, section.name, index * 24, what);
        }
    }
    if fit {
        places(view, (section, twin), pairs, starts, findings);
    }
}

/// Checks that rows of code lie at the same instructions in both views, and name the same, where
/// it is known which instruction stands for which. `pairs` are those of the Mercury view, by number,
/// with those that they stand for; `starts` holds the instructions meanwhile.
fn places(
    view: &View<'_>,
    (section, twin): (&ViewSection<'_>, &ViewSection<'_>),
    pairs: impl Iterator<Item = (u64, (Row, Row))>,
    starts: &mut Starts,
    findings: &mut Findings,
) {
    let code = view.section(section.header.info.get());
    let text = view.section(twin.header.info.get());
    let Some((code, text)) = code
        .zip(text)
        .filter(|(code, _)| code.ty() == sht::CUDA_CAPMERC)
    else {
        return;
    };
    let size = mercury_size(view, code);
    if starts.read(code.bytes, text.bytes, size).is_none() {
        return;
    }
    for (index, (row, sass)) in pairs {
        let address = u64::try_from(row.addend)
            .ok()
            .map(|addend| starts.address(addend));
        let is_same = !is_instruction_address(row.ty)
            || address.is_none_or(|address| address as i64 == sass.addend);
        if !starts.is_of(sass.offset, row.offset) || !is_same {
            let what = format!(
                "row {index} ({:#x} addend {:#x}) is of another instruction than that at {:#x} addend {:#x}",
                row.offset, row.addend, sass.offset, sass.addend
            );
            findings.report(Rule::RelocPlaces, section.name, index * 24, what);
        }
    }
}

/// What decides whether rows of two sections stand for each other.
struct Compared<'v, 'data> {
    view: &'v View<'data>,
    /// The symbols of the Mercury view, and the bytes of their names.
    table: Option<&'v ViewSection<'data>>,
    symbols: &'data [RawSymbol],
    names: &'data [u8],
    /// Whether the rows lie in Mercury code.
    in_code: bool,
    /// Whether they lie in constants of a function.
    in_constants: bool,
    /// Whether they lie in frames.
    is_frames: bool,
    is_linked: bool,
    /// Bytes of the code that the rows of the SASS view lie in.
    code_size: i64,
}

impl<'v, 'data> Compared<'v, 'data> {
    fn new(view: &'v View<'data>, section: &ViewSection<'data>, twin: &ViewSection<'data>) -> Self {
        let table = view.section(section.header.link.get());
        let names = table.and_then(|table| view.section(table.header.link.get()));
        let target = view.section(section.header.info.get()).map(ViewSection::ty);
        let patched = view.section(twin.header.info.get());
        Compared {
            view,
            table,
            symbols: table.map_or(&[], |table| view.symbols(table)),
            names: names.map_or(&[], |names| names.bytes),
            in_code: target == Some(sht::CUDA_CAPMERC),
            in_constants: target == Some(sht::CUDA_MERCURY_CONSTANT_OPTIMIZER),
            is_frames: section.name.ends_with(b".debug_frame"),
            is_linked: view.headers.file.e_type.get() != ET_REL,
            code_size: patched.map_or(0, |code| code.bytes.len() as i64),
        }
    }

    /// Returns `true` if a row of the Mercury view has no counterpart: addresses in reserved shared
    /// memory, tables of switches and places of line tables are in the SASS already.
    fn is_alone(&self, row: &Row) -> bool {
        if row.ty == LINE_TABLE && (self.in_constants || self.is_linked) {
            return true;
        }
        let Some((symbol, table)) = self.symbols.get(row.symbol as usize).zip(self.table) else {
            return false;
        };
        // Most names are of others, which their beginnings say.
        let start = self.names.get(symbol.name.get() as usize..).unwrap_or(&[]);
        let may_be = known_symbols::is_reserved_shared_symbol(start)
            || self.is_linked && known_symbols::is_tensor_memory_variable(start);
        may_be && {
            let name = self.view.symbol_name(table, symbol);
            name.is_some_and(|name| {
                known_symbols::is_reserved_shared_symbol(name)
                    || self.is_linked && known_symbols::is_tensor_memory_variable(name)
            })
        }
    }

    /// Returns `true` if a row of the Mercury view and one of the SASS view say the same.
    fn fits(&self, row: &Row, sass: &Row) -> bool {
        // The address of an instruction counts bytes of the view's own code.
        let is_address = is_instruction_address(row.ty);
        let is_place = !self.in_code
            || !is_address
            || sass.addend & 15 == 0 && (0..=self.code_size).contains(&sass.addend);
        counterparts(row.ty, self.in_code).contains(&sass.ty)
            && is_place
            && row.symbol == sass.symbol
            && (row.addend == sass.addend || is_address || self.is_frames)
    }
}
