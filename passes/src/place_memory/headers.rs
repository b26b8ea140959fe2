//! Slots of texture, sampler and surface headers in constant bank 0 (`relocs.md` section 6).
//!
//! Every texture, sampler and surface of the link has a slot of four bytes, used or not. The slots
//! stand behind the largest bank 0 of all live kernels, so that each has the same offset everywhere;
//! the bank of every kernel that reaches code with a reference that needs a slot is extended to hold
//! all of them. The driver fills them in through relocations that `layout-output` creates.
//!
//! Linear in relocations and the edges of the call graph.

use cuweld_ir::HeaderSlot;
use cuweld_ir::LinkSymbolId;
use cuweld_ir::Module;
use cuweld_ir::SectionInfo;
use cuweld_ir::SectionKind;
use cuweld_ir::symbol::stt;
use cuweld_ir::table::EntityId;
use cuweld_ir::target::quirks::list_sort_equal;
use cuweld_ir::target::relocs::reloc_type;

use crate::analysis::CallGraph;
use crate::analysis::functions_in_creation_order;
use crate::analysis::kernels;

/// Size in bytes of a slot.
pub(crate) const SLOT_SIZE: u64 = 4;

/// Types of symbols with slots, in the order in which they are listed before the sort.
const TYPES: [u8; 3] = [stt::CUDA_SURFACE, stt::CUDA_SAMPLER, stt::CUDA_TEXTURE];

/// Gives slots to textures, samplers and surfaces.
pub fn place(module: &mut Module<'_>, graph: &CallGraph) {
    let mut symbols: Vec<LinkSymbolId> = Vec::new();
    for ty in TYPES {
        let of_type = module
            .link_symbols
            .iter()
            .filter(|(_, link)| module.symbols[link.first].ty == ty);
        symbols.extend(of_type.map(|(id, _)| id));
    }
    if symbols.is_empty() {
        return;
    }
    let functions = functions_in_creation_order(module);
    let mut base = 0;
    for piece in &module.bank_pieces {
        if piece.bank == 0 {
            base = base.max(piece.offset.saturating_add(piece.size));
        }
    }
    let users = users(module);
    let reached = graph.reaching(&users);
    let kernels: Vec<_> = kernels(module, &functions).collect();
    for (link, kernel) in kernels {
        module.functions[kernel].header_slots = reached[link.index()];
    }
    for (index, symbol) in list_sort_equal(&symbols).into_iter().enumerate() {
        let offset = SLOT_SIZE.saturating_mul(index as u64).saturating_add(base);
        module.header_slots.push(HeaderSlot { symbol, offset });
    }
}

/// Whether the code of each function refers to a texture, sampler or surface by a type that needs a
/// slot, by link symbol.
fn users(module: &Module<'_>) -> Vec<bool> {
    let mut users = vec![false; module.link_symbols.len()];
    for reloc in module.relocs.values() {
        if !reloc_type(reloc.ty).is_some_and(|row| row.makes_slot)
            || !module.is_section_linked(reloc.section)
        {
            continue;
        }
        let is_header = reloc
            .target
            .symbol()
            .is_some_and(|symbol| stt::is_header(module.symbols[symbol].ty));
        let section = &module.sections[reloc.section];
        if let (true, Some(owner), SectionInfo::Section(patched)) =
            (is_header, section.owner, section.info)
            && module.sections[patched].kind == SectionKind::Text
            && let Some(link) = module.symbols[module.functions[owner].symbol].link
        {
            users[link.index()] = true;
        }
    }
    users
}
