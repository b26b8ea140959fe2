//! Creation of relocation sections: which forms the rows of an object make.

use super::*;
use cuweld_elf::behaviours;
use cuweld_elf::target::section_types::SectionFlags;
use cuweld_ir::section::view_name;

use crate::link::plan_relocations::loses_rows;

impl<'data> Replay<'_, 'data> {
    /// Creates P5: relocation sections in section order.
    pub(super) fn relocs(&mut self) {
        for index in 0..self.with_rows.len() {
            let id = self.with_rows[index];
            let section = &self.module.sections[id];
            self.kept_rows(id, section);
            // [rows-of-discarded-constants]
            let of_constants = self.out.capmerc
                && matches!(section.info, SectionInfo::Section(patched)
                    if constant_rows::applies_to_constants(self.module, patched));
            let stays = |owner| of_constants && self.is_live(owner);
            if section
                .owner
                .is_some_and(|owner| self.taken(owner).is_none() && !stays(owner))
            {
                let is_dead = section
                    .owner
                    .is_some_and(|owner| !self.is_live(owner) && self.came_in(owner));
                if is_dead {
                    let rows = &self.module.relocs[section.relocs];
                    let forms = self.forms(is_rela(section.ty), rows.iter());
                    for named in forms.into_iter().flatten() {
                        self.number();
                        self.number_of_form(named);
                    }
                }
                continue;
            }
            let SectionInfo::Section(patched) = section.info else {
                continue;
            };
            let preserves = self.module.options.preserve_relocs;
            let Some(target) = self.output_of(patched) else {
                if preserves && of_constants && !section.relocs.is_empty() {
                    let name = view_name(&self.module.sections[patched]);
                    let name = self.joined(".nv.resolvedrela", name);
                    self.unused_name(name);
                }
                continue;
            };
            if !preserves && self.out.relocs.has_both(target) {
                continue;
            }
            let target_name = self.out.sections[target].name;
            let rows = &self.module.relocs[section.relocs];
            let is_rela = is_rela(section.ty);
            // Rows in a discarded variable, and those of line tables and frames of copies that were
            // not taken at their turn, never were [lines-of-discarded-copies].
            let never_taken = |symbol: SymbolId| {
                let function = self.module.symbols[symbol].function;
                function.is_some_and(|id| !self.module.functions[id].fate.ever_prevailed())
            };
            let of_lines = loses_rows(self.module, view_name(&self.module.sections[patched]));
            let linked = self.is_linked(section);
            let stay = rows.iter().filter(|row| {
                let in_loser = linked && row.plan == RelocAction::Gone;
                let of_loser = of_lines
                    && matches!(row.plan, RelocAction::Drop)
                    && row.target.symbol().is_some_and(never_taken);
                !in_loser && !of_loser
            });
            let mut forms = self.forms(is_rela, stay);
            // What is REL in the input leaves its empty section after.
            let forced = !is_rela && self.module.options.force_rela;
            if forced && forms == [Some(false), None] {
                forms[1] = Some(true);
            }
            for (index, named) in forms.into_iter().flatten().enumerate() {
                let prefix = if named { ".rela" } else { ".rel" };
                let name = self.same_or_joined(section.name, prefix, target_name);
                self.reloc_section(name, target, named);
                // Created with the first row.
                if preserves && (index != 0 || named || !forced) {
                    let name = self.joined(".nv.resolvedrela", target_name);
                    self.resolved_section(name, target_name, target);
                }
            }
        }
    }

    /// Returns `true` if a section of an object that takes part is linked.
    fn is_linked(&self, section: &Section<'_>) -> bool {
        let is_linked = |owner: FunctionId| self.outcomes.get(owner).is_linked;
        section.kind != SectionKind::Stripped && section.owner.is_none_or(is_linked)
    }

    /// Counts the rows of a section that the output has.
    fn kept_rows(&mut self, id: SectionId, section: &Section<'_>) {
        let SectionInfo::Section(patched) = section.info else {
            return;
        };
        if !self.is_linked(section) {
            return;
        }
        let mut kept = [0; 2];
        for row in &self.module.relocs[section.relocs] {
            if let RelocAction::Keep { rela, .. } = row.plan {
                kept[usize::from(rela)] += 1;
            }
        }
        if (kept != [0; 2] || self.module.options.preserve_relocs)
            && !constant_rows::applies_to_constants(self.module, patched)
        {
            let with_rows = WithRows { id, patched, kept };
            self.out.with_rows.push(with_rows);
        }
    }

    /// Returns the sections, with addends or without, that rows create. A REL row against a moved
    /// section becomes RELA [moved-rel-loses-addend]; other rows take the form of their section.
    /// But each row of a RELA section (all are from sm_90 on) that has no addend creates the other
    /// one, empty, unless it is the first [empty-rel-names].
    fn forms<'r>(&self, is_rela: bool, rows: impl Iterator<Item = &'r Reloc>) -> [Option<bool>; 2] {
        let has_addend = |row: &Reloc| {
            let moved = match row.target {
                SymbolRef::Section(section) => self.module.sections[section].place.unwrap_or(0),
                _ => 0,
            };
            let own = if is_rela { row.addend as u64 } else { 0 };
            own.wrapping_add(moved) != 0
        };
        let leaves_names = !is_rela
            || self
                .module
                .toolkit
                .has(&behaviours::layout::EMPTY_REL_NAMES);
        let mut first = None;
        for row in rows {
            match first {
                None => first = Some(is_rela || has_addend(row)),
                Some(first) if leaves_names && first != has_addend(row) => {
                    return [Some(first), Some(!first)];
                }
                Some(_) => {}
            }
        }
        [first, None]
    }

    pub(super) fn reloc_section(&mut self, name: &'data [u8], target: OutId, is_rela: bool) {
        if self.out.relocs.get(target, is_rela).is_some() {
            return;
        }
        let (ty, entsize) = if is_rela {
            (sht::RELA, 24)
        } else {
            (sht::REL, 16)
        };
        let header = Header {
            ty,
            flags: SectionFlags::INFO_LINK,
            align: 8,
            entsize,
        };
        let id = self.push(name, header, Content::Relocs(target as u32), false);
        self.out.relocs.insert(target, is_rela, id);
        self.number_of_form(is_rela);
    }

    /// Gives one more section a number where one of rows without addends is made of the Mercury
    /// view, as nvlink does beyond 65279 sections.
    fn number_of_form(&mut self, is_rela: bool) {
        if self.out.capmerc && !is_rela {
            self.number();
        }
    }

    /// Creates the section of the rows that are applied, which `-preserve-relocs` keeps. It is
    /// found by name: local functions of one name share it [preserved-rows].
    pub(super) fn resolved_section(
        &mut self,
        name: &'data [u8],
        target_name: &'data [u8],
        target: OutId,
    ) {
        if self.out.resolved_relocs.contains_key(target_name) {
            return;
        }
        let header = Header {
            ty: sht::CUDA_RESOLVED_RELA,
            flags: SectionFlags::INFO_LINK,
            align: 8,
            entsize: 24,
        };
        let id = self.push(name, header, Content::ResolvedRelocs(target as u32), false);
        self.out.resolved_relocs.insert(target_name, id);
    }
}
