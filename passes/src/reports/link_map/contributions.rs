//! Which inputs each output section consists of.
//!
//! The output layout lists the input sections whose bytes are copied. Memory without bytes in the
//! file, pools of constants and Mercury code are found again by the rules by which they were laid
//! out.

use cuweld_elf::target::section_types::is_no_bits;
use cuweld_elf::target::section_types::sht;
use cuweld_ir::FunctionId;
use cuweld_ir::Module;
use cuweld_ir::OutputLayout;
use cuweld_ir::Section;
use cuweld_ir::SectionId;
use cuweld_ir::SectionKind;
use cuweld_ir::SymbolId;
use cuweld_ir::SymbolPlace;
use cuweld_ir::plan::PlanContent;
use cuweld_ir::plan::PlanSection;
use cuweld_ir::section::view_name;
use foldhash::fast::FixedState;
use hashbrown::HashMap;

use super::dropped;

/// A part of an output section that comes from an input.
#[derive(Clone, Copy)]
pub(super) struct Contribution {
    /// Offset in bytes in the output section.
    pub(super) offset: u64,
    /// Size in bytes.
    pub(super) size: u64,
    /// Alignment in bytes.
    pub(super) align: u64,
    pub(super) source: Source,
}

/// What a part of an output section comes from.
#[derive(Clone, Copy)]
pub(super) enum Source {
    /// An input section, from this offset in bytes on.
    Section(SectionId, u64),
    /// A tentative definition.
    Tentative(SymbolId),
}

/// The contributions to all output sections.
pub(super) struct Contributions<'m, 'data> {
    module: &'m Module<'data>,
    plan: &'m OutputLayout<'data>,
    /// The function whose SASS an output section holds.
    functions: Vec<Option<FunctionId>>,
    /// Contributions to output sections without bytes in the file.
    memory: HashMap<u32, Vec<Contribution>, FixedState>,
}

