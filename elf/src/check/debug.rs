//! Debug information of both views.

use super::Findings;
use super::Rule;
use super::View;
use super::ViewSection;
use super::file::has_mercury;
use super::frames::relocs_of;
use super::view::rows;
use crate::mercury::PREFIX;
use crate::mercury::frames;
use crate::raw::RawRela;
use crate::raw::RawSymbol;
use crate::symbol::Binding;
use crate::symbol::SymbolType;

/// Sections of the Mercury view that are names of those of the SASS view.
const ALIASES: [&[u8]; 11] = [
    b".nv.constant.user",
    b".nv.constant.pic",
    b".nv.global.init",
    b".nv.udt",
    b".nv.udt.entry",
    b".nv.uft.entry",
    b".debug_abbrev",
    b".debug_loc",
    b".debug_pubnames",
    b".debug_pubtypes",
    b".debug_str",
];

pub(super) fn check(view: &View<'_>, twins: &[Option<usize>], findings: &mut Findings) {
    aliases(view, twins, findings);
    for (index, section) in view.sections.iter().enumerate() {
        if matches!(section.name, b".debug_frame" | b".nv.merc.debug_frame") {
            frame_section(view, index, section, findings);
        }
    }
}

/// Compares the bytes of sections that both views have.
pub(super) fn aliases(view: &View<'_>, twins: &[Option<usize>], findings: &mut Findings) {
    for (section, twin) in view.sections.iter().zip(twins) {
        let name = section.name.strip_prefix(PREFIX).unwrap_or(b"");
        let is_alias = ALIASES.contains(&name) || name.starts_with(b".nv_debug_ptx_txt");
        if let Some(twin) = twin.filter(|_| section.is_mercury() && is_alias)
            && !std::ptr::eq(view.sections[twin].bytes, section.bytes)
            && view.sections[twin].bytes != section.bytes
        {
            let what = "its bytes are not those of the SASS view";
            findings.report(Rule::DebugAlias, section.name, 0, what);
        }
    }
}

/// Returns `true` if a section is the Mercury code of a stub of the unified table: its symbol has
/// the size of the SASS.
fn is_unified_stub(view: &View<'_>, section: u16) -> bool {
    let section = view.section(section.into());
    section.is_some_and(|section| section.name.starts_with(b".nv.capmerc.nv.uft.rel."))
}

fn frame_section(
    view: &View<'_>,
    index: usize,
    section: &ViewSection<'_>,
    findings: &mut Findings,
) {
    let starts = frames::entries(section.bytes);
    if starts.is_empty() && !section.bytes.is_empty() {
        let what = "its entries do not follow each other to its end";
        findings.report(Rule::DebugFrames, section.name, 0, what);
        return;
    }
    let word = |at: u64| {
        let at = usize::try_from(at).ok()?;
        let bytes = section.bytes.get(at..at.checked_add(8)?)?;
        Some(u64::from_le_bytes(bytes.try_into().ok()?))
    };
    let relocs = relocs_of(view, index);
    let rows = relocs.map_or(&[][..], |relocs| rows::<RawRela>(relocs.bytes));
    let mut by_offset: Vec<(u64, u32)> = rows
        .iter()
        .map(|row| (row.offset.get(), row.symbol.get()))
        .collect();
    by_offset.sort_unstable();
    let symbol_at = |at: u64| {
        let found = by_offset.binary_search_by_key(&at, |(offset, _)| *offset);
        by_offset.get(found.ok()?).map(|(_, symbol)| *symbol)
    };
    // [frames-of-replaced-copies]
    if !has_mercury(view) {
        return;
    }
    let table = relocs.and_then(|relocs| view.section(relocs.header.link.get()));
    let symbols = table.map_or(&[][..], |table| view.symbols(table));
    let mut covered = vec![false; symbols.len()];
    let mut others = Vec::new();
    for start in starts {
        if word(start + frames::CIE_POINTER).is_none_or(|pointer| pointer == u64::MAX) {
            continue;
        }
        let function = symbol_at(start + frames::FUNCTION).map(|symbol| symbol as usize);
        let symbol = function.and_then(|symbol| symbols.get(symbol));
        if let (Some(function), Some(symbol)) = (function, symbol)
            && let Some(range) = word(start + frames::RANGE)
        {
            match range == symbol.size.get() {
                true => covered[function] = true,
                false => others.push((start, range, function)),
            }
        }
    }
    // [mercury-frames-of-replaced-copies]
    for (start, range, function) in others {
        let symbol = symbols[function];
        if !covered[function]
            && symbol.shndx.get() != 0
            && symbol.binding() != Binding::WEAK
            && !is_unified_stub(view, symbol.shndx.get())
            && !has_name_before(symbols, function)
        {
            let size = symbol.size.get();
            let what = format!("the FDE covers {range:#x} bytes, its function has {size:#x}");
            findings.report(Rule::DebugRange, section.name, start + frames::RANGE, what);
        }
    }
}

/// Returns `true` if another function symbol stands before that of a function in the same code: an
/// alias, with which the frame is that of the Mercury view [mercury-early-aliases].
fn has_name_before(symbols: &[RawSymbol], function: usize) -> bool {
    let section = symbols[function].shndx.get();
    let is_function = |symbol: &&RawSymbol| symbol.ty() == SymbolType::FUNC;
    let mut functions = symbols[..function].iter().filter(is_function);
    functions.any(|symbol| symbol.shndx.get() == section)
}
