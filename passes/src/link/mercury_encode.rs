//! `mercury-encode`: the output file of a link for sm_100 and later is decided.
//!
//! nvlink merges the Mercury view of the objects as it merges any objects, then derives the SASS
//! view from the result and writes both. So does this pass: it lays out the Mercury view, then
//! renames constant banks, adds the parameters of kernels, and makes of every section that differs
//! between the views a second one, after all others [sass-derived-from-mercury].
//!
//! SASS is copied as the objects have it. Kernels that nvlink would schedule anew are reported, or
//! refused (`detector`, deviation D12) [scheduled-anew].
//!
//! Links of objects without Mercury are laid out as for any target.

mod code;
mod contents;
mod detector;
mod exits;
mod fast_path;
mod frames;
mod info;
mod inputs;
mod lines;
mod name_tables;
mod names;
mod order;
mod registers;
mod replaced_frames;
mod reserved;
mod resolved;
mod rows;
mod second;
mod section_indices;
mod segments;
mod symbols;

use cuweld_diagnostics::Code;
use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::codes::mercury;
use cuweld_diagnostics::codes::unsupported;
use cuweld_elf::behaviours;
use cuweld_elf::mercury::PREFIX;
use cuweld_elf::target::section_types::SectionFlags;
use cuweld_elf::target::section_types::sht;
use cuweld_ir::Arena;
use cuweld_ir::FunctionId;
use cuweld_ir::Module;
use cuweld_ir::OutputLayout;
use cuweld_ir::Phase;
use cuweld_ir::SectionId;
use cuweld_ir::SectionKind;
use cuweld_ir::plan::PlanContent;
use cuweld_ir::plan::PlanPiece;
use cuweld_ir::plan::PlanSection;
use cuweld_ir::section::view_name;
use cuweld_ir::table::EntityId;

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use self::inputs::Inputs;
use self::second::Second;
use self::second::is_header_indices;
use self::second::second_of;
use self::section_indices::IndexTables;
use crate::analyses::EarlyAliases;
use crate::analyses::Preserved;
use crate::link::layout_output;
use crate::link::layout_output::lay_out;
use crate::link::layout_output::record;
use crate::link::plan_relocations::lines::LINE_TABLES;
use crate::located::located;
use crate::pass::Changed;
use crate::pass::Pass;
use crate::pass::PassCx;
use crate::pass::PassError;
use crate::pass::PassInfo;
use crate::remark::RemarkInfo;
use crate::remark::Remarks;
use crate::threads::Threads;

/// The kinds of remarks, those of `layout-output` among them.
const REMARKS: &[RemarkInfo] = &[detector::KEPT_CODE, layout_output::remarks::SECTION];

/// The `mercury-encode` pass.
#[derive(Debug, Default)]
pub struct MercuryEncode;

impl Pass for MercuryEncode {
    fn info(&self) -> PassInfo {
        PassInfo {
            name: "mercury-encode",
            summary: "Decide the output file of objects with Mercury: their Mercury view, and the SASS view derived from it",
            doc: include_str!("mercury_encode.rs"),
            requires: Phase::Planned,
            establishes: Some(Phase::LaidOut),
            preserves: Preserved::All,
            remarks: REMARKS,
            ..PassInfo::DEFAULT
        }
    }

    fn run<'data>(
        &self,
        module: &mut Module<'data>,
        cx: &mut PassCx<'_, 'data>,
    ) -> Result<Changed, PassError> {
        let mut plan = lay_out(module, cx)?;
        if module.is_capmerc() {
            let early = cx.analyses.get::<EarlyAliases>(module).clone();
            let encode = Encode::new(module, cx.arena, cx.threads, early, plan);
            if !encode.detect(cx) {
                return Err(PassError::Diagnosed);
            }
            plan = match encode.run() {
                Ok((plan, notes)) => {
                    for note in notes {
                        cx.diagnostics.emit(note);
                    }
                    plan
                }
                Err(refusals) => {
                    for refusal in refusals {
                        cx.diagnostics.emit(refusal.diagnostic(module));
                    }
                    return Err(PassError::Diagnosed);
                }
            };
        }
        record(module, plan, cx);
        Ok(Changed::Yes)
    }

    fn remarks(&self, module: &Module<'_>, remarks: &mut Remarks) {
        layout_output::remarks::make(module, remarks);
    }
}

/// Why the SASS view cannot be derived.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Refusal {
    code: Code,
    what: String,
    section: Option<SectionId>,
}

impl Refusal {
    /// Makes one whose text is the title of its code.
    fn new(code: Code, section: impl Into<Option<SectionId>>) -> Self {
        Self::with(code, code.title(), section)
    }

