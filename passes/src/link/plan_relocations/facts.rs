//! What planning one relocation needs to know of the whole module, gathered once.

use super::copies;
use super::copies::DiscardedRange;
use super::copies::FirstDefinitions;
use super::frames::FramePlaces;
use super::refusal::Refusal;
use crate::analyses::Meanings;
use crate::analyses::yields;
use crate::link::place_memory::COMPILER_BANK;
use crate::link::place_memory::constant_merge;
use crate::link::place_memory::constant_merge::ConstantMerge;
use crate::link::place_memory::null_symbol;
use crate::link::place_memory::shared_uses::unreferenced;
use crate::link::place_memory::slots_end::slots_end;
use std::sync::OnceLock;

use cuweld_diagnostics::codes::relocation;
use cuweld_elf::target::section_types::SectionFlags;
use cuweld_elf::target::section_types::is_rela;
use cuweld_elf::target::section_types::sht;
use cuweld_ir::FunctionId;
use cuweld_ir::LinkSymbolId;
use cuweld_ir::Module;
use cuweld_ir::ObjectId;
use cuweld_ir::Reloc;
use cuweld_ir::RelocAction;
use cuweld_ir::Section;
use cuweld_ir::SectionId;
use cuweld_ir::SectionInfo;
use cuweld_ir::SectionKind;
use cuweld_ir::SymbolRef;
use cuweld_ir::callgraph_record::CallKind;
use cuweld_ir::section::view_name;
use cuweld_ir::table::EntityId;
use foldhash::fast::FixedState;
use hashbrown::HashMap;
use hashbrown::HashSet;

/// Returns the ranges of a section among sorted ranges.
fn ranges_of(ranges: &[DiscardedRange], section: SectionId) -> &[DiscardedRange] {
    let start = ranges.partition_point(|(known, ..)| *known < section);
    let end = ranges.partition_point(|(known, ..)| *known <= section);
    ranges.get(start..end).unwrap_or(&[])
}

/// Returns the contribution offset of a section in its output section.
pub(super) fn contribution(module: &Module<'_>, section: SectionId) -> u64 {
    module.sections[section].place.unwrap_or(0)
}

/// What the plan of a relocation needs to know beside the row. What few links ask for is gathered
/// when a row does.
pub(super) struct Facts<'m, 'data> {
    pub(super) module: &'m Module<'data>,
    pub(super) meanings: &'m Meanings,
    /// Sizes of the concatenations of same-named sections.
    ends: OnceLock<HashMap<&'data [u8], u64, FixedState>>,
    /// The bytes that discarded definitions of variables occupy, sorted.
    losing_variables: OnceLock<Vec<DiscardedRange>>,
    /// The bytes that discarded definitions occupy in banks of addresses, sorted.
    discarded_addresses: OnceLock<Vec<DiscardedRange>>,
    /// The first definitions of variables.
    first_definitions: OnceLock<FirstDefinitions>,
    /// Whether the code of each copy that was replaced, or of another one of that function, has
    /// relocations.
    relocated: OnceLock<Vec<bool>>,
    /// The value of symbol 0.
    null_symbol: OnceLock<u64>,
    /// Whether shared variables belong to no kernel alone.
    has_shared_slots: OnceLock<bool>,
    /// Whether the first rows of the link for sections of a name are RELA.
    first_are_rela: OnceLock<HashMap<&'data [u8], bool, FixedState>>,
    /// The shared variables to which rows of an executable with `-preserve-relocs` cannot refer,
    /// sorted [preserved-unreferenced-shared].
    lost_shared: Vec<LinkSymbolId>,
    /// Whether instructions that yield stay.
    yields: OnceLock<bool>,
    /// Whether functions have unified addresses.
    has_unified_functions: OnceLock<bool>,
    /// The functions that call graphs say have their address taken.
    address_taken: OnceLock<HashSet<LinkSymbolId, FixedState>>,
    /// Sizes in bytes of the banks of compiler constants, by function.
    banks: OnceLock<HashMap<FunctionId, u64, FixedState>>,
    /// Size in bytes of constant variables of which equal sections are stored once.
    merged: OnceLock<u64>,
    /// The section with the bytes of each Mercury twin.
    pub(super) twins: HashMap<SectionId, SectionId, FixedState>,
    /// The Mercury form of each debug section.
    mercury_debug: HashMap<SectionId, SectionId, FixedState>,
    /// Entries of `.debug_frame` in both views.
    frames: FramePlaces<'m>,
    /// Whether the Mercury view is linked.
    pub(super) capmerc: bool,
    /// Offset of the slot of each texture, sampler and surface, by resolved symbol.
    pub(super) slots: HashMap<LinkSymbolId, u64, FixedState>,
}

