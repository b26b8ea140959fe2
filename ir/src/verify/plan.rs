//! From `laid-out` on: the plan of the output file, by what it refers to.

use super::Checker;
use super::Rule;
use super::file;
use super::file::place;
use crate::plan::OutputLayout;
use crate::plan::PlanContent;
use crate::plan::PlanSection;
use crate::reloc::Reloc;
use crate::reloc::RelocAction;
use crate::section::SectionInfo;
use crate::section::SectionKind;
use crate::table::EntityId;
use cuweld_elf::raw::SHN_LORESERVE;
use cuweld_elf::symbol::Binding;
use cuweld_elf::target::relocs::is_yield;
use cuweld_elf::target::section_types::SectionFlags;
use cuweld_elf::target::section_types::sht;

pub(super) fn check(checker: &mut Checker<'_, '_>) {
    let Some(plan) = &checker.module.plan else {
        checker.report(Rule::LayoutSet, "plan", "there is none");
        return;
    };
    tables(checker, plan);
    names(checker, plan);
    links(checker, plan);
    symbols(checker, plan);
    relocs(checker, plan);
    carried(checker, plan);
    file::check(checker, plan);
}

/// Returns the place of the only section with these contents.
fn only(plan: &OutputLayout<'_>, wanted: impl Fn(&PlanContent<'_>) -> bool) -> Option<usize> {
    let mut found = (0..)
        .zip(&plan.sections)
        .filter(|(_, section)| wanted(&section.content));
    let (index, _) = found.next()?;
    found.next().is_none().then_some(index)
}

fn tables(checker: &mut Checker<'_, '_>, plan: &OutputLayout<'_>) {
    let section_names = only(plan, |content| *content == PlanContent::SectionNames);
    if section_names.is_none() || section_names != Some(plan.shstrndx as usize) {
        let what = "shstrndx does not name the one table of section names";
        checker.report(Rule::LayoutTables, "plan", what);
    }
    if only(plan, |content| *content == PlanContent::SymbolNames).is_none()
        || only(plan, |content| *content == PlanContent::Symbols).is_none()
    {
        let what = "there is not one table each of symbols and of their names";
        checker.report(Rule::LayoutTables, "plan", what);
    }
    if plan.segments.len() > u16::MAX.into() {
        let what = "there are more segments than a header can number";
        checker.report(Rule::LayoutTables, "plan", what);
    }
    // What does not fit into the file header stands in the null section.
    let reserved = usize::from(SHN_LORESERVE);
    let count = plan.sections.len();
    let size = if count > reserved { count } else { 0 };
    let link = if plan.shstrndx as usize >= reserved {
        plan.shstrndx
    } else {
        0
    };
    let null_section = plan.sections.first().is_some_and(|section| {
        section.ty == sht::NULL
            && section.name.is_empty()
            && section.content == PlanContent::None
            && section.flags.is_empty()
            && (section.offset, section.size) == (0, size as u64)
            && (section.link, section.info) == (link, 0)
    });
    // Its value need not be 0 [null-symbol-of-discarded].
    let null_symbol = plan.symbols.first().is_some_and(|symbol| {
        let info = symbol.bind.info(symbol.ty);
        (symbol.name_offset, info, symbol.shndx) == (0, 0, 0) && symbol.size == 0
    });
    if !null_section || !null_symbol {
        checker.report(Rule::LayoutNull, "plan", "a row 0 is not null");
    }
}

fn names(checker: &mut Checker<'_, '_>, plan: &OutputLayout<'_>) {
    for (index, section) in plan.sections.iter().enumerate() {
        let rest = plan.section_names.get(section.name_offset as usize..);
        let rest = rest.and_then(|rest| rest.strip_prefix(section.name));
        if !matches!(rest, Some([0, ..])) {
            let what = format!("its name is not at {:#x}", section.name_offset);
            checker.report(Rule::LayoutNames, place(index, section), what);
        }
    }
    // A string that begins within a table which ends with a NUL ends within it too.
    if plan.symbol_names.last() != Some(&0) {
        checker.report(Rule::LayoutNames, "symbol names", "they end without a NUL");
    }
    for (index, symbol) in plan.symbols.iter().enumerate() {
        if symbol.name_offset as usize >= plan.symbol_names.len() {
            let what = format!("its name {:#x} is outside the table", symbol.name_offset);
            checker.report(Rule::LayoutNames, format!("output symbol {index}"), what);
        }
    }
}

