//! From `classified` on: what sections are, and which function owns them.

use super::Checker;
use super::Rule;
use crate::section::Section;
use crate::section::SectionKind;
use cuweld_elf::target::section_types::SectionFlags;
use cuweld_elf::target::section_types::constant_bank;
use cuweld_elf::target::section_types::is_info;
use cuweld_elf::target::section_types::is_relocs;
use cuweld_elf::target::section_types::sht;

pub(super) fn check(checker: &mut Checker<'_, '_>) {
    let module = checker.module;
    for (id, section) in module.sections.iter() {
        if section.kind == SectionKind::Unclassified {
            let place = checker.section(id);
            checker.report(Rule::KindSet, place, "it has no kind");
        } else if !fits(section) {
            let what = format!("its type does not make it {:?}", section.kind);
            let place = checker.section(id);
            checker.report(Rule::KindForm, place, what);
        }
        let owner = section.owner.map(|owner| module.functions[owner]);
        let owned = owner.is_some_and(|owner| owner.views.sass.text == id);
        if section.kind == SectionKind::Text && !owned {
            let place = checker.section(id);
            checker.report(Rule::TextOwner, place, "no function owns it as its code");
        }
    }
    for (id, function) in module.functions.iter() {
        let view = function.views.sass;
        let text = &module.sections[view.text];
        let size = match function.views.merc {
            Some(_) => function.merc_size,
            None => module.symbols[function.symbol].size,
        };
        let is_owned = text.owner.is_some_and(|owner| owner == id || size == 0);
        if text.kind != SectionKind::Text || !is_owned {
            let what = format!("it does not own its code {}", checker.section(view.text));
            let place = checker.function(id);
            checker.report(Rule::TextOwner, place, what);
        }
        let merged = function.views.merged_info();
        let views = [Some(view), function.views.merc];
        for info in views.into_iter().flatten().filter_map(|view| view.info) {
            let row = &module.sections[info];
            let kind = if merged == Some(info) {
                SectionKind::FunctionInfo
            } else {
                SectionKind::SassFunctionInfo
            };
            if row.kind != kind || row.owner != Some(id) {
                let what = format!("its attributes are {}", checker.section(info));
                let place = checker.function(id);
                checker.report(Rule::FunctionInfo, place, what);
            }
        }
    }
}

/// Returns `true` if a kind is one that the type and the flags of a section can have.
fn fits(section: &Section<'_>) -> bool {
    let ty = section.ty;
    match section.kind {
        SectionKind::Null => ty == sht::NULL,
        SectionKind::SectionNames | SectionKind::SymbolNames => ty == sht::STRTAB,
        SectionKind::Symbols => ty == sht::SYMTAB,
        SectionKind::SymbolSectionIndices => ty == sht::SYMTAB_SHNDX,
        SectionKind::Relocs => is_relocs(ty),
        SectionKind::SassRelocs => matches!(ty, sht::REL | sht::RELA),
        SectionKind::ToolInfo | SectionKind::CudaInfo => ty == sht::NOTE,
        SectionKind::Info | SectionKind::FunctionInfo => is_info(ty),
        SectionKind::SassInfo | SectionKind::SassFunctionInfo => ty == sht::CUDA_INFO,
        SectionKind::MercuryText => ty == sht::CUDA_CAPMERC,
        SectionKind::MercurySymbols => ty == sht::CUDA_MERCURY_SYMTAB,
        SectionKind::SassParameters => ty == sht::CUDA_CONSTANT0,
        SectionKind::Compat => ty == sht::CUDA_COMPAT,
        SectionKind::CallGraph => ty == sht::CUDA_CALLGRAPH,
        SectionKind::Prototypes => ty == sht::CUDA_PROTOTYPE,
        SectionKind::Text => section.flags.contains(SectionFlags::EXECINSTR),
        SectionKind::ConstantBank(bank) | SectionKind::FunctionConstants(bank) => {
            constant_bank(ty) == Some(bank)
        }
        _ => true,
    }
}
