//! `merge-metadata`: attribute lists, compatibility records and notes of the output.
//!
//! Each output list of `.nv.info` and `.nv.info.F` is the reverse of the concatenated input lists,
//! with references mapped and with the records of what is not linked left out (`nvinfo.md` section
//! 2). `.nv.compat` records are merged pairwise in input order (section 4). The tool note is
//! followed by those of all inputs; the cuinfo note carries the smallest virtual SM (section 5).
//!
//! Linear in the records.

use cuweld_ir::Attribute;
use cuweld_ir::AttributeId;
use cuweld_ir::FunctionId;
use cuweld_ir::FunctionState;
use cuweld_ir::MergedInfo;
use cuweld_ir::Module;
use cuweld_ir::Note;
use cuweld_ir::NoteId;
use cuweld_ir::Object;
use cuweld_ir::Phase;
use cuweld_ir::SectionKind;
use cuweld_ir::SymbolRef;
use cuweld_ir::attribute::format;
use cuweld_ir::elf::note_records::cuda_info;
use cuweld_ir::elf::note_records::tool_info;
use cuweld_ir::elf::origin::origin;
use cuweld_ir::target::arch::Suffix;
use cuweld_ir::target::attributes;
use cuweld_ir::target::compat;
use cuweld_ir::target::toolkit;

use crate::analysis::Preserved;
use crate::classify::IndexU32;
use crate::pass::Changed;
use crate::pass::Pass;
use crate::pass::PassCx;
use crate::pass::PassError;

/// The `merge-metadata` pass.
pub struct MergeMetadata;

impl Pass for MergeMetadata {
    fn name(&self) -> &'static str {
        "merge-metadata"
    }

    fn summary(&self) -> &'static str {
        "Merge attribute lists, compatibility records and notes"
    }

    fn requires(&self) -> Phase {
        Phase::Live
    }

    fn establishes(&self) -> Option<Phase> {
        Some(Phase::Merged)
    }

    fn preserves(&self) -> Preserved {
        Preserved::ALL
    }

    fn run<'data>(
        &self,
        module: &mut Module<'data>,
        cx: &mut PassCx<'_, 'data>,
    ) -> Result<Changed, PassError> {
        merge_info(module);
        merge_compat(module);
        merge_notes(module, cx);
        let records: usize = module
            .merged_info
            .iter()
            .map(|list| list.records.len())
            .sum();
        cx.statistics.add("attribute records", records as u64);
        Ok(Changed::Yes)
    }
}

/// Few lists get more records from `propagate-resources`.
const PROPAGATED: usize = 2;

/// Makes the output lists: the module's first, then kernels and device functions object by object,
/// as nvlink creates their sections.
fn merge_info(module: &mut Module<'_>) {
    let mut lists = vec![MergedInfo {
        function: None,
        records: Vec::new(),
    }];
    // The copy whose turn created a function's section gives the place, the chosen copy the records.
    let mut placed = vec![false; module.link_symbols.len()];
    for object in module.objects.ids() {
        let object = module.objects[object].clone();
        if !object.state.is_included() {
            continue;
        }
        for id in object.sections.iter() {
            if module.sections[id].kind == SectionKind::Info {
                for attribute in module.sections[id].attributes.iter() {
                    lists[0].records.extend(converted(module, attribute, None));
                }
            }
        }
        let mut create = |module: &mut Module<'_>, function: FunctionId| {
            let Some(link) = module.symbols[module.functions[function].symbol].link else {
                return;
            };
            if !module.functions[function].edges_count
                || !module.link_symbols[link].live.is_live()
                || std::mem::replace(&mut placed[link.index_u32() as usize], true)
            {
                return;
            }
            let Some(chosen) = module.link_function(link) else {
                return;
            };
            let mut records = Vec::new();
            if let Some(section) = module.functions[chosen].views.merged_info() {
                let attributes = module.sections[section].attributes;
                records.reserve_exact(attributes.len() + PROPAGATED);
                for attribute in attributes.iter() {
                    records.extend(converted(module, attribute, Some(chosen)));
                }
            }
            records.reverse();
            lists.push(MergedInfo {
                function: Some(chosen),
                records,
            });
        };
        for id in object.symbols.iter() {
            let symbol = &module.symbols[id];
            if let Some(function) = symbol.function
                && symbol.is_entry()
            {
                create(module, function);
            }
        }
        for id in object.sections.iter() {
            let section = &module.sections[id];
            if section.kind == SectionKind::FunctionInfo
                && let Some(function) = section.owner
            {
                create(module, function);
            }
        }
    }
    lists[0].records.reverse();
    if has_old_object(module) {
        let record = value_record(format::NVAL, attributes::HAS_PRE_V10_OBJECT, 0);
        lists[0].records.push(created(module, record, &[]));
    }
    module.merged_info = lists;
}

