//! From created things to the plan: file order, indices, encoded contents, program headers.
//!
//! First everything gets its number and every content its place; then contents, rows of symbols and
//! rows of sections are made from these numbers alone, by threads where there are many.

mod call_graph;
mod lists;
mod parts;
mod rows;
mod section_indices;
mod segments;
mod symbols;
mod unified;

use std::ops::Range;
use std::sync::OnceLock;

use cuweld_elf::known_symbols;
use cuweld_elf::raw::ET_EXEC;
use cuweld_elf::raw::ET_REL;
use cuweld_elf::symbol::Binding;
use cuweld_elf::target::section_types::SectionFlags;
use cuweld_elf::target::section_types::is_no_bits;
use cuweld_elf::target::section_types::sht;
use cuweld_elf::validate::legacy_flags;
use cuweld_ir::Arena;
use cuweld_ir::LinkSymbol;
use cuweld_ir::LinkSymbolId;
use cuweld_ir::Module;
use cuweld_ir::ObjectId;
use cuweld_ir::OutputLayout;
use cuweld_ir::Symbol;
use cuweld_ir::SymbolRef;
use cuweld_ir::callgraph_record::CallRecord;
use cuweld_ir::elf::layout::assign_section_offsets;
use cuweld_ir::elf::layout::assign_tables;
use cuweld_ir::plan::PlanContent;
use cuweld_ir::plan::PlanSection;
use cuweld_ir::table::EntityId;
use foldhash::fast::FixedState;
use hashbrown::HashMap;

use super::Content;
use super::Created;
use super::NO_SECTION;
use super::OutId;
use super::OutSection;
use super::bank_pool::has_pool;
use super::bank_pool::pool_bytes;
use super::created::MODULE_SHARED;
use super::created::output_of;
use super::strings::Strings;
use crate::analyses::Prototypes;
use crate::analyses::counting_calls;
use crate::link::merge_metadata::virtual_sm;
use crate::link::place_memory::constants_again;
use crate::pass::PassError;
use crate::threads::Threads;
use crate::threads::Work;

use segments::segments;
use segments::tables_placed;

/// Sections before the sorted ones: null, `.shstrtab`, `.strtab`, `.symtab`; then `.symtab_shndx`.
const FIXED_SECTIONS: u32 = 4;

