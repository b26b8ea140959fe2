//! `plan-relocations`: what becomes of each relocation.
//!
//! What a relocation refers to decides, its type only rarely (`relocs.md` section 1): against
//! functions and global memory it is kept for the driver; against everything else it is applied and
//! leaves, except the types that only the driver can apply. Executables first turn UNIFIED types
//! into plain ones.
//!
//! Linear in the rows.

mod facts;
mod frames;
pub(crate) mod lines;
mod refusal;
mod target_kind;

use std::ops::Range;

use cuweld_ir::Module;
use cuweld_ir::Phase;
use cuweld_ir::Reloc;
use cuweld_ir::RelocId;
use cuweld_ir::RelocPlan;
use cuweld_ir::SectionId;
use cuweld_ir::SectionInfo;
use cuweld_ir::SectionKind;
use cuweld_ir::SymbolPlace;
use cuweld_ir::SymbolRef;
use cuweld_ir::mercury::relocs::LINE_TABLE;
use cuweld_ir::mercury::relocs::counterparts;
use cuweld_ir::mercury::relocs::is_mercury;
use cuweld_ir::mercury::relocs::plain as mercury_plain;
use cuweld_ir::table::EntityId;
use cuweld_ir::target::relocs::BankField;
use cuweld_ir::target::relocs::Field;
use cuweld_ir::target::relocs::RelocClass;
use cuweld_ir::target::relocs::RelocType;
use cuweld_ir::target::relocs::addend_field;
use cuweld_ir::target::relocs::reloc_type;
use cuweld_ir::target::section_types::is_rela;
use rayon::prelude::*;

use crate::analysis::Preserved;
use crate::classify::IndexU32;
use crate::classify::located;
use crate::diagnostic::Diagnostic;
use crate::pass::Changed;
use crate::pass::Pass;
use crate::pass::PassCx;
use crate::pass::PassError;
use crate::place_memory::banks::bank_beyond_limit;
use facts::Facts;
use facts::contribution;
use refusal::DELETED_SYMBOL;
use refusal::PAST_END;
use refusal::Refusal;
use refusal::refused;
use target_kind::TargetKind;
use target_kind::target_kind;

/// The `plan-relocations` pass.
pub struct PlanRelocations;

impl Pass for PlanRelocations {
    fn name(&self) -> &'static str {
        "plan-relocations"
    }

    fn summary(&self) -> &'static str {
        "Decide which relocations are kept, applied or dropped"
    }

    fn requires(&self) -> Phase {
        Phase::Placed
    }

    fn establishes(&self) -> Option<Phase> {
        Some(Phase::Planned)
    }

    fn preserves(&self) -> Preserved {
        Preserved::ALL
    }

    fn run<'data>(
        &self,
        module: &mut Module<'data>,
        cx: &mut PassCx<'_, 'data>,
    ) -> Result<Changed, PassError> {
        if let Some(kernel) = bank_beyond_limit(module) {
            let name = String::from_utf8_lossy(module.function_name(kernel)).into_owned();
            cx.diagnostics.emit(Diagnostic::unsupported(format!(
                "function '{name}' needs a constant bank beyond 64 KiB"
            )));
            return Err(PassError::Diagnosed);
        }
        let facts = Facts::new(module);
        let mut decided = Decided::default();
        let rows = module.relocs.len();
        cx.threads
            .with(rows / ROWS_PER_THREAD, &mut |count| match count {
                0 | 1 => decide(module, &facts, &mut decided),
                _ => decide_in_parts(module, &facts, count, &mut decided),
            });
        let Decided {
            kept,
            applied,
            dropped,
            refusals,
        } = decided;
        let mut failed = !refusals.is_empty();
        for (id, refusal) in refusals {
            cx.diagnostics.emit(refused(module, id, refusal));
        }
        if !failed
            && module.is_capmerc()
            && let Err(section) = lines::place(module)
        {
            cx.diagnostics.emit(
                Diagnostic::unsupported("a line table of another form")
                    .note(located(module, section))
                    .at(module.sections[section].object.index_u32(), 0),
            );
            failed = true;
        }
        cx.statistics.add("kept", kept);
        cx.statistics.add("applied", applied);
        cx.statistics.add("dropped", dropped);
        if failed {
            Err(PassError::Diagnosed)
        } else {
            Ok(Changed::Yes)
        }
    }
}

