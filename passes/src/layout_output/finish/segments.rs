//! Program headers of the output.

use cuweld_ir::ElfPlan;
use cuweld_ir::elf::layout::align_up;
use cuweld_ir::plan::PlanSection;
use cuweld_ir::plan::PlanSegment;
use cuweld_ir::target::section_types::shf;
use cuweld_ir::target::section_types::sht;

/// Program headers without their places.
pub(super) fn segments(plan: &ElfPlan<'_>) -> Vec<PlanSegment> {
    let any = |wanted: fn(&PlanSection<'_>) -> bool| plan.sections.iter().any(wanted);
    let count = 2 + usize::from(any(is_read_only)) + usize::from(any(is_writable));
    vec![
        PlanSegment {
            ty: 0,
            flags: 0,
            offset: 0,
            file_size: 0,
            mem_size: 0
        };
        count
    ]
}

fn is_read_only(section: &PlanSection<'_>) -> bool {
    section.flags & shf::ALLOC != 0 && section.flags & shf::WRITE == 0
}

fn is_writable(section: &PlanSection<'_>) -> bool {
    section.flags & shf::ALLOC != 0 && section.flags & shf::WRITE != 0
}

/// The program headers (`merge.md` section 2).
pub(super) fn segments_placed(plan: &ElfPlan<'_>) -> Vec<PlanSegment> {
    const PT_LOAD: u32 = 1;
    const PT_PHDR: u32 = 6;
    let table_size = 56 * plan.segments.len() as u64;
    let table = PlanSegment {
        ty: PT_PHDR,
        flags: 5,
        offset: plan.phoff,
        file_size: table_size,
        mem_size: table_size,
    };
    let mut segments = vec![table];
    let read_only: Vec<_> = plan
        .sections
        .iter()
        .filter(|section| is_read_only(section))
        .collect();
    if let (Some(first), Some(last)) = (read_only.first(), read_only.last()) {
        let size = last.offset + last.size - first.offset;
        segments.push(PlanSegment {
            ty: PT_LOAD,
            flags: 5,
            offset: first.offset,
            file_size: size,
            mem_size: size,
        });
    }
    let writable: Vec<_> = plan
        .sections
        .iter()
        .filter(|section| is_writable(section))
        .collect();
    if let Some(first) = writable.first() {
        let with_bytes: Vec<_> = writable
            .iter()
            .filter(|section| section.ty != sht::NOBITS)
            .collect();
        let without: Vec<_> = writable
            .iter()
            .filter(|section| section.ty == sht::NOBITS)
            .collect();
        let file_end = match (with_bytes.last(), without.last()) {
            (_, Some(no_bits)) => no_bits.offset,
            (None, None) => first.offset,
            (Some(last), None) => last.offset.saturating_add(last.size),
        };
        let file_size = file_end.saturating_sub(first.offset);
        let mem_end = without.iter().fold(file_end, |end, section| {
            align_up(end, section.align).saturating_add(section.size)
        });
        segments.push(PlanSegment {
            ty: PT_LOAD,
            flags: 6,
            offset: first.offset,
            file_size,
            mem_size: mem_end.saturating_sub(first.offset),
        });
    }
    segments.push(PlanSegment {
        ty: PT_LOAD,
        ..table
    });
    segments
}
