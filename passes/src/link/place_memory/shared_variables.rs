//! The shared variables of a link, and the bytes before them.

use cuweld_elf::symbol::Binding;
use cuweld_ir::FunctionId;
use cuweld_ir::LinkSymbolId;
use cuweld_ir::Module;
use cuweld_ir::SectionKind;
use cuweld_ir::SymbolId;
use cuweld_ir::SymbolPlace;
use cuweld_ir::table::EntityId;

use super::shared_uses::Uses;

/// A shared variable with its own storage.
#[derive(Clone, Copy)]
pub(super) struct Variable {
    pub(super) link: LinkSymbolId,
    pub(super) size: u64,
    /// In bytes, as the symbol says; may be 0.
    pub(super) align: u64,
}

/// Returns the shared variables in order of creation, with the kernel that owns them.
pub(super) fn variables(module: &Module<'_>) -> Vec<(LinkSymbolId, Variable, Option<FunctionId>)> {
    let replaced = replaced(module);
    let mut found = Vec::new();
    for (_, object) in module.included_objects() {
        for id in object.symbols.iter() {
            let symbol = &module.symbols[id];
            let (true, Some(link)) = (symbol.is_shared(), symbol.link) else {
                continue;
            };
            if symbol.is_dynamic_shared() && module.link_symbols[link].first == id {
                // Takes no room, but a place in the list, which decides how equal sizes are
                // permuted.
                let (size, align) = (0, 1);
                found.push((link, Variable { link, size, align }, None));
            }
            let row = &module.link_symbols[link];
            if row.definition != Some(id) && replaced.binary_search(&(link, id)).is_err() {
                continue;
            }
            let SymbolPlace::Section(section) = symbol.place else {
                continue;
            };
            let variable = Variable {
                link,
                size: symbol.size,
                align: symbol.value,
            };
            match module.sections[section].kind {
                SectionKind::ModuleShared => found.push((link, variable, None)),
                SectionKind::KernelShared => {
                    // [shared-of-all-copies]
                    let owner = module.sections[section].owner;
                    let kernel = owner.and_then(|owner| {
                        let link = module.symbols[module.functions[owner].symbol].link?;
                        module.link_function(link)
                    });
                    if kernel.is_some_and(|kernel| module.is_function_live(kernel)) {
                        found.push((link, variable, kernel));
                    }
                }
                _ => {}
            }
        }
    }
    found
}

/// Returns the variables in order of creation: those of kernels by their kernel, the rest.
pub(super) fn by_kernel(
    module: &Module<'_>,
    uses: &Uses,
    kernels: &[(LinkSymbolId, FunctionId)],
) -> (Vec<Vec<Variable>>, Vec<Variable>) {
    let mut private: Vec<Vec<Variable>> = vec![Vec::new(); kernels.len()];
    let mut common = Vec::new();
    let variables = match uses.any {
        true => variables(module),
        false => Vec::new(),
    };
    if variables.is_empty() {
        return (private, common);
    }
    let mut ordinal_of = vec![u32::MAX; module.functions.len()];
    for (ordinal, (_, function)) in kernels.iter().enumerate() {
        ordinal_of[function.index()] = ordinal as u32;
    }
    for (link, variable, owner) in variables {
        match owner {
            None => common.push(Variable { link, ..variable }),
            Some(kernel) => {
                if let Some(list) = private.get_mut(ordinal_of[kernel.index()] as usize) {
                    list.push(variable);
                }
            }
        }
    }
    (private, common)
}

/// Returns the weak definitions of shared variables that strong ones replaced, sorted by name. They
/// keep their room.
pub fn replaced(module: &Module<'_>) -> Vec<(LinkSymbolId, SymbolId)> {
    let mut found = Vec::new();
    for (_, object) in module.included_objects() {
        for id in object.symbols.iter() {
            let symbol = &module.symbols[id];
            if symbol.bind != Binding::WEAK
                || !symbol.is_shared()
                || symbol.is_undefined()
                || symbol.is_dynamic_shared()
            {
                continue;
            }
            let Some(link) = symbol.link else {
                continue;
            };
            let definition = module.link_symbols[link].definition;
            let is_before = |by| id < by && module.symbols[by].bind != Binding::WEAK;
            if definition.is_some_and(is_before) {
                found.push((link, id));
            }
        }
    }
    found.sort_unstable();
    // The first of a name was the definition.
    found.dedup_by_key(|(link, _)| *link);
    found
}

/// Returns `true` if `replaced`, such a list, has an entry for `link`.
pub fn is_replaced(replaced: &[(LinkSymbolId, SymbolId)], link: LinkSymbolId) -> bool {
    replaced
        .binary_search_by_key(&link, |(link, _)| *link)
        .is_ok()
}

/// Returns the number of bytes at the beginning of shared memory that nothing may have: one with
/// `--reserve-null-pointer` [null-pointer-reserved].
pub(super) fn null_size(module: &Module<'_>) -> u64 {
    u64::from(module.options.memory.reserve_null_pointer)
}
