//! Symbols.

use std::collections::BTreeMap;

use super::Category;
use super::Diff;
use super::HexNumber;
use super::Side;
use super::matching::match_rows;
use super::matching::ordinal;
use crate::inspect::Name;
use crate::inspect::device_model::*;

impl Diff {
    pub(super) fn symbol_tables(&mut self, left: &[SymbolTable<'_>], right: &[SymbolTable<'_>]) {
        // A table that only one file has is a section that only one file has.
        for pair in match_rows(left, right, |table| table.section).pairs {
            if let (Some(a), Some(b)) = (left.get(pair.left), right.get(pair.right)) {
                self.symbols(a.section, &a.symbols, &b.symbols);
            }
        }
    }

    fn symbols(&mut self, table: Name<'_>, left: &[Symbol<'_>], right: &[Symbol<'_>]) {
        // A SECTION symbol and one of the section's contents may have the same name.
        let matched = match_rows(left, right, |symbol| (symbol.name, symbol.ty.value == 3));
        let mercury = if table == Name(b".symtab") {
            String::new()
        } else {
            format!(" in {table}")
        };
        let category = Category::Symbol;
        for pair in &matched.pairs {
            let (Some(a), Some(b)) = (left.get(pair.left), right.get(pair.right)) else {
                continue;
            };
            let subject = || format!("{}{}{mercury}", a.name, ordinal(pair.nth));
            let start = self.found.len();
            let value = (HexNumber(a.value), HexNumber(b.value));
            self.field(category, subject, "value", value.0, value.1);
            let size = (HexNumber(a.size), HexNumber(b.size));
            self.field(category, subject, "size", size.0, size.1);
            self.field(category, subject, "binding", &a.binding, &b.binding);
            self.field(category, subject, "type", &a.ty, &b.ty);
            let other = (HexNumber(a.other.into()), HexNumber(b.other.into()));
            self.field(category, subject, "other", other.0, other.1);
            let place = (place(a.section), place(b.section));
            self.field(category, subject, "section", place.0, place.1);
            for difference in self.found.iter_mut().skip(start) {
                difference.source_name = a.name.demangled();
            }
        }
        for index in &matched.only_left {
            if let Some(symbol) = left.get(*index) {
                let subject = format!("{}{mercury}", symbol.name);
                self.lone(category, subject, Side::Left(describe(symbol)))
                    .source_name = symbol.name.demangled();
            }
        }
        for index in &matched.only_right {
            if let Some(symbol) = right.get(*index) {
                let subject = format!("{}{mercury}", symbol.name);
                self.lone(category, subject, Side::Right(describe(symbol)))
                    .source_name = symbol.name.demangled();
            }
        }
        let name = |symbols: &[Symbol<'_>], index: usize| {
            symbols
                .get(index)
                .map_or_else(String::new, |symbol| symbol.name.to_string())
        };
        self.order(
            &format!("symbols of {table}"),
            &matched,
            |index| name(left, index),
            |index| name(right, index),
        );
    }
}

/// Names of symbols, of which local ones can be equal.
pub(super) struct SymbolNames<'a, 'data> {
    elf: &'a DeviceElf<'data>,
    /// For each table, how many symbols of the same name come before each.
    before: Vec<Vec<usize>>,
}

impl<'a, 'data> SymbolNames<'a, 'data> {
    pub(super) fn of(elf: &'a DeviceElf<'data>) -> Self {
        let count = |table: &SymbolTable<'data>| {
            let mut seen: BTreeMap<Name<'data>, usize> = BTreeMap::new();
            let names = table.symbols.iter().map(|symbol| symbol.name);
            names
                .map(|name| {
                    let seen = seen.entry(name).or_default();
                    *seen += 1;
                    *seen - 1
                })
                .collect()
        };
        let before = elf.symbol_tables.iter().map(count).collect();
        SymbolNames { elf, before }
    }

    /// Returns the name of a symbol that a row of this section refers to; `x #2` for the second
    /// `x`.
    pub(super) fn text(&self, section: u32, symbol: SymbolUse<'data>) -> String {
        let link = self.elf.sections.get(section as usize);
        let link = link.map_or(0, |section| section.link);
        let mut tables = self.elf.symbol_tables.iter();
        let table = tables.position(|table| table.section_index == link);
        let nth = table
            .and_then(|table| self.before.get(table)?.get(symbol.index as usize))
            .copied()
            .unwrap_or(0);
        format!("{}{}", symbol.name, ordinal(nth))
    }
}

fn place(place: Place<'_>) -> String {
    match place {
        Place::Undefined => "undefined".to_owned(),
        Place::Absolute => "absolute".to_owned(),
        Place::Common => "common".to_owned(),
        Place::In { name, .. } => name.to_string(),
        Place::Reserved(index) => format!("{index:#x}"),
    }
}

fn describe(symbol: &Symbol<'_>) -> String {
    format!(
        "{} {}, {:#x} bytes, {}",
        symbol.binding,
        symbol.ty,
        symbol.size,
        place(symbol.section)
    )
}
