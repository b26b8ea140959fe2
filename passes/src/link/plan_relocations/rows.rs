//! What becomes of one row.

use cuweld_diagnostics::codes::input;
use cuweld_diagnostics::codes::relocation;
use cuweld_elf::mercury::relocs::counterparts;
use cuweld_elf::mercury::relocs::is_mercury;
use cuweld_elf::mercury::relocs::plain as mercury_plain;
use cuweld_elf::target::relocs::RelocClass;
use cuweld_elf::target::relocs::is_yield;
use cuweld_elf::target::relocs::reloc_type;
use cuweld_ir::Module;
use cuweld_ir::Reloc;
use cuweld_ir::RelocAction;
use cuweld_ir::SectionKind;
use cuweld_ir::SymbolRef;

use super::actions::Action;
use super::copies::DiscardedRange;
use super::facts::Facts;
use super::facts::contribution;
use super::refusal::Refusal;
use super::row::Holder;
use super::row::Row;
use super::target_kind::TargetKind;
use super::target_kind::target_kind;

/// Decides on rows one after the other. Rows of a section come together, and so do those of one
/// target: what they have in common is looked up once.
pub(super) struct Planner<'f, 'm, 'data> {
    facts: &'f Facts<'m, 'data>,
    holder: Option<Holder<'f>>,
    /// The target of the row before, in the same section.
    target: Option<(SymbolRef, TargetKind)>,
    /// Whether the row that was decided on last stays, which nvlink leaves out (deviation D14).
    keeps_lost: bool,
}

/// Rows of one type against one target, one after the other in a section, as in tables of
/// addresses: they are kept.
pub(super) struct Run {
    /// Offset in bytes from which on no row can stay in what they apply to.
    end: u64,
    /// What is added to their addends because of where the target lies.
    moved: i64,
    /// Their type in the output.
    ty: u32,
    /// Whether they have addends there.
    rela: bool,
}

impl Run {
    /// Decides on the rows after the first one that fare as it does; says how many there are.
    pub(super) fn take(&self, first: &Reloc, others: &mut [Reloc]) -> usize {
        let fares_alike = |reloc: &Reloc| {
            is_like(first, reloc) && reloc.offset < self.end && reloc.plan != RelocAction::Gone
        };
        let mut count = 0;
        for reloc in others.iter_mut().take_while(|reloc| fares_alike(reloc)) {
            let addend = match self.rela {
                true => reloc.addend.wrapping_add(self.moved),
                false => 0,
            };
            reloc.plan = RelocAction::Keep {
                ty: self.ty,
                addend,
                rela: self.rela,
            };
            count += 1;
        }
        count
    }
}

/// Returns `true` if a row has the type and the target of the one before, in the same section.
pub(super) fn is_like(before: &Reloc, reloc: &Reloc) -> bool {
    before.target == reloc.target && before.ty == reloc.ty && before.section == reloc.section
}

/// Refuses what no current compiler writes and nvlink treats as more than a relocation, in code
/// that does not take part too.
fn check_legacy(module: &Module<'_>, reloc: &Reloc, facts: &Facts<'_, '_>) -> Result<(), Refusal> {
    match reloc_type(reloc.ty).map(|row| row.class) {
        // The function becomes one whose address is taken; against anything else nvlink crashes.
        Some(RelocClass::FunctionDescriptor) => {
            let link = reloc.target.symbol().and_then(|id| module.symbols[id].link);
            match link {
                Some(link) if facts.is_address_taken(link) => Ok(()),
                _ => Err(Refusal::Unsupported(relocation::LEGACY_DESCRIPTOR)),
            }
        }
        Some(RelocClass::Slot) => Err(Refusal::Unsupported(relocation::LEGACY_SLOT)),
        _ => Ok(()),
    }
}

/// Returns `true` if a place lies in one of the ranges, which do not overlap.
fn lies_in(ranges: &[DiscardedRange], offset: u64) -> bool {
    let after = ranges.partition_point(|(_, start, _)| *start <= offset);
    after
        .checked_sub(1)
        .and_then(|index| ranges.get(index))
        .is_some_and(|(_, _, end)| offset < *end)
}

impl Row<'_, '_, '_> {
    /// Does to the row what the action says, and stores that in `plan`.
    fn take(&self, action: Action, plan: &mut RelocAction) -> Result<(), Refusal> {
        let ty = self.ty;
        match action {
            Action::Keep => {
                let (addend, rela) = self.kept_addend()?;
                *plan = RelocAction::Keep { ty, addend, rela };
            }
            Action::Apply(value) => {
                self.check_field()?;
                self.check_partial()?;
                *plan = RelocAction::Apply {
                    ty,
                    value: value.wrapping_add(self.reloc.addend as u64),
                    in_place: !self.has_addend(),
                };
            }
            Action::Empty => {
                self.check_field()?;
                *plan = RelocAction::Apply {
                    ty,
                    value: 0,
                    in_place: false,
                };
            }
            Action::ClearField => {
                self.check_field()?;
                *plan = RelocAction::Clear;
            }
            Action::Drop => *plan = RelocAction::Drop,
            Action::Fail(code) => return Err(Refusal::Internal(code)),
            Action::Refuse(code) => return Err(Refusal::Unsupported(code)),
        }
        Ok(())
    }
}

