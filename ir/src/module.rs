//! The module: one device link.

use crate::attribute::Attribute;
use crate::attribute::MergedInfo;
use crate::callgraph_record::CallRecord;
use crate::callgraph_record::PrototypeRecord;
use crate::function::Function;
use crate::ids::*;
use crate::link_symbol::LinkSymbol;
use crate::merge_log::MergeEvent;
use crate::note::Note;
use crate::object::Object;
use crate::object::ObjectState;
use crate::options::LinkOptions;
use crate::origin::Origin;
use crate::origin::origin;
use crate::placement::BankPiece;
use crate::placement::HeaderSlot;
use crate::placement::PoolPart;
use crate::plan::OutputLayout;
use crate::reloc::Fixup;
use crate::reloc::Reloc;
use crate::section::Section;
use crate::section::SectionKind;
use crate::symbol::Symbol;
use crate::symbol::SymbolPlace;
use crate::symbol::SymbolRef;
use crate::table::PrimaryMap;
use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::Diagnostics;
use cuweld_diagnostics::Severity;
use cuweld_elf::align::align_up;
use cuweld_elf::known_symbols;
use cuweld_elf::mercury::offsets::Offsets;
use cuweld_elf::raw::ET_EWP;
use cuweld_elf::target::Target;
use cuweld_elf::target::section_types::SectionFlags;
use cuweld_elf::toolkit::Toolkit;
use foldhash::fast::FixedState;
use hashbrown::HashMap;

/// How far a module has come. Phases are walls: each has invariants that its verifier checks, and a
/// pass says which phase it needs and which it brings.
///
/// From `Resolved` on no symbol is added; from `Live` on nothing dies; from `LaidOut` on no size or
/// order changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Phase {
    /// Objects are read.
    #[default]
    Lowered,
    /// Sections and symbols have kinds.
    Classified,
    /// It is known which objects take part.
    Selected,
    /// Every symbol of an included object stands for a resolved symbol.
    Resolved,
    /// It is known what is kept.
    Live,
    /// Attribute lists, compatibility records and notes are merged.
    Merged,
    /// Kernels of an executable have what all that they reach needs.
    Propagated,
    /// Every value that a relocation can need is final.
    Placed,
    /// It is known what becomes of each relocation.
    Planned,
    /// The ELF plan is final.
    LaidOut,
    /// Applied relocations are fixups.
    Relocated,
    /// The image is written.
    Emitted,
    /// The image was read again and agrees.
    Checked,
}

impl Phase {
    /// All phases, in order.
    pub const ALL: [Phase; 13] = [
        Phase::Lowered,
        Phase::Classified,
        Phase::Selected,
        Phase::Resolved,
        Phase::Live,
        Phase::Merged,
        Phase::Propagated,
        Phase::Placed,
        Phase::Planned,
        Phase::LaidOut,
        Phase::Relocated,
        Phase::Emitted,
        Phase::Checked,
    ];

    /// Returns the phase's name in text forms.
    pub fn name(self) -> &'static str {
        match self {
            Phase::Lowered => "lowered",
            Phase::Classified => "classified",
            Phase::Selected => "selected",
            Phase::Resolved => "resolved",
            Phase::Live => "live",
            Phase::Merged => "merged",
            Phase::Propagated => "propagated",
            Phase::Placed => "placed",
            Phase::Planned => "planned",
            Phase::LaidOut => "laid-out",
            Phase::Relocated => "relocated",
            Phase::Emitted => "emitted",
            Phase::Checked => "checked",
        }
    }

    /// Returns the phase with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|phase| phase.name() == name)
    }
}

