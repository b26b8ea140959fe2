//! Headers, symbols and rows of the file against the plan.

use cuweld_elf::check::Findings;
use cuweld_elf::check::Rule;
use cuweld_elf::check::View;
use cuweld_elf::check::ViewSection;
use cuweld_elf::check::rows;
use cuweld_elf::raw::RawRel;
use cuweld_elf::raw::RawRela;
use cuweld_elf::target::section_types::sht;
use cuweld_ir::OutputLayout;
use cuweld_ir::plan::PlanContent;
use cuweld_ir::plan::PlanReloc;
use cuweld_ir::plan::PlanSection;
use cuweld_ir::plan::PlanSymbol;

pub(super) fn check(plan: &OutputLayout<'_>, view: &View<'_>, findings: &mut Findings) {
    headers(plan, view, findings);
    if plan.sections.len() != view.sections.len() {
        let what = format!(
            "{} sections, not {}",
            view.sections.len(),
            plan.sections.len()
        );
        findings.report(Rule::SectionsPlanned, b"", None, what);
        return;
    }
    for (section, row) in view.sections.iter().zip(&plan.sections) {
        section_header(section, row, findings);
        match &row.content {
            PlanContent::Symbols => symbols(plan, view, section, findings),
            PlanContent::Relocs(range) => {
                let planned = plan.relocs.get(range.start as usize..range.end as usize);
                relocs(section, planned.unwrap_or(&[]), findings);
            }
            _ => {}
        }
    }
}

fn headers(plan: &OutputLayout<'_>, view: &View<'_>, findings: &mut Findings) {
    let file = view.headers.file;
    let mut compare = |name: &str, at: u64, found: u64, planned: u64| {
        if found != planned {
            let what = format!("{name} is {found:#x}, not {planned:#x}");
            findings.report(Rule::HeadersPlanned, b"", at, what);
        }
    };
    compare("e_type", 16, file.e_type.get().into(), plan.e_type.into());
    compare(
        "e_version",
        20,
        file.version.get().into(),
        plan.legacy.unwrap_or(1).into(),
    );
    compare("e_entry", 24, file.entry.get(), 0);
    compare("e_phoff", 32, file.phoff.get(), plan.phoff);
    compare("e_shoff", 40, file.shoff.get(), plan.shoff);
    compare("e_flags", 48, file.flags.get().into(), plan.e_flags.into());
    compare(
        "the size of the file",
        0,
        view.image.len() as u64,
        plan.file_size,
    );
    compare(
        "e_phnum",
        56,
        view.headers.segments.len() as u64,
        plan.segments.len() as u64,
    );
    compare(
        "the section name table",
        62,
        view.headers.section_names as u64,
        plan.shstrndx.into(),
    );
    for (index, (found, planned)) in (0_u64..).zip(view.headers.segments.iter().zip(&plan.segments))
    {
        let at = plan.phoff.saturating_add(56 * index);
        compare("p_type", at, found.ty.get().into(), planned.ty.into());
        compare(
            "p_flags",
            at + 4,
            found.flags.get().into(),
            planned.flags.into(),
        );
        compare("p_offset", at + 8, found.offset.get(), planned.offset);
        compare("p_vaddr", at + 16, found.vaddr.get(), 0);
        compare("p_paddr", at + 24, found.paddr.get(), 0);
        compare("p_filesz", at + 32, found.filesz.get(), planned.file_size);
        compare("p_memsz", at + 40, found.memsz.get(), planned.mem_size);
        compare("p_align", at + 48, found.align.get(), 8);
    }
}

fn section_header(section: &ViewSection<'_>, row: &PlanSection<'_>, findings: &mut Findings) {
    if section.name != row.name {
        let name = String::from_utf8_lossy(section.name);
        findings.report(
            Rule::SectionsPlanned,
            row.name,
            None,
            format!("its name is '{name}'"),
        );
    }
    let header = section.header;
    let fields = [
        ("sh_type", u64::from(header.ty.get()), u64::from(row.ty)),
        ("sh_flags", header.flags.get(), row.flags.bits()),
        ("sh_addr", header.addr.get(), 0),
        ("sh_offset", header.offset.get(), row.offset),
        ("sh_size", header.size.get(), row.size),
        ("sh_link", header.link.get().into(), row.link.into()),
        ("sh_info", header.info.get().into(), row.info.into()),
        ("sh_addralign", header.align.get(), row.align),
        ("sh_entsize", header.entsize.get(), row.entsize),
    ];
    for (name, found, planned) in fields {
        if found != planned {
            let what = format!("{name} is {found:#x}, not {planned:#x}");
            findings.report(Rule::SectionsPlanned, row.name, None, what);
        }
    }
}

fn symbols(
    plan: &OutputLayout<'_>,
    view: &View<'_>,
    section: &ViewSection<'_>,
    findings: &mut Findings,
) {
    let found = view.symbols(section);
    for (index, (raw, planned)) in (0_u64..).zip(found.iter().zip(&plan.symbols)) {
        let read = PlanSymbol {
            name_offset: raw.name.get(),
            bind: raw.binding(),
            ty: raw.ty(),
            other: raw.other(),
            shndx: raw.shndx.get(),
            value: raw.value.get(),
            size: raw.size.get(),
        };
        let start = planned.name_offset as usize;
        let name = plan.symbol_names.get(start..).unwrap_or(&[]);
        let name = name.split(|byte| *byte == 0).next();
        if read != *planned || view.symbol_name(section, raw) != name {
            let what = format!("symbol {index} is {read:x?}, not {planned:x?}");
            findings.report(Rule::SymbolsPlanned, section.name, index * 24, what);
        }
    }
    if found.len() != plan.symbols.len() {
        let what = format!("{} symbols, not {}", found.len(), plan.symbols.len());
        findings.report(Rule::SymbolsPlanned, section.name, None, what);
    }
}

fn relocs(section: &ViewSection<'_>, planned: &[PlanReloc], findings: &mut Findings) {
    let is_rel = section.ty() == sht::REL;
    let found: Vec<PlanReloc> = if is_rel {
        rows::<RawRel>(section.bytes)
            .iter()
            .map(|row| PlanReloc {
                offset: row.offset.get(),
                ty: row.ty.get(),
                symbol: row.symbol.get(),
                addend: 0,
            })
            .collect()
    } else {
        rows::<RawRela>(section.bytes)
            .iter()
            .map(|row| PlanReloc {
                offset: row.offset.get(),
                ty: row.ty.get(),
                symbol: row.symbol.get(),
                addend: row.addend.get(),
            })
            .collect()
    };
    for (index, (found, planned)) in (0_u64..).zip(found.iter().zip(planned)) {
        let planned = PlanReloc {
            addend: if is_rel { 0 } else { planned.addend },
            ..*planned
        };
        if *found != planned {
            let at = index * if is_rel { 16 } else { 24 };
            let what = format!("row {index} is {found:x?}, not {planned:x?}");
            findings.report(Rule::RelocPlanned, section.name, at, what);
        }
    }
    if found.len() != planned.len() {
        let what = format!("{} rows, not {}", found.len(), planned.len());
        findings.report(Rule::RelocPlanned, section.name, None, what);
    }
}
