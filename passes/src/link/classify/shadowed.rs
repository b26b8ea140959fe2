//! Names that an object has for itself and another one uses too, which nvlink confuses.

use cuweld_elf::known_symbols;
use cuweld_ir::Module;
use cuweld_ir::ObjectId;
use cuweld_ir::Section;
use cuweld_ir::SectionKind;
use cuweld_ir::Symbol;
use cuweld_ir::table::EntityId;
use foldhash::fast::FixedState;
use hashbrown::HashMap;

use super::symbols::is_header_parameter;
use crate::link::select_objects;

/// Returns `true` if a symbol is one whose name no kernel or texture of another object may have.
pub(super) fn may_shadow(symbol: &Symbol<'_>) -> bool {
    symbol.is_local()
        && !symbol.is_filler()
        && !symbol.name.is_empty()
        && !symbol.is_compiler_constant()
}

/// Returns the kernels, textures, samplers and surfaces that have the name of a local symbol of
/// another object that takes part, where nvlink would give one parts of the other that are not
/// measured, or refuse it. Kernels may share their parameter bank [parameters-of-local-kernels], but no
/// other memory, and none of several definitions is to replace another. A global kernel may not come
/// after a local variable.
///
/// Returns also all symbols with the name of a texture, sampler or surface that is a parameter in
/// another object [header-parameters], or of the kernel that it is a parameter of: nvlink looks such
/// a parameter up by its name, though it is local, and copies of a kernel share it.
pub(super) fn shadowed<'module>(module: &'module Module<'_>) -> Vec<&'module Symbol<'module>> {
    // Which objects take part is asked only where it matters.
    if shadowed_among(module, |_| true).is_empty() {
        return Vec::new();
    }
    let states = select_objects::states(module);
    let takes_part = |object: ObjectId| states[object.index()].is_included();
    let mut found = shadowed_among(module, takes_part);
    if !has_function_memory(module, takes_part) {
        let variables = local_names(module, takes_part, |symbol| !symbol.is_function());
        let kernels = local_names(module, takes_part, |symbol| symbol.is_entry());
        let mut definitions: HashMap<&[u8], u32, FixedState> = HashMap::default();
        for symbol in module.symbols.values() {
            if symbol.is_entry() && !symbol.is_local() && takes_part(symbol.object) {
                *definitions.entry(symbol.name).or_default() += 1;
            }
        }
        let may_link = |symbol: &Symbol<'_>| {
            symbol.is_entry()
                && (symbol.is_local()
                    || variables
                        .get(symbol.name)
                        .is_none_or(|first| *first >= symbol.object))
                && (!kernels.contains_key(symbol.name)
                    || definitions.get(symbol.name).is_none_or(|count| *count < 2))
        };
        found.retain(|symbol| !may_link(symbol));
    }
    found
}

/// Returns `true` if kernels of one name could share other memory than that of their parameters:
/// shared variables, slots of textures, samplers and surfaces, and constants of their own or of
/// functions that they reach.
fn has_function_memory(module: &Module<'_>, takes_part: impl Fn(ObjectId) -> bool) -> bool {
    let is_memory = |symbol: &Symbol<'_>| {
        symbol.is_shared() && !known_symbols::is_reserved_shared_symbol(symbol.name)
            || symbol.ty.is_header()
    };
    let is_constants =
        |section: &Section<'_>| matches!(section.kind, SectionKind::FunctionConstants(1..));
    let mut symbols = module.symbols.values();
    let mut sections = module.sections.values();
    symbols.any(|symbol| is_memory(symbol) && takes_part(symbol.object))
        || sections.any(|section| is_constants(section) && takes_part(section.object))
}

/// Returns the names of local symbols, each with the first object that has it.
fn local_names<'module>(
    module: &'module Module<'_>,
    takes_part: impl Fn(ObjectId) -> bool,
    counts: impl Fn(&Symbol<'_>) -> bool,
) -> HashMap<&'module [u8], ObjectId, FixedState> {
    let mut local: HashMap<&[u8], ObjectId, FixedState> = HashMap::default();
    for symbol in module.symbols.values() {
        if may_shadow(symbol) && counts(symbol) && takes_part(symbol.object) {
            local.entry(symbol.name).or_insert(symbol.object);
        }
    }
    local
}

fn shadowed_among<'module>(
    module: &'module Module<'_>,
    takes_part: impl Fn(ObjectId) -> bool,
) -> Vec<&'module Symbol<'module>> {
    let local = local_names(module, &takes_part, |_| true);
    let mut of_parameters: HashMap<&[u8], ObjectId, FixedState> = HashMap::default();
    for symbol in module.symbols.values() {
        if is_header_parameter(symbol) && takes_part(symbol.object) {
            of_parameters.entry(symbol.name).or_insert(symbol.object);
            if let Some(kernel) = module.owner_of(symbol) {
                let name = module.function_name(kernel);
                of_parameters.entry(name).or_insert(symbol.object);
            }
        }
    }
    let is_shadowed = |symbol: &&Symbol<'_>| {
        let is_of_other = |names: &HashMap<&[u8], ObjectId, FixedState>| {
            let object = names.get(symbol.name);
            object.is_some_and(|object| *object != symbol.object)
        };
        takes_part(symbol.object)
            && ((symbol.is_entry() || symbol.ty.is_header()) && is_of_other(&local)
                || is_of_other(&of_parameters))
    };
    module.symbols.values().filter(is_shadowed).collect()
}