/// One device link in the making.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Module<'data> {
    /// How far it has come.
    pub phase: Phase,
    /// The toolkit whose linker it stands in for.
    pub toolkit: &'static Toolkit,
    /// What it is linked for.
    pub target: Target,
    /// Options that change bytes.
    pub options: LinkOptions,
    /// Objects in link order; the linker's own is last once a pass has created it.
    pub objects: PrimaryMap<ObjectId, Object<'data>>,
    /// Sections of all objects.
    pub sections: PrimaryMap<SectionId, Section<'data>>,
    /// Symbols of all objects.
    pub symbols: PrimaryMap<SymbolId, Symbol<'data>>,
    /// Defined functions of all objects.
    pub functions: PrimaryMap<FunctionId, Function>,
    /// Relocation rows of all objects.
    pub relocs: PrimaryMap<RelocId, Reloc>,
    /// Attribute records of all objects, then those that the linker created.
    pub attributes: PrimaryMap<AttributeId, Attribute<'data>>,
    /// Symbol references inside attribute payloads.
    pub attribute_refs: Vec<SymbolRef>,
    /// Call graph rows of all objects.
    pub calls: PrimaryMap<CallId, CallRecord<'data>>,
    /// Prototype rows of all objects.
    pub prototypes: PrimaryMap<PrototypeId, PrototypeRecord<'data>>,
    /// Notes of all objects, then those that the linker created.
    pub notes: PrimaryMap<NoteId, Note<'data>>,
    /// What names stand for; made by `symbol-resolve`.
    pub link_symbols: PrimaryMap<LinkSymbolId, LinkSymbol>,
    /// How definitions of one name met, in the order of objects; made by `symbol-resolve`.
    pub merge_log: Vec<MergeEvent>,
    /// Parts of kernels' constant banks; made by `place-memory`.
    pub bank_pieces: Vec<BankPiece>,
    /// Slots of texture, sampler and surface headers, by offset; made by `place-memory`.
    pub header_slots: Vec<HeaderSlot>,
    /// Constants that several kernels share, sorted by bank and offset; made by
    /// `constant-bank-dedup`.
    pub pool_parts: Vec<PoolPart>,
    /// Output attribute lists; made by `merge-metadata`, added to by `propagate-resources`.
    pub merged_info: Vec<MergedInfo>,
    /// Output records of `.nv.compat`, in order; made by `merge-metadata`.
    pub merged_compat: Vec<AttributeId>,
    /// Output notes of `.note.nv.tkinfo` then `.note.nv.cuinfo`; made by `merge-metadata`.
    pub merged_notes: Vec<NoteId>,
    /// Changes of section contents, ordered; made by `relocate`.
    pub fixups: Vec<Fixup>,
    /// The output file as decided; made by `layout-output`.
    pub plan: Option<OutputLayout<'data>>,
    /// The output file; made by `emit`.
    pub image: Option<Vec<u8>>,
    /// What was found so far, in nvlink's order: about the inputs, then by each pass that has run.
    pub findings: Diagnostics,
    /// The pass that ended the link because of what it found. The module is as that pass left it, and
    /// only passes that report run on it.
    pub stopped: Option<&'data str>,
}

impl<'data> Module<'data> {
    /// Creates an empty module.
    pub fn new(target: Target, options: LinkOptions) -> Self {
        Module {
            target,
            options,
            ..Default::default()
        }
    }

    /// Returns `true` if there is no output after a finding: it is an error, or a warning where those
    /// are errors.
    pub fn ends_with(&self, finding: &Diagnostic) -> bool {
        let least = match self.options.reports.warnings_are_errors {
            true => Severity::Warning,
            false => Severity::Error,
        };
        finding.severity >= least
    }

    /// Returns `true` if something was found after which there is no output.
    pub fn has_ended(&self) -> bool {
        let mut findings = self.findings.list().iter();
        findings.any(|finding| self.ends_with(finding))
    }

    /// Returns the function that another one is an alias of: the owner of its code. `.alias` of PTX
    /// makes such functions.
    pub fn aliased(&self, alias: FunctionId) -> Option<FunctionId> {
        let text = self.functions[alias].views.sass.text;
        self.sections[text].owner.filter(|owner| *owner != alias)
    }

    /// Returns `true` if a function is an alias of another.
    pub fn is_alias(&self, function: FunctionId) -> bool {
        self.aliased(function).is_some()
    }

    /// Returns `true` if nothing dies: with `-g`, `-r` and `-preserve-relocs`.
    pub fn keeps_dead_code(&self) -> bool {
        self.options.debug || self.options.relocatable || self.options.preserve_relocs
    }

    /// Returns `true` if the output has symbols of compiler constants and parameter banks.
    pub fn shows_compiler_constants(&self) -> bool {
        self.options.relocatable || self.options.preserve_relocs
    }

    /// Returns `true` if the link is for the debugger, whatever its objects are compiled for: `-g`
    /// without `-suppress-debug-info`.
    pub fn is_for_debugger(&self) -> bool {
        self.options.debug && !self.options.suppress_debug_info
    }

    /// Returns `true` if the names of dynamic shared memory are symbols of an executable.
    pub fn shows_dynamic_shared(&self) -> bool {
        self.is_for_debugger()
    }

    /// Returns `true` if the output has symbols of shared variables.
    pub fn shows_shared_variables(&self) -> bool {
        // [preserved-symbols]
        self.options.preserve_relocs || self.shows_dynamic_shared()
    }

    /// Returns the bytes of shared memory that are reserved at the beginning of what a kernel has.
    pub fn reserved_shared_size(&self) -> u64 {
        if self.options.memory.disable_shared_reservation {
            0
        } else {
            self.target.reserved_shared_size()
        }
    }