struct Finish<'m, 'data> {
    null_symbol: u64,
    module: &'m Module<'data>,
    out: Created<'data>,
    strings: Strings,
    /// The call graph rows that take part in the link.
    calls: Vec<&'m CallRecord<'data>>,
    /// Output index of each created section, 0 if it is left out.
    section_index: Vec<u32>,
    /// Output symbol index of each resolved symbol, 0 if it has none.
    symbol_index: Vec<u32>,
    /// Output symbol index of each created section's SECTION symbol.
    section_symbol: Vec<u32>,
    /// Output symbol index of each kernel's dynamic shared memory, by function, in relocatable
    /// output.
    dynamic_symbol: Vec<u32>,
    /// Output symbol index of the symbol without a name of each object that has one.
    unnamed_symbol: HashMap<ObjectId, u32, FixedState>,
    known_prototypes: Prototypes<'data>,
    /// Rows of `.nv.prototype`.
    prototypes: Vec<(LinkSymbolId, &'data [u8])>,
    /// The first section of each name, by offset of the name; made at first need.
    first_named: OnceLock<HashMap<u32, OutId, FixedState>>,
    /// The bindings of tentative variables with several definitions; found at first need.
    tentative_bindings: OnceLock<HashMap<LinkSymbolId, Binding, FixedState>>,
}

/// A section of the file: one that was created, or one of the fixed ones.
#[derive(Clone, Copy)]
struct Placed {
    /// Its [`OutId`]; [`NO_SECTION`] for one of the fixed sections, whose place among them is the
    /// start.
    id: u32,
    /// Which of the lists it holds, or where its contents begin among the rows or pieces of the
    /// plan.
    start: u32,
}

/// Makes the plan.
pub(super) fn plan<'data>(
    module: &Module<'data>,
    out: Created<'data>,
    strings: Strings,
    null_symbol: u64,
    arena: &'data Arena,
    threads: &Threads,
) -> Result<OutputLayout<'data>, PassError> {
    let relocatable = module.options.relocatable;
    let mut finish = Finish {
        module,
        null_symbol,
        calls: counting_calls(module),
        known_prototypes: Prototypes::new(module),
        unnamed_symbol: HashMap::default(),
        section_index: vec![0; out.sections.len()],
        symbol_index: vec![0; module.link_symbols.len()],
        section_symbol: vec![0; out.sections.len()],
        dynamic_symbol: vec![
            0;
            if relocatable {
                module.functions.len()
            } else {
                0
            }
        ],
        first_named: OnceLock::new(),
        tentative_bindings: OnceLock::new(),
        out,
        strings,
        prototypes: Vec::new(),
    };
    let (order, first_global) = finish.number_all();
    let mut plan = OutputLayout {
        e_type: if relocatable { ET_REL } else { ET_EXEC },
        shstrndx: 1,
        ..Default::default()
    };
    let work = Work::Sections(order.sections.len());
    let mut places = finish.places(&order, &mut plan);
    let made = finish.parts(&places, &mut plan, arena, threads, work);
    let fixed = finish.fixed_sections(first_global, plan.symbols.len(), made.index_table);
    let special = finish.special_contents(arena, &made.call_graph);
    plan.e_flags = finish.flags();
    plan.legacy = module.toolkit.legacy_version(module.target);
    (plan.section_names, plan.symbol_names) = finish.strings.take_bytes();
    finish.out.drop_inputs();
    let fixed_rows = (0..fixed.len() as u32).map(|start| Placed {
        id: NO_SECTION,
        start,
    });
    places.sections.splice(..0, fixed_rows);
    plan.sections = threads.map(work, &places.sections, |place| match place.id {
        NO_SECTION => fixed[place.start as usize].clone(),
        id => finish.section(id as OutId, place.start as usize, &made.lists, &special),
    });
    let end = assign_section_offsets(&mut plan);
    if !relocatable {
        plan.segments = segments(&plan.sections);
    }
    assign_tables(&mut plan, end);
    tables_placed(&mut plan);
    Ok(plan)
}

/// Returns `true` if a strong reference made a variable that nothing defines: relocatable output
/// has it at address -1 [undefined-value].
fn is_missing(row: &LinkSymbol, symbol: &Symbol<'_>) -> bool {
    row.definition.is_none()
        && symbol.bind == Binding::GLOBAL
        && !symbol.is_function()
        && !symbol.is_dynamic_shared()
        && !known_symbols::is_unified_table_symbol(symbol.name)
        && !known_symbols::is_of_driver(symbol.name)
        && !symbol.ty.is_header()
}

/// How many classes of sections there are.
const CLASSES: usize = 7;

/// The class of all lists, and that of all relocation rows.
const LISTS: usize = 1;
const ROWS: usize = 2;

/// The mark of a section that is left out.
const LEFT_OUT: u8 = CLASSES as u8;

/// The part of a mark that says that the section has a symbol.
const HAS_SYMBOL: u8 = 0x80;

/// The sections that stay, in file order.
struct Order {
    sections: Vec<u32>,
    /// Where each class begins, and the end.
    classes: [usize; CLASSES + 1],
}

impl Order {
    /// Returns the sections of a class.
    fn class(&self, class: usize) -> Range<usize> {
        self.classes[class]..self.classes[class + 1]
    }
}

/// Returns the class that sections are sorted by [sections-by-class].
fn class(section: &OutSection<'_>) -> u8 {
    match (section.ty, section.flags) {
        (sht::REL | sht::RELA | sht::CUDA_RESOLVED_RELA, _) => 2,
        (ty, flags) if !flags.contains(SectionFlags::ALLOC) => u8::from(ty != sht::PROGBITS),
        (ty, flags) if is_no_bits(ty, flags) => 6,
        (_, flags) if flags.contains(SectionFlags::EXECINSTR) => 4,
        (_, flags) if flags.contains(SectionFlags::WRITE) => 5,
        _ => 3,
    }
}

