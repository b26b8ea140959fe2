//! `classify`: sections and symbols get their kinds.
//!
//! A section's kind comes from its type and name; the function that owns it from its header: code
//! from the symbol defined in it, other per-function sections and relocation
//! sections from the section that `sh_info` names. A function's register count comes from its
//! REGCOUNT record (`merge.md` sections 3 and 6, `nvinfo.md` section 2).
//!
//! Refused: what this linker would otherwise drop unseen.

mod headers;
mod records;
mod refused;
mod symbols;

use cuweld_ir::FunctionId;
use cuweld_ir::Module;
use cuweld_ir::Phase;
use cuweld_ir::Section;
use cuweld_ir::SectionId;
use cuweld_ir::SectionInfo;
use cuweld_ir::SectionKind;
use cuweld_ir::SymbolRef;
use cuweld_ir::target::attributes;
use cuweld_ir::target::section_types::constant_bank;
use cuweld_ir::target::section_types::shf;
use cuweld_ir::target::section_types::sht;

pub(crate) mod mercury;

use crate::pass::Changed;
use crate::pass::Pass;
use crate::pass::PassCx;
use crate::pass::PassError;

/// The `classify` pass.
pub struct Classify;

impl Pass for Classify {
    fn name(&self) -> &'static str {
        "classify"
    }

    fn summary(&self) -> &'static str {
        "Give every section its kind and its owner, and every function its register count"
    }

    fn requires(&self) -> Phase {
        Phase::Lowered
    }

    fn establishes(&self) -> Option<Phase> {
        Some(Phase::Classified)
    }

    fn run<'data>(
        &self,
        module: &mut Module<'data>,
        cx: &mut PassCx<'_, 'data>,
    ) -> Result<Changed, PassError> {
        let capmerc = module.is_capmerc();
        for section in module.sections.values_mut() {
            section.kind = match mercury::kind(section) {
                Some(kind) if capmerc => kind,
                _ if mercury::is_left_out(&module.objects[section.object], section) => {
                    SectionKind::Stripped
                }
                _ => kind(section),
            };
        }
        if module.target.is_mercury() && !capmerc {
            // nvlink warns of it; what is linked is the SASS of all objects.
            for function in module.functions.values_mut() {
                function.views.merc = None;
            }
        }
        owners(module);
        registers(module);
        for function in module.functions.values_mut() {
            function.flag_barriers = module.sections[function.views.sass.text].barriers_in_flags();
        }
        refused::refuse(module, cx)?;
        cx.statistics.add("sections", module.sections.len() as u64);
        cx.statistics
            .add("functions", module.functions.len() as u64);
        Ok(Changed::Yes)
    }
}

/// The kind of a section, from its type, flags and name.
fn kind(section: &Section<'_>) -> SectionKind {
    let name = section.name;
    let is_owned =
        section.flags & shf::INFO_LINK != 0 || matches!(section.info, SectionInfo::Section(_));
    match section.ty {
        sht::NULL => SectionKind::Null,
        sht::SYMTAB => SectionKind::Symbols,
        sht::SYMTAB_SHNDX => SectionKind::SymbolSectionIndices,
        sht::STRTAB if name == b".shstrtab" => SectionKind::SectionNames,
        sht::STRTAB => SectionKind::SymbolNames,
        sht::REL | sht::RELA => SectionKind::Relocs,
        sht::NOTE if name == b".note.nv.tkinfo" => SectionKind::ToolInfo,
        // Under either name it goes, as the linker writes its own (measured).
        sht::NOTE if matches!(name, b".note.nv.cuinfo" | b".note.nv.cuver") => {
            SectionKind::CudaInfo
        }
        sht::CUDA_INFO if is_owned => SectionKind::FunctionInfo,
        sht::CUDA_INFO => SectionKind::Info,
        sht::CUDA_COMPAT => SectionKind::Compat,
        sht::CUDA_CALLGRAPH => SectionKind::CallGraph,
        sht::CUDA_PROTOTYPE => SectionKind::Prototypes,
        sht::CUDA_RELOCINFO => SectionKind::RelAction,
        // What `-r -preserve-relocs` records is for people (measured: it changes nothing).
        sht::CUDA_RESOLVED_RELA => SectionKind::Stripped,
        sht::CUDA_GLOBAL => SectionKind::Global,
        sht::CUDA_GLOBAL_INIT => SectionKind::GlobalInit,
        sht::CUDA_LOCAL => SectionKind::Local,
        sht::CUDA_SHARED_RESERVED => SectionKind::ReservedShared,
        sht::CUDA_SHARED if is_owned => SectionKind::KernelShared,
        sht::CUDA_SHARED => SectionKind::ModuleShared,
        // The stub of a function in the unified table.
        sht::CUDA_UNIFIED_FUNCTION if section.flags & shf::EXECINSTR != 0 => SectionKind::Text,
        _ if name.starts_with(b".nv.uft") || name.starts_with(b".nv.udt") => SectionKind::Unified,
        _ if section.flags & shf::EXECINSTR != 0 => SectionKind::Text,
        ty => match constant_bank(ty) {
            Some(bank) if is_owned => SectionKind::FunctionConstants(bank),
            Some(bank) => SectionKind::ConstantBank(bank),
            None if ty == sht::PROGBITS
                && (name.starts_with(b".debug_") || name.starts_with(b".nv_debug_")) =>
            {
                SectionKind::Debug
            }
            None => SectionKind::Other,
        },
    }
}

