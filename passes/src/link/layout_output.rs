//! `layout-output`: the output file is decided: sections, symbols, strings, offsets, program
//! headers.
//!
//! nvlink's output orders all follow from the order in which it creates things while it merges
//! object after object. `creation` replays that order in one linear walk; a pass that adds, renames
//! or reorders entities keeps no books for it. `contents` then fills the sections, `finish` sorts
//! them into file order [sections-by-class], numbers sections and symbols and lays out the file.

mod bank_pool;
pub(crate) mod constant_rows;
mod contents;
mod created;
mod creation;
mod finish;
mod function_sections;
pub(crate) mod grouped;
mod outcomes;
mod refused;
mod reloc_sections;
pub(crate) mod remarks;
pub(crate) mod resolved;
mod strings;

use std::borrow::Cow;

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::codes::deviation;
use cuweld_diagnostics::codes::unsupported;
use cuweld_elf::mercury::Bank;
use cuweld_elf::raw::SHN_LORESERVE;
use cuweld_elf::target::section_types::SectionFlags;
use cuweld_ir::FunctionId;
use cuweld_ir::LinkSymbolId;
use cuweld_ir::Module;
use cuweld_ir::ObjectId;
use cuweld_ir::OutputLayout;
use cuweld_ir::Phase;
use cuweld_ir::Section;
use cuweld_ir::SectionId;
use cuweld_ir::SectionKind;
use cuweld_ir::plan::PlanPiece;
use cuweld_ir::section::view_name;
use cuweld_ir::table::EntityId;
use foldhash::fast::FixedState;
use hashbrown::HashMap;

use crate::analyses::HostKernels;
use crate::analyses::LiveFunctions;
use crate::analyses::Preserved;
use crate::link::place_memory::constant_merge::ConstantMerge;
use crate::link::place_memory::late_shared::late_order;
use crate::link::place_memory::null_symbol;
use crate::pass::Changed;
use crate::pass::Pass;
use crate::pass::PassCx;
use crate::pass::PassError;
use crate::pass::PassInfo;
use crate::remark::Remarks;
use function_sections::FunctionSections;
use grouped::Grouped;
use outcomes::Outcomes;
use reloc_sections::RelocSections;
use resolved::DynamicNames;
use strings::with_names;

/// The `layout-output` pass.
#[derive(Debug, Default)]
pub struct LayoutOutput;

impl Pass for LayoutOutput {
    fn info(&self) -> PassInfo {
        PassInfo {
            name: "layout-output",
            summary: "Decide sections, symbols, strings and offsets of the output file",
            doc: include_str!("layout_output.rs"),
            requires: Phase::Planned,
            establishes: Some(Phase::LaidOut),
            preserves: Preserved::All,
            remarks: remarks::KINDS,
            ..PassInfo::DEFAULT
        }
    }

    fn run<'data>(
        &self,
        module: &mut Module<'data>,
        cx: &mut PassCx<'_, 'data>,
    ) -> Result<Changed, PassError> {
        if module.is_capmerc() {
            cx.diagnostics.emit(
                Diagnostic::refusal(unsupported::MERCURY_LAYOUT)
                    .help("mercury-encode lays out what holds Mercury: see the pipelines mercury and mercury-relocatable"),
            );
            return Err(PassError::Diagnosed);
        }
        let plan = lay_out(module, cx)?;
        record(module, plan, cx);
        Ok(Changed::Yes)
    }

    fn remarks(&self, module: &Module<'_>, remarks: &mut Remarks) {
        remarks::make(module, remarks);
    }
}

/// Stores the plan.
pub(crate) fn record<'data>(
    module: &mut Module<'data>,
    plan: OutputLayout<'data>,
    cx: &mut PassCx<'_, 'data>,
) {
    cx.statistics.add("sections", plan.sections.len() as u64);
    cx.statistics.add("symbols", plan.symbols.len() as u64);
    cx.statistics.add("relocations", plan.relocs.len() as u64);
    cx.statistics.add("bytes", plan.file_size);
    module.plan = Some(plan);
}