impl<'m, 'data> Finish<'m, 'data> {
    /// Puts the sections that stay into file order and gives them and all symbols their indices;
    /// returns that of the first symbol of the global part, too.
    fn number_all(&mut self) -> (Order, u32) {
        self.prototypes = self.prototype_rows();
        let prototypes = self.prototypes.len();
        let lists = &self.module.merged_info;
        let no_info = lists.first().is_none_or(|list| list.records.is_empty());
        for id in &self.out.special {
            let section = &mut self.out.sections[*id];
            match section.content {
                Content::Prototypes => {
                    section.removed = prototypes == 0;
                    section.size = prototypes as u64 * 8;
                }
                Content::Info(None) => section.removed = no_info,
                _ => {}
            }
        }
        // All that is asked of all rows, which are many.
        let sections = self.out.sections.iter();
        let marks: Vec<u8> = sections.map(|section| self.mark(section)).collect();
        let order = self.by_class(&marks);
        let fixed = FIXED_SECTIONS + u32::from(self.out.needs_index_table());
        for (place, id) in order.sections.iter().enumerate() {
            self.section_index[*id as OutId] = place as u32 + fixed;
        }
        let first_global = self.number_symbols(&marks);
        (order, first_global)
    }

    /// Returns the class of a section that stays, and whether it has a symbol.
    fn mark(&self, section: &OutSection<'_>) -> u8 {
        match (section.removed, self.has_symbol(section)) {
            (true, _) => LEFT_OUT,
            (false, true) => class(section) | HAS_SYMBOL,
            (false, false) => class(section),
        }
    }

    /// Orders the sections that stay by class. Sections of one class are in order of creation,
    /// unless another order was asked for.
    fn by_class(&self, marks: &[u8]) -> Order {
        let class = |mark: &u8| usize::from(mark & !HAS_SYMBOL);
        // Those that are left out come last.
        let mut starts = [0; CLASSES + 2];
        for mark in marks {
            starts[class(mark) + 1] += 1;
        }
        for index in 1..starts.len() {
            starts[index] += starts[index - 1];
        }
        let mut classes = [0; CLASSES + 1];
        classes.copy_from_slice(&starts[..=CLASSES]);
        let mut order = vec![0; classes[CLASSES]];
        for (id, mark) in marks.iter().enumerate() {
            let next = &mut starts[class(mark)];
            if let Some(place) = order.get_mut(*next) {
                *place = id as u32;
                *next += 1;
            }
        }
        if self
            .module
            .link_symbols
            .values()
            .any(|link| link.order.is_some())
        {
            for class in 0..CLASSES {
                order[classes[class]..classes[class + 1]]
                    .sort_by_key(|id| self.place_in_order(&self.out.sections[*id as OutId]));
            }
        }
        Order {
            sections: order,
            classes,
        }
    }

    /// Returns the rank that an order which was asked for gives to a section of code. Sections that
    /// it names come before all others.
    fn place_in_order(&self, section: &OutSection<'_>) -> u32 {
        match section.content {
            Content::Text(link, _) => self.module.link_symbols[link].order.unwrap_or(u32::MAX),
            _ => u32::MAX,
        }
    }

    /// Returns `true` if shared variables lie in `.nv_debug.shared`.
    fn has_slots(&self) -> bool {
        let section = self.out.by_name.get(MODULE_SHARED);
        section.is_some_and(|id| self.out.sections[*id].size > self.module.reserved_shared_size())
    }

