//! Constant banks of kernels [constants-join-banks].
//!
//! A kernel's bank begins with its own section. The sections of the device functions that it
//! reaches follow, last section of the last object first; a function has one offset, the largest
//! that any kernel that reaches it needs. All banks that a function's constants go into take the
//! largest alignment that one of them or the constants have, and their sizes are multiples of it
//! [banks-share-alignment]. The constants of discarded weak copies lie after those of the copy that
//! was taken, dead weight [discarded-constants-stay]; if that copy has none, they stay in a section
//! of their own. A copy that replaces another takes over the place of its section, with its own
//! constants or none. Parameter banks have rules of their own.
//!
//! Banks may come out too large here: `constant-bank-dedup` makes them fit.
//!
//! Bound: for every section of a device function, the kernels that reach it.

use std::cell::LazyCell;

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::codes::unsupported;
use cuweld_elf::align::align_up;
use cuweld_elf::symbol::Binding;
use cuweld_ir::BankPiece;
use cuweld_ir::FunctionId;
use cuweld_ir::LinkSymbolId;
use cuweld_ir::Module;
use cuweld_ir::SectionId;
use cuweld_ir::SectionKind;
use cuweld_ir::table::EntityId;
use foldhash::fast::FixedState;
use hashbrown::HashMap;
use hashbrown::HashSet;
use smallvec::SmallVec;

use super::CONSTANT_BANK_LIMIT;
use super::constant_chunks::Covered;
use super::deleted_section;
use crate::analyses::CallGraph;
use crate::analyses::LiveFunctions;
use crate::analyses::SharedParameters;
use crate::analyses::reachers;

/// The constants of one function in one bank.
struct Constants {
    bank: u8,
    link: LinkSymbolId,
    owner: FunctionId,
    /// Sections with their offsets and sizes in bytes; the first is that of the copy that is
    /// linked, or that of a replaced copy with nothing left of it.
    sections: SmallVec<[(SectionId, u64, u64); 1]>,
    /// Size in bytes.
    size: u64,
    /// Largest alignment in bytes of the copies that were taken at their turn, and of those that
    /// lie after them.
    align: u64,
}

/// What a kernel's bank holds so far, in bytes.
#[derive(Clone, Copy)]
struct Bank {
    size: u64,
    align: u64,
}

impl Constants {
    fn add(&mut self, id: SectionId, align: u64, size: u64) {
        // It may have held the place of the section until now.
        self.sections.retain(|(known, ..)| *known != id);
        let offset = align_up(self.size, align);
        self.sections.push((id, offset, size));
        self.size = offset.saturating_add(size);
    }

    /// Puts a section before the others.
    fn add_before(&mut self, id: SectionId, size: u64) {
        self.sections.retain(|(known, ..)| *known != id);
        let shift = align_up(size, self.align);
        for (_, offset, _) in &mut self.sections {
            *offset = offset.saturating_add(shift);
        }
        self.sections.insert(0, (id, 0, size));
        self.size = self.size.saturating_add(shift);
    }

    /// Puts them at an offset into the banks of some functions, piece by piece. The banks are
    /// aligned to `align` bytes.
    fn place(&self, module: &mut Module<'_>, functions: &[FunctionId], at: u64, align: u64) {
        for (section, offset, size) in &self.sections {
            let offset = at.saturating_add(*offset);
            module.sections[*section].place = Some(offset);
            for kernel in functions {
                module.bank_pieces.push(BankPiece {
                    kernel: *kernel,
                    bank: self.bank,
                    section: *section,
                    offset,
                    size: *size,
                    align: align.max(module.sections[*section].align),
                });
            }
        }
    }
}

