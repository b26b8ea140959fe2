//! `.nv.info.F` of the SASS view, derived from the list of the Mercury view.

use cuweld_diagnostics::codes::mercury;
use cuweld_elf::behaviours::mercury as rules;
use cuweld_elf::target::attributes;
use cuweld_elf::target::section_types::SectionFlags;
use cuweld_elf::target::section_types::sht;
use cuweld_ir::Attribute;
use cuweld_ir::AttributeId;
use cuweld_ir::FunctionId;
use cuweld_ir::Module;
use cuweld_ir::SectionId;
use cuweld_ir::attribute::format;
use cuweld_ir::elf::encode::append_attribute;
use cuweld_ir::plan::PlanContent;
use cuweld_ir::table::EntityId;

use super::Encode;
use super::Refusal;
use super::contents::Contents;
use super::exits;
use crate::threads::Work;

/// Returns `true` if only the SASS view has records of this code, at the end of its lists.
fn is_sass_only(code: u8) -> bool {
    matches!(
        code,
        attributes::CBANK_PARAM_SIZE
            | attributes::PARAM_CBANK
            | attributes::SW_WAR
            | attributes::NVSAL_SW_WAR
            | attributes::PREEXIT_USED
    )
}

/// The code of a record of functions for sm_107 that no compiler writes, and NVIDIA's tools do not
/// name.
const OF_SM_107: u8 = 0x67;

/// Bytes of records that mostly only the SASS view of a function has.
const SASS_RECORDS: usize = 24;

/// Record of the Mercury view, record of the SASS view.
type Pair = (AttributeId, AttributeId);

/// The list of a function in the Mercury view.
struct List<'m> {
    /// The index of its section.
    section: usize,
    function: FunctionId,
    records: &'m [AttributeId],
    /// The records as they were written for the Mercury view.
    merged: &'m [u8],
    /// The symbol of the kernel's parameters.
    parameters: u32,
    /// Whether it is a kernel that calls a function with early exits.
    calls_exits: bool,
}

impl<'data> Encode<'_, 'data> {
    /// Makes the lists of the SASS view: the records of the Mercury view but for the finalizer's
    /// options, with the offsets that count in SASS, then the records that only SASS has.
    pub(super) fn sass_infos(&mut self) {
        let module = self.module;
        let mut lists = vec![None; module.functions.len()];
        for list in &module.merged_info {
            if let Some(function) = list.function {
                lists[function.index()] = Some(&list.records[..]);
            }
        }
        let parameters = self.parameter_symbols_by_function();
        let calling = exits::kernels_that_call_exits(module);
        let sections = self.plan.sections[..self.view].iter().enumerate();
        let lists = sections.filter_map(|(index, section)| {
            if section.ty != sht::CUDA_INFO || !section.flags.contains(SectionFlags::INFO_LINK) {
                return None;
            }
            let PlanContent::Bytes(merged) = section.content else {
                return None;
            };
            let function = self.functions.get(section.info as usize).copied()??;
            Some(List {
                section: index,
                function,
                records: lists[function.index()]?,
                merged,
                parameters: parameters[function.index()],
                calls_exits: calling.contains(&function),
            })
        });
        let lists: Vec<List<'_>> = lists.collect();
        let made = self
            .threads
            .map_chunks(Work::Objects(lists.len()), &lists, |lists| {
                let room = lists.iter().map(|list| list.merged.len() + SASS_RECORDS);
                let (mut made, mut pairs) = (Contents::with_room(room), Vec::new());
                for list in lists {
                    let derived = twins(module, list.function, &mut pairs)
                        .and_then(|sass| derived(module, list, &pairs, sass, &mut made.bytes));
                    made.refusals.extend(derived.err());
                    made.end();
                }
                made
            });
        let mut indices = lists.into_iter().map(|list| list.section);
        for part in made {
            let bytes = self.arena.bytes(&part.bytes);
            for (bytes, index) in part.sections(bytes).zip(&mut indices) {
                let section = &mut self.plan.sections[index];
                section.size = bytes.len() as u64;
                section.content = PlanContent::Bytes(bytes);
            }
            self.refusals.extend(part.refusals);
        }
    }
}

