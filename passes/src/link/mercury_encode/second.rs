//! Which sections of the Mercury view have one of their own beside that of the SASS view.

use cuweld_elf::behaviours;
use cuweld_elf::mercury::Bank;
use cuweld_elf::mercury::HEADER_INDICES;
use cuweld_elf::target::section_types::SectionFlags;
use cuweld_elf::target::section_types::is_unified_entries;
use cuweld_elf::target::section_types::sht;
use cuweld_elf::toolkit::Toolkit;
use cuweld_ir::plan::PlanSection;

use super::registers::DEBUG_INFO;
use crate::link::classify::mercury::is_joined;

/// What a section of the Mercury view becomes beside that of the SASS view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Second {
    /// Nothing: both views share it.
    None,
    /// A section with the same bytes, of this type.
    Alias(u32),
    /// Constants of a function, with bytes of its own, of this type.
    Constants(u32),
    /// `.nv.merc.nv.constant.entry_image_header_indices.K`.
    HeaderIndices,
    /// `.nv.merc.debug_*`.
    Debug,
    /// `.nv.merc.nv.info`.
    Info,
    /// `.nv.merc.nv.info.F`.
    FunctionInfo,
    /// `.nv.merc.rela*`.
    Relocs,
    /// `.nv.merc.nv.resolvedrela*`.
    ResolvedRelocs,
    /// `.nv.merc.nv.shared.reserved.0`.
    ReservedShared,
    /// `.nv.merc.symtab_shndx`.
    SectionIndices,
    /// `.nv.merc.nv.udt`, which has the same bytes again.
    Copy,
    /// `.nv.merc.nv.callgraph` and `.nv.merc.nv.prototype`, of this type [mercury-call-graph].
    CallGraph(u32),
    /// `.nv.merc.nv.uft.entry` and `.nv.merc.nv.udt.entry`.
    UnifiedEntries,
}

impl Second {
    /// Returns its place among others where they are sorted: after all else constants, then memory,
    /// which follows the code.
    pub(super) fn rank(self) -> u32 {
        match self {
            Second::Alias(sht::PROGBITS) => 0,
            Second::Alias(sht::CUDA_GLOBAL_INIT) | Second::ReservedShared | Second::Copy => 2,
            Second::Alias(_) | Second::Constants(_) | Second::HeaderIndices => 1,
            _ => 0,
        }
    }

    /// Returns `true` if it is memory of variables that are no constants.
    pub(super) fn is_memory(self) -> bool {
        self.rank() == 2
    }
}

/// The section of variables in reserved shared memory.
pub(super) const RESERVED_SHARED: &[u8] = b".nv.shared.reserved.0";

/// Returns what a section becomes.
pub(super) fn second_of(toolkit: &Toolkit, section: &PlanSection<'_>) -> Second {
    let has_call_graph = || toolkit.has(&behaviours::mercury::MERCURY_CALL_GRAPH);
    match section.ty {
        sht::CUDA_CALLGRAPH if has_call_graph() => Second::CallGraph(sht::CUDA_MERCURY_CALLGRAPH),
        sht::CUDA_PROTOTYPE if has_call_graph() => Second::CallGraph(sht::CUDA_MERCURY_PROTOTYPE),
        sht::RELA => Second::Relocs,
        sht::CUDA_RESOLVED_RELA => Second::ResolvedRelocs,
        sht::CUDA_INFO if section.flags.contains(SectionFlags::INFO_LINK) => Second::FunctionInfo,
        sht::CUDA_INFO => Second::Info,
        sht::NULL => Second::None,
        sht::SYMTAB_SHNDX => Second::SectionIndices,
        sht::CUDA_UNIFIED_DATA => Second::Copy,
        ty if is_unified_entries(ty) => Second::UnifiedEntries,
        _ => second_of_named(toolkit, section),
    }
}

/// Returns the same of a section that its name tells apart [one-debug-info].
fn second_of_named(toolkit: &Toolkit, section: &PlanSection<'_>) -> Second {
    let has_one_info = || toolkit.has(&behaviours::mercury::ONE_DEBUG_INFO);
    if let Some((bank, rest)) = Bank::of_name(section.name) {
        return if bank == HEADER_INDICES {
            Second::HeaderIndices
        } else if rest.is_empty() {
            Second::Alias(bank.ty)
        } else {
            Second::Constants(bank.ty)
        };
    }
    match section.ty {
        _ if section.name == RESERVED_SHARED => Second::ReservedShared,
        _ if section.name == b".nv.global.init" => Second::Alias(sht::CUDA_GLOBAL_INIT),
        sht::PROGBITS if section.name == DEBUG_INFO && has_one_info() => {
            Second::Alias(sht::PROGBITS)
        }
        sht::PROGBITS if is_shared_debug(section.name) => Second::Alias(sht::PROGBITS),
        sht::PROGBITS if is_joined(section.name, section.flags) => Second::Debug,
        _ => Second::None,
    }
}

/// Returns `true` if a section of the view holds the slots of textures, samplers and surfaces of a
/// kernel.
pub(super) fn is_header_indices(name: &[u8]) -> bool {
    Bank::of_name(name).is_some_and(|(bank, _)| bank == HEADER_INDICES)
}

/// Returns `true` if both views have the bytes of a debug section in one place of the file
/// [shared-debug].
fn is_shared_debug(name: &[u8]) -> bool {
    const SHARED: [&[u8]; 8] = [
        b".debug_abbrev",
        b".debug_aranges",
        b".debug_loc",
        b".debug_macinfo",
        b".debug_pubnames",
        b".debug_pubtypes",
        b".debug_ranges",
        b".debug_str",
    ];
    SHARED.contains(&name) || name.starts_with(b".nv_debug_ptx_txt")
}