impl<'f, 'm, 'data> Planner<'f, 'm, 'data> {
    pub(super) fn new(facts: &'f Facts<'m, 'data>) -> Self {
        Planner {
            facts,
            holder: None,
            target: None,
            keeps_lost: false,
        }
    }

    /// Returns the run that begins with the row that was decided on last, if other rows like it get
    /// the same action.
    pub(super) fn run(&self, reloc: &Reloc) -> Option<Run> {
        let holder = self.holder.as_ref()?;
        let RelocAction::Keep { ty, addend, rela } = reloc.plan else {
            return None;
        };
        // Places of frames count from the row's own, and so does the addend that a field holds.
        let depends_on_row = holder.kind == SectionKind::SassRelocs
            || !holder.discarded.is_empty()
            || !holder.discarded_addresses.is_empty()
            || !holder.is_rela && self.facts.module.options.force_rela;
        let moved = if rela {
            addend.wrapping_sub(reloc.addend)
        } else {
            0
        };
        (!depends_on_row).then_some(Run {
            end: holder.end,
            moved,
            ty,
            rela,
        })
    }

    /// Returns what the row that was decided on last refers to.
    pub(super) fn target(&self) -> Option<TargetKind> {
        self.target.map(|(_, kind)| kind)
    }

    /// Returns `true` if the row that was decided on last stays, which nvlink leaves out (deviation
    /// D14).
    pub(super) fn keeps_lost(&self) -> bool {
        self.keeps_lost
    }

    /// Decides on a row.
    pub(super) fn decide(&mut self, reloc: &mut Reloc) -> Result<(), Refusal> {
        // What a row becomes is stored where it stays: a copy of it would have to wait for each of
        // its fields.
        self.plan(&{ *reloc }, &mut reloc.plan)
    }

    /// Decides on a row, whose action is stored in `plan`.
    fn plan(&mut self, reloc: &Reloc, plan: &mut RelocAction) -> Result<(), Refusal> {
        self.keeps_lost = false;
        let facts = self.facts;
        let module = facts.module;
        let is_other = |holder: &Holder<'_>| holder.id != reloc.section;
        if self.holder.as_ref().is_some_and(is_other) {
            self.holder = None;
            self.target = None;
        }
        let holder = self
            .holder
            .get_or_insert_with(|| Holder::new(facts, reloc.section));
        if holder.is_included {
            check_legacy(module, reloc, facts)?;
        }
        // Rows that an opt-in pass has taken out stay out.
        if reloc.plan == RelocAction::Gone || !holder.is_linked {
            *plan = RelocAction::Gone;
            return Ok(());
        }
        let Some(patched) = holder.patched else {
            return Err(Refusal::Internal(input::RELOCATED_METADATA));
        };
        if lies_in(holder.discarded, reloc.offset) {
            *plan = RelocAction::Gone;
            return Ok(());
        }
        let known = counterparts(reloc.ty, holder.in_code);
        if is_mercury(reloc.ty) && known.is_empty() {
            return Err(Refusal::Unsupported(relocation::MERCURY_TYPE));
        }
        // Places of frames count from the row's own.
        let depends_on_row = holder.kind == SectionKind::SassRelocs;
        let target = match self.target {
            Some((target, kind)) if target == reloc.target && !depends_on_row => kind,
            _ => target_kind(reloc, patched, holder.in_line_table, facts)?,
        };
        self.target = Some((reloc.target, target));
        let lost = |object| facts.lost(object, reloc.target);
        if let Some(lost) = holder.constants_of.and_then(lost) {
            // [rows-to-discarded-definitions]
            if module.options.strict || lies_in(holder.discarded_addresses, reloc.offset) {
                *plan = lost;
                return Ok(());
            }
            // Rows of two views count once.
            self.keeps_lost = holder.kind != SectionKind::SassRelocs;
        }
        // nvlink makes these rows anew where there is Mercury.
        if facts.capmerc && is_yield(reloc.ty) {
            *plan = RelocAction::Drop;
            return Ok(());
        }
        let plain = reloc_type(reloc.ty).and_then(|row| row.plain);
        let unified = mercury_plain(reloc.ty).or(plain);
        // Rows of the Mercury view fare as those of the SASS view in their place.
        let (ty, known) = match unified {
            Some(plain) if !module.options.relocatable => {
                (plain, counterparts(plain, holder.in_code))
            }
            _ => (reloc.ty, known),
        };
        let row = Row {
            facts,
            reloc,
            holder,
            patched,
            ty,
            like: known.first().copied().unwrap_or(ty),
            is_unified: unified.is_some(),
            moved: match reloc.target {
                SymbolRef::Section(target) => {
                    let holder = &module.sections[reloc.section];
                    contribution(module, facts.in_view(holder, target))
                }
                _ => 0,
            },
        };
        row.take(row.action(target), plan)
    }
}
