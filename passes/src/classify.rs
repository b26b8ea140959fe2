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
mod symbols;

use cuweld_ir::FunctionId;
use cuweld_ir::Module;
use cuweld_ir::Phase;
use cuweld_ir::Section;
use cuweld_ir::SectionId;
use cuweld_ir::SectionInfo;
use cuweld_ir::SectionKind;
use cuweld_ir::SymbolRef;
use cuweld_ir::table::EntityId;
use cuweld_ir::target::attributes;
use cuweld_ir::target::section_types::constant_bank;
use cuweld_ir::target::section_types::shf;
use cuweld_ir::target::section_types::sht;
use cuweld_ir::target::toolkit;
use foldhash::fast::FixedState;
use hashbrown::HashSet;

pub(crate) mod mercury;

use crate::diagnostic::Diagnostic;
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
        refuse_unsupported(module, cx)?;
        cx.statistics.add("sections", module.sections.len() as u64);
        cx.statistics
            .add("functions", module.functions.len() as u64);
        Ok(Changed::Yes)
    }
}

/// Whether a section is a constant bank by its type and another or none by its name, or the reverse. No compiler writes that.
fn has_foreign_bank(section: &Section<'_>) -> bool {
    let rest = section.name.strip_prefix(b".nv.constant");
    let digits = rest.map_or(0, |rest| {
        rest.iter().take_while(|byte| byte.is_ascii_digit()).count()
    });
    let named = rest
        .and_then(|rest| std::str::from_utf8(rest.get(..digits)?).ok())
        .and_then(|digits| digits.parse::<u8>().ok());
    let end = rest.and_then(|rest| rest.get(digits));
    match section.kind {
        SectionKind::ConstantBank(bank) => named != Some(bank) || end.is_some(),
        SectionKind::FunctionConstants(bank) => named != Some(bank) || end != Some(&b'.'),
        SectionKind::Other => rest.is_some(),
        _ => false,
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

fn refuse_unsupported(module: &Module<'_>, cx: &mut PassCx<'_, '_>) -> Result<(), PassError> {
    if module.target.is_mercury() && mercury::refuse(module, cx) {
        return Err(PassError::Diagnosed);
    }
    let mut refused = false;
    let capmerc = module.is_capmerc();
    let mut seen = HashSet::default();
    let shared_aligns = symbols::shared_aligns(module);
    for (id, section) in module.sections.iter() {
        let what = match section.kind {
            SectionKind::ReservedShared
                if section.size() != 0 && !symbols::has_symbols(module, id) =>
            {
                "variables in reserved shared memory"
            }
            // For executables `place-memory` says what nvlink says.
            SectionKind::Unified if module.target.is_mercury() => {
                "unified tables for sm_100 and up"
            }
            // One without symbols is left out: the linker makes its own (measured).
            SectionKind::RelAction
                if section.name != b".nv.rel.action"
                    || module.target.is_mercury()
                    || symbols::has_symbols(module, id) =>
            {
                "an object whose .nv.rel.action has another name or symbols"
            }
            SectionKind::Other if is_made_by_linker(section.name) => {
                "a section of another type than its name says"
            }
            SectionKind::FunctionConstants(_) | SectionKind::KernelShared
                if !is_only_one(&mut seen, section) =>
            {
                "two sections of one kind for a function"
            }
            SectionKind::FunctionConstants(bank)
                if !module.target.is_mercury() && !is_bank_of_owner(module, section, bank) =>
            {
                "a section of constants with an unusual name"
            }
            SectionKind::FunctionConstants(1..) if section.flags & shf::COMPRESSED != 0 => {
                "packed constants of a function"
            }
            SectionKind::ToolInfo | SectionKind::CudaInfo if section.align != 4 => {
                "a note that is not aligned to 4"
            }
            SectionKind::ToolInfo if section.flags & shf::CUDA_TOOL_NOTE == 0 => {
                "a note without its section flag"
            }
            SectionKind::CudaInfo if section.flags & shf::CUDA_INFO_NOTE == 0 => {
                "a note without its section flag"
            }
            SectionKind::Other if section.ty == sht::NOTE => "a note of another name",
            SectionKind::FunctionConstants(0) if !PARAMETER_ALIGNS.contains(&section.align) => {
                "an alignment of parameters that no compiler writes"
            }
            SectionKind::Relocs if section.ty == sht::REL && module.target.has_compat() => {
                "relocations without addends for a target whose compilers write addends"
            }
            SectionKind::ModuleShared | SectionKind::KernelShared
                if !shared_align_fits(section, shared_aligns[id.index()]) =>
            {
                "shared memory that is not aligned as its variables"
            }
            SectionKind::Text if section.owner.is_none() => "code that no function symbol names",
            SectionKind::Text if section.flags_with_barriers(0) & !shf::COMPRESSED & !7 != 0 => {
                "code with unusual section flags"
            }
            _ if !module.target.is_mercury() && has_foreign_bank(section) => {
                "a constant bank whose name is not that of its type"
            }
            SectionKind::ConstantBank(2) if !module.target.is_mercury() => {
                "a bank of compiler constants that is no function's"
            }
            SectionKind::Relocs | SectionKind::SassRelocs if !may_be_relocated(module, section) => {
                cx.diagnostics.emit(
                    Diagnostic::fatal("Internal error: unexpected reloc section")
                        .note(located(module, id))
                        .at(section.object.index_u32(), 0),
                );
                refused = true;
                continue;
            }
            _ if !module.target.is_mercury() && headers::is_odd(module, id) => {
                "a section header that no compiler writes"
            }
            _ => continue,
        };
        cx.diagnostics.emit(
            Diagnostic::fatal(format!("cuweld: unsupported: {what}"))
                .note(located(module, id))
                .at(section.object.index_u32(), 0),
        );
        refused = true;
    }
    let uses_partition = module.is_capmerc() && !module.options.relocatable;
    for reloc in module.relocs.values() {
        let target = reloc.target.symbol().map(|symbol| &module.symbols[symbol]);
        let what = if target.is_some_and(|symbol| {
            symbols::is_in_reserved(module, symbol)
                && !(uses_partition && symbol.name == toolkit::TENSOR_MEMORY_PARTITION)
        }) {
            "a reference to reserved shared memory"
        } else if !module.target.is_mercury() && records::is_odd_frame(module, reloc) {
            "a frame that refers to something else than code and frames"
        } else {
            continue;
        };
        cx.diagnostics.emit(
            Diagnostic::fatal(format!("cuweld: unsupported: {what}"))
                .note(located(module, reloc.section)),
        );
        refused = true;
    }
    if !module.target.is_mercury() {
        for id in records::incomplete_lists(module) {
            cx.diagnostics.emit(
                Diagnostic::fatal(
                    "cuweld: unsupported: a function without records that every function has",
                )
                .note(located(module, id))
                .at(module.sections[id].object.index_u32(), 0),
            );
            refused = true;
        }
    }
    if records::has_mask_beside_packed_lists(module) {
        cx.diagnostics.emit(Diagnostic::fatal(
            "cuweld: unsupported: sparse matrices beside packed lists of records",
        ));
        refused = true;
    }
    for attribute in module.attributes.values() {
        if let Some(what) = records::attribute_oddity(module, attribute)
            && !module.target.is_mercury()
        {
            let mut finding = Diagnostic::fatal(format!("cuweld: unsupported: {what}"))
                .note(format!("record {:#04x}", attribute.code));
            if let Some(section) = attribute.section {
                finding = finding.note(located(module, section));
            }
            cx.diagnostics.emit(finding);
            refused = true;
        }
    }
    for symbol in module.symbols.values() {
        if symbols::is_unmapped(module, symbol) {
            cx.diagnostics.emit(
                Diagnostic::fatal("Internal error: section not mapped")
                    .at(symbol.object.index_u32(), 0),
            );
            refused = true;
        } else if let Some(what) = symbols::oddity(module, symbol, capmerc) {
            cx.diagnostics.emit(
                Diagnostic::fatal(format!("cuweld: unsupported: {what}"))
                    .note(format!("'{}'", String::from_utf8_lossy(symbol.name)))
                    .at(symbol.object.index_u32(), 0),
            );
            refused = true;
        }
    }
    for symbol in symbols::shadowed(module) {
        cx.diagnostics.emit(
            Diagnostic::fatal(
                "cuweld: unsupported: a kernel or texture with the name of a local symbol in another object",
            )
            .note(format!("'{}'", String::from_utf8_lossy(symbol.name)))
            .at(symbol.object.index_u32(), 0),
        );
        refused = true;
    }
    if let Some(what) = symbols::call_graph_oddity(module) {
        cx.diagnostics
            .emit(Diagnostic::fatal(format!("cuweld: unsupported: {what}")));
        refused = true;
    }
    let mut has_parameters = vec![false; module.functions.len()];
    for section in module.sections.values() {
        if let (SectionKind::FunctionConstants(0), Some(owner)) = (section.kind, section.owner) {
            has_parameters[owner.index()] = true;
        }
    }
    for (id, function) in module.functions.iter() {
        if !module.target.is_mercury()
            && let Some(view) = function.views.merc
        {
            cx.diagnostics.emit(
                Diagnostic::fatal("cuweld: unsupported: Mercury in a link without Mercury")
                    .note(located(module, view.text))
                    .at(function.object.index_u32(), 0),
            );
            refused = true;
        }
        let section = &module.sections[function.views.sass.text];
        let owner = section.owner.map(|owner| module.functions[owner].symbol);
        if !capmerc && module.symbols[function.symbol].is_entry() != has_parameters[id.index()] {
            cx.diagnostics.emit(
                Diagnostic::fatal(
                    "cuweld: unsupported: a kernel without parameter bank, or a bank without kernel",
                )
                .note(located(module, function.views.sass.text))
                .at(function.object.index_u32(), 0),
            );
            refused = true;
        }
        if section.kind != SectionKind::Text || owner != Some(function.symbol) {
            cx.diagnostics.emit(
                Diagnostic::fatal("cuweld: unsupported: two functions in one section")
                    .note(located(module, function.views.sass.text))
                    .at(function.object.index_u32(), 0),
            );
            refused = true;
        }
    }
    if refused {
        Err(PassError::Diagnosed)
    } else {
        Ok(())
    }
}

/// Whether the linker makes sections of this name itself, so that another kind of section of that name would be taken
/// for one of them.
fn is_made_by_linker(name: &[u8]) -> bool {
    let whole: [&[u8]; 9] = [
        b".nv.info",
        b".nv.compat",
        b".nv.callgraph",
        b".nv.prototype",
        b".nv.rel.action",
        b".note.nv.tkinfo",
        b".note.nv.cuinfo",
        b".nv.global",
        b".nv_debug.shared",
    ];
    let beginnings: [&[u8]; 4] = [b".nv.info.", b".nv.shared.", b".nv.constant", b".text."];
    whole.contains(&name) || beginnings.iter().any(|start| name.starts_with(start))
}

/// Whether a section of constants has the name that the linker would give it.
fn is_bank_of_owner(module: &Module<'_>, section: &Section<'_>, bank: u8) -> bool {
    let start = format!(".nv.constant{bank}.");
    let rest = section.name.strip_prefix(start.as_bytes());
    section
        .owner
        .is_some_and(|owner| rest == Some(module.function_name(owner)))
}

/// Whether the function that owns a section has no other one of its kind.
fn is_only_one(
    seen: &mut HashSet<(FunctionId, Option<u8>), FixedState>,
    section: &Section<'_>,
) -> bool {
    let bank = match section.kind {
        SectionKind::FunctionConstants(bank) => Some(bank),
        _ => None,
    };
    section.owner.is_none_or(|owner| seen.insert((owner, bank)))
}

/// Alignments in bytes of `.nv.constant0.K`; compilers write 4.
const PARAMETER_ALIGNS: [u64; 2] = [4, 8];

/// Whether a section of shared memory has the alignment of its variables, or, a kernel's, a larger one.
fn shared_align_fits(section: &Section<'_>, of_variables: u64) -> bool {
    matches!(of_variables, 0 | u64::MAX)
        || section.align == of_variables
        || section.align > of_variables && section.kind == SectionKind::KernelShared
}

fn may_be_relocated(module: &Module<'_>, section: &Section<'_>) -> bool {
    let SectionInfo::Section(target) = section.info else {
        return false;
    };
    if module.sections[target].kind == SectionKind::Text
        && module.sections[target].ty == sht::NOBITS
    {
        return false;
    }
    !matches!(
        module.sections[target].kind,
        SectionKind::Null
            | SectionKind::Symbols
            | SectionKind::SectionNames
            | SectionKind::SymbolNames
            | SectionKind::SymbolSectionIndices
            | SectionKind::Relocs
            | SectionKind::Info
            | SectionKind::FunctionInfo
            | SectionKind::MercurySymbols
            | SectionKind::SassInfo
            | SectionKind::SassFunctionInfo
            | SectionKind::SassRelocs
            | SectionKind::CallGraph
            | SectionKind::Prototypes
            | SectionKind::Compat
            | SectionKind::ToolInfo
            | SectionKind::CudaInfo
    )
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
