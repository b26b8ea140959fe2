//! A row that is linked, and the section that it stands in.

use cuweld_diagnostics::Code;
use cuweld_diagnostics::codes::input;
use cuweld_diagnostics::codes::relocation;
use cuweld_elf::target::relocs::AddendFields;
use cuweld_elf::target::relocs::addend_fields;
use cuweld_elf::target::relocs::reloc_type;
use cuweld_elf::target::section_types::is_rela;
use cuweld_ir::Module;
use cuweld_ir::ObjectId;
use cuweld_ir::Reloc;
use cuweld_ir::SectionId;
use cuweld_ir::SectionInfo;
use cuweld_ir::SectionKind;
use cuweld_ir::section::ADDRESS_BANK;
use cuweld_ir::section::view_name;

use super::copies;
use super::copies::DiscardedRange;
use super::facts::Facts;
use super::facts::contribution;
use super::refusal::Refusal;
use super::target_kind::loses_rows;

/// A row that is linked.
pub(super) struct Row<'r, 'm, 'data> {
    pub(super) facts: &'r Facts<'m, 'data>,
    pub(super) reloc: &'r Reloc,
    pub(super) holder: &'r Holder<'r>,
    pub(super) patched: SectionId,
    /// The type that it has in the output.
    pub(super) ty: u32,
    /// The type of the SASS view that decides for it.
    pub(super) like: u32,
    /// Whether its own type is one of unified addresses.
    pub(super) is_unified: bool,
    /// What is added to the addend because of where the target lies.
    pub(super) moved: u64,
}

impl Row<'_, '_, '_> {
    /// Returns `true` if the row has an addend. A REL row against a moved section loses what its
    /// field holds [moved-rel-loses-addend].
    pub(super) fn has_addend(&self) -> bool {
        self.holder.is_rela || self.moved != 0
    }

    /// Returns `true` if `--force-rela` gives the row an addend.
    fn is_forced(&self) -> bool {
        !self.has_addend() && self.facts.module.options.force_rela
    }

    /// Returns the addend that it then has.
    fn in_place(&self) -> i64 {
        match addend_fields(self.ty) {
            Some(fields) if self.is_forced() => {
                in_place_addend(self.facts.module, self.patched, self.reloc.offset, fields)
            }
            _ => 0,
        }
    }

    /// Refuses an offset at or after `end` in a section, with nvlink's words where it is after the
    /// end of the output's.
    fn check_offset(&self, end: u64, code: Code) -> Result<(), Refusal> {
        match self.reloc.offset < end {
            true => Ok(()),
            false => Err(self.behind_end(code)),
        }
    }

    #[cold]
    fn behind_end(&self, code: Code) -> Refusal {
        let module = self.facts.module;
        let section = &module.sections[self.patched];
        let place = contribution(module, self.patched).saturating_add(self.reloc.offset);
        let whole = self.facts.end(section.name).unwrap_or(0);
        let is_concatenated = section.owner.is_none() && section.kind.is_concatenated();
        if is_concatenated && place < whole && self.reloc.offset >= self.holder.size {
            // nvlink goes on in what other objects add to the section.
            Refusal::Unsupported(relocation::OFFSET)
        } else {
            Refusal::Internal(code)
        }
    }

    /// Returns the addend of a row that stays, and whether it has one in the output.
    pub(super) fn kept_addend(&self) -> Result<(i64, bool), Refusal> {
        let fields = match self.is_forced() {
            true => match addend_fields(self.ty) {
                Some(fields) => Some(fields),
                None => {
                    return Err(Refusal::Unsupported(relocation::KEPT_ADDEND));
                }
            },
            false => None,
        };
        self.check_offset(self.holder.end, input::PAST_END)?;
        let addend = self.reloc.addend.wrapping_add(self.moved as i64);
        let Some(fields) = fields else {
            let rela = self.has_addend();
            return Ok((if rela { addend } else { 0 }, rela));
        };
        if self.reloc.offset.saturating_add(fields.bytes()) > self.holder.size {
            return Err(Refusal::Unsupported(relocation::FIELD_RANGE));
        }
        Ok((addend.wrapping_add(self.in_place()), true))
    }

    /// Refuses a field that cannot be filled.
    pub(super) fn check_field(&self) -> Result<(), Refusal> {
        if self.holder.is_empty && self.holder.size != 0 {
            return Err(Refusal::Unsupported(relocation::NO_BYTES));
        }
        self.check_offset(self.holder.size, input::NO_ADDRESS)?;
        let end = reloc_type(self.ty).map_or(0, |row| row.bytes());
        if self.reloc.offset.saturating_add(end) > self.holder.size {
            // nvlink writes into what lies after the section in the input's image.
            return Err(Refusal::Unsupported(relocation::FIELD_RANGE));
        }
        Ok(())
    }

    /// Refuses an addend in a field that holds a part of it.
    pub(super) fn check_partial(&self) -> Result<(), Refusal> {
        let is_part = || {
            let field = reloc_type(self.ty).and_then(|row| row.field);
            field.is_some_and(|field| field.shift != 0)
        };
        match self.is_forced() && self.in_place() != 0 && is_part() {
            true => Err(Refusal::Unsupported(relocation::PARTIAL_ADDEND)),
            false => Ok(()),
        }
    }
}