/// So many rows are worth a thread of their own.
const ROWS_PER_THREAD: usize = 16 << 10;

/// How many rows a thread decides on at a time.
const ROWS_AT_A_TIME: usize = 1 << 10;

/// What was decided on.
#[derive(Default)]
struct Decided {
    kept: u64,
    applied: u64,
    dropped: u64,
    refusals: Vec<(RelocId, Refusal)>,
}

impl Decided {
    /// Stores what becomes of a row.
    fn take(&mut self, module: &mut Module<'_>, id: RelocId, plan: Result<RelocPlan, Refusal>) {
        let plan = match plan {
            Ok(plan) => plan,
            Err(refusal) => {
                self.refusals.push((id, refusal));
                return;
            }
        };
        match plan {
            RelocPlan::Keep { .. } => self.kept += 1,
            RelocPlan::Apply { .. } | RelocPlan::Clear => self.applied += 1,
            _ => self.dropped += 1,
        }
        module.relocs[id].plan = plan;
    }
}

/// Decides on every row.
fn decide(module: &mut Module<'_>, facts: &Facts<'_>, decided: &mut Decided) {
    let mut holder = None;
    for id in module.relocs.ids() {
        let reloc = &module.relocs[id];
        let holder = Holder::of(module, reloc, facts, &mut holder);
        let plan = plan(module, reloc, holder, facts);
        decided.take(module, id, plan);
    }
}

/// Decides on every row, by so many threads.
fn decide_in_parts(
    module: &mut Module<'_>,
    facts: &Facts<'_>,
    threads: usize,
    decided: &mut Decided,
) {
    let parts: Vec<usize> = (0..module.relocs.len()).step_by(ROWS_AT_A_TIME).collect();
    let part_of = |start: usize| start..module.relocs.len().min(start + ROWS_AT_A_TIME);
    let parts: Vec<Range<usize>> = parts.into_iter().map(part_of).collect();
    // What is decided is stored while it is in the cache.
    for parts in parts.chunks(threads * PARTS_AHEAD) {
        let plans: Vec<Vec<Result<RelocPlan, Refusal>>> = parts
            .par_iter()
            .map(|part| {
                let mut holder = None;
                let rows = part
                    .clone()
                    .map(|index| &module.relocs[RelocId::new(index)]);
                rows.map(|reloc| {
                    let holder = Holder::of(module, reloc, facts, &mut holder);
                    plan(module, reloc, holder, facts)
                })
                .collect()
            })
            .collect();
        for (part, plans) in parts.iter().zip(plans) {
            for (index, plan) in part.clone().zip(plans) {
                decided.take(module, RelocId::new(index), plan);
            }
        }
    }
}

/// How many parts each thread decides on before the outcome is stored.
const PARTS_AHEAD: usize = 4;

/// What nvlink says of the first relocation that lies behind its section, also if names are undefined.
pub(crate) fn past_end(module: &Module<'_>) -> Option<Diagnostic> {
    let facts = Facts::new(module);
    let mut holder = None;
    module.relocs.iter().find_map(|(id, reloc)| {
        let holder = Holder::of(module, reloc, &facts, &mut holder);
        match plan(module, reloc, holder, &facts) {
            Err(refusal @ Refusal::Internal(PAST_END)) => Some(refused(module, id, refusal)),
            _ => None,
        }
    })
}

