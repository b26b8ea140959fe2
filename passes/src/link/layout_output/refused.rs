//! Links that are refused: with more than 65279 sections, where nvlink makes a section whose number
//! we do not know, with copies of functions that it makes anew or code that it makes anew for the
//! debugger, and with functions that it names by an alias.

use cuweld_ir::FunctionId;
use cuweld_ir::LinkSymbolId;
use cuweld_ir::Module;
use cuweld_ir::Section;
use cuweld_ir::SectionKind;
use cuweld_ir::function::Fate;

use crate::analyses::Analyses;
use crate::analyses::aliases_before_functions;
use crate::analyses::code_changes::CodeChanges;
use crate::link::place_memory::constant_merge::is_active;

/// Returns `true` if there are several copies of a function in objects with Mercury before the
/// first of SASS alone, which make the link one of SASS: nvlink leaves out frames of some.
pub(super) fn replaces_converted(module: &Module<'_>) -> bool {
    let Some(first) = module.first_sass_object() else {
        return false;
    };
    let mut functions = module.functions.values();
    functions.any(|function| function.object < first && function.fate.is_non_prevailing())
}

/// Returns the first function with Mercury before the first object of SASS alone that nvlink
/// compiles for the debugger when it makes its code anew.
pub(super) fn converted_for_debugger(
    module: &Module<'_>,
    analyses: &Analyses,
) -> Option<FunctionId> {
    let is_for_debugger = module.is_for_debugger();
    let first = module.first_sass_object().filter(|_| is_for_debugger)?;
    let changes = analyses.get::<CodeChanges>(module);
    let mut functions = module.functions.iter();
    let found = functions.find(|(id, function)| {
        function.object < first && module.is_function_live(*id) && changes.of(module, *id).is_some()
    });
    found.map(|(id, _)| id)
}

/// Returns the first linked alias that comes before its function in its object, where an object
/// before refers to the alias: nvlink names the sections of the function by it.
pub(super) fn referenced_alias(module: &Module<'_>) -> Option<LinkSymbolId> {
    aliases_before_functions(module).find_map(|(alias, _)| {
        let link = module.symbols[module.functions[alias].symbol].link?;
        let row = &module.link_symbols[link];
        let is_linked = row.live.is_live() && module.link_function(link) == Some(alias);
        let is_referenced = module.symbols[row.first].is_undefined();
        (is_linked && is_referenced).then_some(link)
    })
}

/// Returns the property of the link for which nvlink makes further sections.
pub(super) fn unknown_numbers(module: &Module<'_>) -> Option<&'static str> {
    if module.options.force_rela {
        return Some("with --force-rela");
    }
    if module.options.preserve_relocs {
        return Some("with -preserve-relocs");
    }
    if module.options.relocatable {
        return None;
    }
    let textures = module
        .link_symbols
        .values()
        .any(|link| module.symbols[link.first].ty.is_header());
    if textures {
        return Some("with textures or surfaces");
    }
    let constants = || {
        module.included_objects().any(|(_, object)| {
            let mut sections = object.sections.iter();
            sections.any(|id| matches!(module.sections[id].kind, SectionKind::ConstantBank(_)))
        })
    };
    if is_active(module) && constants() {
        return Some("with __constant__ variables while kernels are left out");
    }
    let emptied = |piece| module.bank_size(piece) == 0;
    if module.bank_pieces.iter().any(emptied) {
        return Some("with constants of a weak function that another copy left empty");
    }
    let loses_constants = |section: &Section<'_>| {
        matches!(section.kind, SectionKind::FunctionConstants(1..))
            && section
                .owner
                .is_some_and(|owner| module.functions[owner].fate == Fate::Replaced)
    };
    if module.sections.values().any(loses_constants) {
        return Some("with constants of a weak function that another copy replaced");
    }
    let replaced = module.replaced_functions().any(|(function, _)| {
        let link = module.symbols[module.functions[function].symbol].link;
        link.is_some_and(|link| !module.link_symbols[link].live.is_live())
    });
    replaced.then_some("with a dead function of which one copy replaced another")
}
