//! File offsets and program headers of a file with both views.

use cuweld_elf::align::align_up;
use cuweld_elf::raw::PT_LOAD;
use cuweld_elf::raw::PT_PHDR;
use cuweld_elf::target::section_types::SectionFlags;
use cuweld_elf::target::section_types::is_no_bits;
use cuweld_elf::target::section_types::sht;
use cuweld_ir::OutputLayout;
use cuweld_ir::elf::layout::assign_numbers;
use cuweld_ir::plan::PlanContent;
use cuweld_ir::plan::PlanSection;
use cuweld_ir::plan::PlanSegment;

/// Bytes that are left between the names of sections and those of symbols: room for the names of
/// both tables of section indices, unless they are added.
pub(super) const NAMES_GAP: u64 = 0x24;

/// `p_type` values.
/// `p_flags` bits.
const PF_R: u32 = 4;
const PF_W: u32 = 2;
const PF_X: u32 = 1;

/// Bytes that are left between parts of the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gaps {
    /// The alignment of the headers of sections.
    pub(super) headers_align: u64,
    /// After the names of sections.
    pub(super) section_names: u64,
    /// After the names of symbols.
    pub(super) symbol_names: u64,
}

/// Gives every section its offset, then makes the program headers of executables: one for each run
/// of sections in memory with the same rights.
pub(super) fn place(plan: &mut OutputLayout<'_>, gaps: Gaps, executable: bool) {
    assign_numbers(plan);
    let mut offset = 0x40_u64;
    for index in 0..plan.sections.len() {
        let section = &plan.sections[index];
        if section.ty == sht::NULL {
            continue;
        }
        if let PlanContent::Alias(twin) = section.content {
            let twin = plan.sections.get(twin as usize).map_or(0, |row| row.offset);
            plan.sections[index].offset = twin;
            continue;
        }
        offset = align_up(offset, section.align);
        let has_none = section.content == PlanContent::None;
        let end = if has_none || is_no_bits(section.ty, section.flags) {
            offset
        } else {
            offset.saturating_add(section.size)
        };
        let left = match section.content {
            PlanContent::SectionNames => gaps.section_names,
            PlanContent::SymbolNames => gaps.symbol_names,
            _ => 0,
        };
        plan.sections[index].offset = offset;
        offset = end.saturating_add(left);
    }
    plan.shoff = align_up(offset, gaps.headers_align);
    if !executable {
        plan.file_size = plan.shoff.saturating_add(64 * plan.sections.len() as u64);
        return;
    }
    plan.phoff = plan.shoff.saturating_add(64 * plan.sections.len() as u64);
    plan.segments = segments(plan);
    let table = 56 * plan.segments.len() as u64;
    for segment in plan.segments.iter_mut().take(2) {
        segment.file_size = table;
        segment.mem_size = table;
    }
    plan.file_size = plan.phoff.saturating_add(table);
}

/// Returns the rights of a section in memory; `None` for sections that are not loaded.
fn rights(section: &PlanSection<'_>) -> Option<u32> {
    if !section.flags.contains(SectionFlags::ALLOC) || section.flags.contains(SectionFlags::MERCURY)
    {
        return None;
    }
    let mut rights = PF_R;
    if section.flags.contains(SectionFlags::WRITE) {
        rights |= PF_W;
    }
    if section.flags.contains(SectionFlags::EXECINSTR) {
        rights |= PF_X;
    }
    Some(rights)
}

/// Returns the table itself, twice, then the runs.
fn segments(plan: &OutputLayout<'_>) -> Vec<PlanSegment> {
    let table = |ty| PlanSegment {
        ty,
        flags: PF_R,
        offset: plan.phoff,
        file_size: 0,
        mem_size: 0,
    };
    let mut segments = vec![table(PT_PHDR), table(PT_LOAD)];
    let mut last = None;
    for section in &plan.sections {
        let here = rights(section);
        let bytes = if is_no_bits(section.ty, section.flags) {
            0
        } else {
            section.size
        };
        match (here, segments.last_mut()) {
            (None, _) => {}
            (Some(_), Some(run)) if here == last => {
                let end = section.offset.saturating_add(bytes);
                run.file_size = run.file_size.max(end.saturating_sub(run.offset));
            }
            (Some(flags), _) => segments.push(PlanSegment {
                ty: PT_LOAD,
                flags,
                offset: section.offset,
                file_size: bytes,
                mem_size: 0,
            }),
        }
        last = here;
    }
    memory(plan, &mut segments);
    segments
}

/// Computes sizes in memory: sections without bytes lie after those with bytes.
fn memory(plan: &OutputLayout<'_>, segments: &mut [PlanSegment]) {
    let mut runs = segments.iter_mut().skip(2);
    let mut run: Option<&mut PlanSegment> = None;
    let mut last = None;
    let mut end = 0_u64;
    for section in &plan.sections {
        let here = rights(section);
        if here.is_some() && here != last {
            run = runs.next();
            end = run
                .as_ref()
                .map_or(0, |run| run.offset.saturating_add(run.file_size));
        }
        last = here;
        let (Some(_), Some(run)) = (here, &mut run) else {
            continue;
        };
        if is_no_bits(section.ty, section.flags) {
            end = align_up(end, section.align).saturating_add(section.size);
        }
        run.mem_size = end.saturating_sub(run.offset);
    }
}