fn links(checker: &mut Checker<'_, '_>, plan: &OutputLayout<'_>) {
    let content = |index: u32| plan.sections.get(index as usize).map(|row| &row.content);
    for (index, section) in plan.sections.iter().enumerate() {
        let linked = content(section.link);
        let what = if linked.is_none() {
            "its link names no section"
        } else if section.ty == sht::SYMTAB && linked != Some(&PlanContent::SymbolNames) {
            "its link does not name the symbol names"
        } else if is_relocs(section) && linked != Some(&PlanContent::Symbols) {
            "its link does not name the symbols"
        } else if (is_relocs(section) || section.flags.contains(SectionFlags::INFO_LINK))
            && content(section.info).is_none()
        {
            "its info names no section"
        } else if section.flags & (SectionFlags::EXECINSTR | SectionFlags::INFO_LINK)
            == SectionFlags::EXECINSTR
            && (section.info & 0x00ff_ffff) as usize >= plan.symbols.len()
        {
            "its info names no symbol"
        } else {
            continue;
        };
        checker.report(Rule::LayoutLinks, place(index, section), what);
    }
}

fn is_relocs(section: &PlanSection<'_>) -> bool {
    matches!(section.ty, sht::REL | sht::RELA)
}

fn symbols(checker: &mut Checker<'_, '_>, plan: &OutputLayout<'_>) {
    let table = plan
        .sections
        .iter()
        .find(|section| section.content == PlanContent::Symbols);
    let first_global = table.map_or(0, |table| table.info as usize);
    if first_global > plan.symbols.len() {
        let what = format!("the global part begins at {first_global}");
        checker.report(Rule::LayoutSymbols, "output symbols", what);
    }
    for (index, symbol) in plan.symbols.iter().enumerate() {
        let place = || format!("output symbol {index}");
        if symbol.shndx < SHN_LORESERVE && usize::from(symbol.shndx) >= plan.sections.len() {
            let what = format!("its section {} does not exist", symbol.shndx);
            checker.report(Rule::LayoutSymbols, place(), what);
        }
        if symbol.bind == Binding::LOCAL && index >= first_global.max(1) {
            let what = "it is local and stands in the global part";
            checker.report(Rule::LayoutSymbols, place(), what);
        }
    }
}

fn relocs(checker: &mut Checker<'_, '_>, plan: &OutputLayout<'_>) {
    let (mut next_piece, mut next_reloc) = (0, 0);
    for (index, section) in plan.sections.iter().enumerate() {
        let (range, next, length) = match &section.content {
            PlanContent::Pieces(range) => (range, &mut next_piece, plan.pieces.len()),
            PlanContent::Relocs(range) => (range, &mut next_reloc, plan.relocs.len()),
            _ => continue,
        };
        if range.start != *next || range.end < range.start || range.end as usize > length {
            let what = format!("its range {range:?} does not begin at {next}");
            checker.report(Rule::LayoutRanges, place(index, section), what);
        }
        *next = range.end;
    }
    if next_piece as usize != plan.pieces.len() || next_reloc as usize != plan.relocs.len() {
        let what = "pieces or relocations are left over";
        checker.report(Rule::LayoutRanges, "plan", what);
    }
    // Rows of ranges that overlap would be looked at again and again.
    if checker.has(Rule::LayoutRanges) {
        return;
    }
    for section in &plan.sections {
        let PlanContent::Relocs(range) = &section.content else {
            continue;
        };
        let patched = plan.sections.get(section.info as usize);
        let size = patched.map_or(0, |patched| patched.size);
        let rows = plan.relocs.get(range.start as usize..range.end as usize);
        for (index, reloc) in (range.start..).zip(rows.unwrap_or(&[])) {
            // Offsets in Mercury code count bytes of a form that no file holds.
            let in_code = patched.is_some_and(|patched| patched.ty == sht::CUDA_CAPMERC);
            let inside = reloc.offset < size || in_code;
            if reloc.symbol as usize >= plan.symbols.len() || !inside {
                let what = format!(
                    "offset {:#x} of {size:#x} bytes, symbol {}",
                    reloc.offset, reloc.symbol
                );
                checker.report(
                    Rule::LayoutRelocs,
                    format!("output relocation {index}"),
                    what,
                );
            }
        }
    }
    file::pieces(checker, plan);
}

