//! Reserved shared memory that code uses, where an option says that there is none
//! [reserved-use-named].
//!
//! nvlink names the kernels whose attributes say that they use it, in order of creation, as
//! `(null)` if they are left out; the last of its errors, after the call graph and before what
//! kernels need.

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::codes::link;
use cuweld_diagnostics::codes::unsupported;
use cuweld_elf::target::attributes;
use cuweld_ir::Module;
use cuweld_ir::SectionKind;
use cuweld_ir::table::EntityId;

/// Returns an error for each of the kernels.
pub(super) fn found(module: &Module<'_>) -> Vec<Diagnostic> {
    let has_variables = || {
        let mut sections = module.sections.iter();
        sections.any(|(id, section)| {
            section.kind == SectionKind::ReservedShared
                && section.size() != 0
                && module.is_section_linked(id)
        })
    };
    if !module.options.memory.disable_shared_reservation {
        return Vec::new();
    }
    let mut uses = vec![false; module.functions.len()];
    for record in module.attributes.values() {
        let section = record.section.map(|section| &module.sections[section]);
        if let Some(owner) = section.and_then(|section| section.owner)
            && record.code == attributes::RESERVED_SMEM_USED
        {
            uses[owner.index()] = true;
        }
    }
    let mut found = Vec::new();
    if !has_variables() {
        // Code that asks where the block lies: nvlink names functions, too, and who reaches them.
        let functions = module.functions.iter();
        let mut prevailed = functions.filter(|(_, function)| function.fate.ever_prevailed());
        if prevailed.any(|(id, _)| uses[id.index()]) {
            found.push(Diagnostic::refusal(unsupported::RESERVED_SHARED_DISABLED));
        }
        return found;
    }
    for (_, object) in module.included_objects() {
        for symbol in &module.symbols[object.symbols] {
            let Some(function) = symbol.function.filter(|id| {
                symbol.is_entry() && uses[id.index()] && module.functions[*id].fate.ever_prevailed()
            }) else {
                continue;
            };
            let name = match module.is_function_live(function) {
                true => String::from_utf8_lossy(symbol.name).into_owned(),
                false => "(null)".to_owned(),
            };
            found.push(Diagnostic::error(
                link::RESERVED_SHARED_USE,
                format!("Function '{name}' uses reserved shared memory when not allowed."),
            ));
        }
    }
    if found.is_empty() || !module.is_capmerc() {
        found.push(Diagnostic::refusal(unsupported::RESERVED_SHARED_DISABLED));
    }
    found
}