/// What the rows of a relocation section have in common; rows of one section come one after the other.
struct Holder {
    id: SectionId,
    /// Whether its object takes part in the link.
    is_included: bool,
    is_linked: bool,
    is_rela: bool,
    /// The section that rows patch.
    patched: Option<SectionId>,
    /// That section or, of a Mercury twin, the one with the bytes.
    data: Option<SectionId>,
    /// Whether that section is Mercury code.
    in_code: bool,
}

impl Holder {
    /// The section that holds a row; `last` is that of the row before.
    fn of<'h>(
        module: &Module<'_>,
        reloc: &Reloc,
        facts: &Facts<'_>,
        last: &'h mut Option<Holder>,
    ) -> &'h Holder {
        if last.as_ref().is_some_and(|last| last.id != reloc.section) {
            *last = None;
        }
        last.get_or_insert_with(|| {
            let section = &module.sections[reloc.section];
            let patched = match section.info {
                SectionInfo::Section(patched) => Some(patched),
                _ => None,
            };
            let data = |patched: SectionId| facts.twins.get(&patched).copied().unwrap_or(patched);
            let in_code =
                |patched: SectionId| module.sections[patched].kind == SectionKind::MercuryText;
            Holder {
                id: reloc.section,
                is_included: module.objects[section.object].state.is_included(),
                is_linked: module.is_section_linked(reloc.section),
                is_rela: is_rela(section.ty),
                patched,
                data: patched.map(data),
                in_code: patched.is_some_and(in_code),
            }
        })
    }
}

/// nvlink's words for a legacy branch that leaves its section.
const PC_RELATIVE: &str = "PC relative branch address should be in the same section";

/// Whether a type that the linker applies elsewhere stays against a texture, sampler or surface
/// that it gives no slot; the others are applied as if the symbol were 0 (`relocs.md` section 6).
/// The ABS32 types of instructions stay in relocatable output only: executables have slots for them.
fn is_kept_against_headers(ty: u32) -> bool {
    matches!(
        ty,
        0x01 | 0x02
            | 0x05
            | 0x0a
            | 0x0b
            | 0x0c
            | 0x0d
            | 0x0e
            | 0x2a
            | 0x2b
            | 0x2c
            | 0x37
            | 0x38
            | 0x39
            | 0x46
            | 0x47
            | 0x4c..=0x53
            | 0x66..=0x71
    )
}

/// What the field of a relocation without addend holds: the addend that `--force-rela` gives it, in
/// units of the field (measured).
fn in_place_addend(module: &Module<'_>, section: SectionId, offset: u64, field: Field) -> i64 {
    let bytes = usize::try_from(offset)
        .ok()
        .and_then(|offset| module.sections[section].bytes().get(offset..))
        .unwrap_or(&[]);
    field.read(bytes) as i64
}

/// Refuses what no current compiler writes and nvlink treats as more than a relocation, in code that
/// does not take part too.
fn check_legacy(module: &Module<'_>, reloc: &Reloc, facts: &Facts<'_>) -> Result<(), Refusal> {
    match reloc_type(reloc.ty).map(|row| row.class) {
        // The function becomes one whose address is taken; against anything else nvlink crashes
        // (measured).
        Some(RelocClass::FunctionDescriptor) => {
            let link = reloc.target.symbol().and_then(|id| module.symbols[id].link);
            match link {
                Some(link) if facts.address_taken.contains(&link) => Ok(()),
                _ => Err(Refusal::Unsupported("a legacy function descriptor")),
            }
        }
        Some(RelocClass::Slot) => Err(Refusal::Unsupported("a legacy texture slot")),
        _ => Ok(()),
    }
}

/// Refuses an offset behind the end of a section, with nvlink's words where it is that of the output.
fn check_offset(
    module: &Module<'_>,
    facts: &Facts<'_>,
    reloc: &Reloc,
    patched: SectionId,
    words: &'static str,
) -> Result<(), Refusal> {
    let section = &module.sections[patched];
    if reloc.offset < patched_size(module, patched) {
        return Ok(());
    }
    let place = contribution(module, patched).saturating_add(reloc.offset);
    let whole = facts.ends.get(section.name).copied().unwrap_or(0);
    if section.kind.is_concatenated() && place < whole {
        // nvlink goes on in what other objects add to the section (measured).
        Err(Refusal::Unsupported(
            "a relocation behind its object's part of a section",
        ))
    } else {
        Err(Refusal::Internal(words))
    }
}

