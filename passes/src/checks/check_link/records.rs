//! Attribute records: what they refer to, and what they say of functions.

use cuweld_elf::target::attributes as code;
use cuweld_ir::table::EntityId;

use super::Check;
use super::Link;
use crate::link::propagate_resources::barriers_in_flags;

/// What the records of the output say of a function, by resolved symbol.
#[derive(Clone, Copy, Default)]
pub(super) struct Given {
    /// REGCOUNT.
    pub(super) registers: u32,
    /// MIN_STACK_SIZE, in bytes.
    pub(super) stack: u32,
    /// FRAME_SIZE, in bytes.
    pub(super) frame: u32,
    /// NUM_BARRIERS, or the count in flags.
    pub(super) barriers: u8,
}

/// Checks `record-target`; returns what records say, by index of resolved symbols.
pub(super) fn check(link: &Link<'_, '_>, check: &mut Check) -> Vec<Given> {
    let module = link.module;
    let mut given = vec![Given::default(); module.link_symbols.len()];
    for list in &module.merged_info {
        let in_flags = |function| barriers_in_flags(module, function);
        let mut barriers = list.function.and_then(in_flags).unwrap_or(0);
        for id in &list.records {
            let record = &module.attributes[*id];
            if record.code == code::NUM_BARRIERS {
                barriers = record.value as u8;
            }
            if record.refs.is_empty() {
                continue;
            }
            let mut said = None;
            for (index, target) in module.refs(record).iter().enumerate() {
                let target = link.of(*target);
                if index == 0 {
                    said = target;
                }
                if let Some(dead) = target.filter(|target| !link.is_live(*target)) {
                    let what = format!(
                        "a record with the code {:#04x} refers to {}, which is not in the output",
                        record.code,
                        link.quoted(dead)
                    );
                    check.report("record-target", what);
                }
            }
            let Some(said) = said.and_then(|said| given.get_mut(said.index())) else {
                continue;
            };
            let value = || record.word(0).unwrap_or(0);
            match record.code {
                code::REGCOUNT => said.registers = value(),
                code::MIN_STACK_SIZE => said.stack = value(),
                code::FRAME_SIZE => said.frame = value(),
                _ => {}
            }
        }
        if barriers != 0
            && let Some(function) = list.function
            && let Some(function) = link.meanings.link(module.functions[function].symbol)
        {
            given[function.index()].barriers = barriers;
        }
    }
    given
}