    fn with(code: Code, what: impl Into<String>, section: impl Into<Option<SectionId>>) -> Self {
        Refusal {
            code,
            what: what.into(),
            section: section.into(),
        }
    }

    fn diagnostic(self, module: &Module<'_>) -> Diagnostic {
        let diagnostic = Diagnostic::fatal(self.code, self.what);
        match self.section {
            Some(section) => diagnostic
                .note(located(module, section))
                .at(module.sections[section].object.index_u32(), 0),
            None => diagnostic,
        }
    }
}

/// The work on one file.
struct Encode<'m, 'data> {
    module: &'m Module<'data>,
    arena: &'data Arena,
    threads: &'m Threads,
    /// The Mercury view at first, the whole file in the end.
    plan: OutputLayout<'data>,
    /// How many sections the Mercury view has.
    view: usize,
    /// The function whose code each section of the view holds.
    functions: Vec<Option<FunctionId>>,
    /// What each section of the view becomes.
    second: Vec<Second>,
    /// For each section of the view, the index of what stands for it in the Mercury view of the
    /// file.
    twin: Vec<Option<u32>>,
    /// Index of `.nv.merc.symtab`.
    mercury_symbols: u32,
    /// Index tables of symbols.
    index_tables: IndexTables,
    /// Kernels with the index of the section of their parameters, but for those that have slots of
    /// textures.
    parameters: Vec<(FunctionId, u32)>,
    inputs: Inputs,
    /// The functions whose debug information of the SASS view is that of the Mercury view.
    early: EarlyAliases,
    /// The first name of sections of constants that nvlink would cut (deviation D19).
    whole_name: Option<&'data [u8]>,
    /// The first code whose applied rows stand beside those of another local function of its name
    /// (deviation D22).
    applied_together: Option<&'data [u8]>,
    /// The first function with ranges of registers that are emptied (deviation D25).
    emptied_ranges: Option<FunctionId>,
    refusals: Vec<Refusal>,
}

impl<'m, 'data> Encode<'m, 'data> {
    fn new(
        module: &'m Module<'data>,
        arena: &'data Arena,
        threads: &'m Threads,
        early: EarlyAliases,
        plan: OutputLayout<'data>,
    ) -> Self {
        let view = plan.sections.len();
        let functions = plan
            .sections
            .iter()
            .map(|section| {
                let PlanContent::Pieces(range) = &section.content else {
                    return None;
                };
                let piece = plan.pieces.get(range.start as usize)?;
                let input = &module.sections[piece.section];
                input.owner.filter(|_| input.kind == SectionKind::Text)
            })
            .collect();
        Encode {
            module,
            arena,
            threads,
            second: plan
                .sections
                .iter()
                .map(|section| second_of(module.toolkit, section))
                .collect(),
            plan,
            view,
            functions,
            twin: vec![None; view],
            mercury_symbols: 0,
            index_tables: IndexTables::None,
            parameters: Vec::new(),
            inputs: Inputs::new(module),
            early,
            whole_name: None,
            applied_together: None,
            emptied_ranges: None,
            refusals: Vec::new(),
        }
    }

    /// Returns the file, and what is to be said of deviations.
    fn run(mut self) -> Result<(OutputLayout<'data>, Vec<Diagnostic>), Vec<Refusal>> {
        let tables = self.view_tables();
        self.number();
        self.added_index_table();
        let slots = self.parameter_sections();
        match self.is_sorted() {
            true => {
                self.mercury_symbol_table();
                self.clones(|second| !second.is_memory());
                self.code_sections();
                self.clones(Second::is_memory);
            }
            false => {
                self.code_sections();
                self.clones(|_| true);
                self.mercury_symbol_table();
            }
        }
        self.parameters_before_slots(slots);
        let (gap, banks) = self.rename();
        self.sass_infos();
        self.fast_path();
        self.module_shared();
        self.register_ranges();
        self.shared_debug_sections();
        self.rows();
        self.compact_pieces();
        self.symbol_tables(&banks);
        let own_names = self.names_of_the_file();
        self.reserved_bytes(tables);
        let has_unified_links = self.has_unified_links();
        if has_unified_links && self.module.options.strict {
            self.refusals
                .push(Refusal::new(mercury::UNIFIED_LINKS, None));
        }
        if self.is_sorted() && self.index_tables != IndexTables::None {
            let what = "more than 65279 sections, in nvlink's order since CUDA 13.5";
            let refusal = Refusal::with(unsupported::MANY_SECTIONS, what, None);
            self.refusals.push(refusal);
        }
        if !self.refusals.is_empty() {
            return Err(self.refusals);
        }
        let gaps = segments::Gaps {
            headers_align: if self.is_sorted() { 1 } else { 8 },
            section_names: if own_names { 0 } else { self.names_gap() },
            symbol_names: if own_names { 0 } else { gap },
        };
        segments::place(&mut self.plan, gaps, !self.module.options.relocatable);
        if self.module.options.strict {
            self.cut_names();
        }
        let notes = self.whole_name.map(names::whole_name).into_iter();
        let notes = notes.chain(self.applied_together.map(resolved::applied_together));
        let emptied = |function| registers::emptied_ranges(self.module.function_name(function));
        let notes = notes.chain(self.emptied_ranges.map(emptied));
        let notes = notes.chain(has_unified_links.then(order::unified_links));
        Ok((self.plan, notes.collect()))
    }

