//! `place-memory`: every value that a relocation can need becomes final.
//!
//! - Same-named data sections are concatenated in link order, each at its alignment; nothing is
//!   dropped from inside [taken-memory-stays]. Tentative definitions follow at the end of
//!   `.nv.global`, last first [tentative-last-first].
//! - Constants of device functions become part of the banks of the kernels that reach them (`banks`).
//! - Textures, samplers and surfaces get slots in constant bank 0 (`headers`).
//! - Shared memory is laid out per kernel (`shared`). Executables only.

pub(crate) mod banks;
mod by_address;
mod constant_chunks;
pub(crate) mod constant_merge;
pub(crate) mod constants_again;
pub(crate) mod dynamic_align;
pub(crate) mod empty_sections;
mod groups;
pub(crate) mod headers;
pub(crate) mod late_shared;
mod list_sort;
pub(crate) mod null_symbol;
mod remarks;
pub(crate) mod shared;
mod shared_limit;
pub(crate) mod shared_relocatable;
mod shared_slots;
pub(crate) mod shared_uses;
pub(crate) mod shared_variables;
pub(crate) mod slots_end;
mod unaligned_shared;
mod whole_kernels;

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::Severity;
use cuweld_diagnostics::codes::input;
use cuweld_diagnostics::codes::link;
use cuweld_diagnostics::codes::unsupported;
use cuweld_elf::align::align_up;
use cuweld_elf::symbol::Binding;
use cuweld_ir::Module;
use cuweld_ir::Phase;
use cuweld_ir::SectionId;
use cuweld_ir::SectionKind;
use cuweld_ir::SymbolId;
use cuweld_ir::SymbolPlace;
use cuweld_ir::table::EntityId;
use foldhash::fast::FixedState;
use hashbrown::HashMap;

use crate::analyses::CallGraph;
use crate::analyses::HostKernels;
use crate::analyses::Kinds;
use crate::analyses::LiveFunctions;
use crate::analyses::Preserved;
use crate::link::place_memory::constants_again::Again;
use crate::link::place_memory::whole_kernels::WholeKernels;
use crate::pass::Changed;
use crate::pass::Pass;
use crate::pass::PassCx;
use crate::pass::PassError;
use crate::pass::PassInfo;
use crate::remark::Remarks;

/// Largest constant bank in bytes.
pub const CONSTANT_BANK_LIMIT: u64 = 0x10000;

/// The `place-memory` pass.
#[derive(Debug, Default)]
pub struct PlaceMemory;

impl Pass for PlaceMemory {
    fn info(&self) -> PassInfo {
        PassInfo {
            name: "place-memory",
            summary: "Place data, constants and shared variables",
            doc: include_str!("place_memory.rs"),
            requires: Phase::Propagated,
            establishes: Some(Phase::Placed),
            preserves: Preserved::All,
            remarks: remarks::KINDS,
            ..PassInfo::DEFAULT
        }
    }

    fn run<'data>(
        &self,
        module: &mut Module<'data>,
        cx: &mut PassCx<'_, 'data>,
    ) -> Result<Changed, PassError> {
        let mut errors = Vec::new();
        let kinds = cx.analyses.get::<Kinds>(module);
        let found = Found::new(module, kinds);
        let has_shared = kinds.has_shared();
        if !module.options.relocatable && found.has_unified_tables {
            cx.diagnostics.emit(Diagnostic::fatal(
                link::NO_UNIFIED_INDEX,
                "Unified symbols found but index file not specified.",
            ));
            return Err(PassError::Diagnosed);
        }
        WholeKernels::refuse_sections(module, &mut errors);
        WholeKernels::refuse_copies(module, &mut errors);
        empty_sections::refuse(module, &mut errors);
        // Symbols of constants take their values from the banks, so banks come first.
        if module.options.relocatable {
            banks::place_by_function(module, &found.constants, &mut errors);
        } else {
            let graph = cx.analyses.get::<CallGraph>(module);
            let live = cx.analyses.get::<LiveFunctions>(module);
            banks::place(module, &found.constants, graph, live, &mut errors);
            headers::place(module, graph, live, &mut errors);
        }
        let too_much_constant_data = concatenate(module, &found);
        // Measured: what nvlink says of shared memory comes before what it says of constants.
        let mut shared_errors = Vec::new();
        if !module.options.relocatable {
            let graph = cx.analyses.get::<CallGraph>(module);
            let live = cx.analyses.get::<LiveFunctions>(module);
            let host = cx.analyses.get::<HostKernels>(module);
            shared::place(module, has_shared, graph, (live, host), &mut shared_errors);
            by_address::refuse(module, live, host, &mut shared_errors);
        } else {
            let live = cx.analyses.get::<LiveFunctions>(module);
            let host = cx.analyses.get::<HostKernels>(module);
            shared_errors.extend(shared_relocatable::place(module, live, host));
        }
        for error in shared_errors
            .into_iter()
            .chain(too_much_constant_data)
            .chain(errors)
        {
            // nvlink says nothing after it.
            let is_last = error.severity == Severity::Fatal;
            cx.diagnostics.emit(error);
            if is_last {
                break;
            }
        }
        if module.findings.has_errors() || cx.diagnostics.has_errors() {
            // What does not fit still has a place, so that reports can go on, as after errors of the
            // passes before.
            module.phase = Phase::Placed;
            return Err(PassError::Diagnosed);
        }
        Ok(Changed::Yes)
    }

    fn remarks(&self, module: &Module<'_>, remarks: &mut Remarks) {
        remarks::make(module, remarks);
    }
}

