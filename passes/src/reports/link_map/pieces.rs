//! The pieces of one output section, with the symbols that are defined in each.

use cuweld_ir::Module;
use cuweld_ir::plan::PlanSection;

use super::MapInput;
use super::MapPiece;
use super::MapSymbol;
use super::contributions::Contribution;
use super::contributions::Source;
use super::map_input::input;

/// Returns the pieces of an output section, given the contributions of inputs and the symbols of
/// the section, each in order of offset. What the linker made is a piece if it is the whole section
/// or defines a symbol.
pub(super) fn pieces(
    module: &Module<'_>,
    row: &PlanSection<'_>,
    parts: Vec<Contribution>,
    symbols: Vec<MapSymbol>,
    text: impl Fn(&[u8]) -> String,
) -> Vec<MapPiece> {
    let made = |offset: u64, end: u64| MapPiece {
        offset,
        size: end.saturating_sub(offset),
        align: 1,
        ..MapPiece::default()
    };
    if parts.is_empty() {
        let whole = MapPiece {
            align: row.align,
            symbols,
            ..made(0, row.size)
        };
        return match whole.size == 0 && whole.symbols.is_empty() {
            true => Vec::new(),
            false => vec![whole],
        };
    }
    let mut pieces = Vec::with_capacity(parts.len());
    let mut symbols = symbols.into_iter().peekable();
    let mut covered = 0;
    for part in parts {
        // Symbols before the piece that the last one does not hold are in the gap between them.
        let mut before = std::iter::from_fn(|| symbols.next_if(|next| next.value < part.offset));
        give(&mut pieces, &mut before, covered, || {
            made(covered, part.offset)
        });
        covered = covered.max(part.offset.saturating_add(part.size));
        pieces.push(MapPiece {
            offset: part.offset,
            size: part.size,
            align: part.align.max(1),
            input: source(module, part.source, &text),
            symbols: Vec::new(),
        });
    }
    give(&mut pieces, &mut symbols, covered, || {
        made(covered, row.size)
    });
    pieces
}

/// Gives the last piece its symbols: those with a value of at most `end`, where all pieces so far
/// end. Others are those of a piece that the linker made, which is added if it has a size; symbols
/// after the end of the section stay with the last piece.
fn give(
    pieces: &mut Vec<MapPiece>,
    symbols: &mut dyn Iterator<Item = MapSymbol>,
    end: u64,
    made: impl FnOnce() -> MapPiece,
) {
    let mut of_gap = Vec::new();
    for symbol in symbols {
        match pieces.last_mut() {
            // A symbol without a size may stand at the end.
            Some(last) if symbol.value < end || symbol.value == end && symbol.size == 0 => {
                last.symbols.push(symbol);
            }
            _ => of_gap.push(symbol),
        }
    }
    if of_gap.is_empty() {
        return;
    }
    let gap = made();
    match pieces.last_mut() {
        Some(last) if gap.size == 0 => last.symbols.extend(of_gap),
        _ => pieces.push(MapPiece {
            symbols: of_gap,
            ..gap
        }),
    }
}

fn source(module: &Module<'_>, source: Source, text: impl Fn(&[u8]) -> String) -> Option<MapInput> {
    match source {
        Source::Section(id, start) => {
            let section = module.sections.get(id)?;
            Some(input(module, section.object, section.name, start, text))
        }
        Source::Tentative(id) => {
            let symbol = module.symbols.get(id)?;
            Some(input(module, symbol.object, b"COMMON", 0, text))
        }
    }
}