    fn twin_of(&self, index: u32) -> u32 {
        let twin = self.twin.get(index as usize).copied().flatten();
        twin.unwrap_or(index)
    }

    fn joined(&self, prefix: &[u8], name: &[u8]) -> &'data [u8] {
        self.arena.joined(prefix, name)
    }

    /// Adds `.nv.constant0.K`, which the Mercury view does not have. Returns the sections that hold
    /// slots of textures, each with the parameters that precede them.
    fn parameter_sections(&mut self) -> Vec<(usize, PlanContent<'data>)> {
        let mut before_slots = Vec::new();
        let slots: HashMap<u32, usize, FixedState> = (0..self.view)
            .filter(|_| !self.module.header_slots.is_empty())
            .filter(|index| is_header_indices(self.plan.sections[*index].name))
            .map(|index| (self.plan.sections[index].info, index))
            .collect();
        let texts: Vec<(usize, FunctionId)> = self
            .functions
            .iter()
            .enumerate()
            .filter_map(|(index, function)| Some((index, (*function)?)))
            .collect();
        for (text, function) in texts {
            let symbol = self.module.functions[function].symbol;
            if !self.module.symbols[symbol].is_entry() {
                continue;
            }
            let Some(id) = self.inputs.parameters[function.index()] else {
                let text = self.module.functions[function].views.sass.text;
                let refusal = Refusal::new(mercury::PARAMETERS, text);
                self.refusals.push(refusal);
                continue;
            };
            let input = &self.module.sections[id];
            let start = self.plan.pieces.len() as u32;
            self.plan.pieces.push(PlanPiece {
                offset: 0,
                section: id,
                size: None,
            });
            let content = PlanContent::Pieces(start..start + 1);
            if let Some(place) = slots.get(&(text as u32)) {
                before_slots.push((*place, content));
                continue;
            }
            self.plan.sections.push(PlanSection {
                name: input.name,
                name_offset: 0,
                ty: if self.module.options.relocatable {
                    input.ty
                } else {
                    sht::PROGBITS
                },
                flags: input.flags,
                offset: 0,
                size: input.size(),
                link: 0,
                info: text as u32,
                align: input.align,
                entsize: 0,
                content,
            });
        }
        before_slots
    }

    /// Puts the parameters of a kernel before its slots of textures, as the SASS view has them.
    fn parameters_before_slots(&mut self, slots: Vec<(usize, PlanContent<'data>)>) {
        for (place, content) in slots {
            let section = &mut self.plan.sections[place];
            section.size = section.size.saturating_add(self.module.header_base());
            section.content = content;
        }
    }

    /// Creates the clones of some kinds.
    fn clones(&mut self, is_one: impl Fn(Second) -> bool) {
        for index in self.clone_order() {
            let second = self.second[index];
            if !is_one(second) {
                continue;
            }
            let section = self.plan.sections[index].clone();
            let linked = self.mercury_symbols;
            let info = section.info;
            let mut row = PlanSection {
                name: self.joined(PREFIX, section.name),
                flags: SectionFlags::MERCURY
                    | section.flags
                        & (SectionFlags::ALLOC | SectionFlags::WRITE | SectionFlags::INFO_LINK),
                link: 0,
                info: 0,
                ..section
            };
            match second {
                Second::Alias(ty) => {
                    row.ty = ty;
                    row.content = PlanContent::Alias(index as u32);
                }
                Second::Constants(ty) => {
                    row.ty = ty;
                    row.info = self.twin_of(info);
                    self.constants(&mut row);
                }
                Second::HeaderIndices => {
                    row.ty = sht::CUDA_MERCURY_HEADER_INDICES;
                    row.info = self.twin_of(info);
                    row.content = PlanContent::Bytes(self.arena.bytes(&vec![0; row.size as usize]));
                }
                Second::Debug => self.debug(&mut row, index),
                Second::Info | Second::FunctionInfo => {
                    row.ty = sht::CUDA_MERCURY_INFO;
                    row.link = linked;
                    if second == Second::FunctionInfo {
                        row.info = self.twin_of(info);
                    }
                }
                Second::Relocs | Second::ResolvedRelocs => {
                    row.ty = match second {
                        Second::Relocs => sht::CUDA_MERCURY_RELA,
                        _ => sht::CUDA_MERCURY_RESOLVED_RELA,
                    };
                    row.link = linked;
                    row.info = self.twin_of(info);
                }
                Second::ReservedShared => self.reserved_shared(&mut row),
                Second::CallGraph(ty) => {
                    row.ty = ty;
                    row.link = linked;
                }
                Second::SectionIndices | Second::UnifiedEntries => row.link = linked,
                Second::Copy | Second::None => {}
            }
            self.plan.sections.push(row);
        }
    }

    /// Takes the reserved block, which is not part of the Mercury view, off the size of a section.
    fn reserved_shared(&mut self, row: &mut PlanSection<'data>) {
        row.ty = sht::CUDA_SHARED_RESERVED;
        if !self.module.options.relocatable {
            row.size = row
                .size
                .saturating_sub(self.module.toolkit.reserved_shared_start);
        }
    }

    /// Gives the mark of dynamic shared memory the size of the reserved block in the SASS view of
    /// an executable.
    fn module_shared(&mut self) {
        if self.module.options.relocatable {
            return;
        }
        for section in &mut self.plan.sections[..self.view] {
            if section.name == b".nv_debug.shared" {
                section.size = section.size.max(self.module.reserved_shared_size());
            }
        }
    }

    /// Leaves out pieces of sections that have contents of their own now.
    fn compact_pieces(&mut self) {
        let pieces = std::mem::take(&mut self.plan.pieces);
        self.plan.pieces.reserve_exact(pieces.len());
        for section in &mut self.plan.sections {
            if let PlanContent::Pieces(range) = &mut section.content {
                let start = self.plan.pieces.len() as u32;
                let own = pieces.get(range.start as usize..range.end as usize);
                self.plan.pieces.extend_from_slice(own.unwrap_or(&[]));
                *range = start..self.plan.pieces.len() as u32;
            }
        }
    }

    /// Fills the section of a function's constants in the Mercury view with the same pieces of the
    /// twins.
    fn constants(&mut self, row: &mut PlanSection<'data>) {
        let PlanContent::Pieces(range) = row.content.clone() else {
            return;
        };
        let start = self.plan.pieces.len() as u32;
        for index in range.start as usize..range.end as usize {
            let Some(piece) = self.plan.pieces.get(index).copied() else {
                continue;
            };
            let owner = self.module.sections[piece.section].owner;
            let Some(twin) = owner.and_then(|owner| self.inputs.constant_twins.get(&owner)) else {
                let what = mercury::CONSTANTS_WITHOUT_MERCURY;
                self.refusals.push(Refusal::new(what, piece.section));
                continue;
            };
            if self.module.sections[*twin].size() != self.module.sections[piece.section].size() {
                let what = mercury::CONSTANTS_SIZE;
                self.refusals.push(Refusal::new(what, piece.section));
            }
            self.plan.pieces.push(PlanPiece {
                section: *twin,
                ..piece
            });
        }
        row.content = PlanContent::Pieces(start..self.plan.pieces.len() as u32);
    }

    /// Collects the contributions of all objects to a debug section of the Mercury view.
    fn debug(&mut self, row: &mut PlanSection<'data>, index: usize) {
        let name = row.name.strip_prefix(PREFIX).unwrap_or(row.name);
        let start = self.plan.pieces.len() as u32;
        row.size = 0;
        for &id in &self.inputs.mercury_debug {
            let input = &self.module.sections[id];
            let place = input.place.filter(|_| input.size() != 0);
            let Some(place) = place.filter(|_| view_name(input) == name) else {
                continue;
            };
            row.size = row.size.max(place.saturating_add(input.size()));
            self.plan.pieces.push(PlanPiece {
                offset: place,
                section: id,
                size: None,
            });
        }
        // Nor has a line table of its own what has no lines [empty-line-tables-end]. Those of a copy
        // that `-r` replaced stand in the Mercury view alone.
        let rule = &behaviours::mercury::EMPTY_LINE_TABLES_END;
        let without_lines = !self.module.toolkit.has(rule)
            && row.size == self.plan.sections[index].size
            && LINE_TABLES.contains(&name)
            && self
                .inputs
                .debug_sections(self.module, name)
                .iter()
                .all(|(_, rows)| rows.is_empty());
        row.content = if row.size == 0 || without_lines {
            self.plan.pieces.truncate(start as usize);
            PlanContent::Alias(index as u32)
        } else {
            PlanContent::Pieces(start..self.plan.pieces.len() as u32)
        };
    }
}