/// Returns the value in the fields of a relocation without addend: the addend that `--force-rela`
/// gives it, in units of the fields [field-as-addend].
fn in_place_addend(
    module: &Module<'_>,
    section: SectionId,
    offset: u64,
    fields: AddendFields,
) -> i64 {
    let bytes = usize::try_from(offset)
        .ok()
        .and_then(|offset| module.sections[section].bytes().get(offset..))
        .unwrap_or(&[]);
    fields.read(bytes) as i64
}

/// What the rows of a relocation section have in common.
pub(super) struct Holder<'f> {
    pub(super) id: SectionId,
    pub(super) kind: SectionKind,
    /// Whether its object takes part in the link.
    pub(super) is_included: bool,
    pub(super) is_linked: bool,
    pub(super) is_rela: bool,
    /// The section that rows apply to.
    pub(super) patched: Option<SectionId>,
    /// Whether that section is Mercury code.
    pub(super) in_code: bool,
    /// Whether rows in that section go with copies of weak functions that never were part of the
    /// link.
    pub(super) in_line_table: bool,
    /// The object whose constants, or their Mercury twin, that section is.
    pub(super) constants_of: Option<ObjectId>,
    /// The bytes in it, if it is a bank of addresses, that discarded definitions occupy.
    pub(super) discarded_addresses: &'f [DiscardedRange],
    /// Size in bytes of that section.
    pub(super) size: u64,
    /// Offset in bytes from which on no row can stay in it.
    pub(super) end: u64,
    /// Whether it has no bytes in the file.
    pub(super) is_empty: bool,
    /// The bytes in it, or in the section with the bytes of a Mercury twin, that discarded
    /// definitions occupy.
    pub(super) discarded: &'f [DiscardedRange],
}

impl<'f> Holder<'f> {
    pub(super) fn new(facts: &'f Facts<'_, '_>, id: SectionId) -> Self {
        let module = facts.module;
        let section = &module.sections[id];
        let patched = match section.info {
            SectionInfo::Section(patched) => Some(patched),
            _ => None,
        };
        let kind = patched.map(|patched| module.sections[patched].kind);
        let data = |patched: SectionId| facts.twins.get(&patched).copied().unwrap_or(patched);
        let size = patched.map_or(0, |patched| patched_size(facts, patched));
        Holder {
            id,
            kind: section.kind,
            is_included: module.objects[section.object].state.is_included(),
            is_linked: module.is_section_linked(id),
            is_rela: is_rela(section.ty),
            patched,
            in_line_table: patched
                .is_some_and(|patched| loses_rows(module, view_name(&module.sections[patched]))),
            constants_of: patched
                .is_some_and(|patched| copies::is_bank(module, data(patched)))
                .then_some(section.object),
            discarded_addresses: patched
                .map(data)
                .filter(|patched| {
                    module.sections[*patched].kind == SectionKind::ConstantBank(ADDRESS_BANK)
                })
                .map_or(&[], |patched| facts.discarded_addresses_in(patched)),
            in_code: kind == Some(SectionKind::MercuryText),
            size,
            end: patched.map_or(0, |patched| {
                facts.merged_end(patched).unwrap_or(size).min(size)
            }),
            is_empty: patched.is_none_or(|patched| module.sections[patched].bytes().is_empty()),
            discarded: match (patched, kind) {
                // Variables lie in data: `classify` refuses others.
                (Some(patched), Some(kind)) if !kind.is_code() && kind != SectionKind::Debug => {
                    facts.discarded_in(data(patched))
                }
                _ => &[],
            },
        }
    }
}

/// Returns the size in bytes of what a row applies to. Offsets in Mercury code count bytes of a
/// form that no file holds; rows of a function's own constants may lie anywhere in its bank
/// [constants-rows-in-bank].
fn patched_size(facts: &Facts<'_, '_>, patched: SectionId) -> u64 {
    let module = facts.module;
    let section = &module.sections[patched];
    let other = match (section.owner, section.kind) {
        (Some(function), SectionKind::MercuryText) => Some(module.functions[function].merc_size),
        (Some(function), SectionKind::MercuryTwin) => facts.bank_size(function),
        _ => None,
    };
    other.unwrap_or_else(|| section.size())
}
