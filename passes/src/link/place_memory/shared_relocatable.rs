//! Shared memory in relocatable output [relocatable-shared-sums].
//!
//! Nothing is laid out yet: a shared variable's value stays its alignment. But each section of
//! shared memory gets the sum of the sizes of its variables as its size, as ptxas gives it, and
//! takes on the alignment of the variables that are in no kernel.
//!
//! A kernel whose code refers to dynamic shared memory has it after these sizes already. With `-g`
//! each name of it is a symbol with one address, so that all kernels that refer to the name have it
//! at the largest of theirs.

use std::cell::OnceCell;

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::codes::unsupported;
use cuweld_elf::align::align_up;
use cuweld_elf::behaviours::memory;
use cuweld_ir::FunctionId;
use cuweld_ir::LinkSymbolId;
use cuweld_ir::Module;
use cuweld_ir::SectionInfo;
use cuweld_ir::SectionKind;
use cuweld_ir::SharedFrame;
use cuweld_ir::table::EntityId;

use super::dynamic_align;
use super::dynamic_align::DYNAMIC_ALIGN;
use super::dynamic_align::DynamicAlign;
use super::groups::root;
use super::shared::declares_dynamic;
use super::shared::dynamic_names;
use super::shared::largest_align;
use super::shared::merged_align;
use super::shared_variables::null_size;
use super::shared_variables::variables;
use crate::analyses::HostKernels;
use crate::analyses::LiveFunctions;

/// Gives kernels their frames, and shared variables and dynamic shared memory their values. Returns
/// what is to be said about it.
pub fn place(
    module: &mut Module<'_>,
    live: &LiveFunctions,
    host: &HostKernels,
) -> Option<Diagnostic> {
    let mut sizes = vec![0u64; module.functions.len()];
    let mut own_aligns = vec![None; module.functions.len()];
    let mut has_unaligned = false;
    let first_definitions = OnceCell::new();
    // What was dynamic shared memory first has its place, as that which no kernel reaches.
    let unreached = match module.shows_dynamic_shared() {
        true => align_up(null_size(module), DYNAMIC_ALIGN),
        false => 0,
    };
    for (link, variable, owner) in variables(module) {
        let Some(definition) = module.link_symbols[link].definition else {
            continue;
        };
        // The alignment that the name's first symbol says, none in one of dynamic shared memory; a
        // mere declaration says none.
        let first = &module.symbols[module.link_symbols[link].first];
        let is_declared = first.is_undefined() && !module.began_dynamic(link);
        let align = match is_declared {
            true => {
                let known = first_definitions.get_or_init(|| module.first_definitions());
                module.symbols[*known.get(&link).unwrap_or(&definition)].value
            }
            false if module.began_dynamic(link) => first.value.max(unreached),
            false => first.value,
        };
        has_unaligned |= variable.size != 0 && module.symbols[definition].value == 0;
        let row = &mut module.link_symbols[link];
        row.value = Some(align);
        row.kernel = owner;
        if let Some(kernel) = owner {
            let size = &mut sizes[kernel.index()];
            *size = size.saturating_add(variable.size);
            let align = &mut own_aligns[kernel.index()];
            *align = Some(align.unwrap_or(1).max(variable.align));
        }
    }
    if has_unaligned && largest_align(module) == Some(0) {
        // nvlink divides by it.
        return Some(Diagnostic::refusal(unsupported::SHARED_ALIGNMENT));
    }
    let slots_align = merged_align(module);
    let section_aligns = own_aligns
        .iter()
        .map(|align| align.unwrap_or(1).max(slots_align));
    let section_aligns: Vec<u64> = section_aligns.collect();
    let mixed = place_dynamic(module, &section_aligns, &mut sizes);
    let declared = declares_dynamic(module);
    let everything = module.shows_dynamic_shared();
    let is_aligned = module.toolkit.has(&memory::DYNAMIC_SHARED_ALIGNED);
    for &(link, kernel) in &live.kernels {
        let mut size = sizes[kernel.index()];
        let own_align: Option<u64> = own_aligns[kernel.index()];
        // The section of a kernel that options leave out is made too late for the others'
        // alignment, unless it has variables, or an object before its own refers to it
        // [left-out-shared-last].
        let first = &module.symbols[module.link_symbols[link].first];
        let is_late =
            !everything && !host.contains(link) && own_align.is_none() && !first.is_undefined();
        let slots_align = if is_late { 1 } else { slots_align };
        let row = &mut module.functions[kernel];
        let mut align = slots_align.max(own_align.unwrap_or(1));
        if row.dynamic_shared.is_some() {
            align = align.max(DYNAMIC_ALIGN);
            // [dynamic-shared-aligned]
            if is_aligned {
                size = align_up(size, align);
            }
        }
        // [dynamic-shared-by-alignment]
        let present = size > 0 || declared && align == DYNAMIC_ALIGN;
        if present {
            row.shared = Some(SharedFrame {
                size: section_size(size, align),
                align,
                slots_align,
                present,
            });
        }
    }
    dynamic_align::mixed(module, &mixed)
}