/// Finds the shared variables to which rows cannot refer [preserved-unreferenced-shared].
pub(super) fn lost_shared(module: &Module<'_>) -> Vec<LinkSymbolId> {
    let options = &module.options;
    match options.preserve_relocs && !options.relocatable && slots_end(module) != 0 {
        true => unreferenced(module),
        false => Vec::new(),
    }
}

impl<'m, 'data> Facts<'m, 'data> {
    /// Returns the size of the concatenation of sections of this name.
    pub(super) fn end(&self, name: &[u8]) -> Option<u64> {
        let ends = self.ends.get_or_init(|| ends(self.module));
        ends.get(name).copied()
    }

    /// Returns the ranges of a section that discarded definitions of variables occupy, sorted.
    pub(super) fn discarded_in(&self, section: SectionId) -> &[DiscardedRange] {
        let ranges = self
            .losing_variables
            .get_or_init(|| copies::losing_variables(self.module, || self.first_definitions()));
        ranges_of(ranges, section)
    }

    /// Returns the ranges of a bank of addresses that discarded definitions occupy, sorted.
    pub(super) fn discarded_addresses_in(&self, section: SectionId) -> &[DiscardedRange] {
        let find = || copies::discarded_addresses(self.module);
        ranges_of(self.discarded_addresses.get_or_init(find), section)
    }

    /// Returns the size in bytes of the bank of compiler constants that a function has in the
    /// output, if it has one.
    pub(super) fn bank_size(&self, function: FunctionId) -> Option<u64> {
        let banks = self.banks.get_or_init(|| {
            let mut banks: HashMap<FunctionId, u64, FixedState> = HashMap::default();
            let pieces = self.module.bank_pieces.iter();
            for piece in pieces.filter(|piece| piece.bank == COMPILER_BANK) {
                let size = banks.entry(piece.kernel).or_insert(0);
                *size = self.module.bank_size(piece).max(*size);
            }
            banks
        });
        banks.get(&function).copied()
    }

    /// Returns the offset in bytes in a section of constant variables at which its bank ends, if
    /// equal sections are stored once: rows keep the addresses that they would have without that
    /// [equal-constants-merged].
    pub(super) fn merged_end(&self, section: SectionId) -> Option<u64> {
        let bank = SectionKind::ConstantBank(constant_merge::BANK);
        let merges = self.module.options.strict && self.module.sections[section].kind == bank;
        if !merges || !constant_merge::is_active(self.module) {
            return None;
        }
        let size = || ConstantMerge::new(self.module).size;
        let end = self.merged.get_or_init(size);
        Some(end.saturating_sub(contribution(self.module, section)))
    }

    /// Returns the first definitions of variables.
    fn first_definitions(&self) -> &FirstDefinitions {
        let first = || FirstDefinitions::new(self.module);
        self.first_definitions.get_or_init(first)
    }

    /// Returns nvlink's action for a row of an object's constants that it leaves out (deviation
    /// D14).
    pub(super) fn lost(&self, object: ObjectId, target: SymbolRef) -> Option<RelocAction> {
        let first = || self.first_definitions();
        copies::lost(self.module, self.meanings, first, object, target.symbol()?)
    }

    /// Returns `true` if the code of a copy that was replaced, or of another one of that function,
    /// has relocations.
    pub(super) fn is_relocated(&self, function: FunctionId) -> bool {
        let relocated = self.relocated.get_or_init(|| relocated(self.module));
        relocated[function.index()]
    }

    /// Returns the value of symbol 0.
    pub(super) fn null_symbol(&self) -> u64 {
        let value = || null_symbol::null_symbol_value(self.module);
        *self.null_symbol.get_or_init(value)
    }