/// Whether an executable below sm_100 has an object of a toolkit before 10.0, or one that does not say
/// (measured).
fn has_old_object(module: &Module<'_>) -> bool {
    let is_old = |(_, object): (_, &Object<'_>)| {
        let sections = &module.sections[object.sections];
        let origin = origin(object, sections, &module.notes[object.notes]);
        origin.toolkit < toolkit::FIRST_V10_TOOLKIT
    };
    !module.options.relocatable
        && !module.target.is_mercury()
        && module.included_objects().any(is_old)
}

/// The record as the output shows it: itself, a new one, or none.
fn converted(
    module: &mut Module<'_>,
    id: AttributeId,
    function: Option<FunctionId>,
) -> Option<AttributeId> {
    let attribute = &module.attributes[id];
    let executable = !module.options.relocatable;
    let refs = module.refs(attribute);
    match attribute.code {
        attributes::ERROR | attributes::LOAD_CACHE_REQUEST => return None,
        attributes::MAX_STACK_SIZE if executable => return None,
        attributes::AT_ENTRY_FRAGMENTS
            if executable
                && function.is_some_and(|function| {
                    !module.symbols[module.functions[function].symbol].is_entry()
                }) =>
        {
            return None;
        }
        attributes::EXTERNS => {
            let kept: Vec<SymbolRef> = refs
                .iter()
                .copied()
                .filter(|target| is_kept_extern(module, *target))
                .collect();
            // A kernel's record keeps its place until propagation has filled or removed it.
            let waits = executable
                && function.is_some_and(|function| {
                    module.symbols[module.functions[function].symbol].is_entry()
                });
            if kept.is_empty() && !waits {
                return None;
            }
            if kept.len() == refs.len() {
                return Some(id);
            }
            let row = attribute.clone();
            return Some(created(
                module,
                Attribute {
                    section: None,
                    ..row
                },
                &kept,
            ));
        }
        attributes::KPARAM_INFO | attributes::KPARAM_INFO_V2 => return Some(id),
        _ => {}
    }
    refs.iter()
        .all(|target| survives(module, *target))
        .then_some(id)
}

/// Whether what a record refers to is part of the output.
fn survives(module: &Module<'_>, target: SymbolRef) -> bool {
    match target {
        SymbolRef::None => true,
        SymbolRef::Section(section) => module.is_section_linked(section),
        SymbolRef::Symbol(symbol) => {
            let row = &module.symbols[symbol];
            let Some(link) = row.link else { return false };
            let losing = row
                .function
                .is_some_and(|function| module.functions[function].state == FunctionState::Losing);
            module.link_symbols[link].live.is_live() && !losing
        }
    }
}

/// EXTERNS keeps functions that stay undefined, and kernels.
pub(crate) fn is_kept_extern(module: &Module<'_>, target: SymbolRef) -> bool {
    let Some(symbol) = target.symbol() else {
        return false;
    };
    let row = &module.symbols[symbol];
    let Some(link) = row.link else { return false };
    let link = &module.link_symbols[link];
    let entry = link
        .definition
        .is_some_and(|symbol| module.symbols[symbol].is_entry());
    row.is_function() && link.live.is_live() && (link.definition.is_none() || entry)
}

/// Adds a record that the linker made, with these references.
pub(crate) fn created<'data>(
    module: &mut Module<'data>,
    attribute: Attribute<'data>,
    refs: &[SymbolRef],
) -> AttributeId {
    let start = module.attribute_refs.len() as u32;
    module.attribute_refs.extend_from_slice(refs);
    let refs = start..module.attribute_refs.len() as u32;
    module.attributes.push(Attribute { refs, ..attribute })
}