fn owners(module: &mut Module<'_>) {
    let code: Vec<(FunctionId, SectionId)> = module
        .functions
        .iter()
        .map(|(id, function)| (id, function.views.sass.text))
        .collect();
    let mercury: Vec<(FunctionId, SectionId)> = module
        .functions
        .iter()
        .filter_map(|(id, function)| Some((id, function.views.merc?.text)))
        .collect();
    for (function, text) in mercury {
        let section = &mut module.sections[text];
        if section.kind == SectionKind::MercuryText && section.owner.is_none() {
            section.owner = Some(function);
        }
    }
    for (function, text) in code {
        // The first symbol of a section is its function; ptxas writes one function a section.
        let section = &mut module.sections[text];
        if section.kind == SectionKind::Text && section.owner.is_none() {
            section.owner = Some(function);
        }
    }
    let ids: Vec<SectionId> = module.sections.ids().collect();
    for pass in [false, true] {
        for &id in &ids {
            let section = &module.sections[id];
            // Relocation sections come second: their target may be owned only since the first round.
            let is_relocs = matches!(section.kind, SectionKind::Relocs | SectionKind::SassRelocs);
            if is_relocs != pass {
                continue;
            }
            if section.kind == SectionKind::CudaInfo {
                continue;
            }
            let SectionInfo::Section(target) = section.info else {
                continue;
            };
            let owner = module.sections[target].owner;
            let kind = section.kind;
            let is_mercury = section.flags & shf::MERCURY != 0;
            module.sections[id].owner = owner;
            let Some(function) = owner else { continue };
            let views = &mut module.functions[function].views;
            match kind {
                SectionKind::FunctionInfo if is_mercury => {
                    if let Some(merc) = &mut views.merc {
                        merc.info = Some(id);
                    }
                }
                SectionKind::FunctionInfo | SectionKind::SassFunctionInfo => {
                    views.sass.info = Some(id);
                }
                _ => {}
            }
        }
    }
}

fn registers(module: &mut Module<'_>) {
    for attribute in module.attributes.values() {
        if attribute.code != attributes::REGCOUNT {
            continue;
        }
        let Some(SymbolRef::Symbol(symbol)) = module
            .attribute_refs
            .get(attribute.refs.start as usize)
            .copied()
        else {
            continue;
        };
        if let (Some(function), Some(count)) = (module.symbols[symbol].function, attribute.word(0))
        {
            module.functions[function].registers = count;
        }
    }
}

/// Where a section is, for notes.
pub(crate) fn located(module: &Module<'_>, section: SectionId) -> String {
    let row = &module.sections[section];
    let object = &module.objects[row.object];
    let index = object.sections.ordinal(section).unwrap_or(0);
    format!(
        "in '{}', section {index} '{}'",
        object.display(),
        String::from_utf8_lossy(row.name)
    )
}

/// Position of an object in the order of messages.
pub(crate) trait IndexU32 {
    /// The id's index.
    fn index_u32(self) -> u32;
}

impl<K: cuweld_ir::table::EntityId> IndexU32 for K {
    fn index_u32(self) -> u32 {
        self.index() as u32
    }
}