    /// Returns the fixed sections.
    fn fixed_sections(
        &self,
        first_global: u32,
        symbols: usize,
        index_table: Option<&'data [u8]>,
    ) -> Vec<PlanSection<'data>> {
        let section =
            |name: &'static [u8], ty, size: usize, link, info, align, entsize, content| {
                PlanSection {
                    name,
                    name_offset: self.strings.in_sections(name),
                    ty,
                    flags: SectionFlags::empty(),
                    offset: 0,
                    size: size as u64,
                    link,
                    info,
                    align,
                    entsize,
                    content,
                }
            };
        let (names_size, strings) = self.strings.sizes();
        let mut fixed = vec![
            section(b"", sht::NULL, 0, 0, 0, 0, 0, PlanContent::None),
            section(
                b".shstrtab",
                sht::STRTAB,
                names_size,
                0,
                0,
                1,
                0,
                PlanContent::SectionNames,
            ),
            section(
                b".strtab",
                sht::STRTAB,
                strings,
                0,
                0,
                1,
                0,
                PlanContent::SymbolNames,
            ),
            section(
                b".symtab",
                sht::SYMTAB,
                symbols * 24,
                2,
                first_global,
                8,
                24,
                PlanContent::Symbols,
            ),
        ];
        if let Some(bytes) = index_table {
            fixed.push(section(
                b".symtab_shndx",
                sht::SYMTAB_SHNDX,
                bytes.len(),
                FIXED_SECTIONS - 1,
                0,
                4,
                4,
                PlanContent::Bytes(bytes),
            ));
        }
        fixed
    }

    /// Returns the output symbol of a reference.
    fn reference(&self, target: SymbolRef) -> u32 {
        match target {
            SymbolRef::None => 0,
            SymbolRef::Symbol(symbol) => self.module.symbols[symbol]
                .link
                .map_or(0, |link| self.symbol_index[link.index()]),
            SymbolRef::Section(section) => {
                output_of(self.module, &self.out, section).map_or(0, |id| self.section_symbol[id])
            }
        }
    }

    /// Returns the contents of the few sections that are made one by one.
    fn special_contents(
        &self,
        arena: &'data Arena,
        call_graph: &[u8],
    ) -> Vec<(OutId, PlanContent<'data>)> {
        let mut pools: Vec<(u8, &'data [u8])> = Vec::new();
        let mut special = Vec::new();
        // Pools are in the banks of any kernel.
        let any: Vec<OutId> = match self.module.pool_parts.is_empty() {
            true => Vec::new(),
            false => (0..self.out.sections.len()).collect(),
        };
        let few = &self.out.special;
        for id in if any.is_empty() { few } else { &any } {
            let id = *id;
            let section = &self.out.sections[id];
            let bytes = match section.content {
                _ if section.removed => continue,
                Content::CallGraph => arena.bytes(call_graph),
                Content::Prototypes => arena.bytes(&self.prototypes()),
                Content::UnifiedEntries => arena.bytes(&self.unified_entries(id)),
                Content::RelAction => &self.module.toolkit.relocation_action,
                Content::Concatenated if self.is_again(id) => {
                    arena.bytes(&pool_bytes(self.module, constants_again::BANK))
                }
                Content::Constants(link, bank) if self.has_pool(link, bank) => {
                    let known = pools.iter().find(|(known, _)| *known == bank);
                    match known {
                        Some((_, bytes)) => *bytes,
                        None => {
                            let bytes = arena.bytes(&pool_bytes(self.module, bank));
                            pools.push((bank, bytes));
                            bytes
                        }
                    }
                }
                _ => continue,
            };
            special.push((id, PlanContent::Bytes(bytes)));
        }
        special
    }

    /// Returns `true` if a section has the module's constants as they were laid out again.
    fn is_again(&self, id: OutId) -> bool {
        self.out.sections[id].name == constants_again::SECTION
            && !self.module.pool(constants_again::BANK).is_empty()
    }

    /// Returns `true` if the bank of a resolved symbol is a pool.
    fn has_pool(&self, link: LinkSymbolId, bank: u8) -> bool {
        !self.module.pool_parts.is_empty()
            && self
                .module
                .link_function(link)
                .is_some_and(|function| has_pool(self.module, function, bank))
    }

    /// Plans a section that stays.
    fn section(
        &self,
        id: OutId,
        start: usize,
        lists: &[&'data [u8]],
        special: &[(OutId, PlanContent<'data>)],
    ) -> PlanSection<'data> {
        let section = &self.out.sections[id];
        let range = |count: usize| start as u32..(start + count) as u32;
        let content = match section.content {
            Content::ToolInfo | Content::CudaInfo | Content::Info(_) | Content::Compat => {
                PlanContent::Bytes(lists.get(start).copied().unwrap_or_default())
            }
            Content::Relocs(_) | Content::ResolvedRelocs(_) | Content::HeaderRelocs(..) => {
                PlanContent::Relocs(range(rows::count(section)))
            }
            Content::CallGraph
            | Content::Prototypes
            | Content::UnifiedEntries
            | Content::RelAction => special_content(special, id),
            Content::Constants(link, bank) if self.has_pool(link, bank) => {
                special_content(special, id)
            }
            Content::Concatenated if self.is_again(id) => special_content(special, id),
            _ => match self.pieces(id) {
                0 => PlanContent::None,
                count => PlanContent::Pieces(range(count)),
            },
        };
        let size = match &content {
            PlanContent::Bytes(bytes) => bytes.len() as u64,
            _ => section.size,
        };
        let (link, info) = self.link_and_info(id);
        PlanSection {
            name: section.name,
            name_offset: self.strings.of_section(id),
            ty: section.ty,
            flags: section.flags,
            offset: 0,
            size,
            link,
            info,
            align: section.align,
            entsize: section.entsize,
            content,
        }
    }

    /// Returns the index of a section of which there is one.
    fn index_of(&self, content: Content) -> u32 {
        let found = self.out.special(|one| one == content).next();
        found.map_or(0, |id| self.section_index[id])
    }

    fn text_index(&self, link: LinkSymbolId) -> u32 {
        self.out
            .text_of(link)
            .map_or(0, |id| self.section_index[id])
    }

    fn link_and_info(&self, id: OutId) -> (u32, u32) {
        const SYMTAB: u32 = 3;
        let index_of = |content: Content| self.index_of(content);
        match self.out.sections[id].content {
            Content::CudaInfo => (index_of(Content::ToolInfo), index_of(Content::Compat)),
            Content::Info(None)
            | Content::CallGraph
            | Content::Prototypes
            | Content::UnifiedEntries => (SYMTAB, 0),
            Content::Info(Some(link)) => (SYMTAB, self.text_index(link)),
            Content::Text(link, high) => {
                let index = self.symbol_index[link.index()] & 0x00ff_ffff;
                (SYMTAB, u32::from(high) << 24 | index)
            }
            Content::Constants(link, _)
            | Content::KernelShared(link)
            | Content::OfFunction(link) => (0, self.text_index(link)),
            Content::Relocs(target)
            | Content::ResolvedRelocs(target)
            | Content::HeaderRelocs(target, _) => (SYMTAB, self.section_index[target as OutId]),
            _ => (0, 0),
        }
    }

    /// Returns the number of parts of input sections that a section of the file copies.
    fn pieces(&self, id: OutId) -> usize {
        let section = &self.out.sections[id];
        match is_no_bits(section.ty, section.flags) {
            true => 0,
            false => self.out.pieces_of(id).len(),
        }
    }

    /// Returns `e_flags`: the index of `.note.nv.cuinfo` in the top byte, then the SM and the kind;
    /// or what stands there in files of older toolkits [legacy-header-written].
    fn flags(&self) -> u32 {
        let target = self.module.target;
        if self.module.toolkit.legacy_version(target).is_some() {
            return legacy_flags(target, virtual_sm(self.module));
        }
        let index = self.index_of(Content::CudaInfo).min(0xff);
        index << 24 | u32::from(target.sm) << 8 | self.module.kind_flags()
    }
}

/// Returns the contents that were made for a section.
fn special_content<'data>(
    special: &[(OutId, PlanContent<'data>)],
    id: OutId,
) -> PlanContent<'data> {
    let found = special.binary_search_by_key(&id, |(id, _)| *id);
    found.map_or(PlanContent::Bytes(&[]), |index| special[index].1.clone())
}