/// Places the constants of functions.
pub fn place(
    module: &mut Module<'_>,
    sections: &[SectionId],
    graph: &CallGraph,
    live: &LiveFunctions,
    errors: &mut Vec<Diagnostic>,
) {
    if sections.is_empty() {
        return;
    }
    let kernels = &live.kernels;
    let mut is_kernel = vec![false; module.functions.len()];
    for (_, function) in kernels {
        is_kernel[function.index()] = true;
    }
    let Collected {
        constants,
        orphans,
        second,
    } = collect(module, sections, errors);
    let is_own = |constants: &&Constants| is_kernel[constants.owner.index()];
    let own = || constants.iter().filter(is_own).chain(&orphans);
    module.bank_pieces.reserve(constants.len());
    place_own(module, own());
    let is_device = |constants: &&Constants| !is_own(constants);
    let device: Vec<&Constants> = constants.iter().filter(is_device).collect();
    let mut numbers: Vec<u8> = device.iter().map(|constants| constants.bank).collect();
    numbers.sort_unstable();
    numbers.dedup();
    for bank in numbers {
        // Banks so far, by kernel ordinal.
        let mut own_bank = vec![Bank { size: 0, align: 1 }; module.functions.len()];
        // A kernel whose linked copy has no constants begins with those of discarded copies.
        for constants in own() {
            if constants.bank == bank {
                let Constants { size, align, .. } = *constants;
                own_bank[constants.owner.index()] = Bank { size, align };
            }
        }
        let mut banks: Vec<Bank> = kernels
            .iter()
            .map(|(_, kernel)| own_bank[kernel.index()])
            .collect();
        let device = device.iter().copied();
        let device: Vec<&Constants> = device.filter(|of| of.bank == bank).collect();
        place_bank(module, graph, live, &device, &mut banks);
    }
    if !second.is_empty() {
        refuse_split_banks(module, &second, errors);
    }
}

/// Refuses kernels whose own constants lie in the second section of their name, where constants of
/// what they call have to follow: nvlink puts those at the beginning of the first one, although the
/// bank is one [discarded-constants-made-section].
fn refuse_split_banks(
    module: &Module<'_>,
    second: &HashSet<BankOf, FixedState>,
    errors: &mut Vec<Diagnostic>,
) {
    let of = |function: FunctionId| module.symbols[module.functions[function].symbol].link;
    let called = module.bank_pieces.iter().filter(|piece| {
        piece.size > 0 && module.sections[piece.section].owner.and_then(of) != of(piece.kernel)
    });
    let mut split: Vec<LinkSymbolId> = called
        .filter_map(|piece| of(piece.kernel).filter(|link| second.contains(&(*link, piece.bank))))
        .collect();
    split.sort_unstable();
    split.dedup();
    errors.extend(split.into_iter().map(|link| refused_copies(module, link)));
}

/// Leaves the constants of each function in a section of its own, as relocatable output has them.
pub fn place_by_function(
    module: &mut Module<'_>,
    sections: &[SectionId],
    errors: &mut Vec<Diagnostic>,
) {
    let Collected {
        constants, orphans, ..
    } = collect(module, sections, errors);
    for constants in constants.iter().chain(&orphans) {
        if constants.size == 0 && constants.bank != PARAMETER_BANK {
            // [deleted-constants-named]
            let name = String::from_utf8_lossy(module.link_name(constants.link)).into_owned();
            errors.push(deleted_section().note(format!(
                "a copy of '{name}' without constants replaces one that has some"
            )));
        }
    }
    place_own(module, constants.iter().chain(&orphans));
}

/// Begins the bank of each function with its own constants. The parameters of a local kernel and of
/// others of its name lie one after the other in the bank of the first
/// [parameters-of-local-kernels].
fn place_own<'c>(module: &mut Module<'_>, own: impl Iterator<Item = &'c Constants>) {
    let shared = SharedParameters::of(module);
    let mut ends: HashMap<FunctionId, u64, FixedState> = HashMap::default();
    for constants in own {
        let is_parameters = constants.bank == PARAMETER_BANK && !shared.is_empty();
        let holder = shared.holder(constants.owner).filter(|_| is_parameters);
        let kernel = holder.unwrap_or(constants.owner);
        let before = holder.and_then(|holder| ends.get(&holder)).copied();
        let symbol = &module.symbols[module.functions[constants.owner].symbol];
        if holder.is_some() && symbol.bind == Binding::WEAK {
            // It has those of the first.
            for (section, ..) in &constants.sections {
                module.sections[*section].place = Some(0);
            }
            continue;
        }
        let at = align_up(before.unwrap_or(0), constants.align);
        if is_parameters {
            ends.insert(kernel, at.saturating_add(constants.size));
        }
        constants.place(module, &[kernel], at, constants.align);
    }
}

