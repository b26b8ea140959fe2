//! Program headers of the output.

use cuweld_elf::align::align_up;
use cuweld_elf::raw::PT_LOAD;
use cuweld_elf::raw::PT_PHDR;
use cuweld_elf::target::section_types::SectionFlags;
use cuweld_elf::target::section_types::sht;
use cuweld_ir::OutputLayout;
use cuweld_ir::plan::PlanSection;
use cuweld_ir::plan::PlanSegment;

fn is_read_only(section: &PlanSection<'_>) -> bool {
    section.flags.contains(SectionFlags::ALLOC) && !section.flags.contains(SectionFlags::WRITE)
}

fn is_writable(section: &PlanSection<'_>) -> bool {
    section.flags.contains(SectionFlags::ALLOC) && section.flags.contains(SectionFlags::WRITE)
}

/// Returns the program headers of sections that have their offsets [segments-of-empty-sections].
/// The first and the last are those of their table, which has no place yet.
pub(super) fn segments(sections: &[PlanSection<'_>]) -> Vec<PlanSegment> {
    let table = PlanSegment {
        ty: PT_PHDR,
        flags: 5,
        offset: 0,
        file_size: 0,
        mem_size: 0,
    };
    let mut segments = vec![table];
    let mut read_only: Option<(&PlanSection<'_>, &PlanSection<'_>)> = None;
    let mut writable = None;
    let (mut with_bytes, mut without) = (None, Vec::new());
    for section in sections {
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

/// Gives the program headers of their table its place.
pub(super) fn tables_placed(plan: &mut OutputLayout<'_>) {
    let size = 56 * plan.segments.len() as u64;
    if let [first, .., last] = plan.segments.as_mut_slice() {
        for table in [first, last] {
            (table.offset, table.file_size, table.mem_size) = (plan.phoff, size, size);
        }
    }
}
