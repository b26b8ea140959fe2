//! Bytes of code and data.

use cuweld_elf::target::section_types::SectionFlags;

use super::Category;
use super::Diff;
use super::Difference;
use super::matching::Matched;
use super::matching::ordinal;
use crate::inspect::DeviceElf;
use crate::inspect::Name;
use crate::inspect::code_names;
use crate::inspect::code_names::Table;
use crate::inspect::device_model::*;

/// Bytes of an instruction; differences in code are listed by instruction.
const INSTRUCTION: usize = 16;

/// Equal bytes up to this many do not end a difference in data.
const SHORTEST_GAP: usize = 4;

/// How many bytes of a difference are shown.
const SHOWN: usize = 16;

impl Diff {
    pub(super) fn contents(
        &mut self,
        left: &DeviceElf<'_>,
        right: &DeviceElf<'_>,
        matched: &Matched,
    ) {
        // What is loaded comes before what debuggers read.
        let mut pairs = matched.pairs.clone();
        pairs.sort_by_key(|pair| {
            let section = left.sections.get(pair.left);
            section.is_none_or(|section| {
                !SectionFlags::from(section.flags).contains(SectionFlags::ALLOC)
            })
        });
        for pair in &pairs {
            let (Some(a), Some(b)) = (left.sections.get(pair.left), right.sections.get(pair.right))
            else {
                continue;
            };
            let is_bytes =
                |section: &Section<'_>| code_names::table(section.ty.value) == Table::Bytes;
            if !is_bytes(a) || !is_bytes(b) || a.contents == b.contents {
                continue;
            }
            let symbols = Covering::of(left, a.index);
            let is_code = SectionFlags::from(a.flags).contains(SectionFlags::EXECINSTR);
            for (start, end) in runs(a.contents, b.contents, is_code) {
                let within = symbols.at(start as u64);
                self.found.push(Difference {
                    category: Category::Contents,
                    subject: format!("{}{}+{start:#x}", a.name, ordinal(pair.nth)),
                    source_name: within.and_then(|(name, _)| name.demangled()),
                    field: Some(if is_code { "instruction" } else { "bytes" }),
                    left: Some(shown(a.contents, start, end)),
                    right: Some(shown(b.contents, start, end)),
                    within: within.map(|(name, offset)| format!("{name}+{offset:#x}")),
                });
            }
        }
    }
}

/// Returns the ranges of bytes that differ, as far as both files have bytes.
fn runs(left: &[u8], right: &[u8], is_code: bool) -> Vec<(usize, usize)> {
    let length = left.len().min(right.len());
    let mut runs: Vec<(usize, usize)> = Vec::new();
    let differs = left.iter().zip(right).enumerate();
    for (at, _) in differs.filter(|(_, (a, b))| a != b) {
        if is_code {
            let start = at - at % INSTRUCTION;
            if runs.last().is_none_or(|(last, _)| *last != start) {
                runs.push((start, (start + INSTRUCTION).min(length)));
            }
            continue;
        }
        match runs.last_mut() {
            Some((_, end)) if at - *end < SHORTEST_GAP => *end = at + 1,
            _ => runs.push((at, at + 1)),
        }
    }
    runs
}

fn shown(bytes: &[u8], start: usize, end: usize) -> String {
    let bytes = bytes.get(start..end).unwrap_or_default();
    let head = bytes.get(..SHOWN).unwrap_or(bytes);
    let digits: Vec<String> = head.iter().map(|byte| format!("{byte:02x}")).collect();
    match bytes.len() - head.len() {
        0 => digits.join(" "),
        more => format!("{} and {more} more", digits.join(" ")),
    }
}

/// The symbols of a section, by value.
struct Covering<'data> {
    symbols: Vec<(u64, u64, Name<'data>)>,
}

impl<'data> Covering<'data> {
    fn of(elf: &DeviceElf<'data>, section: u32) -> Self {
        let tables = elf.symbol_tables.iter().flat_map(|table| &table.symbols);
        let mut symbols: Vec<_> = tables
            .filter(|symbol| {
                matches!(symbol.section, Place::In { index, .. } if index == section)
                    && symbol.size > 0
            })
            .map(|symbol| (symbol.value, symbol.size, symbol.name))
            .collect();
        symbols.sort();
        Covering { symbols }
    }

    /// Returns the symbol at an offset of the section, and how far into it that is.
    fn at(&self, offset: u64) -> Option<(Name<'data>, u64)> {
        let behind = self.symbols.partition_point(|(value, ..)| *value <= offset);
        let (value, size, name) = self.symbols.get(behind.checked_sub(1)?)?;
        let into = offset.checked_sub(*value)?;
        (into < *size).then_some((*name, into))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_differs_in_runs_and_code_in_instructions() {
        let left = [0; 64];
        let mut right = left;
        for at in [1, 3, 20, 33, 40] {
            right[at] = 1;
        }
        assert_eq!(
            runs(&left, &right, false),
            [(1, 4), (20, 21), (33, 34), (40, 41)]
        );
        assert_eq!(runs(&left, &right, true), [(0, 16), (16, 32), (32, 48)]);
        assert_eq!(runs(&left[..30], &right, true), [(0, 16), (16, 30)]);
    }
}
