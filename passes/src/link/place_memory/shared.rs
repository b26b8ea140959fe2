//! Shared memory of kernels [shared-slots].
//!
//! Variables of device functions and of the module that several kernels (or only dead code) use are
//! put into slots, largest first, so that variables of disjoint kernels overlap. Variables that one
//! kernel uses follow its slots together with the kernel's own; those that no code refers to take
//! no room. The order is that of nvlink's list sort, ties permuted [list-sort].
//!
//! Bound: variables times slots that their kernels occupy, in bits; otherwise
//! n log n.

use cuweld_diagnostics::Diagnostic;
use cuweld_elf::align::align_up;
use cuweld_elf::behaviours::memory;
use cuweld_ir::FunctionId;
use cuweld_ir::LinkSymbolId;
use cuweld_ir::Module;
use cuweld_ir::SectionKind;
use cuweld_ir::SharedFrame;
use cuweld_ir::SymbolId;
use cuweld_ir::SymbolPlace;
use cuweld_ir::table::EntityId;

use super::dynamic_align;
use super::dynamic_align::DYNAMIC_ALIGN;
use super::dynamic_align::DynamicAlign;
use super::empty_sections;
use super::empty_sections::EmptySection;
use super::empty_sections::EmptySections;
use super::groups::root;
use super::late_shared::late;
use super::list_sort::list_sort;
use super::shared_limit;
use super::shared_slots::Slots;
use super::shared_uses::Uses;
use super::shared_variables::Variable;
use super::shared_variables::by_kernel;
use super::shared_variables::null_size;
use super::shared_variables::replaced;
use super::unaligned_shared;
use crate::analyses::CallGraph;
use crate::analyses::HostKernels;
use crate::analyses::LiveFunctions;
use crate::link::place_memory::whole_kernels::WholeKernels;