/// Returns the output file of a link; of objects with Mercury, the Mercury view.
pub(crate) fn lay_out<'data>(
    module: &Module<'data>,
    cx: &mut PassCx<'_, 'data>,
) -> Result<OutputLayout<'data>, PassError> {
    if refused::replaces_converted(module) {
        cx.diagnostics
            .emit(Diagnostic::refusal(unsupported::CONVERTED_COPIES));
        return Err(PassError::Diagnosed);
    }
    if let Some(function) = refused::converted_for_debugger(module, cx.analyses) {
        let name = String::from_utf8_lossy(module.function_name(function));
        cx.diagnostics.emit(
            Diagnostic::refusal(unsupported::CONVERTED_DEBUG).note(format!("function '{name}'")),
        );
        return Err(PassError::Diagnosed);
    }
    if let Some(alias) = refused::referenced_alias(module) {
        let name = String::from_utf8_lossy(module.link_name(alias));
        cx.diagnostics.emit(
            Diagnostic::refusal(unsupported::REFERENCED_ALIAS).note(format!("alias '{name}'")),
        );
        return Err(PassError::Diagnosed);
    }
    let outcomes = Outcomes::of(module, cx.threads);
    // nvlink takes what lies in the file at that place.
    if outcomes.has_code_without_bytes {
        cx.diagnostics
            .emit(Diagnostic::refusal(unsupported::CODE_WITHOUT_BYTES));
        return Err(PassError::Diagnosed);
    }
    let merge = ConstantMerge::new(module);
    if module.options.strict
        && module.options.preserve_relocs
        && merge.objects(module).is_some()
        && module
            .included_objects()
            .any(|(_, object)| object.system_library)
    {
        cx.diagnostics
            .emit(Diagnostic::refusal(unsupported::PRESERVED_EQUAL_CONSTANTS));
        return Err(PassError::Diagnosed);
    }
    let kept = (
        cx.analyses.get::<LiveFunctions>(module),
        cx.analyses.get::<HostKernels>(module),
    );
    let late_shared = late_order(module, cx.analyses);
    let then = |mut created: Created<'data>| {
        if created.needs_index_table()
            && let Some(what) = refused::unknown_numbers(module)
        {
            return Err(what);
        }
        contents::fill(module, &mut created, &merge);
        Ok(created)
    };
    let (created, strings) = with_names(
        module,
        cx.threads,
        (outcomes.sections(), outcomes.section_names()),
        |names| creation::replay(module, cx.arena, outcomes, names, kept, late_shared),
        then,
    );
    let created = match created {
        Ok(created) => created,
        Err(what) => {
            cx.diagnostics.emit(Diagnostic::fatal(
                unsupported::MANY_SECTIONS,
                format!("more than 65279 sections {what}"),
            ));
            return Err(PassError::Diagnosed);
        }
    };
    if created.has_unnamed && strings.has_empty_prototype() {
        let finding = unnamed_offset(module);
        let is_refused = module.options.strict;
        cx.diagnostics.emit(finding);
        if is_refused {
            return Err(PassError::Diagnosed);
        }
    }
    let null_symbol = null_symbol::shown(module, &merge);
    let plan = finish::plan(module, created, strings, null_symbol, cx.arena, cx.threads)?;
    if let Some((merged, first)) = merge.objects(module).filter(|_| !module.options.strict) {
        let name = |object: ObjectId| module.objects[object].display();
        let note = Diagnostic::remark(
            deviation::EQUAL_CONSTANTS,
            format!(
                "the constants of '{}' and '{}' are equal and keep their own places",
                name(merged),
                name(first)
            ),
        )
        .deviates("D02");
        cx.diagnostics.emit(note);
    }
    Ok(plan)
}

/// Says that the name of an undefined function's symbol without one is elsewhere than in nvlink's
/// output, sometimes: that of prototypes, or the first name after them.
fn unnamed_offset(module: &Module<'_>) -> Diagnostic {
    let linker = module.toolkit.linker();
    if module.options.strict {
        let code = unsupported::OLDER_TOOLKIT;
        return Diagnostic::fatal(code, code.title()).note(format!(
            "{linker} sometimes names the symbol of an undefined function '.shstrtab'"
        ));
    }
    Diagnostic::remark(
        deviation::OLDER_TOOLKIT,
        format!("{linker} sometimes names a symbol without name '.shstrtab'"),
    )
    .deviates("D28")
}