/// Returns nvlink's error about what refers to a section that is gone.
fn deleted_section() -> Diagnostic {
    Diagnostic::fatal(
        input::DELETED_SECTION,
        "Internal error: reference to deleted section",
    )
}

/// The sections that the parts of the pass look at.
struct Found {
    /// Those of included objects that are concatenated, in link order.
    concatenated: Vec<SectionId>,
    /// Those of functions' constants.
    constants: Vec<SectionId>,
    /// Whether functions or variables have places in tables that several programs share
    /// [unified-needs-index].
    has_unified_tables: bool,
    /// Whether there is uninitialised memory.
    has_global: bool,
}

impl Found {
    fn new(module: &Module<'_>, kinds: &Kinds) -> Self {
        let mut found = Found {
            concatenated: Vec::new(),
            constants: Vec::new(),
            has_unified_tables: false,
            has_global: false,
        };
        for object in module.objects.values() {
            let is_included = object.state.is_included();
            for (id, kind) in kinds.of(object.sections) {
                if let SectionKind::FunctionConstants(_) = kind {
                    found.constants.push(id);
                } else if is_included && kind.is_concatenated() {
                    found.concatenated.push(id);
                    found.has_unified_tables |= kind == SectionKind::Unified;
                    found.has_global |= kind == SectionKind::Global;
                }
            }
        }
        found
    }
}

/// Calls `take` for each symbol that took memory at its turn, with its section: the symbol of a
/// variable that no earlier definition kept from it, even if another definition replaced it later
/// [taken-memory-stays].
pub(crate) fn each_taken(module: &Module<'_>, mut take: impl FnMut(SymbolId, SectionId)) {
    // Whether a weak (or tentative) and a strong definition came before, by resolved symbol.
    let mut defined = vec![(false, false); module.link_symbols.len()];
    for (_, object) in module.included_objects() {
        for id in object.symbols.iter() {
            let symbol = &module.symbols[id];
            let Some(link) = symbol.link else { continue };
            let (weak, strong) = &mut defined[link.index()];
            let is_weak = match symbol.place {
                SymbolPlace::Section(section) => {
                    let is_weak = symbol.bind == Binding::WEAK;
                    if !(*strong || is_weak && *weak) {
                        take(id, section);
                    }
                    is_weak
                }
                SymbolPlace::Common => true,
                _ => continue,
            };
            match is_weak {
                true => *weak = true,
                false => *strong = true,
            }
        }
    }
}

/// Returns the sections of uninitialised memory that the output has room for: those with a symbol
/// that took some.
fn taken_memory(module: &Module<'_>) -> Vec<bool> {
    let mut taken = vec![false; module.sections.len()];
    each_taken(module, |_, section| taken[section.index()] = true);
    taken
}

/// Says how much is used of a limit in bytes, and by which variables most of it.
fn largest(size: u64, limit: u64, mut variables: Vec<(&[u8], u64)>) -> String {
    /// How many variables are named.
    const NAMED: usize = 5;
    // Stable: of equal ones the first.
    variables.sort_by_key(|(_, size)| std::cmp::Reverse(*size));
    let name = |(name, size): &(&[u8], u64)| format!("'{}' {size}", String::from_utf8_lossy(name));
    let named: Vec<String> = variables.iter().take(NAMED).map(name).collect();
    let mut said = format!("{size} bytes of {limit}: {}", named.join(", "));
    if variables.len() > NAMED {
        let rest = variables[NAMED..].iter().map(|(_, size)| size).sum::<u64>();
        let count = variables.len() - NAMED;
        said += &format!(", {count} more {rest}");
    }
    said
}

/// The bank of compiler constants.
pub(crate) const COMPILER_BANK: u8 = 2;