/// Lays out the shared memory of every live kernel. `has_shared` says that some object has or
/// declares a shared variable.
pub fn place(
    module: &mut Module<'_>,
    has_shared: bool,
    graph: &CallGraph,
    (live, host): (&LiveFunctions, &HostKernels),
    errors: &mut Vec<Diagnostic>,
) {
    let kernels = &live.kernels;
    let late = late(module, live, host);
    let uses = match has_shared {
        true => Uses::new(module, graph, live),
        false => Uses::none(kernels.len()),
    };
    let (mut private, common) = by_kernel(module, &uses, kernels);
    let whole = WholeKernels::new(module, kernels);
    let mut slots = Slots::new(kernels.len());
    for variable in list_sort(&common, &mut |a, b| a.size > b.size) {
        if module.began_dynamic(variable.link) || !uses.referenced[variable.link.index()] {
            continue;
        }
        let users = uses.of(variable.link);
        whole.refuse(module, &uses, &variable, users, kernels, errors);
        match users {
            [kernel] => private[*kernel as usize].push(variable),
            _ => slots.add(&variable, users),
        }
    }
    let mut sizes = vec![0u64; kernels.len()];
    slots.place(module, &uses, &mut sizes);
    let has_variable: Vec<bool> = sizes
        .iter()
        .zip(&private)
        .map(|(size, variables)| *size > 0 || !variables.is_empty())
        .collect();
    let empty = EmptySections::new(module);
    for (ordinal, variables) in private.iter().enumerate() {
        let ((link, kernel), size) = (kernels[ordinal], &mut sizes[ordinal]);
        if let Some(section) = empty.of(link) {
            // The place of such a section lands in the null symbol.
            if *size > 0 {
                errors.push(empty_sections::refusal(module, section.first));
            }
        }
        place_private(module, kernel, variables, empty.of(link), size);
    }
    whole.add_sizes(&mut sizes);
    // One variable in a slot makes every kernel take the alignment of the merged section, whichever
    // kernel uses the variable that needs it.
    let slots_align = match slots.rows.is_empty() {
        true => 1,
        false => merged_align(module),
    };
    let dynamic_aligns = dynamic_aligns(module, &uses);
    // A section that is made late is aligned if a variable makes it.
    let section_align = |ordinal: usize| match late[ordinal] && !has_variable[ordinal] {
        true => 1,
        false => slots_align,
    };
    let align_of = |ordinal: usize| {
        let aligns = private[ordinal].iter().map(|variable| variable.align);
        let section = whole.section(ordinal).map(|(_, align)| align);
        let empty = empty.of(kernels[ordinal].0).map(|section| section.align);
        let align = aligns
            .chain(section)
            .chain(empty)
            .fold(section_align(ordinal), u64::max);
        align.max(dynamic_aligns[ordinal].most)
    };
    let aligns: Vec<u64> = (0..kernels.len()).map(align_of).collect();
    let places = DynamicAligns {
        own: &dynamic_aligns,
        section: &aligns,
    };
    let mixed = dynamic(module, &uses, kernels, &places, &mut sizes);
    errors.extend(dynamic_align::mixed(module, &mixed));
    let declared = uses.any && declares_dynamic(module);
    let capmerc = module.is_capmerc();
    let mut in_section = match module.shows_shared_variables() {
        true => shared_limit::of_module(module, slots.size()),
        false => None,
    };
    // Its section is made with the first variable.
    let object = |module: &Module<'_>, link: LinkSymbolId| {
        module.symbols[module.link_symbols[link].first].object
    };
    let made_by = common.iter().map(|it| object(module, it.link)).min();
    for (ordinal, (link, function)) in kernels.iter().enumerate() {
        let size = sizes[ordinal];
        if made_by.is_some_and(|made_by| object(module, *link) > made_by) {
            errors.extend(in_section.take());
        }
        if size > module.target.shared_limit() {
            // Those in slots, then those that it alone uses.
            let in_slots = slots.rows.iter().flat_map(|slot| &slot.members).copied();
            let in_slots = in_slots.filter(|link| uses.of(*link).contains(&(ordinal as u32)));
            let own = private[ordinal].iter().map(|variable| variable.link);
            let variables: Vec<LinkSymbolId> = in_slots.chain(own).collect();
            if !shared_limit::report(module, *link, (size, &variables), errors) {
                continue;
            }
        }
        let frame = SharedFrame {
            size,
            align: aligns[ordinal],
            slots_align,
            present: whole.section(ordinal).is_some(),
        };
        module.functions[*function].shared = Some(with_reserve(module, frame, declared, capmerc));
    }
    errors.extend(in_section);
}

/// Places the variables of one kernel after its slots, and its section without variables among them.
fn place_private(
    module: &mut Module<'_>,
    kernel: FunctionId,
    variables: &[Variable],
    empty: Option<EmptySection>,
    size: &mut u64,
) {
    /// The variable, if it is one, with alignment and size.
    type Piece = (Option<LinkSymbolId>, u64, u64);
    let null = null_size(module);
    let variables = variables
        .iter()
        .map(|variable| (Some(variable.link), variable.align, variable.size));
    let empty = empty.map(|section| (None, section.align, section.size));
    let pieces: Vec<Piece> = empty.into_iter().chain(variables).collect();
    let before = |a: &Piece, b: &Piece| a.1 > b.1 || a.1 == b.1 && a.2 <= b.2;
    for (variable, align, bytes) in list_sort(&pieces, &mut |a, b| before(a, b)) {
        let place = unaligned_shared::place((*size).max(null), align, bytes);
        match variable {
            None => module.functions[kernel].unnamed_shared = Some(place),
            Some(variable) => {
                let link = &mut module.link_symbols[variable];
                link.value = Some(place);
                link.kernel = Some(kernel);
            }
        }
        *size = place.saturating_add(bytes);
    }
}

