//! Attribute records: what they refer to, and what they say of functions.

use cuweld_elf::target::attributes as code;
use cuweld_ir::Attribute;
use cuweld_ir::AttributeId;
use cuweld_ir::LinkSymbolId;
use cuweld_ir::table::EntityId;

use super::Check;
use super::Link;

/// What the records of the output say of a function, by resolved symbol.
#[derive(Clone, Copy, Default)]
pub(super) struct Given {
    /// Whether it is a kernel whose needs are compared.
    is_kernel: bool,
    /// REGCOUNT of a kernel.
    pub(super) registers: u32,
    /// MIN_STACK_SIZE of a kernel, in bytes.
    pub(super) stack: u32,
    /// FRAME_SIZE, in bytes.
    pub(super) frame: u32,
    /// NUM_BARRIERS.
    pub(super) barriers: Option<u8>,
}

impl Given {
    /// Returns `true` if the value of a record with this code counts: others lie in the inputs, each
    /// in another page, and need not be read.
    fn asks_for(&self, code: u8) -> bool {
        match code {
            code::REGCOUNT | code::MIN_STACK_SIZE => self.is_kernel,
            code::FRAME_SIZE => true,
            _ => false,
        }
    }
}

/// Records whose rows and values are loaded together.
const TOGETHER: usize = 64;

/// Checks `record-target`; returns what records say, by index of resolved symbols.
pub(super) fn check(
    link: &Link<'_, '_>,
    kernels: impl Iterator<Item = LinkSymbolId>,
    check: &mut Check,
) -> Vec<Given> {
    let module = link.module;
    let mut given = vec![Given::default(); module.link_symbols.len()];
    kernels.for_each(|kernel| given[kernel.index()].is_kernel = true);
    for list in &module.merged_info {
        let Some(function) = list.function else {
            check_module(link, &list.records, &mut given, check);
            continue;
        };
        for id in &list.records {
            let record = &module.attributes[*id];
            if record.code == code::NUM_BARRIERS
                && let Some(function) = link.meanings.link(module.functions[function].symbol)
            {
                given[function.index()].barriers = Some(record.value as u8);
            }
            if !record.refs.is_empty()
                && let Some(said) = check_targets(link, record, check)
            {
                note(said, record, &mut given);
            }
        }
    }
    given
}

/// Checks the records of the module's list, and notes what they say of functions.
///
/// Neighbours in the list lie far apart in memory, and their values in the inputs, each in another
/// page. Loops that do nothing but load some of them have the processor wait for all at once.
fn check_module(
    link: &Link<'_, '_>,
    records: &[AttributeId],
    given: &mut [Given],
    check: &mut Check,
) {
    let module = link.module;
    let mut said: Vec<(LinkSymbolId, &Attribute<'_>)> = Vec::with_capacity(TOGETHER);
    for ids in records.chunks(TOGETHER) {
        let mut codes = [0; TOGETHER];
        for (code, id) in codes.iter_mut().zip(ids) {
            *code = module.attributes[*id].code;
        }
        for (id, code) in ids.iter().zip(codes) {
            let record = &module.attributes[*id];
            let first = check_targets(link, record, check);
            if let Some(function) = first
                && given[function.index()].asks_for(code)
            {
                said.push((function, record));
            }
        }
        for (function, record) in said.drain(..) {
            note(function, record, given);
        }
    }
}

/// Notes what a record says of a function.
fn note(function: LinkSymbolId, record: &Attribute<'_>, given: &mut [Given]) {
    let given = &mut given[function.index()];
    if !given.asks_for(record.code) {
        return;
    }
    let value = || record.word(0).unwrap_or(0);
    match record.code {
        code::REGCOUNT => given.registers = value(),
        code::MIN_STACK_SIZE => given.stack = value(),
        code::FRAME_SIZE => given.frame = value(),
        _ => {}
    }
}

/// Checks what a record refers to, and returns the first of that.
fn check_targets(
    link: &Link<'_, '_>,
    record: &Attribute<'_>,
    check: &mut Check,
) -> Option<LinkSymbolId> {
    let (first, others) = link.module.refs(record).split_first()?;
    let first = link.of(*first);
    if let Some(dead) = first.filter(|target| !link.is_live(*target)) {
        refers(link, record, dead, check);
    }
    for target in others {
        if let Some(dead) = link.dead(*target) {
            refers(link, record, dead, check);
        }
    }
    first
}

#[cold]
fn refers(link: &Link<'_, '_>, record: &Attribute<'_>, dead: LinkSymbolId, check: &mut Check) {
    let what = format!(
        "a record with the code {:#04x} refers to {}, which is not in the output",
        record.code,
        link.quoted(dead)
    );
    check.report("record-target", what);
}
