//! The replay of nvlink's order of creation [creation-order].

mod code;
mod end;
mod late_banks;
mod own_banks;
mod reloc_sections;
mod sections;
mod symbols;

use std::cell::OnceCell;

use cuweld_elf::behaviours;
use cuweld_elf::known_symbols;
use cuweld_elf::mercury::Bank;
use cuweld_elf::raw::ET_EWP;
use cuweld_elf::symbol::Binding;
use cuweld_elf::symbol::SymbolOther;
use cuweld_elf::target::section_types::SectionFlags;
use cuweld_elf::target::section_types::is_rela;
use cuweld_elf::target::section_types::sht;
use cuweld_ir::Arena;
use cuweld_ir::BankPiece;
use cuweld_ir::FunctionId;
use cuweld_ir::LinkSymbolId;
use cuweld_ir::Module;
use cuweld_ir::Object;
use cuweld_ir::ObjectId;
use cuweld_ir::Reloc;
use cuweld_ir::RelocAction;
use cuweld_ir::Section;
use cuweld_ir::SectionId;
use cuweld_ir::SectionInfo;
use cuweld_ir::SectionKind;
use cuweld_ir::Symbol;
use cuweld_ir::SymbolId;
use cuweld_ir::SymbolPlace;
use cuweld_ir::SymbolRef;
use cuweld_ir::callgraph_record::CallKind;
use cuweld_ir::callgraph_record::CallRecord;
use cuweld_ir::table::EntityId;
use foldhash::fast::FixedState;
use hashbrown::HashMap;
use hashbrown::HashSet;

use self::own_banks::OwnBanks;
use self::sections::Header;
use super::Content;
use super::Created;
use super::FunctionSections;
use super::Grouped;
use super::NO_SECTION;
use super::OutId;
use super::OutSection;
use super::OutSymbol;
use super::Outcomes;
use super::RelocSections;
use super::WithRows;
use super::constant_rows;
use super::contents::is_copied;
use super::created::MODULE_SHARED;
use super::created::output_of;
use super::mercury_name;
use super::resolved::DynamicNames;
use super::strings::Named;
use super::strings::Names;
use crate::analyses::HostKernels;
use crate::analyses::LiveFunctions;
use crate::analyses::SharedParameters;
use crate::analyses::creates_locals_first;
use crate::link::place_memory::each_taken;
use crate::link::place_memory::empty_sections::EmptySections;
use crate::link::place_memory::headers::SLOT_SIZE;
use crate::link::place_memory::shared_uses::unreferenced;
use crate::link::place_memory::shared_variables::replaced;

