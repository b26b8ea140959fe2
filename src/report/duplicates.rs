//! Functions with the same code.

use std::collections::BTreeMap;

use super::model::Duplicate;
use crate::inspect::DeviceElf;
use crate::inspect::Functions;
use crate::inspect::Name;
use crate::inspect::device_model::Relocation;

/// Finds the functions that have a section of code to themselves, with the same bytes and the same
/// relocations; those that waste most bytes come first.
pub(super) fn find(elf: &DeviceElf<'_>, functions: &Functions<'_>) -> Vec<Duplicate> {
    let mut relocations: BTreeMap<u32, &[Relocation<'_>]> = BTreeMap::new();
    for list in &elf.relocations {
        if let Some(section) = elf.sections.get(list.section_index as usize) {
            relocations.insert(section.info, &list.rows);
        }
    }
    let mut groups: BTreeMap<(&[u8], Vec<Row<'_>>), Vec<usize>> = BTreeMap::new();
    for (index, function) in functions.list.iter().enumerate() {
        let section = function
            .section
            .and_then(|index| elf.sections.get(index as usize));
        let Some(section) = section.filter(|section| section.size == function.code) else {
            continue;
        };
        // Bytes outside of the file are those of no function.
        if section.contents.is_empty() || functions.of_section(section.index) != Some(index) {
            continue;
        }
        let rows = relocations.get(&section.index).copied().unwrap_or_default();
        let rows = rows
            .iter()
            .map(|row| (row.offset, row.ty.value, row.symbol.name, row.addend));
        let key = (section.contents, rows.collect());
        groups.entry(key).or_default().push(index);
    }
    let groups = groups
        .into_iter()
        .filter(|(_, functions)| functions.len() > 1);
    let duplicates = groups.map(|((code, _), functions)| Duplicate {
        size: code.len() as u64,
        functions,
    });
    let mut duplicates: Vec<Duplicate> = duplicates.collect();
    let wasted = |it: &Duplicate| it.size.saturating_mul(it.functions.len() as u64 - 1);
    duplicates.sort_by(|left, right| {
        let order = wasted(right).cmp(&wasted(left));
        order.then_with(|| left.functions.cmp(&right.functions))
    });
    duplicates
}

/// A relocation: offset, type, symbol, addend.
type Row<'data> = (u64, u32, Name<'data>, Option<i64>);
