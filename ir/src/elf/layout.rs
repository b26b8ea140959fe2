//! File offsets of a plan [segments-of-empty-sections].

use crate::plan::OutputLayout;
use cuweld_elf::align::align_up;
use cuweld_elf::raw::SHN_LORESERVE;
use cuweld_elf::target::section_types::is_no_bits;
use cuweld_elf::target::section_types::sht;

/// Writes the numbers for which the file header has no room to the null section: a number of
/// sections above 0xff00 as its size, the index of the section name table as its link.
pub fn assign_numbers(plan: &mut OutputLayout<'_>) {
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
pub fn assign_offsets(plan: &mut OutputLayout<'_>) {
    let end = assign_section_offsets(plan);
    assign_tables(plan, end);
}

/// Gives every section its file offset as [`assign_offsets`] does; returns the end of the last one.
pub fn assign_section_offsets(plan: &mut OutputLayout<'_>) -> u64 {
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

/// Places the header tables after sections that end there.
pub fn assign_tables(plan: &mut OutputLayout<'_>, end: u64) {
    plan.shoff = align_up(end, 8);
    let end = plan.shoff.saturating_add(64 * plan.sections.len() as u64);
    plan.phoff = if plan.segments.is_empty() { 0 } else { end };
    plan.file_size = end.saturating_add(56 * plan.segments.len() as u64);
}