struct Replay<'m, 'data> {
    module: &'m Module<'data>,
    arena: &'data Arena,
    names: Names<'m, 'data>,
    out: Created<'data>,
    own_banks: OwnBanks,
    /// Local kernels whose parameters lie in the bank of another.
    shared_parameters: SharedParameters,
    /// Constant banks of functions that have their number but are not in the output.
    moved_banks: HashSet<(LinkSymbolId, &'data [u8]), FixedState>,
    /// Sections of dead functions that have their number; none if no function is dead.
    numbered: Vec<bool>,
    /// What became of each function.
    outcomes: Outcomes,
    /// The input's section of its shared variables, by function, for relocatable output.
    own_shared: Vec<Option<SectionId>>,
    /// The functions that are kept.
    live: &'m LiveFunctions,
    /// The kernels that are kept for their own sake.
    host: &'m HostKernels,
    /// Kernels whose sections of shared memory come at the end [left-out-shared-late].
    late_shared: Vec<(LinkSymbolId, FunctionId)>,
    /// Whether local symbols of an object come before its others.
    locals_first: bool,
    /// Symbols of the object at hand that are no functions, whose turn is after those.
    others: Vec<SymbolId>,
    /// Attribute lists of the object at hand, which wait for their turn.
    infos: Vec<(SectionId, FunctionId)>,
    /// Sections with relocation rows of the object at hand.
    with_rows: Vec<SectionId>,
    /// The first object of SASS alone in a link for a target with Mercury.
    first_sass: Option<ObjectId>,
    /// Definitions that took global memory at their turn, once one is looked for that is not
    /// linked.
    took_memory: OnceCell<HashSet<SymbolId, FixedState>>,
}

/// Replays the creation of sections, symbols and strings.
pub(super) fn replay<'data>(
    module: &Module<'data>,
    arena: &'data Arena,
    outcomes: Outcomes,
    names: Names<'_, 'data>,
    (live, host): (&LiveFunctions, &HostKernels),
    late_shared: Vec<(LinkSymbolId, FunctionId)>,
) -> Created<'data> {
    let mut info_lists = vec![u32::MAX; module.functions.len()];
    for (index, list) in module.merged_info.iter().enumerate() {
        if let Some(function) = list.function {
            info_lists[function.index()] = index as u32;
        }
    }
    let out = Created {
        sections: Vec::with_capacity(names.sections()),
        next_number: 0,
        local: Vec::with_capacity(module.link_symbols.len() + module.functions.len()),
        global: Vec::with_capacity(module.link_symbols.len()),
        by_name: HashMap::default(),
        by_function: FunctionSections::new(module.link_symbols.len(), names.sections()),
        pieces: Vec::new(),
        piece_order: Grouped::default(),
        functions: live.functions.clone(),
        with_rows: Vec::new(),
        copied: Vec::new(),
        special: Vec::new(),
        reserved: Vec::new(),
        banks: Grouped::by(module.functions.len(), &module.bank_pieces, |piece| {
            piece.kernel.index()
        }),
        row_sections: Grouped::default(),
        text: vec![NO_SECTION; module.link_symbols.len()],
        placed: vec![NO_SECTION; module.sections.len()],
        info_lists,
        relocs: RelocSections::default(),
        resolved_relocs: HashMap::default(),
        capmerc: module.is_capmerc(),
        has_unnamed: false,
        has_aliases: false,
        dynamic_names: DynamicNames::of(module),
        unreferenced_shared: match module.options.preserve_relocs && !module.options.relocatable {
            true => unreferenced(module),
            false => Vec::new(),
        },
        replaced_shared: match module.shows_shared_variables() {
            true => replaced(module),
            false => Vec::new(),
        },
        constant_rows: constant_rows::find(module),
    };
    let own_shared = match module.options.relocatable {
        true => own_shared(module),
        false => Vec::new(),
    };
    let mut replay = Replay {
        module,
        arena,
        names,
        out,
        own_banks: OwnBanks::find(module, &outcomes),
        shared_parameters: SharedParameters::of(module),
        moved_banks: HashSet::default(),
        numbered: vec![
            false;
            if outcomes.any_dead {
                module.sections.len()
            } else {
                0
            }
        ],
        outcomes,
        own_shared,
        locals_first: creates_locals_first(module),
        others: Vec::new(),
        infos: Vec::new(),
        with_rows: Vec::new(),
        host,
        late_shared,
        live,
        first_sass: module.first_sass_object(),
        took_memory: OnceCell::new(),
    };
    replay.prototype_names();
    replay.start();
    let empty = EmptySections::new(module);
    for (_, object) in module.included_objects() {
        replay.functions(object);
        replay.symbols();
        replay.sections(object);
        replay.function_infos();
        replay.relocs();
        replay.empty_shared(object, &empty);
    }
    replay.end();
    replay.out
}

/// Returns the input's section of its shared variables, by function.
fn own_shared(module: &Module<'_>) -> Vec<Option<SectionId>> {
    let mut own = vec![None; module.functions.len()];
    for (id, section) in module.sections.iter() {
        if let (SectionKind::KernelShared, Some(owner)) = (section.kind, section.owner) {
            own[owner.index()] = Some(id);
        }
    }
    own
}