/// Size in bytes of what a row patches; offsets in Mercury code count bytes of a form that no file holds.
fn patched_size(module: &Module<'_>, patched: SectionId) -> u64 {
    let section = &module.sections[patched];
    match section.owner {
        Some(function) if section.kind == SectionKind::MercuryText => {
            module.functions[function].merc_size
        }
        _ => section.size(),
    }
}

/// The bytes that losing definitions of variables occupy, sorted. nvlink leaves the bytes in place
/// but drops the relocations that lie in them (measured: vtables that several objects define).
fn losing_variables(module: &Module<'_>) -> Vec<(SectionId, u64, u64)> {
    let mut ranges = Vec::new();
    for (_, object) in module.included_objects() {
        for id in object.symbols.iter() {
            let symbol = &module.symbols[id];
            let (false, SymbolPlace::Section(section), Some(link)) =
                (symbol.is_function(), symbol.place, symbol.link)
            else {
                continue;
            };
            if module.link_symbols[link].definition != Some(id) {
                ranges.push((
                    section,
                    symbol.value,
                    symbol.value.saturating_add(symbol.size),
                ));
            }
        }
    }
    ranges.sort_unstable();
    ranges
}

/// Whether a place lies in one of the ranges, which do not overlap.
fn lies_in(ranges: &[(SectionId, u64, u64)], section: SectionId, offset: u64) -> bool {
    let after = ranges.partition_point(|(known, start, _)| (*known, *start) <= (section, offset));
    after
        .checked_sub(1)
        .and_then(|index| ranges.get(index))
        .is_some_and(|(known, _, end)| *known == section && offset < *end)
}

