//! `merge-metadata`: attribute lists, compatibility records and notes of the output.
//!
//! Each output list of `.nv.info` and `.nv.info.F` is the reverse of the concatenated input lists,
//! with references mapped and with the records of what is not linked left out
//! [attributes-reversed]. `.nv.compat` records are merged pairwise in input order [compat-merged].
//! The tool note is followed by those of all inputs; the cuinfo note carries the smallest virtual
//! SM [notes-of-inputs].
//!
//! Linear in the records.

mod compat;

use cuweld_elf::note_records;
use cuweld_elf::note_records::cuda_info;
use cuweld_elf::note_records::tool_info;
use cuweld_elf::target::attributes;
use cuweld_ir::Attribute;
use cuweld_ir::AttributeId;
use cuweld_ir::FunctionId;
use cuweld_ir::IdRange;
use cuweld_ir::MergedInfo;
use cuweld_ir::Module;
use cuweld_ir::Note;
use cuweld_ir::NoteId;
use cuweld_ir::ObjectOrigin;
use cuweld_ir::Phase;
use cuweld_ir::SectionKind;
use cuweld_ir::SymbolRef;
use cuweld_ir::attribute::format;
use cuweld_ir::table::EntityId;

use crate::analyses::Kinds;
use crate::analyses::Meanings;
use crate::analyses::Preserved;
use crate::analyses::code_changes::names_no_mercury_version;
use crate::pass::Changed;
use crate::pass::Pass;
use crate::pass::PassCx;
use crate::pass::PassError;
use crate::pass::PassInfo;
use crate::threads::Threads;
use crate::threads::Work;

use compat::merge_compat;

/// The `merge-metadata` pass.
#[derive(Debug, Default)]
pub struct MergeMetadata;

impl Pass for MergeMetadata {
    fn info(&self) -> PassInfo {
        PassInfo {
            name: "merge-metadata",
            summary: "Merge attribute lists, compatibility records and notes",
            doc: include_str!("merge_metadata.rs"),
            requires: Phase::Live,
            establishes: Some(Phase::Merged),
            preserves: Preserved::All,
            ..PassInfo::DEFAULT
        }
    }

