//! Rows of data that go because several objects define a variable or a function.
//!
//! - What a weak variable holds goes with it if it comes after another weak definition; after a strong one it stays,
//!   and so does what a weak definition holds that a strong one replaces, and what any variable with a unified
//!   address holds [rows-of-discarded-variables].
//! - Rows of the module's constants go if they refer to a weak definition of their object that was not taken at its
//!   turn, and, against a variable in global memory, if a later object replaces the weak definition by a strong one.
//!   An address of the program is then 0 [rows-to-discarded-definitions] (deviation D14): without `strict` they stay.
//! - So do rows of the addresses that position-independent code loads. Those of discarded definitions go without a
//!   deviation: nothing refers to them.

use cuweld_elf::symbol::Binding;
use cuweld_ir::LinkSymbolId;
use cuweld_ir::Module;
use cuweld_ir::ObjectId;
use cuweld_ir::RelocAction;
use cuweld_ir::SectionId;
use cuweld_ir::SectionKind;
use cuweld_ir::Symbol;
use cuweld_ir::SymbolId;
use cuweld_ir::SymbolPlace;
use cuweld_ir::section::ADDRESS_BANK;
use cuweld_ir::table::EntityId;

use crate::analyses::Meanings;

/// The bytes of a section that a discarded definition of a variable occupies: begin and end.
pub(super) type DiscardedRange = (SectionId, u64, u64);

/// The first definitions of variables, tentative ones too, by resolved symbol.
pub(super) struct FirstDefinitions(Vec<Option<SymbolId>>);

impl FirstDefinitions {
    pub(super) fn new(module: &Module<'_>) -> Self {
        let mut first = vec![None; module.link_symbols.len()];
        for (_, object) in module.included_objects() {
            for id in object.symbols.iter() {
                let symbol = &module.symbols[id];
                if let (true, Some(link)) = (is_defined(symbol), symbol.link)
                    && !symbol.is_function()
                {
                    first[link.index()].get_or_insert(id);
                }
            }
        }
        FirstDefinitions(first)
    }

    /// Returns the weak definition that came first, if that was one.
    fn weak(&self, module: &Module<'_>, link: LinkSymbolId) -> Option<SymbolId> {
        self.0[link.index()].filter(|first| module.symbols[*first].bind == Binding::WEAK)
    }

    /// Returns `true` if a symbol is a weak definition that came after another definition.
    fn is_passed(&self, symbol: &Symbol<'_>, id: SymbolId) -> bool {
        let first = symbol.link.and_then(|link| self.0[link.index()]);
        symbol.bind == Binding::WEAK && is_defined(symbol) && first.is_some_and(|first| first != id)
    }
}

fn is_defined(symbol: &Symbol<'_>) -> bool {
    matches!(symbol.place, SymbolPlace::Section(_) | SymbolPlace::Common)
}

/// Returns the strong definition of a variable that took the place of a weak one, if its name has
/// one.
fn replacement(
    module: &Module<'_>,
    first: &FirstDefinitions,
    link: LinkSymbolId,
) -> Option<SymbolId> {
    let weak = first.weak(module, link)?;
    let definition = module.link_symbols[link].definition?;
    let symbol = &module.symbols[definition];
    let replaces = definition != weak
        && symbol.bind != Binding::WEAK
        && matches!(symbol.place, SymbolPlace::Section(_));
    replaces.then_some(definition)
}

/// Returns the bytes whose rows go because they belong to a weak variable that came after another
/// weak definition, sorted.
pub(super) fn losing_variables<'f>(
    module: &Module<'_>,
    first: impl Fn() -> &'f FirstDefinitions,
) -> Vec<DiscardedRange> {
    let mut ranges = Vec::new();
    for (_, object) in module.included_objects() {
        for id in object.symbols.iter() {
            let symbol = &module.symbols[id];
            let (false, SymbolPlace::Section(section), Some(link)) =
                (symbol.is_function(), symbol.place, symbol.link)
            else {
                continue;
            };
            if module.link_symbols[link].definition == Some(id) {
                continue;
            }
            let goes = match module.sections[section].kind {
                SectionKind::ConstantBank(_) | SectionKind::Unified => false,
                SectionKind::GlobalInit => {
                    let is_strong_before =
                        || replacement(module, first(), link).is_some_and(|strong| strong < id);
                    first().is_passed(symbol, id)
                        && first().weak(module, link).is_some()
                        && !is_strong_before()
                }
                _ => true,
            };
            if goes {
                let end = symbol.value.saturating_add(symbol.size);
                ranges.push((section, symbol.value, end));
            }
        }
    }
    ranges.sort_unstable();
    ranges
}

/// Returns the bytes of banks of addresses that belong to discarded definitions, sorted. Nothing
/// refers to them, as all code loads the address of the definition that prevails.
pub(super) fn discarded_addresses(module: &Module<'_>) -> Vec<DiscardedRange> {
    let mut ranges = Vec::new();
    for (_, object) in module.included_objects() {
        for id in object.symbols.iter() {
            let symbol = &module.symbols[id];
            if let (SymbolPlace::Section(section), Some(link)) = (symbol.place, symbol.link)
                && module.sections[section].kind == SectionKind::ConstantBank(ADDRESS_BANK)
                && module.link_symbols[link].definition != Some(id)
            {
                let end = symbol.value.saturating_add(symbol.size);
                ranges.push((section, symbol.value, end));
            }
        }
    }
    ranges.sort_unstable();
    ranges
}

/// Returns `true` if a section is one of the module's constants whose rows can go.
pub(super) fn is_bank(module: &Module<'_>, section: SectionId) -> bool {
    matches!(module.sections[section].kind, SectionKind::ConstantBank(_))
}

/// Returns nvlink's action for a row of an object's constants that refers to a symbol, if it leaves
/// the row out.
pub(super) fn lost<'f>(
    module: &Module<'_>,
    meanings: &Meanings,
    first: impl Fn() -> &'f FirstDefinitions,
    object: ObjectId,
    id: SymbolId,
) -> Option<RelocAction> {
    let symbol = &module.symbols[id];
    if symbol.is_function() {
        return meanings.is_passed(id).then_some(RelocAction::Gone);
    }
    let link = symbol.link?;
    if first().is_passed(symbol, id) {
        return Some(RelocAction::Gone);
    }
    // Rows that were there when the strong definition came.
    let strong = &module.symbols[replacement(module, first(), link)?];
    let is_global = |section: SectionId| {
        let kind = module.sections[section].kind;
        matches!(kind, SectionKind::Global | SectionKind::GlobalInit)
    };
    let goes = object < strong.object
        && matches!(strong.place, SymbolPlace::Section(section) if is_global(section));
    goes.then_some(RelocAction::Drop)
}