/// What an output section holds. Numbers name other output sections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Content {
    /// `.note.nv.tkinfo`.
    ToolInfo,
    /// `.note.nv.cuinfo`.
    CudaInfo,
    /// `.nv.info`, or a function's.
    Info(Option<LinkSymbolId>),
    /// `.nv.compat`.
    Compat,
    /// `.text.F`, with bits 31:24 of its `sh_info`.
    Text(LinkSymbolId, u8),
    /// A function's section of the same name, such as `.nv.local.F`.
    OfFunction(LinkSymbolId),
    /// The concatenation of same-named sections.
    Concatenated,
    /// `.nv.uft.entry`, `.nv.udt.entry`: their concatenation, with the symbols of the output.
    UnifiedEntries,
    /// `.nv.constantN.K`.
    Constants(LinkSymbolId, u8),
    /// `.nv.shared.K`.
    KernelShared(LinkSymbolId),
    /// `.nv_debug.shared`, of which only the name stays.
    ModuleShared,
    /// `.nv.shared.reserved.0`: a variable that all objects share.
    ReservedShared,
    /// Relocations for the header slots of a kernel's constant bank, an output section.
    HeaderRelocs(u32, LinkSymbolId),
    /// Relocations of another output section.
    Relocs(u32),
    /// The applied relocations of another output section, with `-preserve-relocs`.
    ResolvedRelocs(u32),
    /// `.nv.callgraph`.
    CallGraph,
    /// `.nv.prototype`.
    Prototypes,
    /// `.nv.rel.action`.
    RelAction,
}

impl Content {
    /// Returns `true` if there are few sections of the kind, that are looked for one by one.
    fn is_special(self) -> bool {
        match self {
            Content::ToolInfo
            | Content::CudaInfo
            | Content::Info(None)
            | Content::Compat
            | Content::UnifiedEntries
            | Content::ModuleShared
            | Content::CallGraph
            | Content::Prototypes
            | Content::RelAction => true,
            Content::Info(Some(_))
            | Content::Text(..)
            | Content::OfFunction(_)
            | Content::Concatenated
            | Content::Constants(..)
            | Content::KernelShared(_)
            | Content::ReservedShared
            | Content::HeaderRelocs(..)
            | Content::Relocs(_)
            | Content::ResolvedRelocs(_) => false,
        }
    }
}

/// Index of an output section in order of creation.
type OutId = usize;

/// No output section, in tables of their indices.
const NO_SECTION: u32 = u32::MAX;

/// An output section in the making.
struct OutSection<'data> {
    name: &'data [u8],
    ty: u32,
    flags: SectionFlags,
    align: u64,
    entsize: u64,
    content: Content,
    size: u64,
    /// Its number in the order of creation, which counts more than is in `sections`.
    number: u32,
    /// Whether the output leaves it out.
    removed: bool,
}

/// A symbol of the output in the making.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OutSymbol {
    /// That of the section with this [`OutId`].
    Section(u32),
    Link(LinkSymbolId),
    /// A kernel's dynamic shared memory, in relocatable output.
    DynamicShared(FunctionId),
    /// That without a name of an object [undefined-leaves-unnamed].
    Unnamed(ObjectId),
}

/// An input section with relocation rows.
struct WithRows {
    id: SectionId,
    /// The section that they apply to.
    patched: SectionId,
    /// How many are kept without addends, and with them.
    kept: [u32; 2],
}