/// Places dynamic shared memory in each kernel whose code refers to it; the kernel's shared memory
/// then reaches up to it. Device functions' references wait for the executable. Returns the kernels
/// that nvlink places elsewhere.
fn place_dynamic(
    module: &mut Module<'_>,
    section_aligns: &[u64],
    sizes: &mut [u64],
) -> Vec<LinkSymbolId> {
    let users = users_of_dynamic(module);
    let null = null_size(module);
    let is_aligned = module.toolkit.has(&memory::DYNAMIC_SHARED_ALIGNED);
    // Groups of kernels that have it at one place, by the number of the kernel in the list.
    let mut kernels: Vec<FunctionId> = users.iter().map(|(kernel, _)| *kernel).collect();
    kernels.dedup();
    let mut group: Vec<u32> = (0..kernels.len() as u32).collect();
    let number = |kernel| kernels.binary_search(kernel).unwrap_or(0) as u32;
    let mut first_user = vec![None; module.link_symbols.len()];
    if module.shows_dynamic_shared() {
        for (kernel, name) in &users {
            let kernel = number(kernel);
            let first = *first_user[name.index()].get_or_insert(kernel);
            let (a, b) = (root(&mut group, first), root(&mut group, kernel));
            group[a.max(b) as usize] = a.min(b);
        }
    }
    let mut own_aligns = vec![DynamicAlign::none(); kernels.len()];
    for (kernel, name) in &users {
        own_aligns[number(kernel) as usize].add(module, *name);
    }
    let mut mixed = Vec::new();
    let mut places = vec![0u64; kernels.len()];
    for (index, kernel) in kernels.iter().enumerate() {
        let (own, section) = (own_aligns[index], section_aligns[kernel.index()]);
        let size = sizes[kernel.index()].max(null);
        let place = if !is_aligned {
            align_up(size, DYNAMIC_ALIGN)
        } else if module.shows_dynamic_shared() {
            align_up(size, own.most.max(section))
        } else {
            if own.is_mixed(size) {
                mixed.extend(module.symbols[module.functions[*kernel].symbol].link);
            }
            align_up(size.max(own.is_said.into()), own.most)
        };
        let of = root(&mut group, index as u32) as usize;
        places[of] = places[of].max(place);
    }
    for (index, kernel) in kernels.iter().enumerate() {
        let place = places[root(&mut group, index as u32) as usize];
        sizes[kernel.index()] = place;
        module.functions[*kernel].dynamic_shared = Some(place);
    }
    if module.shows_dynamic_shared() {
        let unused = align_up(null, DYNAMIC_ALIGN);
        for name in dynamic_names(module) {
            // [dynamic-shared-unreached]
            let place = first_user[name.index()]
                .map_or(unused, |kernel| places[root(&mut group, kernel) as usize]);
            module.link_symbols[name].value = Some(place);
        }
    }
    mixed
}

/// Returns the kernels whose code refers to dynamic shared memory, with the names, sorted.
fn users_of_dynamic(module: &Module<'_>) -> Vec<(FunctionId, LinkSymbolId)> {
    let mut users: Vec<_> = dynamic_references(module).collect();
    users.sort_unstable();
    users.dedup();
    users
}

/// Returns the references of kernels' code to dynamic shared memory in the order of their rows: the
/// kernel and the name.
pub(crate) fn dynamic_references(
    module: &Module<'_>,
) -> impl Iterator<Item = (FunctionId, LinkSymbolId)> {
    module.relocs.values().filter_map(|reloc| {
        let name = module.symbols[reloc.target.symbol()?].link?;
        let SectionInfo::Section(patched) = module.sections[reloc.section].info else {
            return None;
        };
        let owner = module.sections[patched].owner?;
        let counts = module.is_dynamic_shared(name)
            && module.sections[patched].kind == SectionKind::Text
            && module.is_section_linked(patched)
            && module.symbols[module.functions[owner].symbol].is_entry();
        counts.then_some((owner, name))
    })
}

/// Returns the size in bytes of a section of shared variables: one that does not exceed its
/// alignment grows by it.
fn section_size(variables: u64, align: u64) -> u64 {
    if variables <= align {
        variables.saturating_add(align)
    } else {
        variables
    }
}

/// Returns `true` if a section of shared memory with this size and alignment holds nothing, and has
/// no symbol therefore.
pub fn is_empty(size: u64, align: u64) -> bool {
    size <= align
}

/// Returns the size and alignment in bytes of `.nv_debug.shared`: the variables that are in no
/// kernel, and the names of dynamic shared memory.
pub fn module_section(module: &Module<'_>) -> (u64, u64) {
    let mut align = merged_align(module);
    if declares_dynamic(module) {
        align = align.max(DYNAMIC_ALIGN);
    }
    let in_no_kernel = variables(module)
        .into_iter()
        .filter(|(.., owner)| owner.is_none());
    let size = in_no_kernel.fold(0u64, |size, (_, variable, _)| {
        size.saturating_add(variable.size)
    });
    (section_size(size, align), align)
}