/// Checks that the output layout leaves out nothing that is to be written.
fn carried(checker: &mut Checker<'_, '_>, plan: &OutputLayout<'_>) {
    let module = checker.module;
    // Rows of constants of functions stand in the Mercury view of each bank that the constants are
    // part of.
    let of_constants = |reloc: &Reloc| match module.sections[reloc.section].info {
        SectionInfo::Section(patched) => {
            let patched = &module.sections[patched];
            patched.kind == SectionKind::MercuryTwin && patched.owner.is_some()
        }
        _ => false,
    };
    let is_kept =
        |reloc: &&Reloc| matches!(reloc.plan, RelocAction::Keep { .. }) && !of_constants(reloc);
    let kept = module.relocs.values().filter(is_kept).count();
    let kernels = module.functions.iter();
    let mut created: usize = kernels
        .filter(|(_, kernel)| kernel.header_kinds != 0)
        .map(|(id, _)| module.header_slots_of(id).count())
        .sum();
    let capmerc = module.is_capmerc();
    if capmerc {
        // Both views have them.
        created *= 2;
    }
    // Rows that were applied, which `-preserve-relocs` shows, are not for the driver.
    let resolved = plan
        .sections
        .iter()
        .filter(|section| {
            let patched = plan.sections.get(section.info as usize);
            matches!(
                section.ty,
                sht::CUDA_RESOLVED_RELA | sht::CUDA_MERCURY_RESOLVED_RELA
            ) || section.ty == sht::CUDA_MERCURY_RELA
                && patched.is_some_and(|row| row.ty == sht::CUDA_MERCURY_CONSTANT_OPTIMIZER)
        })
        .filter_map(|section| match &section.content {
            PlanContent::Relocs(range) => Some(range.len()),
            _ => None,
        });
    // Rows of instructions that yield are made from the code where there is Mercury.
    let of_yields = plan.relocs.iter().filter(|row| capmerc && is_yield(row.ty));
    let others = resolved.sum::<usize>() + of_yields.count();
    let rows = plan.relocs.len().saturating_sub(others);
    if kept.saturating_add(created) != rows {
        let what = format!("{kept} are kept and {created} created, {rows} rows are planned");
        checker.report(Rule::LayoutKept, "output relocations", what);
    }
    let mut copies = vec![0u32; module.sections.len()];
    for piece in &plan.pieces {
        copies[piece.section.index()] += 1;
    }
    for ((id, section), copies) in module.sections.iter().zip(copies) {
        let expected = matches!(
            section.kind,
            SectionKind::Text
                | SectionKind::ConstantBank(_)
                | SectionKind::GlobalInit
                | SectionKind::Debug
                | SectionKind::Other
        );
        // Of objects with Mercury only what belongs to linked functions stays in these sections of
        // the SASS view.
        let is_rebuilt = matches!(
            section.name,
            b".debug_frame" | b".debug_line" | b".nv_debug_line_sass" | b".nv_debug_info_reg_sass"
        );
        // Constants that were laid out again are no copies of sections.
        let is_again = matches!(section.kind, SectionKind::ConstantBank(bank) if !module.pool(bank).is_empty());
        let expected = expected && !(capmerc && is_rebuilt) && !is_again;
        // nvlink stores equal ones once [equal-constants-merged].
        let is_merged =
            module.options.strict && section.kind == SectionKind::ConstantBank(3) && copies == 0;
        let expected = expected && !is_merged;
        let has_bytes = !section.bytes().is_empty();
        if expected && has_bytes && module.is_section_linked(id) && copies != 1 {
            let place = checker.section(id);
            checker.report(
                Rule::LayoutCarried,
                place,
                format!("the file has {copies} copies"),
            );
        }
    }
}
