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

use cuweld_ir::Function;
use cuweld_ir::FunctionId;
use cuweld_ir::Module;
use cuweld_ir::Object;
use cuweld_ir::Phase;
use cuweld_ir::Section;
use cuweld_ir::SectionId;
use cuweld_ir::SectionInfo;
use cuweld_ir::SectionKind;
use cuweld_ir::SymbolRef;
use cuweld_ir::table::PrimaryMap;
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
        kinds(module);
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

/// Gives sections kinds and owners and functions what their records say, object by object: no row of one refers to another.
fn kinds(module: &mut Module<'_>) {
    let capmerc = module.is_capmerc();
    let Module {
        objects,
        sections,
        symbols,
        functions,
        attributes,
        attribute_refs,
        target,
        ..
    } = module;
    for object in objects.values() {
        for id in object.sections.iter() {
            let section = &mut sections[id];
            section.kind = match capmerc.then(|| mercury::kind(section)).flatten() {
                Some(kind) => kind,
                None if mercury::is_left_out(object, section) => SectionKind::Stripped,
                None => kind(section),
            };
        }
        for id in object.functions.iter() {
            let function = &mut functions[id];
            if target.is_mercury() && !capmerc {
                // nvlink warns of it; what is linked is the SASS of all objects.
                function.views.merc = None;
            }
            if let Some(merc) = function.views.merc {
                let section = &mut sections[merc.text];
                if section.kind == SectionKind::MercuryText {
                    section.owner.get_or_insert(id);
                }
            }
            // The first symbol of a section is its function; ptxas writes one function a section.
            let section = &mut sections[function.views.sass.text];
            if section.kind == SectionKind::Text {
                section.owner.get_or_insert(id);
            }
            function.flag_barriers = section.barriers_in_flags();
        }
        owners(object, sections, functions);
        for attribute in &attributes[object.attributes] {
            if attribute.code != attributes::REGCOUNT {
                continue;
            }
            let target = attribute_refs.get(attribute.refs.start as usize);
            if let Some(SymbolRef::Symbol(symbol)) = target
                && let (Some(function), Some(count)) =
                    (symbols[*symbol].function, attribute.word(0))
            {
                functions[function].registers = count;
            }
        }
    }
}

/// Gives the sections of an object, whose code has its functions, those of what they belong to.
fn owners(
    object: &Object<'_>,
    sections: &mut PrimaryMap<SectionId, Section<'_>>,
    functions: &mut PrimaryMap<FunctionId, Function>,
) {
    for is_second in [false, true] {
        for id in object.sections.iter() {
            let section = &sections[id];
            // Relocation sections come second: their target may be owned only since the first round.
            let is_relocs = matches!(section.kind, SectionKind::Relocs | SectionKind::SassRelocs);
            if is_relocs != is_second || section.kind == SectionKind::CudaInfo {
                continue;
            }
            let SectionInfo::Section(target) = section.info else {
                continue;
            };
            let owner = sections[target].owner;
            let section = &mut sections[id];
            section.owner = owner;
            let Some(function) = owner else { continue };
            let views = &mut functions[function].views;
            match section.kind {
                SectionKind::FunctionInfo if section.flags & shf::MERCURY != 0 => {
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
