//! Shared memory in relocatable output (measured, `DEVICE-ELF.md`).
//!
//! Nothing is laid out yet: a shared variable's value stays its alignment. But each section of shared memory gets
//! the sum of the sizes of its variables as its size, as ptxas gives it, and takes on the alignment of the
//! variables that are in no kernel.

use cuweld_ir::FunctionId;
use cuweld_ir::Module;
use cuweld_ir::SectionInfo;
use cuweld_ir::SectionKind;
use cuweld_ir::SharedFrame;
use cuweld_ir::table::EntityId;

use super::shared::DYNAMIC_ALIGN;
use super::shared::declares_dynamic;
use super::shared::merged_align;
use super::shared::variables;
use crate::diagnostic::Diagnostic;

/// Gives every kernel that has shared variables its frame, and the variables their values.
pub fn place(module: &mut Module<'_>, errors: &mut Vec<Diagnostic>) {
    let mut sizes = vec![0u64; module.functions.len()];
    for (link, variable, owner) in variables(module) {
        if module.link_symbols[link].definition.is_none() {
            continue;
        }
        let row = &mut module.link_symbols[link];
        row.value = Some(variable.align);
        row.kernel = owner;
        if let Some(kernel) = owner {
            let size = &mut sizes[kernel.index()];
            *size = size.saturating_add(variable.size);
        }
    }
    let slots_align = merged_align(module);
    let mut frames = Vec::new();
    for (id, section) in module.sections.iter() {
        if let (SectionKind::KernelShared, Some(kernel)) = (section.kind, section.owner)
            && module.is_section_linked(id)
        {
            let align = section.align.max(slots_align);
            frames.push((kernel, section_size(sizes[kernel.index()], align), align));
        }
    }
    for (kernel, size, align) in frames {
        module.functions[kernel].shared = Some(SharedFrame {
            size,
            align,
            slots_align,
            present: true,
        });
    }
    let reason = if let Some(kernel) = user_of_dynamic(module) {
        let name = String::from_utf8_lossy(module.function_name(kernel)).into_owned();
        format!("kernel '{name}' uses it")
    } else if declares_dynamic(module) && slots_align >= DYNAMIC_ALIGN {
        // nvlink takes every kernel for one that uses it then.
        format!("a shared variable of no kernel is aligned to {slots_align}")
    } else {
        return;
    };
    errors.push(
        Diagnostic::fatal("cuweld: unsupported: dynamic shared memory in relocatable output")
            .note(reason),
    );
}

/// The size in bytes of a section of shared variables: one that does not exceed its alignment grows by it.
fn section_size(variables: u64, align: u64) -> u64 {
    if variables <= align {
        variables.saturating_add(align)
    } else {
        variables
    }
}

/// Size and alignment in bytes of `.nv_debug.shared`: the variables that are in no kernel, and the names of dynamic
/// shared memory.
pub fn module_section(module: &Module<'_>) -> (u64, u64) {
    let mut align = merged_align(module);
    if declares_dynamic(module) {
        align = align.max(DYNAMIC_ALIGN);
    }
    let size = module
        .link_symbols
        .values()
        .filter(|link| link.kernel.is_none())
        .filter(|link| {
            link.definition
                .is_some_and(|definition| module.symbols[definition].is_shared())
        })
        .fold(0u64, |size, link| size.saturating_add(link.size));
    (section_size(size, align), align)
}

/// A kernel whose code refers to dynamic shared memory. Device functions may: their references wait for the
/// executable.
fn user_of_dynamic(module: &Module<'_>) -> Option<FunctionId> {
    module.relocs.values().find_map(|reloc| {
        let target = reloc.target.symbol()?;
        let SectionInfo::Section(patched) = module.sections[reloc.section].info else {
            return None;
        };
        let owner = module.sections[patched].owner?;
        let is_user = module.symbols[target].is_dynamic_shared()
            && module.is_section_linked(patched)
            && module.symbols[module.functions[owner].symbol].is_entry();
        is_user.then_some(owner)
    })
}
