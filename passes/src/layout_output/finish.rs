//! From created things to the plan: file order, indices, encoded contents, program headers.

mod call_graph;
mod section_indices;
mod segments;
mod symbols;
mod unified;

use cuweld_ir::Arena;
use cuweld_ir::ElfPlan;
use cuweld_ir::LinkSymbol;
use cuweld_ir::LinkSymbolId;
use cuweld_ir::Module;
use cuweld_ir::Reloc;
use cuweld_ir::RelocPlan;
use cuweld_ir::SectionId;
use cuweld_ir::SectionInfo;
use cuweld_ir::SectionKind;
use cuweld_ir::Symbol;
use cuweld_ir::SymbolId;
use cuweld_ir::SymbolRef;
use cuweld_ir::elf::encode::append_attribute;
use cuweld_ir::elf::layout::assign_offsets;
use cuweld_ir::elf::note_records::append_note;
use cuweld_ir::elf::raw::ET_EXEC;
use cuweld_ir::elf::raw::ET_REL;
use cuweld_ir::mercury::relocs::header_type as mercury_header_type;
use cuweld_ir::plan::PlanContent;
use cuweld_ir::plan::PlanReloc;
use cuweld_ir::plan::PlanSection;
use cuweld_ir::symbol::stb;
use cuweld_ir::symbol::stt;
use cuweld_ir::table::EntityId;
use cuweld_ir::target::relocs::header_reloc_type;
use cuweld_ir::target::section_types::is_no_bits;
use cuweld_ir::target::section_types::shf;
use cuweld_ir::target::section_types::sht;
use cuweld_ir::target::toolkit;

use std::cell::OnceCell;

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use super::Content;
use super::Created;
use super::OutId;
use super::OutSection;
use super::bank_pool::has_pool;
use super::bank_pool::pool_bytes;
use super::constant_rows::of_bank;
use super::creation::MODULE_SHARED;
use super::creation::output_of;
use super::resolved::resolved_addend;
use super::strings::Strings;
use crate::analysis::functions_in_creation_order;
use crate::pass::PassError;

use segments::segments;
use segments::segments_placed;

/// Sections before the sorted ones: null, `.shstrtab`, `.strtab`, `.symtab`; then `.symtab_shndx`.
const FIXED_SECTIONS: u32 = 4;

struct Finish<'m, 'data> {
    null_symbol: u64,
    module: &'m Module<'data>,
    arena: &'data Arena,
    out: Created<'data>,
    strings: Strings,
    /// Functions in order of creation.
    functions: Vec<LinkSymbolId>,
    /// Output index of each created section, 0 if it is left out.
    section_index: Vec<u32>,
    /// Output symbol index of each link symbol, 0 if it has none.
    symbol_index: Vec<u32>,
    /// Output symbol index of each created section's SECTION symbol.
    section_symbol: Vec<u32>,
    /// Output symbol index of each kernel's dynamic shared memory, by function.
    dynamic_symbol: Vec<u32>,
    /// Rows of `.nv.prototype`.
    prototypes: Vec<(LinkSymbolId, &'data [u8])>,
    /// Rows of `.symtab_shndx`.
    index_table: Vec<u32>,
    /// The first section of each name, by offset of the name; made at first need.
    first_named: OnceCell<HashMap<u32, OutId, FixedState>>,
    /// Pools of constants by bank, made at first need.
    pools: Vec<(u8, &'data [u8])>,
    /// Bytes and references of the attribute list that is encoded.
    encoded: (Vec<u8>, Vec<u32>),
    plan: ElfPlan<'data>,
}

/// Makes the plan.
pub(super) fn plan<'data>(
    module: &Module<'data>,
    out: Created<'data>,
    strings: Strings,
    null_symbol: u64,
    arena: &'data Arena,
) -> Result<ElfPlan<'data>, PassError> {
    let mut finish = Finish {
        module,
        arena,
        null_symbol,
        functions: functions_in_creation_order(module),
        section_index: vec![0; out.sections.len()],
        symbol_index: vec![0; module.link_symbols.len()],
        section_symbol: vec![0; out.sections.len()],
        dynamic_symbol: vec![0; module.functions.len()],
        first_named: OnceCell::new(),
        out,
        strings,
        prototypes: Vec::new(),
        index_table: Vec::new(),
        pools: Vec::new(),
        encoded: Default::default(),
        plan: ElfPlan {
            e_type: if module.options.relocatable {
                ET_REL
            } else {
                ET_EXEC
            },
            shstrndx: 1,
            ..Default::default()
        },
    };
    let order = finish.section_order();
    let first_global = finish.number_symbols();
    finish.symbols();
    finish.fixed_sections(first_global);
    finish.plan.sections.reserve_exact(order.len());
    finish.plan.pieces.reserve_exact(finish.out.pieces.len());
    finish
        .plan
        .relocs
        .reserve_exact(finish.out.reloc_rows.len());
    for id in order {
        finish.section(id);
    }
    finish.flags();
    Ok(finish.done())
}

