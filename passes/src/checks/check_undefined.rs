//! `check-undefined`: what is live and undefined is an error, unless the driver provides it.
//!
//! Parameters of kernels that an older object of the link does not allow are errors after those.
//!
//! Each name is reported once, for the first object that names it, after the warnings about stacks
//! and the errors about memory [errors-in-order]. Executables only.

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::codes::input;
use cuweld_diagnostics::codes::link;
use cuweld_elf::behaviours;
use cuweld_elf::known_symbols;
use cuweld_elf::symbol::Binding;
use cuweld_elf::symbol::SymbolType;
use cuweld_ir::LinkSymbolId;
use cuweld_ir::Module;
use cuweld_ir::Phase;
use cuweld_ir::SectionInfo;
use cuweld_ir::SectionKind;
use cuweld_ir::Symbol;
use cuweld_ir::table::EntityId;

use super::large_parameters;
use crate::analyses::Meanings;
use crate::analyses::Preserved;
use crate::link::plan_relocations::ends_link;
use crate::pass::Changed;
use crate::pass::Pass;
use crate::pass::PassCx;
use crate::pass::PassError;
use crate::pass::PassInfo;
use crate::pass::Required;

/// Returns `true` if an undefined symbol needs a definition.
fn needs_definition(module: &Module<'_>, symbol: &Symbol<'_>) -> bool {
    let name = symbol.name;
    match symbol.ty {
        _ if symbol.bind == Binding::LOCAL => false,
        _ if symbol.bind == Binding::WEAK && weak_may_be_undefined(module) => false,
        SymbolType::FUNC => !module.toolkit.is_system_function(name),
        SymbolType::OBJECT | SymbolType::CUDA_OBJECT => {
            let allowed = module.options.allow_undefined_globals;
            let left_to_driver = allowed && symbol.is_global_memory();
            !(left_to_driver
                || symbol.is_dynamic_shared()
                || known_symbols::is_unified_table_symbol(name)
                || known_symbols::is_of_driver(name))
        }
        _ => false,
    }
}

/// Returns `true` if what is only weakly referred to need not be defined [weak-may-be-undefined].
fn weak_may_be_undefined(module: &Module<'_>) -> bool {
    module
        .toolkit
        .has(&behaviours::symbols::WEAK_MAY_BE_UNDEFINED)
}

/// The `check-undefined` pass.
#[derive(Debug, Default)]
pub struct CheckUndefined;

impl Pass for CheckUndefined {
    fn info(&self) -> PassInfo {
        PassInfo {
            name: "check-undefined",
            summary: "Report what is kept and defined nowhere",
            doc: include_str!("check_undefined.rs"),
            requires: Phase::Live,
            before: Some(Phase::Emitted),
            required: Required::Unless("relocatable"),
            once: true,
            reports: true,
            preserves: Preserved::All,
            ..PassInfo::DEFAULT
        }
    }

    fn run<'data>(
        &self,
        module: &mut Module<'data>,
        cx: &mut PassCx<'_, 'data>,
    ) -> Result<Changed, PassError> {
        if !module.options.relocatable && loses_code_among_left_out(module) {
            cx.diagnostics
                .emit(Diagnostic::fatal(input::PRUNED_RELOCATION, "Internal error: unexpected reloc").note(
                "nvlink fails where kernels are left out and a copy of a function replaced another",
            ));
            return Err(PassError::Diagnosed);
        }
        if module.options.relocatable {
            return Ok(Changed::No);
        }
        let large = large_parameters::found(module);
        let has_large = !large.is_empty();
        for finding in large {
            cx.diagnostics.emit(finding.at(u32::MAX - 1, 0));
        }
        if report_undefined(module, cx) {
            let meanings = cx.analyses.get::<Meanings>(module);
            if let Some(finding) = ends_link(module, meanings) {
                // nvlink finds it after all of them.
                cx.diagnostics.emit(finding.at(u32::MAX, 0));
            }
            return Err(PassError::Diagnosed);
        }
        match has_large {
            true => Err(PassError::Diagnosed),
            false => Ok(Changed::No),
        }
    }
}