    fn run<'data>(
        &self,
        module: &mut Module<'data>,
        cx: &mut PassCx<'_, 'data>,
    ) -> Result<Changed, PassError> {
        let origins = Origins::new(module);
        let kinds = cx.analyses.get::<Kinds>(module);
        let meanings = cx.analyses.get::<Meanings>(module);
        merge_info(module, &origins, (kinds, meanings), cx.threads);
        merge_compat(module, kinds, cx.arena);
        if module.toolkit.legacy_version(module.target).is_none() {
            merge_notes(module, &origins, cx);
        }
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
fn merge_info(
    module: &mut Module<'_>,
    origins: &Origins,
    (kinds, meanings): (&Kinds, &Meanings),
    threads: &Threads,
) {
    let inputs = inputs(module, kinds, meanings);
    let records: usize = inputs.iter().map(|input| input.attributes.len()).sum();
    let lists = |part: &[Input]| Lists::new(module, meanings, part);
    let parts = threads.map_chunks(Work::Rows(records), &inputs, lists);
    let mut of_module = Vec::new();
    let mut lists = Vec::with_capacity(inputs.len() + 1);
    lists.push(MergedInfo {
        function: None,
        records: Vec::new(),
    });
    for mut part in parts {
        for (list, place) in part.filtered {
            let records = match list {
                Some(list) => &mut part.of_functions[list].records,
                None => &mut part.of_module,
            };
            records[place] = filtered(module, records[place]);
        }
        for list in part.versionless {
            // [mercury-version-added]
            let (code, first) = (
                attributes::MERCURY_ISA_VERSION,
                attributes::FIRST_MERCURY_ISA,
            );
            let record = value_record(format::HVAL, code, first);
            let id = module.push_attribute(record, &[]);
            part.of_functions[list].records.insert(0, id);
        }
        if of_module.is_empty() {
            of_module = part.of_module;
        } else {
            of_module.extend(part.of_module);
        }
        lists.extend(part.of_functions);
    }
    of_module.reverse();
    if origins.any_is_old && !module.options.relocatable {
        let record = value_record(format::NVAL, attributes::HAS_PRE_V10_OBJECT, 0);
        of_module.push(module.push_attribute(record, &[]));
    }
    lists[0].records = of_module;
    module.merged_info = lists;
}

/// The records of an input that become a list of the output, or a part of the module's.
struct Input {
    function: Option<FunctionId>,
    attributes: IdRange<AttributeId>,
}

/// Returns the records of which the output's lists are made, in their order.
fn inputs(module: &Module<'_>, kinds: &Kinds, meanings: &Meanings) -> Vec<Input> {
    let functions = module.functions.len().min(module.link_symbols.len());
    let mut inputs = Vec::with_capacity(functions + module.objects.len());
    let mut placed = vec![false; module.link_symbols.len()];
    // The copy whose turn created a function's section gives the place, the chosen copy the
    // records.
    let mut input = |function: FunctionId| {
        let row = &module.functions[function];
        let link = meanings.link(row.symbol)?;
        let is_first = row.fate.ever_prevailed()
            && module.link_symbols[link].live.is_live()
            && !std::mem::replace(&mut placed[link.index_u32() as usize], true);
        let chosen = module.link_function(link).filter(|_| is_first)?;
        let section = module.functions[chosen].views.merged_info();
        let attributes = section.map(|section| module.sections[section].attributes);
        Some(Input {
            function: Some(chosen),
            attributes: attributes.unwrap_or_default(),
        })
    };
    for (_, object) in module.included_objects() {
        for (id, kind) in kinds.of(object.sections) {
            if kind == SectionKind::Info {
                inputs.push(Input {
                    function: None,
                    attributes: module.sections[id].attributes,
                });
            }
        }
        // Of an object whose functions all lose, no section is looked at.
        let mut has_others = false;
        for id in object.functions.iter() {
            let function = &module.functions[id];
            if !function.fate.ever_prevailed() {
                continue;
            }
            match module.symbols[function.symbol].is_entry() {
                true => inputs.extend(input(id)),
                false => has_others = true,
            }
        }
        if has_others {
            let lists = kinds.of(object.sections);
            let lists = lists.filter(|(_, kind)| *kind == SectionKind::FunctionInfo);
            inputs.extend(lists.filter_map(|(id, _)| input(module.sections[id].owner?)));
        }
    }
    inputs
}

/// The lists that some inputs make.
struct Lists {
    /// The records of the module's, backwards.
    of_module: Vec<AttributeId>,
    of_functions: Vec<MergedInfo>,
    /// The places of records that lose some of their references, by list; `None` for the module's.
    filtered: Vec<(Option<usize>, usize)>,
    /// The lists to which the version of Mercury is added.
    versionless: Vec<usize>,
}

impl Lists {
    fn new(module: &Module<'_>, meanings: &Meanings, inputs: &[Input]) -> Self {
        let of_functions = inputs.iter().filter(|input| input.function.is_some());
        let of_module = inputs.iter().filter(|input| input.function.is_none());
        let mut lists = Lists {
            of_functions: Vec::with_capacity(of_functions.count()),
            // What is not filled is never touched.
            of_module: Vec::with_capacity(of_module.map(|input| input.attributes.len()).sum()),
            filtered: Vec::new(),
            versionless: Vec::new(),
        };
        for input in inputs {
            if input.function.is_none() {
                for id in input.attributes.iter() {
                    match fate(module, meanings, id, None) {
                        Fate::Stays => lists.of_module.push(id),
                        Fate::Goes => {}
                        Fate::LosesSome => {
                            lists.filtered.push((None, lists.of_module.len()));
                            lists.of_module.push(id);
                        }
                    }
                }
                continue;
            }
            let mut records = Vec::with_capacity(input.attributes.len() + PROPAGATED);
            for id in input.attributes.iter().rev() {
                match fate(module, meanings, id, input.function) {
                    Fate::Stays => records.push(id),
                    Fate::Goes => {}
                    Fate::LosesSome => {
                        let list = lists.of_functions.len();
                        lists.filtered.push((Some(list), records.len()));
                        records.push(id);
                    }
                }
            }
            let is_versionless = |id| names_no_mercury_version(module, &module.functions[id]);
            if input.function.is_some_and(is_versionless) {
                lists.versionless.push(lists.of_functions.len());
            }
            lists.of_functions.push(MergedInfo {
                function: input.function,
                records,
            });
        }
        lists
    }
}

/// Returns the virtual SM of the output: the smallest of the included objects, but none above the
/// target.
pub(crate) fn virtual_sm(module: &Module<'_>) -> u16 {
    Origins::new(module).output_sm(module.target.sm)
}

/// What included objects say of what made them.
struct Origins {
    /// Whether one is of a toolkit before 10.0, or does not say [pre-v10-object].
    any_is_old: bool,
    /// The smallest virtual SM.
    virtual_sm: Option<u16>,
}

impl Origins {
    fn new(module: &Module<'_>) -> Self {
        let mut origins = Origins {
            any_is_old: false,
            virtual_sm: None,
        };
        for (_, object) in module.included_objects() {
            let found = module.origin(object);
            origins.any_is_old |= found.toolkit < module.toolkit.first_v10_number;
            origins.virtual_sm = match (origins.virtual_sm, found.virtual_sm) {
                (Some(old), Some(new)) => Some(old.min(new)),
                (old, new) => old.or(new),
            };
        }
        origins
    }

    /// Returns the virtual SM of an output for this SM.
    fn output_sm(&self, sm: u16) -> u16 {
        self.virtual_sm.map_or(sm, |found| found.min(sm))
    }
}

/// What becomes of a record.
enum Fate {
    Stays,
    Goes,
    /// The output has a new one, with less.
    LosesSome,
}

/// Returns the fate of a record of a function, or of the module.
fn fate(
    module: &Module<'_>,
    meanings: &Meanings,
    id: AttributeId,
    function: Option<FunctionId>,
) -> Fate {
    let attribute = &module.attributes[id];
    let executable = !module.options.relocatable;
    let refs = module.refs(attribute);
    let is_kernel = || {
        function
            .is_some_and(|function| module.symbols[module.functions[function].symbol].is_entry())
    };
    let stays = match attribute.code {
        attributes::ERROR | attributes::LOAD_CACHE_REQUEST => false,
        attributes::MAX_STACK_SIZE if executable => false,
        // [whole-kernel-unknown-stack]
        attributes::MIN_STACK_SIZE if executable && attribute.word(0) == Some(u32::MAX) => false,
        attributes::AT_ENTRY_FRAGMENTS if executable && function.is_some() && !is_kernel() => false,
        attributes::EXTERNS => {
            let is_kept = |target: &&SymbolRef| is_kept_extern(module, **target);
            let kept = refs.iter().filter(is_kept).count();
            // A kernel's record keeps its place until propagation has filled or removed it.
            let waits = executable && is_kernel();
            if kept < refs.len() && (kept > 0 || waits) {
                return Fate::LosesSome;
            }
            kept > 0 || waits
        }
        attributes::KPARAM_INFO | attributes::KPARAM_INFO_V2 => true,
        _ => refs
            .iter()
            .all(|target| survives(module, meanings, *target)),
    };
    match stays {
        true => Fate::Stays,
        false => Fate::Goes,
    }
}

/// Returns the list of those externs of a list that the output keeps.
fn filtered(module: &mut Module<'_>, id: AttributeId) -> AttributeId {
    let row = module.attributes[id].clone();
    let refs = module.refs(&row).iter();
    let is_kept = |target: &&SymbolRef| is_kept_extern(module, **target);
    let kept: Vec<SymbolRef> = refs.filter(is_kept).copied().collect();
    let record = Attribute {
        section: None,
        ..row
    };
    module.push_attribute(record, &kept)
}

/// Returns `true` if what a record refers to is part of the output.
fn survives(module: &Module<'_>, meanings: &Meanings, target: SymbolRef) -> bool {
    match target {
        SymbolRef::None => true,
        SymbolRef::Section(section) => module.is_section_linked(section),
        SymbolRef::Symbol(symbol) => {
            let Some(link) = meanings.link(symbol) else {
                return false;
            };
            !meanings.is_discarded(symbol) && module.link_symbols[link].live.is_live()
        }
    }
}

/// Returns `true` if EXTERNS keeps `target`: a function that stays undefined, or a kernel.
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

/// Returns a record without payload.
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

/// What the program ptxas records of its options and the compiler inside a library does not.
const WORDS_OF_PROGRAM: &[u8] = b" -m 64";

fn merge_notes<'data>(module: &mut Module<'data>, origins: &Origins, cx: &PassCx<'_, 'data>) {
    let options = &module.options;
    let (tool, version, branch) = if options.record.stamp_nvlink {
        let stamp = &module.toolkit.stamp;
        (stamp.tool, stamp.version, stamp.branch)
    } else {
        (
            "cuweld",
            concat!("cuweld ", env!("CARGO_PKG_VERSION")),
            "open source",
        )
    };
    let record = &options.record;
    let branch = match &record.tool_branch[..] {
        [] => branch.as_bytes(),
        branch => branch,
    };
    let own = tool_info([
        &record.output_name,
        record.tool_name.as_deref().unwrap_or(tool.as_bytes()),
        version.as_bytes(),
        branch,
        &record.options,
    ]);
    let note = |ty, desc: &[u8]| Note {
        section: None,
        owner: note_records::NOTE_OWNER,
        ty,
        desc: cx.arena.bytes(desc),
    };
    let mut tools = vec![module.notes.push(note(note_records::NOTE_TOOL_INFO, &own))];
    let mut compiled = Vec::new();
    for (_, object) in module.included_objects() {
        let is_tool = |id: &NoteId| {
            let section = module.notes[*id].section;
            section.is_some_and(|section| module.sections[section].kind == SectionKind::ToolInfo)
        };
        if module.options.relocatable {
            continue;
        }
        let start = tools.len();
        tools.extend(object.notes.iter().filter(is_tool));
        // The compiler of a library is a part of it.
        if object.origin == ObjectOrigin::Compiled && !record.tool_branch.is_empty() {
            compiled.extend(start..tools.len());
        }
    }
    for place in compiled {
        let strings = note_records::tool_info_strings(module.notes[tools[place]].desc);
        let Some([file, tool, version, _, words]) = strings else {
            continue;
        };
        let branch = &module.options.record.tool_branch;
        // It is not told the size of addresses.
        let mut parts = words.windows(WORDS_OF_PROGRAM.len());
        let at = parts.position(|part| part == WORDS_OF_PROGRAM);
        let words = match at {
            Some(at) => [&words[..at], &words[at + WORDS_OF_PROGRAM.len()..]].concat(),
            None => words.to_vec(),
        };
        let info = tool_info([file, tool, version, branch, &words]);
        tools[place] = module.notes.push(note(note_records::NOTE_TOOL_INFO, &info));
    }
    let desc = cuda_info(origins.output_sm(module.target.sm), module.toolkit.number);
    tools.push(module.notes.push(note(note_records::NOTE_CUDA_INFO, &desc)));
    module.merged_notes = tools;
}
