//! What becomes of a row, as a table: by what it refers to and by the class of its type.

use cuweld_diagnostics::Code;
use cuweld_diagnostics::codes::input;
use cuweld_diagnostics::codes::relocation;
use cuweld_elf::mercury::relocs::LINE_TABLE;
use cuweld_elf::mercury::relocs::is_mercury;
use cuweld_elf::target::relocs::BankField;
use cuweld_elf::target::relocs::RelocClass;
use cuweld_elf::target::relocs::reloc_type;
use cuweld_ir::SectionInfo;
use cuweld_ir::SectionKind;
use cuweld_ir::Symbol;
use cuweld_ir::SymbolRef;

use super::lines;
use super::row::Row;
use super::target_kind::TargetKind;

/// What becomes of a row whose place is sound.
#[derive(Clone, Copy)]
pub(super) enum Action {
    /// It is written to the output.
    Keep,
    /// Its field gets this value and the addend.
    Apply(u64),
    /// Its field is filled with zeros, whatever the addend.
    Empty,
    /// Its field is cleared, as its function is gone.
    ClearField,
    /// It leaves, the bytes stay.
    Drop,
    /// nvlink ends with an internal error.
    Fail(Code),
    /// It is not supported.
    Refuse(Code),
}

impl<'data> Row<'_, '_, 'data> {
    /// Returns the action for the row, which refers to `target`: the first line of the table that
    /// fits decides.
    pub(super) fn action(&self, target: TargetKind) -> Action {
        use Action::*;
        use RelocClass::*;
        use TargetKind::*;
        let module = self.facts.module;
        let is_relocatable = module.options.relocatable;
        let has_mercury = self.facts.capmerc;
        let class = reloc_type(self.like).map(|row| row.class);
        match (target, class) {
            // Only the SASS view of executables has the places of line tables in its bytes.
            (Known { .. }, _) if self.ty == LINE_TABLE => Keep,
            (Known { .. }, _) if is_relocatable && self.names_lines() => Keep,
            (DiscardedCopy, _) => Drop,
            (UnifiedTable, _) if is_relocatable => Drop,
            // Only a link to an executable resolves these.
            _ if self.is_unified && is_relocatable => Keep,

            // nvlink empties the row.
            (Undefined, Some(Clear | None)) if !self.is_of(Symbol::is_function) => {
                Refuse(relocation::CLEARS_UNDEFINED)
            }
            (Function | Undefined, Some(Clear | None)) => Drop,
            (Function | Undefined, _) => Keep,
            (ReservedShared, Some(Clear)) => Refuse(relocation::CLEARS_RESERVED),
            (Global | ReservedShared, _) => Keep,
            (DeadFunction, Some(Clear)) => ClearField,
            (DeadFunction, _) => Drop,
            (UnifiedTable, _) if self.is_unified => Fail(input::DELETED_SYMBOL),
            (UnifiedTable, Some(None)) => Fail(input::DELETED_SYMBOL),
            (UnifiedTable, _) => Drop,

            // [mercury-slots]
            (Header { slot: Option::None }, _) if has_mercury => Keep,
            (Header { slot: Some(slot) }, _) if self.makes_slot() => Apply(self.in_view(slot)),
            (Header { .. }, Some(PcRelative)) => Fail(input::BRANCH),
            (Header { .. }, Some(Yield | YieldPredicate)) => Drop,
            (Header { .. }, Some(Clear)) => Refuse(relocation::CLEARS_TEXTURE),
            (Header { .. }, Some(Applied)) if !is_kept_against_headers(self.like) => Apply(0),
            (Header { .. }, _) => Keep,

            // Legacy types were refused already.
            (_, Option::None | Some(FunctionDescriptor | Slot)) => Fail(input::RESERVED_SHARED),
            (_, Some(PcRelative)) => Fail(input::BRANCH),
            (Known { emitted: false, .. }, Some(Driver)) => Fail(input::DELETED_SYMBOL),
            (_, Some(Driver)) => Keep,
            (_, Some(None)) => Drop,
            (_, Some(Yield | YieldPredicate)) if self.facts.yields() => Drop,
            (_, Some(YieldPredicate)) => Empty,

            (Known { .. }, Some(Clear))
                if module.shows_shared_variables() && self.is_of(Symbol::is_shared) =>
            {
                Refuse(relocation::CLEARS_SHARED)
            }
            (Known { .. }, Some(Clear))
                if module.shows_compiler_constants()
                    && self.is_of(Symbol::is_compiler_constant) =>
            {
                Refuse(relocation::CLEARS_CONSTANT)
            }
            (Known { emitted: false, .. }, Some(Clear)) if self.is_of(|_| true) => ClearField,
            (_, Some(Clear)) if self.facts.is_unlinked(module, self.reloc.target) => {
                Refuse(relocation::CLEARS_UNLINKED)
            }
            (_, Some(Clear)) => Drop,

            (Known { value, .. }, Some(Applied | Yield)) => Apply(value),
            (Missing, Some(Applied | Yield)) => Apply(u64::MAX),
            (Nothing, Some(Applied | Yield)) => Apply(self.facts.null_symbol()),
        }
    }

    /// Returns `true` if the row refers to a symbol that is so.
    fn is_of(&self, is_so: impl Fn(&Symbol<'data>) -> bool) -> bool {
        let symbol = self.reloc.target.symbol();
        symbol.is_some_and(|symbol| is_so(&self.facts.module.symbols[symbol]))
    }

    /// Returns `true` if a row of the SASS view refers to a line table in `.debug_info`; all other
    /// debug information has the place in the table of the Mercury view [line-tables-elsewhere].
    fn names_lines(&self) -> bool {
        let module = self.facts.module;
        let holder = &module.sections[self.reloc.section];
        holder.kind == SectionKind::SassRelocs
            && matches!(holder.info, SectionInfo::Section(patched) if module.sections[patched].name == b".debug_info")
            && matches!(self.reloc.target, SymbolRef::Section(section) if lines::is_line_table(module, section))
    }

    fn makes_slot(&self) -> bool {
        reloc_type(self.like).is_some_and(|like| like.makes_slot)
    }

    /// Returns the offset of a slot as its field counts it: from the beginning of the bank where
    /// the field is one of the bank, from that of the slots in Mercury code [mercury-slots].
    fn in_view(&self, slot: u64) -> u64 {
        let bank = reloc_type(self.like).map_or(BankField::None, |like| like.bank);
        let in_bank = bank != BankField::None && !is_mercury(self.ty);
        match in_bank || !self.facts.capmerc {
            true => slot,
            false => slot.wrapping_sub(self.facts.module.header_base()),
        }
    }
}

/// Returns `true` if a type that the linker applies elsewhere stays against a texture, sampler or
/// surface that it gives no slot; the others are applied as if the symbol were 0
/// [relocatable-without-slots]. The ABS32 types of instructions stay in relocatable output only:
/// executables have slots for them.
fn is_kept_against_headers(ty: u32) -> bool {
    matches!(
        ty,
        0x01 | 0x02
            | 0x05
            | 0x0a
            | 0x0b
            | 0x0c
            | 0x0d
            | 0x0e
            | 0x2a
            | 0x2b
            | 0x2c
            | 0x37
            | 0x38
            | 0x39
            | 0x46
            | 0x47
            | 0x4c..=0x53
            | 0x66..=0x71
    )
}