/// Everything that nvlink creates, in its order.
struct Created<'data> {
    sections: Vec<OutSection<'data>>,
    /// The number of the section that is created next.
    next_number: u32,
    /// Local and weak symbols and SECTION symbols.
    local: Vec<OutSymbol>,
    /// Global symbols, and weak ones that were undefined at first.
    global: Vec<OutSymbol>,
    /// Whether a local symbol has no name.
    has_unnamed: bool,
    /// Module-wide sections by name.
    by_name: HashMap<&'data [u8], OutId, FixedState>,
    /// Sections of functions.
    by_function: FunctionSections<'data>,
    /// Live functions in order of creation.
    functions: Vec<LinkSymbolId>,
    /// Parts of input sections, and which of them each output section has.
    pieces: Vec<PlanPiece>,
    piece_order: Grouped<u32>,
    /// Input sections whose relocation rows the output may have, and sections that it may have as
    /// they are, in order of input.
    with_rows: Vec<WithRows>,
    copied: Vec<SectionId>,
    /// Sections of which there are few, in order of creation.
    special: Vec<OutId>,
    /// Those with the reserved block of shared memory.
    reserved: Vec<OutId>,
    /// Input sections whose rows a section of relocations has, in order of input.
    row_sections: Grouped<SectionId>,
    /// `.text.F` of each resolved symbol, or [`NO_SECTION`].
    text: Vec<u32>,
    /// The pieces of each kernel's constant banks.
    banks: Grouped<u32>,
    /// The output section of each input section that made it or came to it in creation;
    /// [`NO_SECTION`] says nothing.
    placed: Vec<u32>,
    /// Place of each function's list in the merged attribute lists.
    info_lists: Vec<u32>,
    /// Relocation sections of each target.
    relocs: RelocSections,
    /// Section of resolved relocations of the targets of each name.
    resolved_relocs: HashMap<&'data [u8], OutId, FixedState>,
    /// Whether the Mercury view is laid out.
    capmerc: bool,
    /// Whether any function of the output is an alias of another.
    has_aliases: bool,
    /// Shared variables that no code refers to, sorted; known with `-preserve-relocs` and without
    /// `-r`.
    unreferenced_shared: Vec<LinkSymbolId>,
    /// Which names of dynamic shared memory `-preserve-relocs` shows.
    dynamic_names: DynamicNames,
    /// The weak definitions of shared variables that strong ones replaced, where their names show.
    replaced_shared: Vec<(LinkSymbolId, cuweld_ir::SymbolId)>,
    /// The Mercury rows of constants of functions, by the section of the SASS view.
    constant_rows: HashMap<SectionId, SectionId, FixedState>,
}

impl<'data> Created<'data> {
    /// Returns `true` if the file has a `.symtab_shndx`: if any section that was created has a
    /// number that `st_shndx` cannot hold, also if that section is not in the file
    /// [numbers-of-dead-sections].
    fn needs_index_table(&self) -> bool {
        self.next_number > SHN_LORESERVE.into()
    }

    /// Returns the section `.text.F` of a resolved symbol.
    fn text_of(&self, link: LinkSymbolId) -> Option<OutId> {
        let id = self.text[link.index()];
        (id != NO_SECTION).then_some(id as OutId)
    }

    /// Drops the fields from which only contents are made.
    fn drop_inputs(&mut self) {
        self.placed = Vec::new();
        self.with_rows = Vec::new();
        self.banks = Grouped::default();
        self.pieces = Vec::new();
        self.row_sections = Grouped::default();
    }

    /// Adds relocation rows of an input section to their section, which stays.
    fn add_rows(&mut self, place: OutId, id: SectionId, count: u64) {
        self.row_sections.push(place, id);
        let section = &mut self.sections[place];
        section.size += count * section.entsize;
        section.removed = section.size == 0;
    }

    /// Adds a part of an output section.
    fn add_piece(&mut self, section: OutId, piece: PlanPiece) {
        self.piece_order.push(section, self.pieces.len() as u32);
        self.pieces.push(piece);
    }

    /// Returns the parts of an output section, once grouped.
    fn pieces_of(&self, section: OutId) -> impl ExactSizeIterator<Item = &PlanPiece> {
        let order = self.piece_order.of(section).iter();
        order.map(|index| &self.pieces[*index as usize])
    }

    /// Returns the sections of one content among those of which there are few.
    fn special(&self, is_one: impl Fn(Content) -> bool) -> impl Iterator<Item = OutId> {
        let special = self.special.iter().copied();
        special.filter(move |id| is_one(self.sections[*id].content))
    }

    /// Returns a function's section.
    fn of_function(&self, link: LinkSymbolId, name: &[u8]) -> Option<OutId> {
        let name_of = |id: OutId| self.sections[id].name;
        self.by_function.find(link, name, name_of)
    }

    /// Returns the name of an input section in what is laid out.
    fn name_of(&self, section: &Section<'data>) -> Cow<'data, [u8]> {
        match self.capmerc {
            true => mercury_name(section),
            false => Cow::Borrowed(section.name),
        }
    }
}

/// Returns the name of an input section in the Mercury view.
fn mercury_name<'data>(section: &Section<'data>) -> Cow<'data, [u8]> {
    if let SectionKind::FunctionConstants(number) = section.kind
        && let Some(bank) = Bank::numbered(number)
        && let Some(function) = section.name.strip_prefix(bank.sass)
    {
        return Cow::Owned([bank.name, function].concat());
    }
    Cow::Borrowed(view_name(section))
}