/// Returns `true` if a link of Mercury names the kernels or variables that it keeps, and has code
/// with relocations that a later definition replaced: nvlink does not link such inputs, whatever is
/// named [named-kernels-lose-code].
fn loses_code_among_left_out(module: &Module<'_>) -> bool {
    let options = &module.options;
    let names_kernels = options.host.kernels_external.is_some()
        || options.host.kernels_used.is_some()
        || options.host.variables_used.is_some();
    let rule = &behaviours::mercury::NAMED_KERNELS_LOSE_CODE;
    if !names_kernels || !module.is_capmerc() || !module.toolkit.has(rule) {
        return false;
    }
    module.sections.values().any(|section| {
        let (SectionKind::Relocs, Some(owner), SectionInfo::Section(patched)) =
            (section.kind, section.owner, section.info)
        else {
            return false;
        };
        let function = &module.functions[owner];
        let link = module.symbols[function.symbol].link;
        let chosen = link.and_then(|link| module.link_symbols[link].definition);
        module.sections[patched].kind == SectionKind::MercuryText
            && !section.relocs.is_empty()
            && function.fate.ever_prevailed()
            && chosen.is_some_and(|chosen| module.symbols[chosen].object > function.object)
    })
}

/// Reports what is live and undefined, each name once with the places that refer to it.
fn report_undefined(module: &Module<'_>, cx: &mut PassCx<'_, '_>) -> bool {
    let mut found = false;
    for (id, link) in module.link_symbols.iter() {
        let symbol = &module.symbols[link.first];
        if link.definition.is_some() || !link.live.is_live() || !needs_definition(module, symbol) {
            continue;
        }
        found = true;
        let name = String::from_utf8_lossy(symbol.name);
        let file = module.objects[symbol.object].display();
        let mut diagnostic = Diagnostic::error(
            link::UNDEFINED,
            format!("Undefined reference to '{name}' in '{file}'"),
        )
        .at(symbol.object.index_u32(), id.index_u32());
        for caller in callers(module, id, 4) {
            diagnostic = diagnostic.note(format!("referenced by {caller}"));
        }
        if let Some(library) = known_library(symbol.name) {
            diagnostic = diagnostic.help(format!("{library} defines it"));
        }
        cx.diagnostics.emit(diagnostic);
    }
    found
}

/// Returns up to `limit` functions and sections that refer to an undefined name.
fn callers(module: &Module<'_>, id: LinkSymbolId, limit: usize) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for reloc in module.relocs.values() {
        let Some(symbol) = reloc.target.symbol() else {
            continue;
        };
        if module.symbols[symbol].link != Some(id) || !module.is_section_linked(reloc.section) {
            continue;
        }
        let section = &module.sections[reloc.section];
        let place = match section.owner {
            Some(function) => String::from_utf8_lossy(module.function_name(function)).into_owned(),
            None => String::from_utf8_lossy(section.name).into_owned(),
        };
        let place = format!(
            "'{place}' in '{}'",
            module.objects[section.object].display()
        );
        if !found.contains(&place) {
            found.push(place);
            if found.len() == limit {
                break;
            }
        }
    }
    found
}

/// Returns the library that defines a well-known undefined name.
fn known_library(name: &[u8]) -> Option<&'static str> {
    if name.starts_with(b"cudaGetParameterBuffer")
        || name.starts_with(b"cudaLaunchDevice")
        || name.starts_with(b"__cudaCDP2")
        || name.starts_with(b"cudaDeviceSynchronize")
    {
        Some("the device runtime library (-lcudadevrt)")
    } else if name.starts_with(b"nvshmem") {
        Some("NVSHMEM's device library (-lnvshmem_device)")
    } else {
        None
    }
}