/// The constants of functions.
struct Collected {
    /// Those of copies that were taken, in section order.
    constants: Vec<Constants>,
    /// Banks that only discarded copies have.
    orphans: Vec<Constants>,
    /// Banks whose section a discarded copy made, in which the taken copies have one of their own.
    second: HashSet<BankOf, FixedState>,
}

/// Returns the constants of functions in section order, and those of discarded copies whose taken
/// copy has none: nvlink drops a discarded copy's section of constants nowhere.
fn collect(module: &Module<'_>, sections: &[SectionId], errors: &mut Vec<Diagnostic>) -> Collected {
    // What is not filled is never touched. Copies have sections too, but few names have more than
    // one.
    let most = sections.len().min(module.link_symbols.len());
    let mut found: Vec<Constants> = Vec::with_capacity(most);
    let mut known: HashMap<BankOf, usize, FixedState> =
        HashMap::with_capacity_and_hasher(most, FixedState::default());
    let mut discarded = Vec::new();
    // Sections that copies made before the one that is linked, while the copies taken until then had
    // no constants, with their alignment in bytes [discarded-constants-made-section].
    let mut emptied: HashMap<BankOf, u64, FixedState> = HashMap::default();
    let mut apart: HashSet<BankOf, FixedState> = HashSet::default();
    let covered = Covered::new(module, sections);
    let replaced = LazyCell::new(|| replaced_copies(module));
    for &id in sections {
        let section = &module.sections[id];
        let (SectionKind::FunctionConstants(bank), Some(owner)) = (section.kind, section.owner)
        else {
            continue;
        };
        let Some(link) = module.symbols[module.functions[owner].symbol].link else {
            continue;
        };
        let is_linked = module.is_section_linked(id);
        let copy = module.link_function(link);
        let is_taken = is_linked || module.functions[owner].fate.ever_prevailed() && copy.is_some();
        // Constants without a symbol are what `-r` leaves of discarded copies whose linked copy has
        // none. A copy that replaces this one drops them, but not the section.
        let is_entry = module.symbols[module.functions[owner].symbol].is_entry();
        let named = covered.size(module, id);
        if is_taken && !is_entry && bank != PARAMETER_BANK && named.is_none() {
            if !known.contains_key(&(link, bank)) {
                apart.insert((link, bank));
            }
            if is_linked {
                discarded.push((bank, link, owner, id));
            }
            continue;
        }
        let is_included = module.objects[section.object].state.is_included();
        let comes_before =
            copy.is_some_and(|copy| module.functions[copy].object > module.functions[owner].object);
        let may_empty = !is_taken && is_included && bank != PARAMETER_BANK && comes_before;
        if may_empty && !known.contains_key(&(link, bank)) {
            let align = emptied.entry((link, bank)).or_insert(section.align);
            *align = section.align.max(*align);
        }
        let is_second = emptied.contains_key(&(link, bank));
        if is_second && is_taken && known.contains_key(&(link, bank)) {
            errors.push(refused_copies(module, link));
        }
        let mut index = None;
        if is_taken {
            // The first copy with constants makes the section. A later one that is taken replaces
            // what is in it.
            let made = *known.entry((link, bank)).or_insert(found.len());
            index = Some(made);
            if made == found.len() {
                found.push(Constants {
                    bank,
                    link,
                    owner: copy.unwrap_or(owner),
                    sections: SmallVec::new(),
                    size: 0,
                    align: section.align,
                });
            }
        }
        // A discarded copy joins the section of the one that was linked until then, which keeps its
        // alignment when a later copy replaces both [banks-share-alignment].
        let joins = may_empty && !is_second;
        let joined = index.or_else(|| known.get(&(link, bank)).filter(|_| joins).copied());
        if let Some(joined) = joined {
            found[joined].align = found[joined].align.max(section.align);
        }
        if is_taken && let Some(index) = index {
            let constants = &mut found[index];
            if is_linked && bank != PARAMETER_BANK {
                constants.sections.clear();
            }
            if is_linked || constants.sections.is_empty() {
                // After the symbols lie discarded copies' constants of an earlier relocatable link
                // [unnamed-constants-dropped].
                let named = named.unwrap_or(section.size());
                let size = if is_linked || is_second { named } else { 0 };
                constants.sections.push((id, 0, size));
                constants.size = size;
            }
        }
        if !is_linked
            && is_included
            && module.link_symbols[link].live.is_live()
            && let Some(prevailing) = copy
            && stays(module, bank, owner, prevailing, replaced[link.index()])
        {
            discarded.push((bank, link, prevailing, id));
        }
    }
    // Losing copies join the section that came first.
    known.retain(|bank_of, _| !apart.contains(bank_of));
    let orphans = add_discarded(module, &discarded, &emptied, (&mut found, &known));
    found.retain(|constants| !constants.sections.is_empty());
    if !apart.is_empty() || !emptied.is_empty() {
        let of = |constants: &Constants| (constants.link, constants.bank);
        let taken: HashSet<BankOf, FixedState> = found.iter().map(of).collect();
        let is_relocatable = module.options.relocatable;
        for orphan in orphans.iter().filter(|orphan| taken.contains(&of(orphan))) {
            // Two sections of one name, which the layout does not make.
            let is_entry = module.symbols[module.functions[orphan.owner].symbol].is_entry();
            if is_relocatable && apart.contains(&of(orphan))
                || (is_relocatable || is_entry) && emptied.contains_key(&of(orphan))
            {
                errors.push(refused_copies(module, orphan.link));
            }
        }
    }
    let taken = |id: SectionId| {
        let owner = module.sections[id].owner;
        module.is_section_linked(id)
            || owner.is_some_and(|owner| module.functions[owner].fate.ever_prevailed())
    };
    errors.extend(covered.misfit_of(taken));
    let second = emptied
        .into_keys()
        .filter(|bank_of| known.contains_key(bank_of));
    Collected {
        constants: found,
        orphans,
        second: second.collect(),
    }
}

