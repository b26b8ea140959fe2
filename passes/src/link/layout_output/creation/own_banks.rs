//! Which constants of functions begin a bank.

use std::cell::LazyCell;

use cuweld_ir::Fate;

use super::*;

/// Which sections of constants begin a bank, and which banks are not empty.
pub(super) struct OwnBanks {
    /// Whether a section is the first of a function's own constant bank, by section.
    pub(super) begins: Vec<bool>,
    /// Constant banks of functions that are not empty; not gathered if no bank is empty.
    filled: HashSet<(LinkSymbolId, u8), FixedState>,
}

impl OwnBanks {
    pub(super) fn find(module: &Module<'_>, outcomes: &Outcomes) -> Self {
        let link = |function: FunctionId| outcomes.get(function).link;
        // Relocatable output keeps the constants of each function where they are.
        let mut begins = vec![module.options.relocatable; module.sections.len()];
        let mut only_parameters = !module.options.relocatable;
        for piece in &module.bank_pieces {
            if piece.bank == 0
                && module.sections[piece.section].owner.and_then(link) == link(piece.kernel)
            {
                begins[piece.section.index()] = true;
            }
            only_parameters &= piece.bank == 0 && is_filled(piece);
        }
        if only_parameters {
            return OwnBanks {
                begins,
                filled: HashSet::default(),
            };
        }
        // A bank that a replacement left empty is dropped, and so is what copies before it made
        // that were not linked when they came [emptied-bank-dropped]. Else the first copy made it,
        // be it linked or not.
        let filled: HashSet<(LinkSymbolId, u8), FixedState> = module
            .bank_pieces
            .iter()
            .filter(|piece| is_filled(piece))
            .filter_map(|piece| Some((link(piece.kernel)?, piece.bank)))
            .collect();
        // Of those, the ones in which constants lie that a copy of their own function had when it
        // was taken: what discarded copies made before is not used [discarded-constants-made-section].
        let of_taken = LazyCell::new(|| {
            let pieces = module.bank_pieces.iter().filter(|piece| is_filled(piece));
            let taken = pieces.filter_map(|piece| {
                let owner = module.sections[piece.section].owner?;
                let link = link(owner).filter(|of| link(piece.kernel) == Some(*of))?;
                let is_taken = module.functions[owner].fate.ever_prevailed();
                is_taken.then_some((link, piece.bank))
            });
            taken.collect::<HashSet<(LinkSymbolId, u8), FixedState>>()
        });
        for (id, section) in module.sections.iter() {
            let (SectionKind::FunctionConstants(bank @ 1..), Some(owner)) =
                (section.kind, section.owner)
            else {
                continue;
            };
            if link(owner).is_some_and(|link| filled.contains(&(link, bank))) {
                begins[id.index()] = true;
            } else if module.functions[owner].fate == Fate::Replaced {
                begins[id.index()] = false;
            }
            if !module.functions[owner].fate.ever_prevailed()
                && let Some(of) = link(owner)
                && let Some(prevailing) = module.link_function(of)
                && module.functions[prevailing].object > module.functions[owner].object
            {
                begins[id.index()] =
                    filled.contains(&(of, bank)) && !of_taken.contains(&(of, bank));
            }
        }
        OwnBanks { begins, filled }
    }

    /// Returns `true` if anything lies in the bank that a piece belongs to, which a resolved symbol
    /// has.
    pub(super) fn is_filled(&self, link: LinkSymbolId, piece: &BankPiece) -> bool {
        is_filled(piece) || self.filled.contains(&(link, piece.bank))
    }
}

/// Returns `true` if a bank holds something up to the end of a piece.
fn is_filled(piece: &BankPiece) -> bool {
    piece.offset.saturating_add(piece.size) > 0
}
