//! The value of the null symbol.

use cuweld_elf::behaviours;
use cuweld_elf::raw::ET_EWP;
use cuweld_ir::BankPiece;
use cuweld_ir::Fate;
use cuweld_ir::FunctionId;
use cuweld_ir::LinkSymbolId;
use cuweld_ir::Module;
use cuweld_ir::SectionId;
use cuweld_ir::SectionKind;
use cuweld_ir::SymbolPlace;
use cuweld_ir::table::EntityId;
use foldhash::fast::FixedState;
use hashbrown::HashSet;

use super::constant_merge::ConstantMerge;
use super::empty_sections::EmptySections;

/// Returns the value of symbol 0 in the output, which is not always 0.
pub(crate) fn null_symbol_value(module: &Module<'_>) -> u64 {
    shown(module, &ConstantMerge::new(module))
}

/// Returns the value of symbol 0 in the output. A constant that nvlink looked up wins, at offset 0
/// too [null-symbol-of-lookup].
pub(crate) fn shown(module: &Module<'_>, merge: &ConstantMerge) -> u64 {
    let shows = module
        .toolkit
        .has(&behaviours::constants::NULL_SYMBOL_OF_LOOKUP);
    let looked_up = merge.null_symbol.filter(|_| shows);
    let value = looked_up.unwrap_or_else(|| value(module));
    value.wrapping_add(without_symbol(module))
}

/// Returns the number of bytes by which shared memory without a symbol moves symbol 0: the place of
/// that of the first kernel with some lands there, and nvlink moves it after the reserved block, once
/// for each kernel with such memory [null-symbol-of-whole-kernels] [empty-kernel-shared].
fn without_symbol(module: &Module<'_>) -> u64 {
    if module.options.relocatable {
        return 0;
    }
    let empty = EmptySections::new(module).linked(module);
    let kernels = empty
        + if module.has_ewp_object() {
            whole_kernels(module)
        } else {
            0
        };
    let mut functions = module.functions.values();
    let place = functions.find_map(|function| function.unnamed_shared);
    // The Mercury view has no reserved block.
    let reserved = match module.is_capmerc() {
        true => 0,
        false => module.reserved_shared_size() * kernels as u64,
    };
    place.unwrap_or(0).wrapping_add(reserved)
}

/// Returns the number of linked kernels of EWP objects with shared memory.
fn whole_kernels(module: &Module<'_>) -> usize {
    let sections = module.sections.iter().filter(|(id, section)| {
        section.kind == SectionKind::KernelShared
            && section.size() != 0
            && module.objects[section.object].e_type == ET_EWP
            && module.is_section_linked(*id)
    });
    sections.count()
}

/// Returns the value that nvlink leaves in symbol 0.
///
/// A discarded weak copy's constants lie after those of the copy that was taken, or in its emptied
/// place, and the section's symbol takes that address; it has none in the output, so the address
/// lands in the null symbol. The last that is placed shows. What stays where it is does not count:
/// a kernel's own banks, and what no kernel reaches [null-symbol-of-discarded]. Nor do constants of
/// the copy that was taken, but where relocatable output kept those of a copy that lost for it.
fn value(module: &Module<'_>) -> u64 {
    let link = |function: FunctionId| module.symbols[module.functions[function].symbol].link;
    let left_over = LeftOver::find(module);
    let is_shown = |piece: &&BankPiece| {
        piece.bank != 0
            && module.sections[piece.section].owner.is_some_and(|owner| {
                let is_of_loser = !module.functions[owner].fate.ever_prevailed();
                (is_of_loser || left_over.has(link(owner), piece.section))
                    && link(owner) != link(piece.kernel)
            })
    };
    let last = module.bank_pieces.iter().rev().find(is_shown);
    last.map_or(0, |piece| piece.offset)
}

/// Constants of a copy that lost in relocatable output, which leaves them to the copy that was
/// taken, without a symbol in them. They count where that one replaces a copy with constants.
struct LeftOver {
    /// Functions of which a copy with constants was replaced.
    replaced: HashSet<LinkSymbolId, FixedState>,
    /// Whether a symbol stands in a section, by section; empty if no such copy was.
    named: Vec<bool>,
}

impl LeftOver {
    fn find(module: &Module<'_>) -> Self {
        let replaced_owner = |piece: &BankPiece| {
            let owner = &module.functions[module.sections[piece.section].owner?];
            let is_replaced = piece.bank != 0 && owner.fate == Fate::Replaced;
            module.symbols[owner.symbol].link.filter(|_| is_replaced)
        };
        let pieces = module.bank_pieces.iter();
        let replaced: HashSet<_, FixedState> = pieces.filter_map(replaced_owner).collect();
        let mut named = Vec::new();
        if !replaced.is_empty() {
            named.resize(module.sections.len(), false);
            for symbol in module.symbols.values() {
                if let SymbolPlace::Section(section) = symbol.place {
                    named[section.index()] = true;
                }
            }
        }
        LeftOver { replaced, named }
    }

    fn has(&self, owner: Option<LinkSymbolId>, section: SectionId) -> bool {
        owner.is_some_and(|link| self.replaced.contains(&link)) && !self.named[section.index()]
    }
}