/// A bank of a function by its name.
type BankOf = (LinkSymbolId, u8);

/// Adds the constants of copies that are not linked, which are bank, name, function and section
/// each, to the banks that are found, by name. Returns the banks that only such copies have.
fn add_discarded(
    module: &Module<'_>,
    discarded: &[(u8, LinkSymbolId, FunctionId, SectionId)],
    emptied: &HashMap<BankOf, u64, FixedState>,
    (found, known): (&mut [Constants], &HashMap<BankOf, usize, FixedState>),
) -> Vec<Constants> {
    let mut orphans: Vec<Constants> = Vec::new();
    let mut known_orphans: HashMap<BankOf, usize, FixedState> = HashMap::default();
    for &(bank, link, owner, id) in discarded {
        let first = emptied.get(&(link, bank)).copied();
        let taken = known.get(&(link, bank));
        let constants = match taken {
            Some(index) if !found[*index].sections.is_empty() && first.is_none() => {
                &mut found[*index]
            }
            _ => {
                let index = *known_orphans.entry((link, bank)).or_insert(orphans.len());
                if index == orphans.len() {
                    orphans.push(Constants {
                        bank,
                        link,
                        owner,
                        sections: SmallVec::new(),
                        size: 0,
                        align: first.unwrap_or(1).max(module.sections[id].align),
                    });
                }
                &mut orphans[index]
            }
        };
        constants.align = constants.align.max(module.sections[id].align);
        let section = &module.sections[id];
        if bank == PARAMETER_BANK && section.object < module.functions[owner].object {
            constants.add_before(id, section.size());
        } else {
            constants.add(id, section.align, section.size());
        }
    }
    orphans
}