fn plan(
    module: &Module<'_>,
    reloc: &Reloc,
    holder: &Holder,
    facts: &Facts<'_>,
) -> Result<RelocPlan, Refusal> {
    let section = &module.sections[reloc.section];
    if holder.is_included {
        check_legacy(module, reloc, facts)?;
    }
    // Rows that an opt-in pass has taken out stay out.
    if reloc.plan == RelocPlan::Gone || !holder.is_linked {
        return Ok(RelocPlan::Gone);
    }
    let (Some(patched), Some(data)) = (holder.patched, holder.data) else {
        return Err(Refusal::Internal("unexpected reloc section"));
    };
    if lies_in(&facts.losing_variables, data, reloc.offset) {
        return Ok(RelocPlan::Gone);
    }
    let executable = !module.options.relocatable;
    let mut ty = reloc.ty;
    let in_code = holder.in_code;
    let known = counterparts(ty, in_code);
    if is_mercury(ty) && known.is_empty() {
        return Err(Refusal::Unsupported(
            "a relocation type of the Mercury view that is not known",
        ));
    }
    let unified = mercury_plain(ty).or_else(|| reloc_type(ty).and_then(|row| row.plain));
    if executable && let Some(plain) = unified {
        ty = plain;
    }
    // Rows of the Mercury view fare as those of the SASS view in their place.
    let like = match ty == reloc.ty {
        true => known.first(),
        false => counterparts(ty, in_code).first(),
    };
    let like = like.copied().unwrap_or(ty);
    let class = reloc_type(like).map(|row| row.class);
    let target = target_kind(module, reloc, patched, facts)?;

    let is_rela = holder.is_rela;
    let moved = match reloc.target {
        SymbolRef::Section(target) => contribution(module, facts.in_view(section, target)),
        _ => 0,
    };
    // A REL row against a moved section loses its in-place addend (`relocs.md` section 2).
    let has_addend = is_rela || moved != 0;
    let rela = has_addend || module.options.force_rela;
    let forced = rela && !has_addend;
    let in_place = match addend_field(ty) {
        Some(field) if forced => in_place_addend(module, patched, reloc.offset, field),
        _ => 0,
    };
    let addend = if rela {
        reloc
            .addend
            .wrapping_add(moved as i64)
            .wrapping_add(in_place)
    } else {
        0
    };
    let keep = || {
        if forced && addend_field(ty).is_none() {
            return Err(Refusal::Unsupported(
                "--force-rela with an addend in the field of this type",
            ));
        }
        check_offset(module, facts, reloc, patched, PAST_END)?;
        let end =
            addend_field(ty).map_or(0, |field| u64::from(field.bit + field.width).div_ceil(8));
        if forced && reloc.offset.saturating_add(end) > patched_size(module, patched) {
            return Err(Refusal::Unsupported(
                "a field that goes over the end of its section",
            ));
        }
        Ok(RelocPlan::Keep { ty, addend, rela })
    };
    let patch = || {
        if module.sections[patched].bytes().is_empty() && patched_size(module, patched) != 0 {
            return Err(Refusal::Unsupported(
                "a relocation of a section without bytes",
            ));
        }
        check_offset(module, facts, reloc, patched, "reloc address not found")?;
        let end = reloc_type(ty).map_or(0, |row| row.bytes());
        if reloc.offset.saturating_add(end) > patched_size(module, patched) {
            // nvlink writes into what lies behind the section in the input's image (measured).
            return Err(Refusal::Unsupported(
                "a field that goes over the end of its section",
            ));
        }
        Ok(())
    };
    let clear = || {
        patch()?;
        Ok(RelocPlan::Clear)
    };
    let apply = |value: u64| {
        patch()?;
        let value = value.wrapping_add(reloc.addend as u64);
        let partial = |row: &RelocType| row.field.is_some_and(|field| field.shift != 0);
        if in_place != 0 && reloc_type(ty).is_some_and(partial) {
            return Err(Refusal::Unsupported(
                "--force-rela with an addend in a field that has a part of the value",
            ));
        }
        Ok(RelocPlan::Apply {
            ty,
            value,
            in_place: !has_addend,
        })
    };
    match target {
        // Only the SASS view of executables has the places of line tables in its bytes.
        TargetKind::Known { .. } if ty == LINE_TABLE => keep(),
        TargetKind::Known { .. } if !executable && names_lines(module, reloc) => keep(),
        TargetKind::LosingCopy => Ok(RelocPlan::Drop),
        TargetKind::UnifiedTable if !executable => Ok(RelocPlan::Drop),
        // Only a link to an executable resolves these.
        _ if unified.is_some() && !executable => keep(),
        // nvlink empties the row (measured).
        TargetKind::Undefined
            if matches!(class, Some(RelocClass::Clear | RelocClass::None))
                && !is_function(module, reloc) =>
        {
            Err(Refusal::Unsupported(
                "clearing the site of an undefined variable",
            ))
        }
        TargetKind::Function | TargetKind::Undefined => match class {
            Some(RelocClass::Clear | RelocClass::None) => Ok(RelocPlan::Drop),
            _ => keep(),
        },
        TargetKind::Global | TargetKind::ReservedShared => match class {
            Some(RelocClass::Clear) if target == TargetKind::ReservedShared => Err(
                Refusal::Unsupported("clearing a reserved shared memory site"),
            ),
            _ => keep(),
        },
        // nvlink encodes the instruction of relocatable output anew, as it is (measured).
        TargetKind::Header { slot: None } if facts.capmerc => keep(),
        TargetKind::Header { slot } => match (reloc_type(like), slot) {
            // Mercury counts from the first slot, and so does SASS but for operands in the bank (measured).
            (Some(row), Some(slot)) if row.makes_slot => {
                let in_bank = row.bank != BankField::None && !is_mercury(ty);
                match in_bank || !facts.capmerc {
                    true => apply(slot),
                    false => apply(slot.wrapping_sub(module.header_base())),
                }
            }
            (Some(row), _) => match row.class {
                RelocClass::PcRelative => Err(Refusal::Internal(PC_RELATIVE)),
                RelocClass::Yield => Ok(RelocPlan::Drop),
                RelocClass::Clear => Err(Refusal::Unsupported(
                    "clearing the site of a texture, sampler or surface",
                )),
                RelocClass::Applied if !is_kept_against_headers(like) => apply(0),
                _ => keep(),
            },
            (None, _) => keep(),
        },
        TargetKind::DeadFunction => match class {
            Some(RelocClass::Clear) => clear(),
            _ => Ok(RelocPlan::Drop),
        },
        TargetKind::UnifiedTable => match class {
            _ if unified.is_some() => Err(Refusal::Internal(DELETED_SYMBOL)),
            Some(RelocClass::None) => Err(Refusal::Internal(DELETED_SYMBOL)),
            _ => Ok(RelocPlan::Drop),
        },
        TargetKind::Known { .. } | TargetKind::Nothing | TargetKind::Missing => match class {
            // Legacy types were refused already.
            None | Some(RelocClass::FunctionDescriptor | RelocClass::Slot) => {
                Err(Refusal::Internal("unexpected NVRS"))
            }
            Some(RelocClass::PcRelative) => Err(Refusal::Internal(PC_RELATIVE)),
            Some(RelocClass::Driver) => match target {
                TargetKind::Known { emitted: false, .. } => Err(Refusal::Internal(DELETED_SYMBOL)),
                _ => keep(),
            },
            Some(RelocClass::None | RelocClass::Yield) => Ok(RelocPlan::Drop),
            Some(RelocClass::Clear) => match target {
                TargetKind::Known { .. }
                    if module.shows_shared_variables() && is_shared(module, reloc) =>
                {
                    Err(Refusal::Unsupported(
                        "clearing a shared memory site with -g",
                    ))
                }
                TargetKind::Known { .. }
                    if module.shows_compiler_constants() && is_compiler_constant(module, reloc) =>
                {
                    Err(Refusal::Unsupported(
                        "clearing the site of a compiler constant that is a symbol",
                    ))
                }
                TargetKind::Known { emitted: false, .. } if reloc.target.symbol().is_some() => {
                    clear()
                }
                _ if facts.is_unlinked(module, reloc.target) => Err(Refusal::Unsupported(
                    "clearing the site of a section that goes",
                )),
                _ => Ok(RelocPlan::Drop),
            },
            Some(RelocClass::Applied) => match target {
                // nvlink encodes the instruction anew, with fewer bits of it.
                TargetKind::Missing if module.is_capmerc() && !is_shared(module, reloc) => {
                    Err(Refusal::Unsupported(
                        "the address of an undefined constant variable for sm_100 and up",
                    ))
                }
                TargetKind::Known { value, .. } => apply(value),
                TargetKind::Missing => apply(u64::MAX),
                _ => apply(facts.null_symbol),
            },
        },
    }
}

/// Whether a row of the SASS view refers to a line table.
fn names_lines(module: &Module<'_>, reloc: &Reloc) -> bool {
    module.sections[reloc.section].kind == SectionKind::SassRelocs
        && matches!(reloc.target, SymbolRef::Section(section) if lines::is_line_table(module, section))
}

fn is_function(module: &Module<'_>, reloc: &Reloc) -> bool {
    let symbol = reloc.target.symbol();
    symbol.is_some_and(|symbol| module.symbols[symbol].is_function())
}

fn is_compiler_constant(module: &Module<'_>, reloc: &Reloc) -> bool {
    let symbol = reloc.target.symbol();
    symbol.is_some_and(|symbol| module.symbols[symbol].is_compiler_constant())
}

fn is_shared(module: &Module<'_>, reloc: &Reloc) -> bool {
    let symbol = reloc.target.symbol();
    symbol.is_some_and(|symbol| module.symbols[symbol].is_shared())
}