/// Adds the reserved block to the frame of a kernel, and says whether it is present: without the
/// block it is where the kernel has a section of shared memory. `declared` says whether any name is
/// one of dynamic shared memory, `capmerc` that the Mercury view is linked.
fn with_reserve(
    module: &Module<'_>,
    frame: SharedFrame,
    declared: bool,
    capmerc: bool,
) -> SharedFrame {
    let SharedFrame { size, align, .. } = frame;
    // nvlink tells kernels with dynamic shared memory by their alignment, those without a reserved
    // block only if it is no larger [dynamic-shared-by-alignment].
    let is_dynamic = declared && align >= DYNAMIC_ALIGN;
    // What an EWP object has for dynamic shared memory alone is empty.
    let uses_some = size > 0 || is_dynamic || capmerc && frame.present;
    let reserved = match uses_some {
        true => module.reserved_shared_size(),
        false => 0,
    };
    // The Mercury view has no reserved block.
    let counted = if capmerc { 0 } else { reserved };
    let present = size.saturating_add(counted) > 0 || uses_some && align == DYNAMIC_ALIGN;
    SharedFrame {
        size: size.saturating_add(reserved),
        present: frame.present || present,
        ..frame
    }
}

/// Returns the alignment in bytes that the variables in no kernel have together. The names of
/// dynamic shared memory that an earlier relocatable link made for its kernels count: their values,
/// addresses, pass for alignments.
pub fn merged_align(module: &Module<'_>) -> u64 {
    largest_align(module).unwrap_or(1).max(1)
}

/// Returns the largest alignment of variables in no kernel, which can be 0
/// [variable-after-dynamic]; `None` if there are none.
pub(super) fn largest_align(module: &Module<'_>) -> Option<u64> {
    let align = |symbol: SymbolId| {
        let symbol = &module.symbols[symbol];
        let section = match symbol.place {
            SymbolPlace::Section(section) => Some(module.sections[section].kind),
            _ => None,
        };
        let counts = symbol.is_dynamic_shared()
            || symbol.is_shared() && section == Some(SectionKind::ModuleShared);
        counts.then_some(symbol.value)
    };
    let names = module.link_symbols.values();
    let names = names.map(|link| link.definition.unwrap_or(link.first));
    let replaced = replaced(module).into_iter().map(|(_, symbol)| symbol);
    let aligns = names.chain(replaced).filter_map(align);
    aligns.max()
}

/// Returns `true` if the first symbol of any name declares dynamic shared memory: a shared variable
/// without a size.
pub fn declares_dynamic(module: &Module<'_>) -> bool {
    module
        .link_symbols
        .ids()
        .any(|link| module.began_dynamic(link))
}

/// Returns the alignments of each kernel's dynamic shared memory.
fn dynamic_aligns(module: &Module<'_>, uses: &Uses) -> Vec<DynamicAlign> {
    let mut aligns = vec![DynamicAlign::none(); uses.dynamic.len()];
    if uses.any {
        for name in dynamic_names(module) {
            for kernel in uses.of(name) {
                aligns[*kernel as usize].add(module, name);
            }
        }
    }
    aligns
}

/// Alignments in bytes, by kernel.
struct DynamicAligns<'a> {
    /// Of dynamic shared memory.
    own: &'a [DynamicAlign],
    /// Of all shared memory of the kernel.
    section: &'a [u64],
}