/// Gives every contribution its offset in the output section and every variable its value. Returns
/// an error for each constant bank that is too large.
fn concatenate(module: &mut Module<'_>, found: &Found) -> Vec<Diagnostic> {
    let mut errors = Vec::new();
    let taken = match found.has_global {
        true => taken_memory(module),
        false => Vec::new(),
    };
    let mut ends: HashMap<&[u8], u64, FixedState> = HashMap::default();
    let mut constant_ends: Vec<(u8, u64)> = Vec::new();
    for &id in &found.concatenated {
        let section = &mut module.sections[id];
        if section.kind == SectionKind::Global && !taken[id.index()] {
            continue;
        }
        let end = ends.entry(section.name).or_insert(0);
        let place = align_up(*end, section.align);
        *end = place.saturating_add(section.size());
        if let SectionKind::ConstantBank(bank) = section.kind {
            match constant_ends.iter_mut().find(|(known, _)| *known == bank) {
                Some((_, known)) => *known = *end,
                None => constant_ends.push((bank, *end)),
            }
        }
        section.place = Some(place);
    }
    let mut again = None;
    for (bank, size) in constant_ends {
        if size <= CONSTANT_BANK_LIMIT {
            continue;
        }
        let mut size = size;
        if bank == constants_again::BANK && !module.options.relocatable {
            if constant_merge::is_active(module) {
                let what = "constant variables beyond 64 KiB while kernels are left out";
                errors.push(Diagnostic::fatal(unsupported::LARGE_CONSTANTS, what));
                continue;
            }
            let second = Again::new(module);
            if second.size <= CONSTANT_BANK_LIMIT {
                if let Some(unknown) = constants_again::unknown(module) {
                    errors.push(Diagnostic::fatal(
                        unsupported::LARGE_CONSTANTS,
                        format!("constant variables beyond 64 KiB {unknown}"),
                    ));
                }
                again = Some(second);
                continue;
            }
            size = second.size;
        }
        let error = Diagnostic::error(
            link::GLOBAL_CONSTANTS,
            format!(
                "File uses too much global constant data ({size:#x} bytes, {CONSTANT_BANK_LIMIT:#x} max)"
            ),
        );
        let variables = module.link_symbols.values().filter_map(|link| {
            let symbol = &module.symbols[link.definition?];
            let is_there = matches!(symbol.place, SymbolPlace::Section(section)
                if module.sections[section].kind == SectionKind::ConstantBank(bank));
            is_there.then_some((symbol.name, link.size))
        });
        let note = largest(size, CONSTANT_BANK_LIMIT, variables.collect());
        errors.push(
            error
                .note(note)
                .help("put large tables into global memory (`const __device__`)"),
        );
    }
    // Those of compiler constants that do not fit are tried by value first: constant-bank-dedup.
    for &id in &found.constants {
        let section = &module.sections[id];
        if let (SectionKind::FunctionConstants(bank), Some(owner)) = (section.kind, section.owner)
            && bank != COMPILER_BANK
            && section.size() > CONSTANT_BANK_LIMIT
            && module.is_section_linked(id)
        {
            let (name, size) = (module.function_name(owner), section.size());
            errors.push(Diagnostic::error(link::KERNEL_CONSTANTS, format!(
                "Entry function '{}' uses too much constant data ({size:#x} bytes, {CONSTANT_BANK_LIMIT:#x} max)",
                String::from_utf8_lossy(name)
            )));
        }
    }
    let mut commons = Vec::new();
    for id in module.link_symbols.ids() {
        let link = &module.link_symbols[id];
        let Some(definition) = link.definition else {
            continue;
        };
        let symbol = &module.symbols[definition];
        let value = match symbol.place {
            _ if symbol.is_function() => Some(symbol.value),
            SymbolPlace::Section(section) => match module.sections[section].kind {
                SectionKind::ModuleShared | SectionKind::KernelShared => None,
                _ => Some(module.sections[section].place.unwrap_or(0) + symbol.value),
            },
            SymbolPlace::Common => {
                commons.push(id);
                None
            }
            _ => Some(symbol.value),
        };
        module.link_symbols[id].value = value;
    }
    if let Some(Again { parts, values, .. }) = again {
        for (link, value) in values {
            module.link_symbols[link].value = Some(value);
        }
        module.pool_parts = parts;
    }
    let mut end = ends.get(&b".nv.global"[..]).copied().unwrap_or(0);
    // [tentative-last-first]
    commons.sort_by_key(|id| std::cmp::Reverse(module.link_symbols[*id].definition));
    for id in commons {
        let link = &mut module.link_symbols[id];
        let place = align_up(end, link.common_align);
        link.value = Some(place);
        end = place.saturating_add(link.size);
    }
    errors
}