    /// Returns `true` if shared variables belong to no kernel alone.
    pub(super) fn has_shared_slots(&self) -> bool {
        let has = || slots_end(self.module) != 0;
        *self.has_shared_slots.get_or_init(has)
    }

    /// Returns `true` if the first rows of the link for sections of the name that a section of
    /// relocations applies to are RELA.
    pub(super) fn begins_with_rela(&self, holder: &Section<'_>) -> bool {
        let module = self.module;
        let target = |section: &Section<'data>| match section.info {
            SectionInfo::Section(target) => Some(module.sections[target].name),
            _ => None,
        };
        let find = || {
            let mut first = HashMap::default();
            for section in module.sections.values() {
                let is_included = module.objects[section.object].state.is_included();
                let counts = section.kind == SectionKind::Relocs && is_included;
                if let Some(target) = target(section).filter(|_| counts) {
                    first.entry(target).or_insert(is_rela(section.ty));
                }
            }
            first
        };
        let known = self.first_are_rela.get_or_init(find);
        let SectionInfo::Section(patched) = holder.info else {
            return false;
        };
        known.get(module.sections[patched].name) == Some(&true)
    }

    /// Returns `true` if rows cannot refer to a shared variable.
    pub(super) fn is_lost(&self, variable: LinkSymbolId) -> bool {
        self.lost_shared.binary_search(&variable).is_ok()
    }

    /// Returns `true` if instructions that yield stay.
    pub(super) fn yields(&self) -> bool {
        *self.yields.get_or_init(|| yields::stay(self.module))
    }

    /// Returns `true` if an object has a table of functions with unified addresses.
    pub(super) fn has_unified_functions(&self) -> bool {
        let module = self.module;
        let is_table = |section: &Section<'_>| section.ty == sht::CUDA_UNIFIED_FUNCTIONS;
        let has = || {
            let mut objects = module.included_objects();
            objects.any(|(_, object)| module.sections[object.sections].iter().any(is_table))
        };
        *self.has_unified_functions.get_or_init(has)
    }

    /// Returns `true` if call graphs say that the address of a function is taken.
    pub(super) fn is_address_taken(&self, function: LinkSymbolId) -> bool {
        let module = self.module;
        let taken = || {
            let calls = module.calls.values();
            calls
                .filter(|call| call.kind == CallKind::AddressTaken)
                .filter_map(|call| module.symbols[call.from.symbol()?].link)
                .collect()
        };
        self.address_taken.get_or_init(taken).contains(&function)
    }

    /// Returns the number that is added to the addend of a row of the SASS view that names an entry
    /// of `.debug_frame`.
    pub(super) fn frame_shift(
        &self,
        module: &Module<'_>,
        reloc: &Reloc,
        target: SectionId,
    ) -> Result<u64, Refusal> {
        let holder = &module.sections[reloc.section];
        if holder.kind != SectionKind::SassRelocs || !self.frames.has(target) {
            return Ok(0);
        }
        let named = reloc.addend as u64;
        match self.frames.in_sass(target, named) {
            Some(place) => Ok(place.wrapping_sub(named)),
            None => Err(Refusal::Unsupported(relocation::FRAME_VIEWS)),
        }
    }

    /// Returns the section that a row in `holder` means by `section`: in the Mercury view, this is
    /// the Mercury form of debug sections.
    pub(super) fn in_view(&self, holder: &Section<'_>, section: SectionId) -> SectionId {
        if !holder.flags.contains(SectionFlags::MERCURY) {
            return section;
        }
        let twin = self.mercury_debug.get(&section);
        twin.copied().unwrap_or(section)
    }

    /// Returns `true` if a relocation refers to a section of a function or copy that goes.
    pub(super) fn is_unlinked(&self, module: &Module<'_>, target: SymbolRef) -> bool {
        matches!(target, SymbolRef::Section(section) if !module.is_section_linked(section))
    }

    /// Gathers the facts of a link, with the shared variables that [`lost_shared`] found.
    pub(super) fn new(
        module: &'m Module<'data>,
        meanings: &'m Meanings,
        lost_shared: Vec<LinkSymbolId>,
    ) -> Self {
        let capmerc = module.is_capmerc();
        let views = match capmerc {
            true => Views::new(module),
            false => Views::default(),
        };
        let slots = module.header_slots.iter();
        Facts {
            module,
            meanings,
            ends: OnceLock::new(),
            losing_variables: OnceLock::new(),
            discarded_addresses: OnceLock::new(),
            first_definitions: OnceLock::new(),
            relocated: OnceLock::new(),
            null_symbol: OnceLock::new(),
            has_shared_slots: OnceLock::new(),
            first_are_rela: OnceLock::new(),
            lost_shared,
            yields: OnceLock::new(),
            has_unified_functions: OnceLock::new(),
            address_taken: OnceLock::new(),
            banks: OnceLock::new(),
            merged: OnceLock::new(),
            frames: views.frames,
            mercury_debug: views.mercury_debug,
            twins: views.twins,
            capmerc,
            slots: slots.map(|slot| (slot.symbol, slot.offset)).collect(),
        }
    }
}