/// Places dynamic shared memory after what a kernel has, at a multiple of its alignment. A device
/// function has one address for it, so the kernels that reach it move to the largest of theirs.
/// With `-g` each name of it is a symbol with one value, so that all kernels that use the name move
/// [dynamic-shared-moves]. Returns the kernels that nvlink places elsewhere.
fn dynamic(
    module: &mut Module<'_>,
    uses: &Uses,
    kernels: &[(LinkSymbolId, FunctionId)],
    aligns: &DynamicAligns<'_>,
    sizes: &mut [u64],
) -> Vec<LinkSymbolId> {
    let null = null_size(module);
    let is_aligned = module.toolkit.has(&memory::DYNAMIC_SHARED_ALIGNED);
    // Addresses are symbols then.
    let aligns_addresses = is_aligned && module.shows_dynamic_shared();
    let mut mixed = Vec::new();
    let mut ends = vec![0; sizes.len()];
    for (ordinal, size) in sizes.iter_mut().enumerate() {
        if uses.dynamic[ordinal] {
            let least = (*size).max(null);
            ends[ordinal] = least;
            let own = aligns.own[ordinal];
            if !aligns_addresses && own.is_mixed(least) {
                mixed.push(kernels[ordinal].0);
            }
            let align = match aligns_addresses {
                true => aligns.section[ordinal],
                false => own.most,
            };
            *size = align_up(least, align);
        }
    }
    // Groups of kernels that share a device function: union by the smallest ordinal.
    let mut group: Vec<u32> = (0..sizes.len() as u32).collect();
    let mut join = |users: &[u32]| {
        for pair in users.windows(2) {
            let (a, b) = (root(&mut group, pair[0]), root(&mut group, pair[1]));
            group[a.max(b) as usize] = a.min(b);
        }
    };
    for (_, users) in &uses.dynamic_functions {
        join(users);
    }
    let named: Vec<LinkSymbolId> = if module.shows_dynamic_shared() {
        dynamic_names(module)
    } else {
        Vec::new()
    };
    for link in &named {
        join(uses.of(*link));
    }
    let mut base = vec![0; sizes.len()];
    for ordinal in 0..sizes.len() as u32 {
        if uses.dynamic[ordinal as usize] {
            let of = root(&mut group, ordinal) as usize;
            base[of] = sizes[ordinal as usize].max(base[of]);
        }
    }
    for ordinal in 0..sizes.len() as u32 {
        if uses.dynamic[ordinal as usize] {
            let address = base[root(&mut group, ordinal) as usize];
            sizes[ordinal as usize] = match is_aligned {
                true => {
                    let of = ordinal as usize;
                    // In outputs of `-r` alignments are addresses and need not divide each other.
                    let end = match address == sizes[of] {
                        true => ends[of],
                        false => address,
                    };
                    align_up(end, aligns.section[of])
                }
                false => address,
            };
            module.functions[kernels[ordinal as usize].1].dynamic_shared = Some(address);
        }
    }
    for (link, users) in &uses.dynamic_functions {
        let (Some(function), Some(kernel)) = (module.link_function(*link), users.first()) else {
            continue;
        };
        let address = base[root(&mut group, *kernel) as usize];
        module.functions[function].dynamic_shared = Some(address);
    }
    // Definitions of dynamic names are at the beginning, too.
    let began: Vec<LinkSymbolId> = match module.shows_dynamic_shared() {
        true => defined_dynamic(module),
        false => Vec::new(),
    };
    for link in began {
        module.link_symbols[link].value = Some(align_up(null, DYNAMIC_ALIGN));
    }
    for link in named {
        // [dynamic-shared-unreached]
        let address = match uses.of(link).first() {
            Some(kernel) => base[root(&mut group, *kernel) as usize],
            None => align_up(null, DYNAMIC_ALIGN),
        };
        module.link_symbols[link].value = Some(address);
    }
    mixed
}

/// Returns the names of dynamic shared memory.
pub(super) fn dynamic_names(module: &Module<'_>) -> Vec<LinkSymbolId> {
    let links = module.link_symbols.ids();
    links
        .filter(|link| module.is_dynamic_shared(*link))
        .collect()
}

/// Returns the names of dynamic shared memory that a later object defines with a size.
fn defined_dynamic(module: &Module<'_>) -> Vec<LinkSymbolId> {
    let links = module.link_symbols.ids();
    links
        .filter(|link| module.began_dynamic(*link) && !module.is_dynamic_shared(*link))
        .collect()
}