impl<'data> Replay<'_, 'data> {
    /// Adds the names of prototypes, which stand first in the symbol name table, including those of
    /// dead functions.
    fn prototype_names(&mut self) {
        for (_, object) in self.module.included_objects() {
            for kind in [CallKind::AddressTaken, CallKind::Indirect] {
                for call in &self.module.calls[object.calls] {
                    if call.kind == kind && !self.is_passed(call) {
                        self.names.add(call.prototype, Named::EvenEmpty);
                    }
                }
            }
            for prototype in &self.module.prototypes[object.prototypes] {
                self.names.add(prototype.prototype, Named::EvenEmpty);
            }
        }
    }

    /// Returns `true` if a row is an indirect call or the address of a copy that was not taken into
    /// the link at its turn: nvlink does not look at its prototype. (An address that another row of
    /// the object names counts all the same.)
    fn is_passed(&self, call: &CallRecord<'_>) -> bool {
        let caller = call.from.symbol();
        let copy = caller.and_then(|symbol| self.module.symbols[symbol].function);
        copy.is_some_and(|copy| !self.came_in(copy))
    }

    fn start(&mut self) {
        self.number();
        for name in [".shstrtab", ".strtab", ".symtab", ".symtab_shndx"] {
            self.unused_name(name.as_bytes());
            self.number();
        }
        let (target, toolkit) = (self.module.target, self.module.toolkit);
        let has_compat = toolkit.writes_compat(target);
        if toolkit.legacy_version(target).is_none() {
            let linked = match has_compat {
                true => SectionFlags::INFO_LINK,
                false => SectionFlags::empty(),
            };
            let note = |flags| Header::new(sht::NOTE, flags, 4);
            self.named(
                b".note.nv.tkinfo",
                note(SectionFlags::CUDA_TOOL_NOTE),
                Content::ToolInfo,
                true,
            );
            self.named(
                b".note.nv.cuinfo",
                note(SectionFlags::CUDA_INFO_NOTE | linked),
                Content::CudaInfo,
                true,
            );
        }
        let info = Header::new(sht::CUDA_INFO, SectionFlags::empty(), 4);
        self.named(b".nv.info", info, Content::Info(None), false);
        if has_compat {
            let compat = Header::new(sht::CUDA_COMPAT, SectionFlags::empty(), 4);
            self.named(b".nv.compat", compat, Content::Compat, false);
        }
        if !self.module.options.relocatable {
            // The table of unified functions, which is not in the file.
            self.number();
        }
    }

    /// Returns the resolved symbol of a function whose copy was taken into the link at its turn.
    fn taken(&self, function: FunctionId) -> Option<LinkSymbolId> {
        let fate = self.outcomes.get(function);
        fate.link.filter(|_| fate.came_in && fate.is_live)
    }

    /// Returns `true` if a copy of a function was taken into the link at its turn, even if it was
    /// replaced or found dead since.
    fn came_in(&self, function: FunctionId) -> bool {
        self.outcomes.get(function).came_in
    }

    /// Returns `true` if what a function's symbol stands for is kept.
    fn is_live(&self, function: FunctionId) -> bool {
        self.outcomes.get(function).is_live
    }

    /// Returns `true` if a symbol that makes its resolved symbol puts it into the list of global
    /// ones [weak-before-global].
    fn is_global(&self, link: LinkSymbolId, symbol: &Symbol<'_>) -> bool {
        let counts = match symbol.bind {
            Binding::WEAK => !self
                .module
                .toolkit
                .has(&behaviours::symbols::WEAK_BEFORE_GLOBAL),
            bind => bind == Binding::GLOBAL,
        };
        counts && !self.module.link_symbols[link].internal
    }

    /// Creates P1: functions in symbol order.
    fn functions(&mut self, object: &Object<'data>) {
        self.others.clear();
        let options = &self.module.options;
        let rule = &behaviours::symbols::UNDEFINED_LEAVES_UNNAMED;
        let mut leaves_unnamed =
            options.debug && !options.relocatable && self.module.toolkit.has(rule);
        let module = self.module;
        let is_local = |id: &SymbolId| module.symbols[*id].bind == Binding::LOCAL;
        let sorts = self.locals_first;
        let symbols = || object.symbols.iter();
        let first = symbols().filter(|id| !sorts || is_local(id));
        let then = sorts.then(symbols).into_iter().flatten();
        for id in first.chain(then.filter(|id| !is_local(id))) {
            let symbol = &self.module.symbols[id];
            if !symbol.is_function() {
                self.others.push(id);
                continue;
            }
            let is_first = |link: LinkSymbolId| self.module.link_symbols[link].first == id;
            if leaves_unnamed
                && symbol.is_undefined()
                && !symbol.is_entry()
                && symbol.link.is_some_and(is_first)
            {
                self.names.add(b"", Named::EvenEmpty);
                self.out.local.push(OutSymbol::Unnamed(symbol.object));
                self.out.has_unnamed = true;
                leaves_unnamed = false;
            }
            self.function(id);
        }
    }

    /// Creates a function, and its section if this object's copy is the first that came in.
    fn function(&mut self, id: SymbolId) {
        let symbol = &self.module.symbols[id];
        let Some(link) = symbol.link else {
            return;
        };
        if !self.module.link_symbols[link].live.is_live() {
            if symbol.function.is_some_and(|copy| self.came_in(copy)) {
                self.number();
            }
            // A kernel that host information leaves out leaves the name of its shared memory.
            let options = &self.module.options;
            let by_host = options.host.kernels_external.is_some() && !options.whole_program;
            if by_host && symbol.is_entry() && symbol.function.is_some() {
                let name = self.joined(".nv.shared.", symbol.name);
                self.unused_name(name);
            }
            return;
        }
        let taken = symbol.function.and_then(|function| self.taken(function));
        let aliased = symbol.function.and_then(|alias| self.module.aliased(alias));
        if let Some(function) =
            aliased.filter(|function| taken.is_some() && self.taken(*function).is_some())
        {
            // The function of an alias comes before it [function-aliases].
            self.function(self.module.functions[function].symbol);
        }
        let is_created = self.out.text_of(link).is_some();
        if self.module.link_symbols[link].first == id && !is_created {
            if self.is_global(link, symbol) {
                self.out.global.push(OutSymbol::Link(link));
            } else {
                self.names.add(symbol.name, Named::Link(link));
                self.out.local.push(OutSymbol::Link(link));
            }
        }
        let Some(function) = symbol.function else {
            return;
        };
        if is_created || taken.is_none() {
            return;
        }
        let text_id = self.module.functions[function].views.sass.text;
        let text = &self.module.sections[text_id];
        if aliased.is_some() {
            let code = self.out.placed[text_id.index()];
            self.out.text[link.index()] = code;
            self.out.has_aliases = true;
            return;
        }
        let mut header = Header::of(text, self.module.options.relocatable);
        let chosen = self.module.link_function(link);
        let row = &self.module.functions[chosen.unwrap_or(function)];
        header.flags = text.flags.with_barriers(row.flag_barriers) - SectionFlags::COMPRESSED;
        let high = match chosen.map(|_| self.module.sections[row.views.sass.text].info) {
            Some(SectionInfo::Symbol { high, .. }) => high,
            _ => 0,
        };
        let id = self.push(text.name, header, Content::Text(link, high), true);
        if chosen.is_some() {
            self.code(id, link, row.views.sass.text);
        }
        self.out.text[link.index()] = id as u32;
        self.out.placed[text_id.index()] = id as u32;
        self.out.by_function.insert(link, text.name, id);
        // [left-out-kernels-late]
        let can_leave_out = match self.module.options.relocatable {
            true => !self.module.shows_dynamic_shared(),
            // With `-g` all kernels stay as they are, unless debug information is suppressed.
            false => self.host.are_of_options && self.host.leave_out,
        };
        // [referenced-kernels-early]
        let is_referenced_before =
            self.module.symbols[self.module.link_symbols[link].first].is_undefined();
        let left_out = can_leave_out && !is_referenced_before && !self.host.contains(link);
        if symbol.is_entry() && !left_out {
            let name = self.joined(".nv.info.", symbol.name);
            self.info(link, name);
            self.outcomes.has_info(function);
            self.kernel_shared(link, function, symbol.name);
        }
    }

    /// Creates P3: the other sections in section order. Notes those whose turn comes later.
    fn sections(&mut self, object: &Object<'data>) {
        self.infos.clear();
        self.with_rows.clear();
        for id in object.sections.iter() {
            let section = &self.module.sections[id];
            if is_copied(section) {
                self.out.copied.push(id);
            }
            match section.kind {
                SectionKind::Relocs if section.relocs.is_empty() => {}
                SectionKind::Relocs => self.with_rows.push(id),
                SectionKind::FunctionInfo => {
                    self.infos.extend(section.owner.map(|owner| (id, owner)));
                }
                SectionKind::Unclassified
                | SectionKind::Null
                | SectionKind::SectionNames
                | SectionKind::SymbolNames
                | SectionKind::Symbols
                | SectionKind::SymbolSectionIndices
                | SectionKind::ToolInfo
                | SectionKind::CudaInfo
                | SectionKind::Info
                | SectionKind::Compat
                | SectionKind::CallGraph
                | SectionKind::Prototypes
                | SectionKind::RelAction
                | SectionKind::Text
                | SectionKind::MercuryText
                | SectionKind::MercurySymbols
                | SectionKind::MercuryTwin
                | SectionKind::MercuryDebug
                | SectionKind::SassInfo
                | SectionKind::SassFunctionInfo
                | SectionKind::SassRelocs
                | SectionKind::SassParameters
                | SectionKind::ReservedShared
                | SectionKind::Stripped => {}
                // Made for the kernel, or for its first variable.
                SectionKind::KernelShared => self.number_of_dead(id),
                _ => {
                    self.object_section(id, false);
                    self.number_of_dead(id);
                }
            }
        }
    }

    /// Numbers sections of dead functions, which are not created [numbers-of-dead-sections].
    fn number_of_dead(&mut self, id: SectionId) {
        if self.numbered.is_empty() {
            return;
        }
        let section = &self.module.sections[id];
        let is_dead = |owner| !self.is_live(owner) && self.came_in(owner);
        if !section.owner.is_some_and(is_dead) || self.numbered[id.index()] {
            return;
        }
        self.numbered[id.index()] = true;
        self.number();
        // The relocation section of header slots.
        if section.kind == SectionKind::FunctionConstants(0) {
            self.number();
        }
    }

    /// Creates the sections of shared memory without a variable, which nvlink copies last, those of
    /// dead kernels in vain [empty-kernel-shared]. No kernel of an EWP object has variables; the
    /// sections of live ones are made with them.
    fn empty_shared(&mut self, object: &Object<'data>, empty: &EmptySections) {
        let is_whole = object.e_type == ET_EWP;
        for id in object.sections.iter() {
            let section = &self.module.sections[id];
            let is_own = is_whole && section.kind == SectionKind::KernelShared;
            let owner = section.owner.filter(|_| is_own || empty.has(id));
            match owner.map(|owner| (owner, self.taken(owner))) {
                Some((_, Some(_))) if is_own => {}
                Some((owner, Some(link))) => {
                    self.kernel_shared(link, owner, self.module.function_name(owner));
                }
                Some((_, None)) => self.unused_name(section.name),
                None => {}
            }
        }
    }

    /// Creates P4: `.nv.info.F` of device functions in section order.
    fn function_infos(&mut self) {
        for index in 0..self.infos.len() {
            let (id, owner) = self.infos[index];
            match self.taken(owner) {
                Some(_) if self.outcomes.get(owner).has_info => {}
                Some(link) => {
                    let name = self.module.function_name(owner);
                    let input = self.module.sections[id].name;
                    let name = self.same_or_joined(input, ".nv.info.", name);
                    self.info(link, name);
                }
                None => self.number_of_dead(id),
            }
        }
    }

    /// Returns the output section that an input section is part of.
    fn output_of(&self, id: SectionId) -> Option<OutId> {
        output_of(self.module, &self.out, id)
    }
}