fn ends<'data>(module: &Module<'data>) -> HashMap<&'data [u8], u64, FixedState> {
    let mut ends = HashMap::default();
    for (_, object) in module.included_objects() {
        for section in module.sections[object.sections]
            .iter()
            .filter(|row| row.kind.is_concatenated())
        {
            let end = ends.entry(section.name).or_insert(0);
            *end = section
                .place
                .unwrap_or(0)
                .saturating_add(section.size())
                .max(*end);
        }
    }
    ends
}

fn relocated(module: &Module<'_>) -> Vec<bool> {
    let mut relocated = vec![false; module.functions.len()];
    for section in module.sections.values() {
        if let (SectionKind::Relocs, Some(owner), SectionInfo::Section(target)) =
            (section.kind, section.owner, section.info)
            && module.sections[target].kind.is_code()
            && !section.relocs.is_empty()
        {
            relocated[owner.index()] = true;
        }
    }
    // What is replaced takes along the rows of all copies before it, if any of them made the
    // section for relocations.
    let mut has_section = vec![false; module.link_symbols.len()];
    let link = |id: FunctionId| module.symbols[module.functions[id].symbol].link;
    for (id, _) in module.replaced_functions() {
        if let Some(link) = link(id) {
            has_section[link.index()] |= relocated[id.index()];
        }
    }
    for (id, _) in module.replaced_functions() {
        if let Some(link) = link(id) {
            relocated[id.index()] = has_section[link.index()];
        }
    }
    relocated
}

/// Which sections of objects with Mercury stand for each other.
#[derive(Default)]
struct Views<'m> {
    /// The section with the bytes of each Mercury twin.
    twins: HashMap<SectionId, SectionId, FixedState>,
    /// The Mercury form of each debug section.
    mercury_debug: HashMap<SectionId, SectionId, FixedState>,
    /// Entries of `.debug_frame` in both views.
    frames: FramePlaces<'m>,
}

impl<'m> Views<'m> {
    /// Finds pairs by their names within an object.
    fn new(module: &'m Module<'_>) -> Self {
        type Named<'data> = HashMap<&'data [u8], SectionId, FixedState>;
        let mut views = Views::default();
        for object in module.objects.values() {
            // Maps that are cleared would stay as large as for the largest object.
            let (mut debug, mut plain) = (Named::default(), Named::default());
            for id in object.sections.iter() {
                let section = &module.sections[id];
                let kind = section.kind;
                if !kind.is_concatenated() {
                    continue;
                }
                let name = view_name(section);
                if kind == SectionKind::MercuryTwin {
                    views.twins.extend(plain.get(name).map(|twin| (id, *twin)));
                    continue;
                }
                plain.insert(name, id);
                if kind == SectionKind::Debug {
                    debug.insert(section.name, id);
                } else if kind == SectionKind::MercuryDebug
                    && let Some(twin) = debug.get(name)
                {
                    views.mercury_debug.insert(*twin, id);
                    let sass = &module.sections[*twin];
                    if sass.name == b".debug_frame" {
                        views.frames.add(*twin, sass.bytes(), section.bytes());
                    }
                }
            }
        }
        views
    }
}
