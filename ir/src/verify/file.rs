//! From `laid-out` on: the plan by where everything lies in the file; from `emitted` on: the image.

use super::Checker;
use super::Rule;
use crate::elf;
use crate::plan::OutputLayout;
use crate::plan::PlanContent;
use crate::plan::PlanSection;
use crate::section::SectionContent;
use cuweld_elf::target::section_types::is_no_bits;
use cuweld_elf::target::section_types::sht;

/// Returns the name of an output section in messages.
pub(super) fn place(index: usize, section: &PlanSection<'_>) -> String {
    let name = String::from_utf8_lossy(section.name);
    format!("output section {index} {name}")
}

/// Size in bytes of the file header.
const FILE_HEADER: u64 = 64;

pub(super) fn check(checker: &mut Checker<'_, '_>, plan: &OutputLayout<'_>) {
    sizes(checker, plan);
    offsets(checker, plan);
    for (index, segment) in plan.segments.iter().enumerate() {
        let end = segment.offset.checked_add(segment.file_size);
        if end.is_none_or(|end| end > plan.file_size) {
            let what = "it reaches past the end of the file";
            checker.report(Rule::LayoutSegments, format!("segment {index}"), what);
        }
    }
}

/// Checks that pieces lie within their output section. Their ranges are known not to overlap.
pub(super) fn pieces(checker: &mut Checker<'_, '_>, plan: &OutputLayout<'_>) {
    let module = checker.module;
    let mut rows: Vec<(u64, u64, usize)> = Vec::new();
    for section in &plan.sections {
        let PlanContent::Pieces(range) = &section.content else {
            continue;
        };
        rows.clear();
        for index in range.start as usize..range.end as usize {
            let Some(piece) = plan.pieces.get(index) else {
                continue;
            };
            if let SectionContent::Bytes(bytes) = module.sections[piece.section].content {
                let size = piece.size.unwrap_or(bytes.len() as u64);
                let end = piece.offset.saturating_add(size);
                rows.push((piece.offset, end, index));
            }
        }
        rows.sort_unstable();
        let mut last = 0;
        for &(offset, end, index) in &rows {
            if end > section.size || offset < last {
                let what = format!(
                    "{offset:#x}..{end:#x} overlaps another piece or the end at {:#x}",
                    section.size
                );
                checker.report(Rule::LayoutPieces, format!("output piece {index}"), what);
            }
            last = last.max(end);
        }
    }
}

/// Returns the size that the contents of a section have; `None` for those that may have any.
fn content_size(plan: &OutputLayout<'_>, section: &PlanSection<'_>) -> Option<usize> {
    match &section.content {
        PlanContent::None if is_no_bits(section.ty, section.flags) => None,
        PlanContent::None => Some(0),
        PlanContent::Bytes(bytes) => Some(bytes.len()),
        PlanContent::Pieces(_) | PlanContent::Alias(_) => None,
        PlanContent::Relocs(range) => {
            let row = if section.ty == sht::REL { 16 } else { 24 };
            Some((range.end as usize).saturating_sub(range.start as usize) * row)
        }
        PlanContent::SectionNames => Some(plan.section_names.len()),
        PlanContent::SymbolNames => Some(plan.symbol_names.len()),
        PlanContent::Symbols => Some(plan.symbols.len() * 24),
    }
}

fn sizes(checker: &mut Checker<'_, '_>, plan: &OutputLayout<'_>) {
    for (index, section) in plan.sections.iter().enumerate() {
        if let Some(size) = content_size(plan, section)
            && size as u64 != section.size
        {
            let what = format!(
                "its size is {:#x}, its contents have {size:#x}",
                section.size
            );
            checker.report(Rule::LayoutSize, place(index, section), what);
        }
    }
}

fn offsets(checker: &mut Checker<'_, '_>, plan: &OutputLayout<'_>) {
    let mut end = FILE_HEADER;
    for (index, section) in plan.sections.iter().enumerate() {
        if section.ty == sht::NULL {
            continue;
        }
        if let PlanContent::Alias(target) = section.content {
            let twin = plan.sections.get(target as usize);
            let same = |twin: &PlanSection<'_>| {
                (twin.offset, twin.size) == (section.offset, section.size)
                    && (target as usize) < index
            };
            if !twin.is_some_and(same) {
                let what = format!("it does not lie where section {target} does");
                checker.report(Rule::LayoutOffsets, place(index, section), what);
            }
            continue;
        }
        let aligned = section.offset.is_multiple_of(section.align.max(1));
        if !aligned || section.offset < end {
            let what = format!(
                "offset {:#x} is not after {end:#x} at alignment {}",
                section.offset, section.align
            );
            checker.report(Rule::LayoutOffsets, place(index, section), what);
        }
        if !is_no_bits(section.ty, section.flags) {
            end = section.offset.saturating_add(section.size);
        }
    }
    let headers = 64 * plan.sections.len() as u64;
    let mut table = |name: &str, offset: u64, size: u64| {
        let table_end = offset.saturating_add(size);
        if offset < end || !offset.is_multiple_of(8) || table_end > plan.file_size {
            let what = format!("{offset:#x} is not after {end:#x}, or leaves the file");
            checker.report(Rule::LayoutOffsets, name, what);
        }
        end = table_end;
    };
    table("section headers", plan.shoff, headers);
    if !plan.segments.is_empty() {
        let size = 56 * plan.segments.len() as u64;
        table("program headers", plan.phoff, size);
    }
}

pub(super) fn check_emitted(checker: &mut Checker<'_, '_>) {
    let module = checker.module;
    let Some(image) = &module.image else {
        checker.report(Rule::Image, "image", "there is none");
        return;
    };
    let Some(plan) = &module.plan else { return };
    // A damaged plan may ask for any size.
    if plan.file_size != image.len() as u64 {
        let what = format!("{} bytes, planned are {}", image.len(), plan.file_size);
        checker.report(Rule::Image, "image", what);
        return;
    }
    match elf::write(module, plan) {
        Ok(written) if written == *image => {}
        Ok(_) => checker.report(Rule::Image, "image", "the plan gives another"),
        Err(error) => checker.report(Rule::Image, "image", error),
    }
}