impl<'m, 'data> Contributions<'m, 'data> {
    /// Finds the contributions to the sections of a module's output layout.
    pub(super) fn new(module: &'m Module<'data>, plan: &'m OutputLayout<'data>) -> Self {
        let function = |row: &PlanSection<'_>| {
            let PlanContent::Pieces(range) = &row.content else {
                return None;
            };
            let piece = plan.pieces.get(range.start as usize)?;
            let input = module.sections.get(piece.section)?;
            input.owner.filter(|_| input.kind == SectionKind::Text)
        };
        let mut all = Contributions {
            module,
            plan,
            functions: plan.sections.iter().map(function).collect(),
            memory: HashMap::default(),
        };
        all.find_memory();
        all
    }

    /// Takes the contributions to an output section, in order of offset.
    pub(super) fn of(&mut self, number: u32) -> Vec<Contribution> {
        let Some(row) = self.plan.sections.get(number as usize) else {
            return Vec::new();
        };
        // The contents that an alias shows are those of an earlier section.
        let row = match row.content {
            PlanContent::Alias(of) => self.plan.sections.get(of as usize).unwrap_or(row),
            _ => row,
        };
        let mut parts = match &row.content {
            PlanContent::Pieces(range) => self.copied(range.start as usize..range.end as usize),
            PlanContent::Bytes(bytes) if row.ty == sht::CUDA_CAPMERC => {
                self.mercury(bytes).into_iter().collect()
            }
            PlanContent::Bytes(_) => self.pool(row),
            PlanContent::None => self.memory.remove(&number).unwrap_or_default(),
            _ => Vec::new(),
        };
        parts.sort_by_key(|part| part.offset);
        parts
    }

    /// Returns the input sections that pieces of the layout copy.
    fn copied(&self, range: std::ops::Range<usize>) -> Vec<Contribution> {
        let pieces = self.plan.pieces.get(range).unwrap_or(&[]);
        let parts = pieces.iter().filter_map(|piece| {
            let input = self.module.sections.get(piece.section)?;
            let size = piece.size.unwrap_or_else(|| input.size());
            Some(whole(piece.section, input, piece.offset, size))
        });
        parts.collect()
    }

    /// Returns the input section with a function's Mercury code, whose first word is the number of
    /// the output section with its SASS.
    fn mercury(&self, bytes: &[u8]) -> Option<Contribution> {
        let text = u32::from_le_bytes(*bytes.first_chunk()?);
        let function = (*self.functions.get(text as usize)?)?;
        let id = self.module.functions.get(function)?.views.merc?.text;
        let input = self.module.sections.get(id)?;
        Some(whole(id, input, 0, input.size()))
    }

    /// Returns the constants of the pool that stands in the place of a bank, if there is one.
    fn pool(&self, row: &PlanSection<'_>) -> Vec<Contribution> {
        // Other contents of the same name are no pool.
        let bank = bank(row.name).filter(|bank| self.module.pool_size(*bank) == row.size);
        let parts = bank.map_or(&[][..], |bank| self.module.pool(bank));
        let parts = parts.iter().filter_map(|part| {
            let input = self.module.sections.get(part.section)?;
            Some(Contribution {
                source: Source::Section(part.section, part.start),
                ..whole(part.section, input, part.offset, part.size)
            })
        });
        parts.collect()
    }

    /// Finds the contributions to memory that has no bytes in the file.
    fn find_memory(&mut self) {
        let (module, plan) = (self.module, self.plan);
        let mut of_module: HashMap<&[u8], u32, FixedState> = HashMap::default();
        let mut of_functions: HashMap<(FunctionId, &[u8]), u32, FixedState> = HashMap::default();
        for (number, row) in (0..).zip(&plan.sections) {
            if row.content != PlanContent::None || !is_no_bits(row.ty, row.flags) {
                continue;
            }
            match self.functions.get(row.info as usize).copied().flatten() {
                Some(function) => of_functions.entry((function, row.name)).or_insert(number),
                None => of_module.entry(row.name).or_insert(number),
            };
        }
        if of_module.is_empty() && of_functions.is_empty() {
            return;
        }
        for (id, section) in module.sections.iter() {
            let size = section.size();
            if size == 0
                || !is_laid_out_whole(section)
                || dropped::reason(module, section).is_some()
            {
                continue;
            }
            let name = view_name(section);
            let found = match section.owner {
                Some(owner) => of_functions.get(&(owner, name)).copied().zip(Some(0)),
                None => of_module.get(name).copied().zip(section.place),
            };
            if let Some((number, offset)) = found {
                let parts = self.memory.entry(number).or_default();
                parts.push(whole(id, section, offset, size));
            }
        }
        if let Some(global) = of_module.get(&b".nv.global"[..]) {
            self.memory
                .entry(*global)
                .or_default()
                .extend(tentative(module));
        }
    }
}

/// Returns `true` if memory of a section stays together. Shared variables are laid out one by one,
/// and all objects have one block of reserved shared memory.
fn is_laid_out_whole(section: &Section<'_>) -> bool {
    section.kind.is_concatenated()
        && section.kind != SectionKind::ModuleShared
        && section.ty != sht::CUDA_SHARED_RESERVED
}

/// Returns the tentative definitions that prevailed. They lie after all other global variables.
fn tentative<'m>(module: &'m Module<'_>) -> impl Iterator<Item = Contribution> + 'm {
    module.link_symbols.values().filter_map(|link| {
        let definition = link.definition?;
        let symbol = module.symbols.get(definition)?;
        (symbol.place == SymbolPlace::Common).then_some(Contribution {
            offset: link.value?,
            size: link.size,
            align: link.common_align,
            source: Source::Tentative(definition),
        })
    })
}

/// Returns the contribution of an input section from its beginning on.
fn whole(id: SectionId, input: &Section<'_>, offset: u64, size: u64) -> Contribution {
    Contribution {
        offset,
        size,
        align: input.align,
        source: Source::Section(id, 0),
    }
}

/// Returns the number of the constant bank in the name of a section: 3 in `.nv.constant3`, 0 in
/// `.nv.constant0.K`.
fn bank(name: &[u8]) -> Option<u8> {
    let rest = name.strip_prefix(b".nv.constant")?;
    let digits = rest.split(|byte| *byte == b'.').next()?;
    std::str::from_utf8(digits).ok()?.parse().ok()
}
