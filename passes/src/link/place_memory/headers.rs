//! Slots of texture, sampler and surface headers in constant bank 0 [header-slots].
//!
//! Every texture, sampler and surface of the link has a slot of four bytes, used or not. The slots
//! stand after the largest bank 0 of all live kernels, so that each has the same offset everywhere;
//! the bank of every kernel that reaches code with a reference that needs a slot is extended to
//! hold all of them. The driver fills them in through relocations that `layout-output` creates: for
//! textures if the kernel reaches a reference to a texture or a surface, for samplers if it reaches
//! one to a sampler or a surface, and for surfaces always [slots-by-kind].
//!
//! Linear in relocations and the edges of the call graph.

use super::deleted_section;
use super::list_sort::list_sort_equal;
use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::codes::unsupported;
use cuweld_elf::align::align_up;
use cuweld_elf::symbol::SymbolType;
use cuweld_elf::symbol::header;
use cuweld_elf::target::relocs::reloc_type;
use cuweld_ir::HeaderSlot;
use cuweld_ir::LinkSymbolId;
use cuweld_ir::Module;
use cuweld_ir::SectionInfo;
use cuweld_ir::SectionKind;
use cuweld_ir::Symbol;
use cuweld_ir::SymbolPlace;
use cuweld_ir::table::EntityId;

use crate::analyses::CallGraph;
use crate::analyses::LiveFunctions;

/// Size in bytes of a slot.
pub(crate) const SLOT_SIZE: u64 = 4;

/// Alignment in bytes of the first slot where the SASS is derived from Mercury, which counts slots
/// from there [mercury-slots].
const MERCURY_ALIGN: u64 = 16;

/// Types of symbols with slots, in the order in which they are listed before the sort.
const TYPES: [SymbolType; 3] = [
    SymbolType::CUDA_SURFACE,
    SymbolType::CUDA_SAMPLER,
    SymbolType::CUDA_TEXTURE,
];

/// Gives slots to textures, samplers and surfaces.
pub fn place(
    module: &mut Module<'_>,
    graph: &CallGraph,
    live: &LiveFunctions,
    errors: &mut Vec<Diagnostic>,
) {
    let mut of_types = TYPES.map(|_| Vec::new());
    for (id, link) in module.link_symbols.iter() {
        let ty = module.symbols[link.first].ty;
        if let Some(index) = TYPES.iter().position(|known| *known == ty) {
            of_types[index].push(id);
        }
    }
    let symbols: Vec<LinkSymbolId> = of_types.concat();
    if symbols.is_empty() {
        return;
    }
    let of_dead = symbols.iter().find_map(|id| {
        let symbol = &module.symbols[module.link_symbols[*id].first];
        let is_dead = matches!(symbol.place, SymbolPlace::Section(code)
            if module.sections[code].kind == SectionKind::Text && !module.is_section_linked(code));
        is_dead.then(|| of_dead_kernel(symbol))
    });
    errors.extend(of_dead);
    let mut base = 0;
    for piece in &module.bank_pieces {
        if piece.bank == 0 {
            base = base.max(piece.offset.saturating_add(piece.size));
        }
    }
    // Measured with a parameter of one byte at the end of the largest bank.
    base = match module.is_capmerc() {
        true => base_behind_parameters(module),
        false => align_up(base, SLOT_SIZE),
    };
    let kernels = &live.kernels;
    let has_only_kernel = live.only_kernel.is_some();
    // [left-out-slots]
    let is_without = has_only_kernel && module.is_capmerc();
    let users = users(module, has_only_kernel);
    // A slot of a surface is one of a texture and of a sampler too.
    for kind in [header::TEXTURE, header::SAMPLER] {
        let wanted = kind | header::SURFACE;
        let marked: Vec<bool> = users.iter().map(|kinds| kinds & wanted != 0).collect();
        if !marked.contains(&true) {
            continue;
        }
        let reached = graph.reaching(&marked);
        for (link, kernel) in kernels {
            // [only-kernel-slots]
            let has_slots = match live.reaches(*link) {
                true => has_only_kernel || reached[link.index()],
                false => marked[link.index()] && !is_without,
            };
            if has_slots {
                module.functions[*kernel].header_kinds |= wanted;
            }
        }
    }
    let mut has_bank = vec![module.target.is_mercury(); module.functions.len()];
    for piece in module.bank_pieces.iter().filter(|piece| piece.bank == 0) {
        has_bank[piece.kernel.index()] = true;
    }
    for (_, kernel) in kernels {
        if module.functions[*kernel].header_kinds != 0 && !has_bank[kernel.index()] {
            let name = String::from_utf8_lossy(module.function_name(*kernel)).into_owned();
            errors.push(
                Diagnostic::refusal(unsupported::TEXTURE_SLOTS).note(format!("kernel '{name}'")),
            );
        }
    }
    for (index, symbol) in list_sort_equal(&symbols).into_iter().enumerate() {
        let offset = SLOT_SIZE.saturating_mul(index as u64).saturating_add(base);
        module.header_slots.push(HeaderSlot { symbol, offset });
    }
}

/// Returns the error for a parameter of a kernel that is not linked [header-parameters].
fn of_dead_kernel(symbol: &Symbol<'_>) -> Diagnostic {
    deleted_section().note(format!(
        "parameter '{}' is a texture, sampler or surface of a kernel that is not linked",
        String::from_utf8_lossy(symbol.name)
    ))
}

/// Returns the offset in bytes of the first slot where the SASS is derived from Mercury: after the
/// parameters of all linked kernels.
pub(crate) fn base_behind_parameters(module: &Module<'_>) -> u64 {
    let parameters = module.sections.iter().filter(|(id, section)| {
        section.kind == SectionKind::SassParameters && module.is_section_linked(*id)
    });
    let sizes = parameters.map(|(_, section)| section.size());
    let end = sizes.fold(module.toolkit.mercury_parameters_start, u64::max);
    align_up(end, MERCURY_ALIGN)
}

/// Returns the kinds of textures, samplers and surfaces that the code of each function refers to by
/// a type that needs a slot, by resolved symbol; of functions that are linked, or of dead ones too,
/// but never of discarded copies.
fn users(module: &Module<'_>, dead_too: bool) -> Vec<u8> {
    let mut users = vec![0; module.link_symbols.len()];
    for reloc in module.relocs.values() {
        if !reloc_type(reloc.ty).is_some_and(|row| row.makes_slot)
            || !dead_too && !module.is_section_linked(reloc.section)
        {
            continue;
        }
        let kind = reloc
            .target
            .symbol()
            .map_or(0, |symbol| module.symbols[symbol].ty.header_kind());
        let section = &module.sections[reloc.section];
        if let (1.., Some(owner), SectionInfo::Section(patched)) =
            (kind, section.owner, section.info)
            && !module.functions[owner].fate.is_non_prevailing()
            && module.sections[patched].kind == SectionKind::Text
            && let Some(link) = module.symbols[module.functions[owner].symbol].link
        {
            users[link.index()] |= kind;
        }
    }
    users
}