/// A variable that nobody defines has address -1 in relocatable output, if a strong reference made it (measured).
fn is_missing(row: &LinkSymbol, symbol: &Symbol<'_>) -> bool {
    row.definition.is_none()
        && symbol.bind == stb::GLOBAL
        && !symbol.is_function()
        && !symbol.is_dynamic_shared()
        && !toolkit::is_unified_table_symbol(symbol.name)
        && !toolkit::is_reserved_shared_symbol(symbol.name)
        && !stt::is_header(symbol.ty)
}

/// How many classes of sections there are.
const CLASSES: usize = 7;

/// The class that sections are sorted by (`merge.md` section 3).
fn class(section: &OutSection<'_>) -> u8 {
    match (section.ty, section.flags) {
        (sht::REL | sht::RELA | sht::CUDA_RESOLVED_RELA, _) => 2,
        (ty, flags) if flags & shf::ALLOC == 0 => u8::from(ty != sht::PROGBITS),
        (ty, flags) if is_no_bits(ty, flags) => 6,
        (_, flags) if flags & shf::EXECINSTR != 0 => 4,
        (_, flags) if flags & shf::WRITE != 0 => 5,
        _ => 3,
    }
}

impl<'data> Finish<'_, 'data> {
    /// The sections that stay, in file order.
    fn section_order(&mut self) -> Vec<OutId> {
        self.prototypes = self.prototype_rows();
        let prototypes = self.prototypes.len();
        let lists = &self.module.merged_info;
        let no_info = lists.first().is_none_or(|list| list.records.is_empty());
        for section in &mut self.out.sections {
            match section.content {
                Content::Prototypes => {
                    section.removed = prototypes == 0;
                    section.size = prototypes as u64 * 8;
                }
                Content::Info(None) => section.removed = no_info,
                _ => {}
            }
        }
        let order = self.by_class();
        let fixed = FIXED_SECTIONS + u32::from(self.out.needs_index_table());
        for (place, id) in order.iter().enumerate() {
            self.section_index[*id] = place as u32 + fixed;
        }
        order
    }

    /// The sections that stay, by class, those of one class in order of creation but for an order that was asked for.
    fn by_class(&self) -> Vec<OutId> {
        let stays = || self.out.sections.iter().filter(|section| !section.removed);
        let mut starts = [0; CLASSES + 1];
        for section in stays() {
            starts[class(section) as usize + 1] += 1;
        }
        for index in 1..starts.len() {
            starts[index] += starts[index - 1];
        }
        let classes = starts;
        let mut order = vec![0; classes[CLASSES]];
        for (id, section) in self.out.sections.iter().enumerate() {
            if !section.removed {
                let next = &mut starts[class(section) as usize];
                order[*next] = id;
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
                    .sort_by_key(|id| self.place_in_order(&self.out.sections[*id]));
            }
        }
        order
    }

    /// Where an order that was asked for puts a section of code, before all that it does not name.
    fn place_in_order(&self, section: &OutSection<'_>) -> u32 {
        match section.content {
            Content::Text(link) => self.module.link_symbols[link].order.unwrap_or(u32::MAX),
            _ => u32::MAX,
        }
    }

    /// Whether shared variables lie in `.nv_debug.shared`.
    fn has_slots(&self) -> bool {
        let section = self.out.by_name.get(MODULE_SHARED);
        section.is_some_and(|id| self.out.sections[*id].size > self.module.reserved_shared_size())
    }

    fn fixed_sections(&mut self, first_global: u32) {
        let names = &self.strings.sections;
        let section =
            |name: &'static [u8], ty, size: usize, link, info, align, entsize, content| {
                PlanSection {
                    name,
                    name_offset: names.find(name).unwrap_or(0),
                    ty,
                    flags: 0,
                    offset: 0,
                    size: size as u64,
                    link,
                    info,
                    align,
                    entsize,
                    content,
                }
            };
        let symbols = self.plan.symbols.len() * 24;
        let names_size = self.strings.sections.bytes().len();
        let strings = self.strings.symbols.bytes().len();
        self.plan.sections = vec![
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
                symbols,
                2,
                first_global,
                8,
                24,
                PlanContent::Symbols,
            ),
        ];
        if self.out.needs_index_table() {
            let bytes = self.index_table_bytes();
            self.plan.sections.push(section(
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
    }

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

    /// Plans a section that stays.
    fn section(&mut self, id: OutId) {
        let content = match self.out.sections[id].content {
            Content::ToolInfo => self.notes(toolkit::NOTE_TOOL_INFO),
            Content::CudaInfo => self.notes(toolkit::NOTE_CUDA_INFO),
            Content::Info(link) => self.info(link),
            Content::Compat => self.attributes(&self.module.merged_compat),
            Content::CallGraph => self.call_graph(),
            Content::Prototypes => self.prototypes(),
            Content::UnifiedEntries => self.unified_entries(id),
            Content::RelAction => PlanContent::Bytes(&toolkit::REL_ACTION),
            Content::Relocs(_) | Content::ResolvedRelocs(_) => self.relocs(id),
            Content::HeaderRelocs(_, link) => self.header_relocs(link),
            Content::Constants(link, bank) => match self.module.link_function(link) {
                Some(function) if has_pool(self.module, function, bank) => {
                    PlanContent::Bytes(self.pool(bank))
                }
                _ => self.pieces(id),
            },
            _ => self.pieces(id),
        };
        let section = &self.out.sections[id];
        let size = match &content {
            PlanContent::Bytes(bytes) => bytes.len() as u64,
            _ => section.size,
        };
        let (link, info) = self.link_and_info(id);
        self.plan.sections.push(PlanSection {
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
        });
    }

    fn pool(&mut self, bank: u8) -> &'data [u8] {
        if let Some((_, bytes)) = self.pools.iter().find(|(known, _)| *known == bank) {
            return bytes;
        }
        let bytes = self.arena.bytes(&pool_bytes(self.module, bank));
        self.pools.push((bank, bytes));
        bytes
    }

    fn text_index(&self, link: LinkSymbolId) -> u32 {
        self.out.text[link.index()].map_or(0, |id| self.section_index[id])
    }

    fn link_and_info(&self, id: OutId) -> (u32, u32) {
        const SYMTAB: u32 = 3;
        let index_of = |content: Content| {
            let found = self
                .out
                .sections
                .iter()
                .position(|section| section.content == content);
            found.map_or(0, |id| self.section_index[id])
        };
        match self.out.sections[id].content {
            Content::CudaInfo => (index_of(Content::ToolInfo), index_of(Content::Compat)),
            Content::Info(None)
            | Content::CallGraph
            | Content::Prototypes
            | Content::UnifiedEntries => (SYMTAB, 0),
            Content::Info(Some(link)) => (SYMTAB, self.text_index(link)),
            Content::Text(link) => {
                let high = self.module.link_function(link).map_or(0, |function| {
                    let text = self.module.functions[function].views.sass.text;
                    match self.module.sections[text].info {
                        SectionInfo::Symbol { high, .. } => high,
                        _ => 0,
                    }
                });
                let index = self.symbol_index[link.index()] & 0x00ff_ffff;
                (SYMTAB, u32::from(high) << 24 | index)
            }
            Content::Constants(link, _)
            | Content::KernelShared(link)
            | Content::OfFunction(link) => (0, self.text_index(link)),
            Content::Relocs(target)
            | Content::ResolvedRelocs(target)
            | Content::HeaderRelocs(target, _) => (SYMTAB, self.section_index[target]),
            _ => (0, 0),
        }
    }

    fn notes(&self, ty: u32) -> PlanContent<'data> {
        let mut bytes = Vec::new();
        for id in &self.module.merged_notes {
            let note = &self.module.notes[*id];
            let kind = note
                .section
                .map(|section| self.module.sections[section].kind);
            let is_tool = kind == Some(SectionKind::ToolInfo)
                || kind.is_none() && note.ty == toolkit::NOTE_TOOL_INFO;
            if is_tool == (ty == toolkit::NOTE_TOOL_INFO) {
                append_note(&mut bytes, note.owner, note.ty, note.desc);
            }
        }
        PlanContent::Bytes(self.arena.bytes(&bytes))
    }

    fn info(&mut self, link: Option<LinkSymbolId>) -> PlanContent<'data> {
        let function = link.and_then(|link| self.module.link_function(link));
        // Lists are found by function below; the module-wide list is the first.
        let list = match function {
            None => self.module.merged_info.first(),
            Some(function) => self
                .out
                .info_lists
                .get(function.index())
                .and_then(|index| self.module.merged_info.get(*index as usize)),
        };
        match list {
            Some(list) => self.attributes(&list.records),
            None => PlanContent::Bytes(&[]),
        }
    }

    fn attributes(&mut self, records: &[cuweld_ir::AttributeId]) -> PlanContent<'data> {
        let (mut bytes, mut refs) = std::mem::take(&mut self.encoded);
        bytes.clear();
        for id in records {
            let attribute = &self.module.attributes[*id];
            refs.clear();
            refs.extend(
                self.module
                    .refs(attribute)
                    .iter()
                    .map(|target| self.reference(*target)),
            );
            append_attribute(&mut bytes, attribute, &refs);
        }
        let content = PlanContent::Bytes(self.arena.bytes(&bytes));
        self.encoded = (bytes, refs);
        content
    }

    /// The symbol of the first section that has the name of an input section's output: how nvlink finds
    /// the symbol of a row, where local functions of one name have several (measured).
    fn section_by_name(&self, section: SectionId) -> u32 {
        let Some(id) = output_of(self.module, &self.out, section) else {
            return 0;
        };
        let first_named = self.first_named.get_or_init(|| {
            let mut first_named = HashMap::default();
            for id in 0..self.out.sections.len() {
                first_named.entry(self.strings.of_section(id)).or_insert(id);
            }
            first_named
        });
        let first = first_named.get(&self.strings.of_section(id)).copied();
        self.section_symbol[first.unwrap_or(id)]
    }

    fn relocs(&mut self, id: OutId) -> PlanContent<'data> {
        let start = self.plan.relocs.len() as u32;
        if let Content::Relocs(target) = self.out.sections[id].content
            && let Some(rows) = of_bank(self.module, &self.out, target)
        {
            // Rows of copies that are not linked stay with their constants.
            for (offset, row) in rows {
                self.plan.relocs.push(PlanReloc {
                    offset,
                    ty: row.ty,
                    symbol: self.reference(row.target),
                    addend: row.addend,
                });
            }
            return PlanContent::Relocs(start..self.plan.relocs.len() as u32);
        }
        for reloc in self.out.reloc_rows.of(id).iter().rev() {
            let row = &self.module.relocs[*reloc];
            let (ty, addend) = match row.plan {
                RelocPlan::Keep { ty, addend, .. } => (ty, addend),
                RelocPlan::Apply { ty, in_place, .. } => {
                    (ty, resolved_addend(self.module, row, ty, in_place))
                }
                _ => continue,
            };
            let base = match self.module.sections[row.section].info {
                SectionInfo::Section(target) => self.module.sections[target].place.unwrap_or(0),
                _ => 0,
            };
            let symbol = match row.target {
                SymbolRef::Section(section) => self.section_by_name(section),
                _ => self.reloc_symbol(row),
            };
            self.plan.relocs.push(PlanReloc {
                offset: row.offset + base,
                ty,
                symbol,
                addend,
            });
        }
        PlanContent::Relocs(start..self.plan.relocs.len() as u32)
    }

    /// The output symbol of a relocation. Code of a kernel refers to the kernel's own dynamic shared memory.
    fn reloc_symbol(&self, row: &Reloc) -> u32 {
        let is_dynamic = |symbol: SymbolId| self.module.symbols[symbol].is_dynamic_shared();
        if row.target.symbol().is_some_and(is_dynamic)
            && let SectionInfo::Section(patched) = self.module.sections[row.section].info
            && self.module.sections[patched].kind.is_code()
            && let Some(owner) = self.module.sections[patched].owner
            && let index @ 1.. = self.dynamic_symbol[owner.index()]
        {
            return index;
        }
        self.reference(row.target)
    }

    /// A relocation for every header slot that a kernel needs, last slot first.
    fn header_relocs(&mut self, kernel: LinkSymbolId) -> PlanContent<'data> {
        let start = self.plan.relocs.len() as u32;
        let kernel = self.module.link_function(kernel);
        let slots = kernel
            .into_iter()
            .flat_map(|kernel| self.module.header_slots_of(kernel).rev());
        for slot in slots {
            let first = self.module.link_symbols[slot.symbol].first;
            let ty = self.module.symbols[first].ty;
            let (offset, ty) = match self.out.capmerc {
                true => (
                    slot.offset.saturating_sub(self.module.header_base()),
                    mercury_header_type(ty),
                ),
                false => (slot.offset, header_reloc_type(ty)),
            };
            self.plan.relocs.push(PlanReloc {
                offset,
                ty,
                symbol: self.symbol_index[slot.symbol.index()],
                addend: 0,
            });
        }
        PlanContent::Relocs(start..self.plan.relocs.len() as u32)
    }

    fn pieces(&mut self, id: OutId) -> PlanContent<'data> {
        let section = &self.out.sections[id];
        let pieces = self.out.pieces.of(id);
        if is_no_bits(section.ty, section.flags) || pieces.is_empty() {
            return PlanContent::None;
        }
        let start = self.plan.pieces.len() as u32;
        self.plan.pieces.extend_from_slice(pieces);
        PlanContent::Pieces(start..self.plan.pieces.len() as u32)
    }

    /// `e_flags`: the index of `.note.nv.cuinfo` on top, the SM, the kind.
    fn flags(&mut self) {
        let position = self
            .out
            .sections
            .iter()
            .position(|section| section.content == Content::CudaInfo);
        let index = position.map_or(0, |id| self.section_index[id]).min(0xff);
        let sm = u32::from(self.module.target.sm);
        self.plan.e_flags = index << 24 | sm << 8 | self.module.kind_flags();
    }

    fn done(mut self) -> ElfPlan<'data> {
        self.plan.section_names = self.strings.sections.into_bytes();
        self.plan.symbol_names = self.strings.symbols.into_bytes();
        if self.module.options.relocatable {
            assign_offsets(&mut self.plan);
            return self.plan;
        }
        // The number of program headers counts for the layout, their contents come after it.
        let segments = segments(&self.plan);
        self.plan.segments = segments;
        assign_offsets(&mut self.plan);
        self.plan.segments = segments_placed(&self.plan);
        self.plan
    }
}