    /// Returns the parts of a bank's pool in order of offset; none if the bank has no pool.
    pub fn pool(&self, bank: u8) -> &[PoolPart] {
        let start = self.pool_parts.partition_point(|part| part.bank < bank);
        let end = self.pool_parts.partition_point(|part| part.bank <= bank);
        self.pool_parts.get(start..end).unwrap_or(&[])
    }

    /// Returns the size in bytes of a bank's pool, 0 if it has none.
    pub fn pool_size(&self, bank: u8) -> u64 {
        self.pool(bank)
            .last()
            .map_or(0, |part| part.offset.saturating_add(part.size))
    }

    /// Returns the references of an attribute.
    pub fn refs(&self, attribute: &Attribute<'_>) -> &[SymbolRef] {
        self.attribute_refs
            .get(attribute.refs.start as usize..attribute.refs.end as usize)
            .unwrap_or(&[])
    }

    /// Returns the resolved symbol that a symbol stands for, once symbols are resolved.
    pub fn link_of(&self, symbol: SymbolId) -> Option<LinkSymbolId> {
        self.symbols[symbol].link
    }

    /// Returns `true` if a name stands for dynamic shared memory and nothing else.
    pub fn is_dynamic_shared(&self, link: LinkSymbolId) -> bool {
        self.link_symbols[link].definition.is_none() && self.began_dynamic(link)
    }

    /// Returns `true` if the first symbol of a name is one of dynamic shared memory. A definition
    /// after it gives the name a size and no place.
    pub fn began_dynamic(&self, link: LinkSymbolId) -> bool {
        self.symbols[self.link_symbols[link].first].is_dynamic_shared()
    }

