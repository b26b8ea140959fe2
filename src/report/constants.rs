//! What lies where in constant banks.

use super::model::Bank;
use super::names::shortened;
use super::names::variable;
use crate::inspect::DeviceElf;
use crate::inspect::Functions;
use crate::inspect::device_model::AttributeValue;
use crate::inspect::device_model::Place;
use crate::inspect::functions::symbol_table;

/// Describes the constant banks of an image: parameters of kernels, and variables.
pub(super) fn describe(
    elf: &DeviceElf<'_>,
    functions: &Functions<'_>,
    longest: usize,
) -> Vec<Bank> {
    let mut banks = Vec::new();
    // By the index of each section, the bank that it is.
    let mut of_section = vec![None; elf.sections.len()];
    for (section, slot) in elf.sections.iter().zip(&mut of_section) {
        if section.name.0.starts_with(b".nv.constant") && section.size != 0 {
            *slot = Some(banks.len());
            let function = functions.of_section(section.index);
            let name = section.name.to_string();
            let kind = function.and_then(|function| {
                let function = functions.list.get(function)?.name.to_string();
                let kind = name.strip_suffix(&function)?.strip_suffix('.')?;
                Some(kind.to_owned())
            });
            banks.push(Bank {
                section: kind.unwrap_or(name),
                function,
                size: section.size,
                entries: Vec::new(),
            });
        }
    }
    let symbols = symbol_table(elf).map_or(&[][..], |table| &table.symbols);
    for symbol in symbols.iter().filter(|symbol| symbol.size != 0) {
        let Place::In { index, .. } = symbol.section else {
            continue;
        };
        let bank = of_section.get(index as usize).copied().flatten();
        if let Some(bank) = bank.and_then(|bank| banks.get_mut(bank)) {
            let name = shortened(variable(symbol.name.0), longest);
            bank.entries.push((name, symbol.value, symbol.size));
        }
    }
    let mut of_function = vec![None; functions.list.len()];
    for (index, bank) in banks.iter().enumerate() {
        let function = bank.function.filter(|_| bank.section == ".nv.constant0");
        if let Some(slot) = function.and_then(|function| of_function.get_mut(function)) {
            *slot = Some(index);
        }
    }
    let lists = elf.attributes.iter();
    for list in lists.filter(|list| list.section.0.starts_with(b".nv.info.")) {
        let start = list.records.iter().find_map(|record| match record.value {
            AttributeValue::ParameterBank { offset, .. } => Some(u64::from(offset)),
            _ => None,
        });
        let function = functions.of_section(list.section_index);
        let bank = function.and_then(|function| *of_function.get(function)?);
        let bank = bank.and_then(|bank: usize| banks.get_mut(bank));
        let (Some(start), Some(bank)) = (start, bank) else {
            continue;
        };
        // What the driver tells the kernel comes first.
        bank.entries.push(("[driver]".to_owned(), 0, start));
        for record in &list.records {
            if let AttributeValue::Parameter {
                ordinal,
                offset,
                size,
                ..
            } = record.value
            {
                let offset = start + u64::from(offset);
                bank.entries
                    .push((ordinal.to_string(), offset, size.into()));
            }
        }
    }
    for bank in &mut banks {
        bank.entries.sort_by_key(|(_, offset, _)| *offset);
    }
    banks
}
