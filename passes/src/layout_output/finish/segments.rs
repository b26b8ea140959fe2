//! Program headers of the output.

use cuweld_ir::ElfPlan;
use cuweld_ir::elf::layout::align_up;
use cuweld_ir::plan::PlanSection;
use cuweld_ir::plan::PlanSegment;
use cuweld_ir::target::section_types::shf;
use cuweld_ir::target::section_types::sht;

/// Program headers without their places.
pub(super) fn segments(plan: &ElfPlan<'_>) -> Vec<PlanSegment> {
    let (mut read_only, mut writable) = (false, false);
    for section in &plan.sections {
        read_only |= is_read_only(section);
        writable |= is_writable(section);
    }
    let count = 2 + usize::from(read_only) + usize::from(writable);
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
    let mut read_only: Option<(&PlanSection<'_>, &PlanSection<'_>)> = None;
    let mut writable = None;
    let (mut with_bytes, mut without) = (None, Vec::new());
    for section in &plan.sections {
        if is_read_only(section) {
            read_only = Some((read_only.map_or(section, |(first, _)| first), section));
        } else if is_writable(section) {
            writable.get_or_insert(section);
            match section.ty {
                sht::NOBITS => without.push(section),
                _ => with_bytes = Some(section),
            }
        }
    }
    if let Some((first, last)) = read_only {
        let size = last.offset + last.size - first.offset;
        segments.push(PlanSegment {
            ty: PT_LOAD,
            flags: 5,
            offset: first.offset,
            file_size: size,
            mem_size: size,
        });
    }
    if let Some(first) = writable {
        let file_end = match (with_bytes, without.last()) {
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