/// Appends the list of the SASS view of a function; `sass` is that of the object.
fn derived(
    module: &Module<'_>,
    list: &List<'_>,
    pairs: &[Pair],
    sass: SectionId,
    out: &mut Vec<u8>,
) -> Result<(), Refusal> {
    let attributes = &module.attributes;
    // Where the record is, and from where on records have not been copied yet.
    let (mut at, mut from) = (0, 0);
    for id in list.records {
        let record = &attributes[*id];
        let end = at + length(record);
        if end > list.merged.len() {
            return Err(Refusal::new(mercury::ATTRIBUTE_LENGTH, None));
        }
        let twin = || {
            let place = pairs.binary_search_by_key(id, |(merc, _)| *merc);
            place.ok().map(|place| &attributes[pairs[place].1])
        };
        let is_left_out = record.code == attributes::MERCURY_FINALIZER_OPTIONS;
        let twin = match attributes::holds_places(record.code) {
            true => twin(),
            false => None,
        };
        if is_left_out || twin.is_some() {
            out.extend_from_slice(&list.merged[from..at]);
            from = end;
        }
        if let Some(twin) = twin {
            append_attribute(out, twin, [].into_iter());
        }
        at = end;
    }
    out.extend_from_slice(&list.merged[from..at]);
    let records = &attributes[module.sections[sass].attributes];
    for record in records.iter().filter(|record| is_sass_only(record.code)) {
        let refs: &[u32] = match record.code {
            attributes::PARAM_CBANK => &[list.parameters],
            _ => &[],
        };
        if refs.len() != record.refs.len() {
            return Err(Refusal::new(mercury::ATTRIBUTE_SYMBOL, None));
        }
        if list.calls_exits && record.code == attributes::PREEXIT_USED {
            out.extend_from_slice(&[format::BVAL, attributes::PREEXIT_USED, 1, 0]);
            continue;
        }
        append_attribute(out, record, refs.iter().copied());
    }
    // [maths-record-added] [exits-record-added] [exits-of-kernels]
    let has = |code| records.iter().any(|record| record.code == code);
    if module.toolkit.has(&rules::MATHS_RECORD_ADDED) && !has(attributes::NVSAL_SW_WAR) {
        out.extend_from_slice(&[format::HVAL, attributes::NVSAL_SW_WAR, 1, 0]);
    }
    if module.toolkit.has(&rules::EXITS_RECORD_ADDED) && !has(attributes::PREEXIT_USED) {
        let exits = list.calls_exits || exits::has_exits(module, list.function);
        out.extend_from_slice(&[format::BVAL, attributes::PREEXIT_USED, exits.into(), 0]);
    }
    if module.target.sm == 107 && !has(OF_SM_107) {
        // [sm-107-record]
        out.extend_from_slice(&[format::BVAL, OF_SM_107, 0, 0]);
    }
    if module.header_slots_of(list.function).next().is_some() {
        // [mercury-slot-banks]
        for code in [
            attributes::BINDLESS_TEXTURE_BANK,
            attributes::BINDLESS_SURFACE_BANK,
        ] {
            out.extend_from_slice(&[format::BVAL, code, 0, 0]);
        }
    }
    Ok(())
}

/// Compares a function's lists in the two views of its object, but for records that one view has
/// alone, and pairs the records of which each view has its own, in order. Returns the list of the
/// SASS view.
fn twins(
    module: &Module<'_>,
    function: FunctionId,
    pairs: &mut Vec<Pair>,
) -> Result<SectionId, Refusal> {
    pairs.clear();
    let views = module.functions[function].views;
    let text = views.sass.text;
    let (Some(sass), Some(Some(merc))) = (views.sass.info, views.merc.map(|view| view.info)) else {
        return Err(Refusal::new(mercury::MISSING_ATTRIBUTES, text));
    };
    let of = |section: SectionId| {
        let range = module.sections[section].attributes;
        range.iter().zip(&module.attributes[range])
    };
    let mut shared = of(sass).filter(|(_, record)| !is_sass_only(record.code));
    let of_view = |code| code != attributes::MERCURY_FINALIZER_OPTIONS;
    for (id, a) in of(merc).filter(|(_, record)| of_view(record.code)) {
        let twin = shared.next().filter(|(_, b)| {
            (a.code, a.format, a.refs.len()) == (b.code, b.format, b.refs.len())
                && (attributes::holds_places(a.code)
                    || a.value == b.value && is_equal(a.rest, b.rest))
        });
        let Some((twin, _)) = twin else {
            return Err(Refusal::new(mercury::ATTRIBUTE_VIEWS, text));
        };
        // Others are the same in both views.
        if attributes::holds_places(a.code) && a.refs.is_empty() {
            pairs.push((id, twin));
        }
    }
    match shared.next() {
        Some(_) => Err(Refusal::new(mercury::ATTRIBUTE_VIEWS, text)),
        None => Ok(sass),
    }
}

/// Returns `true` if two payloads are equal. Most are empty and lie nowhere: comparing nothing
/// there takes the processor 300 ns, for the address is looked up before it turns out not to matter
/// (masked loads of `memcmp` with AVX-512).
fn is_equal(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && (a.is_empty() || a == b)
}

/// Returns the bytes of a record in a file.
fn length(record: &Attribute<'_>) -> usize {
    if record.format == format::SVAL {
        4 + record.refs.len() * 4 + record.rest.len()
    } else {
        4
    }
}