/// A record without payload.
pub(crate) fn value_record<'data>(format: u8, code: u8, value: u16) -> Attribute<'data> {
    Attribute {
        section: None,
        format,
        code,
        value,
        refs: 0..0,
        rest: &[],
    }
}

fn merge_compat(module: &mut Module<'_>) {
    if !module.target.has_compat() {
        return;
    }
    let specific = u16::from(module.target.suffix == Suffix::Specific);
    let mut merged: Vec<(u8, u8, u16)> =
        vec![(format::BVAL, compat::CUDA_ACCELERATOR_TARGET, specific)];
    let merge = |merged: &mut Vec<(u8, u8, u16)>, format, code, value| match merged
        .iter_mut()
        .skip(1)
        .find(|(_, known, _)| *known == code)
    {
        Some((_, _, old)) => *old = compat::merge(code, *old, value),
        None => merged.push((format, code, value)),
    };
    for (_, object) in module.included_objects() {
        let mut sections = object
            .sections
            .iter()
            .filter(|id| module.sections[*id].kind == SectionKind::Compat);
        let Some(section) = sections.next() else {
            continue;
        };
        let records = &module.attributes[module.sections[section].attributes];
        for record in records {
            if compat::is_merged(record.code) {
                merge(&mut merged, record.format, record.code, record.value);
            }
        }
        for (code, default) in compat::DEFAULTS {
            if records.iter().any(|record| record.code == code) {
                continue;
            }
            let format = if code == compat::MERCURY_ISA_MAJOR_MINOR_VERSION {
                format::HVAL
            } else {
                format::BVAL
            };
            merge(&mut merged, format, code, default);
        }
    }
    module.merged_compat = merged
        .into_iter()
        .map(|(format, code, value)| created(module, value_record(format, code, value), &[]))
        .collect();
    if module.is_capmerc() {
        // `mercury-encode` writes the value.
        let record = Attribute {
            rest: &[0; 8],
            ..value_record(format::SVAL, compat::CAN_FASTPATH_FINALIZE, 0)
        };
        let record = created(module, record, &[]);
        module.merged_compat.push(record);
    }
}

fn merge_notes<'data>(module: &mut Module<'data>, cx: &PassCx<'_, 'data>) {
    let options = &module.options;
    let (tool, version, branch) = if options.stamp_nvlink {
        (
            toolkit::STAMP_TOOL,
            toolkit::STAMP_VERSION,
            toolkit::STAMP_BRANCH,
        )
    } else {
        (
            "cuweld",
            concat!("cuweld ", env!("CARGO_PKG_VERSION")),
            "open source",
        )
    };
    let own = tool_info(
        &options.output_name,
        options.tool_name.as_deref().unwrap_or(tool),
        version,
        branch,
        &options.recorded_options,
    );
    let note = |ty, desc: &[u8]| Note {
        section: None,
        owner: toolkit::NOTE_OWNER,
        ty,
        desc: cx.arena.bytes(desc),
    };
    let mut tools = vec![module.notes.push(note(toolkit::NOTE_TOOL_INFO, &own))];
    let mut virtual_sm: Option<u16> = None;
    for (_, object) in module.included_objects() {
        let sections = &module.sections[object.sections];
        let found = origin(object, sections, &module.notes[object.notes]).virtual_sm;
        virtual_sm = match (virtual_sm, found) {
            (Some(old), Some(new)) => Some(old.min(new)),
            (old, new) => old.or(new),
        };
        let is_tool = |id: &NoteId| {
            let section = module.notes[*id].section;
            section.is_some_and(|section| module.sections[section].kind == SectionKind::ToolInfo)
        };
        if !module.options.relocatable {
            tools.extend(object.notes.iter().filter(is_tool));
        }
    }
    let desc = cuda_info(virtual_sm.unwrap_or(module.target.sm));
    tools.push(module.notes.push(note(toolkit::NOTE_CUDA_INFO, &desc)));
    module.merged_notes = tools;
}
