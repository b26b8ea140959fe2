//! File offsets of a plan (`merge.md` section 2).

use super::raw::SHN_LORESERVE;
use crate::plan::ElfPlan;
use crate::target::section_types::is_no_bits;
use crate::target::section_types::sht;

/// Rounds up to an alignment; 0 and 1 mean none. What does not fit into 64 bits becomes the largest
/// number, which no limit and no file allows.
pub fn align_up(value: u64, align: u64) -> u64 {
    if align > 1 {
        value.checked_next_multiple_of(align).unwrap_or(u64::MAX)
    } else {
        value
    }
}

/// What the file header has no room for is in the null section: a number of sections above 0xff00 as
/// its size, the index of the section name table as its link.
pub fn assign_numbers(plan: &mut ElfPlan<'_>) {
    let count = plan.sections.len();
    if let Some(null) = plan.sections.first_mut() {
        if count > SHN_LORESERVE.into() {
            null.size = count as u64;
        }
        if plan.shstrndx >= SHN_LORESERVE.into() {
            null.link = plan.shstrndx;
        }
    }
}

/// Gives every section its file offset, then places the header tables: sections in index order at
/// their alignment; the first section without bytes moves the offset to its own alignment, those
/// after it share that offset; section headers at the next multiple of 8; program headers last.
pub fn assign_offsets(plan: &mut ElfPlan<'_>) {
    let end = assign_section_offsets(plan);
    assign_tables(plan, end);
}

/// Gives every section its file offset as [`assign_offsets`] does; returns the end of the last one.
pub fn assign_section_offsets(plan: &mut ElfPlan<'_>) -> u64 {
    assign_numbers(plan);
    let mut offset = 0x40;
    for section in &mut plan.sections {
        if section.ty == sht::NULL {
            continue;
        }
        offset = align_up(offset, section.align);
        section.offset = offset;
        if !is_no_bits(section.ty, section.flags) {
            offset = offset.saturating_add(section.size);
        }
    }
    offset
}

/// Places the header tables behind sections that end there.
pub fn assign_tables(plan: &mut ElfPlan<'_>, end: u64) {
    plan.shoff = align_up(end, 8);
    let end = plan.shoff.saturating_add(64 * plan.sections.len() as u64);
    plan.phoff = if plan.segments.is_empty() { 0 } else { end };
    plan.file_size = end.saturating_add(56 * plan.segments.len() as u64);
}

#[cfg(test)]
mod tests {
    use super::align_up;

    #[test]
    fn alignment_never_overflows() {
        assert_eq!(align_up(5, 0), 5);
        assert_eq!(align_up(5, 1), 5);
        assert_eq!(align_up(5, 4), 8);
        assert_eq!(align_up(u64::MAX - 1, 4), u64::MAX);
    }
}