/// Refuses what nvlink links with the section of a discarded copy that it removed.
fn refused_copies(module: &Module<'_>, link: LinkSymbolId) -> Diagnostic {
    let name = String::from_utf8_lossy(module.link_name(link)).into_owned();
    Diagnostic::fatal(
        unsupported::DISCARDED_CONSTANTS,
        format!(
            "constants of a copy of '{name}' that is not linked, between one that has none and others"
        ),
    )
}

/// Returns `true` if the constants of a discarded definition stay in the output
/// [discarded-constants-stay].
///
/// A copy that replaces another drops what there was before. Parameter banks of two weak kernels
/// are one, but that of a strong kernel is kept apart from those of the weak copies that it met
/// [parameters-of-strong-kernel].
fn stays(
    module: &Module<'_>,
    bank: u8,
    discarded: FunctionId,
    prevailing: FunctionId,
    replaced: Option<FunctionId>,
) -> bool {
    let [discarded_row, prevailing_row] = [discarded, prevailing].map(|id| module.functions[id]);
    if bank != PARAMETER_BANK {
        return prevailing_row.object < discarded_row.object
            && !discarded_row.fate.ever_prevailed();
    }
    if module.symbols[prevailing_row.symbol].bind == Binding::WEAK {
        return false;
    }
    // Of the weak copies before it, the one that was linked until then.
    prevailing_row.object < discarded_row.object || replaced == Some(discarded)
}

/// Returns the copy that the one that is linked replaced, by resolved symbol.
fn replaced_copies(module: &Module<'_>) -> Vec<Option<FunctionId>> {
    let mut replaced = vec![None; module.link_symbols.len()];
    for (discarded, prevailing) in module.replaced_functions() {
        // In the order of objects: the last stays, which the copy that is linked replaced.
        if let Some(link) = module.symbols[module.functions[prevailing].symbol].link {
            replaced[link.index()] = Some(discarded);
        }
    }
    replaced
}

/// The bank of kernels' parameters.
const PARAMETER_BANK: u8 = 0;

/// Appends the constants of device functions to the banks of the kernels that reach them.
fn place_bank(
    module: &mut Module<'_>,
    graph: &CallGraph,
    live: &LiveFunctions,
    device: &[&Constants],
    banks: &mut [Bank],
) {
    let users = reachers(
        module,
        graph,
        live,
        device.iter().map(|constants| constants.link),
    );
    for (constants, users) in device.iter().zip(&users).rev() {
        let of_users = || users.iter().map(|kernel| banks[*kernel as usize]);
        let most = of_users().map(|bank| bank.size).max().unwrap_or(0);
        let align = of_users()
            .map(|bank| bank.align)
            .fold(constants.align, u64::max);
        let offset = align_up(most, align);
        let size = align_up(offset.saturating_add(constants.size), align);
        let functions: Vec<FunctionId> = users
            .iter()
            .map(|kernel| live.kernels[*kernel as usize].1)
            .collect();
        constants.place(module, &functions, offset, align);
        for kernel in users {
            banks[*kernel as usize] = Bank { size, align };
        }
    }
}

/// Returns a function whose pieces of a bank exceed what a bank can hold, if no pool takes their
/// place.
pub(crate) fn bank_beyond_limit(module: &Module<'_>) -> Option<FunctionId> {
    // The place to which the end of a piece is aligned is before that.
    let may_be = |piece: &BankPiece| {
        let end = piece.offset.saturating_add(piece.size);
        end.saturating_add(piece.align) > CONSTANT_BANK_LIMIT
    };
    let beyond = module.bank_pieces.iter().find(|piece| {
        may_be(piece)
            && module.bank_size(piece) > CONSTANT_BANK_LIMIT
            && module.pool(piece.bank).is_empty()
    });
    beyond.map(|piece| piece.kernel)
}