    /// Returns the name of a resolved symbol.
    pub fn link_name(&self, link: LinkSymbolId) -> &'data [u8] {
        self.symbols[self.link_symbols[link].first].name
    }

    /// Returns the function that a resolved symbol is defined by, once resolved.
    pub fn link_function(&self, link: LinkSymbolId) -> Option<FunctionId> {
        self.symbols[self.link_symbols[link].definition?].function
    }

    /// Returns what an object says of the toolkit that made it.
    pub fn origin(&self, object: &Object<'_>) -> Origin {
        origin(
            object,
            &self.sections[object.sections],
            &self.notes[object.notes],
        )
    }

    /// Returns where the Mercury instructions of a function lie in its SASS; `None` if it has no
    /// Mercury or this is not known for certain.
    pub fn mercury_offsets(&self, function: FunctionId) -> Option<Offsets> {
        let function = &self.functions[function];
        let capmerc = self.sections[function.views.merc?.text].bytes();
        let code = self.sections[function.views.sass.text].bytes();
        Offsets::new(capmerc, code, function.merc_size)
    }

    /// Returns the copies of functions that another replaced after they had prevailed, with the
    /// copy that did, in the order of objects.
    pub fn replaced_functions(&self) -> impl Iterator<Item = (FunctionId, FunctionId)> {
        let function = |symbol: SymbolId| self.symbols[symbol].function;
        let replacing = self
            .merge_log
            .iter()
            .filter(|event| event.outcome.replaces());
        replacing
            .filter_map(move |event| Some((function(event.prevailing)?, function(event.newcomer)?)))
    }

    /// Returns the definition that came first of each variable that has several. Linear in the merge
    /// log.
    pub fn first_definitions(&self) -> HashMap<LinkSymbolId, SymbolId, FixedState> {
        let mut first = HashMap::default();
        for event in &self.merge_log {
            let symbol = &self.symbols[event.prevailing];
            if let Some(link) = symbol.link.filter(|_| !symbol.is_function()) {
                first.entry(link).or_insert(event.prevailing);
            }
        }
        first
    }

    /// Returns the header slots that the driver has to fill for a kernel, by offset: not those of
    /// other kernels' parameters [header-parameters].
    pub fn header_slots_of(
        &self,
        kernel: FunctionId,
    ) -> impl DoubleEndedIterator<Item = &HeaderSlot> {
        let kinds = self.functions[kernel].header_kinds;
        self.header_slots.iter().filter(move |slot| {
            let link = self.link_symbols.get(slot.symbol);
            let symbol = link.and_then(|link| self.symbols.get(link.first));
            symbol.is_some_and(|symbol| {
                let of_kernel = self.owner_of(symbol).is_none_or(|owner| owner == kernel);
                symbol.ty.header_kind() & kinds != 0 && of_kernel
            })
        })
    }

    /// Returns the function in whose code, constants or other sections a symbol lies.
    pub fn owner_of(&self, symbol: &Symbol<'_>) -> Option<FunctionId> {
        match symbol.place {
            SymbolPlace::Section(section) => self.sections.get(section)?.owner,
            _ => None,
        }
    }

    /// Returns the offset in bytes of the first header slot in constant bank 0, from which the
    /// Mercury view counts.
    pub fn header_base(&self) -> u64 {
        self.header_slots.first().map_or(0, |slot| slot.offset)
    }

    /// Returns the size in bytes of a kernel's constant bank up to the end of a piece. What is
    /// after the constants of device functions is aligned, what is after the kernel's own is not
    /// [banks-share-alignment].
    pub fn bank_size(&self, piece: &BankPiece) -> u64 {
        let link = |function: FunctionId| self.symbols[self.functions[function].symbol].link;
        let end = piece.offset.saturating_add(piece.size);
        if self.sections[piece.section].owner.and_then(link) == link(piece.kernel) {
            end
        } else {
            align_up(end, piece.align)
        }
    }

    /// Returns the name of a function.
    pub fn function_name(&self, function: FunctionId) -> &'data [u8] {
        self.symbols[self.functions[function].symbol].name
    }

    /// Returns the address in bytes of a variable in reserved shared memory, of an executable.
    pub fn reserved_variable_place(&self, symbol: &Symbol<'_>) -> u64 {
        let offset = match symbol.place {
            SymbolPlace::Section(section) => {
                let section = &self.sections[section];
                known_symbols::reserved_shared_variable_offset(
                    (section.align, section.size()),
                    (symbol.value, symbol.size),
                )
            }
            _ => 0,
        };
        self.toolkit.reserved_shared_start.saturating_add(offset)
    }

    /// Returns `true` if a name is that of a kernel that no object of the link defines.
    pub fn is_undefined_kernel(&self, link: LinkSymbolId) -> bool {
        let row = &self.link_symbols[link];
        row.definition.is_none() && self.symbols[row.first].is_entry()
    }

    /// Returns `true` if a function is part of the output: its copy was chosen and its name is
    /// live.
    pub fn is_function_live(&self, function: FunctionId) -> bool {
        let row = &self.functions[function];
        row.fate == crate::function::Fate::Prevailing
            && self.symbols[row.symbol]
                .link
                .is_some_and(|link| self.link_symbols[link].live.is_live())
    }

    /// Returns `true` if a section is part of the link: its object is included, the function that
    /// owns it, if any, is linked, and no pass strips it.
    pub fn is_section_linked(&self, section: SectionId) -> bool {
        let row = &self.sections[section];
        row.kind != SectionKind::Stripped
            && self.objects[row.object].state.is_included()
            && row
                .owner
                .is_none_or(|function| self.is_function_live(function))
    }

    /// Returns `true` if all objects hold Mercury beside SASS, so that the link merges the Mercury
    /// view [sass-link].
    pub fn is_capmerc(&self) -> bool {
        let holds_both =
            |object: &Object<'_>| object.state == ObjectState::Linker || object.is_capmerc();
        self.target.is_mercury() && self.objects.values().all(holds_both)
    }

    /// Returns `true` if an object has instructions.
    pub fn has_code(&self, object: &Object<'_>) -> bool {
        let mut sections = self.sections[object.sections].iter();
        sections.any(|section| section.flags.contains(SectionFlags::EXECINSTR))
    }

    /// Returns the first object of SASS alone, which makes a link for sm_100 and later one of SASS.
    pub fn first_sass_object(&self) -> Option<ObjectId> {
        let is_sass = |(_, object): &(ObjectId, &Object<'_>)| {
            object.state != ObjectState::Linker && !object.is_capmerc()
        };
        let found = self.objects.iter().find(is_sass);
        found.map(|(id, _)| id).filter(|_| self.target.is_mercury())
    }

    /// Returns `true` if a symbol of an included object stands for nothing. nvlink takes
    /// `.nv.reservedSmem.cap` out of objects with Mercury that come before
    /// [`Module::first_sass_object`] [mercury-before-sass].
    pub fn stands_for_nothing(&self, symbol: &Symbol<'_>, first_sass: Option<ObjectId>) -> bool {
        let is_converted = first_sass.is_some_and(|first| symbol.object < first);
        symbol.is_filler() || is_converted && symbol.name == known_symbols::RESERVED_SHARED_CAP
    }

    /// Returns the low bits of `e_flags` of the output: 4 for SASS, 2 for Mercury beside it.
    pub fn kind_flags(&self) -> u32 {
        if self.is_capmerc() { 2 } else { 4 }
    }

    /// Returns `true` if there is an EWP object among the inputs.
    pub fn has_ewp_object(&self) -> bool {
        self.objects.values().any(|object| object.e_type == ET_EWP)
    }

    /// Returns the objects that take part in the link, in link order.
    pub fn included_objects(&self) -> impl DoubleEndedIterator<Item = (ObjectId, &Object<'data>)> {
        self.objects
            .iter()
            .filter(|(_, object)| object.state.is_included())
    }
}
