//! Rows of the SASS view that were applied, which `-preserve-relocs` shows beside those of the
//! Mercury view [preserved-mercury-rows].

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::codes::deviation;
use cuweld_diagnostics::codes::mercury;
use cuweld_elf::target::section_types::sht;
use cuweld_ir::RelocAction;
use cuweld_ir::SectionId;
use cuweld_ir::plan::PlanReloc;
use foldhash::fast::FixedState;
use hashbrown::HashMap;

use super::Encode;
use super::Refusal;
use crate::link::layout_output::resolved::DynamicNames;
use crate::link::layout_output::resolved::is_recorded_beside_mercury;
use crate::link::layout_output::resolved::resolved_addend;

impl<'data> Encode<'_, 'data> {
    /// Returns the sections of applied rows by the name of what they patched.
    pub(super) fn resolved_sections(&self) -> HashMap<&'data [u8], usize, FixedState> {
        let sections = self.plan.sections[..self.view].iter().enumerate();
        let resolved = sections.filter(|(_, section)| section.ty == sht::CUDA_RESOLVED_RELA);
        let named = resolved.filter_map(|(index, section)| {
            let patched = self.plan.sections.get(section.info as usize)?;
            Some((patched.name, index))
        });
        named.collect()
    }

    /// Adds the applied rows of the SASS view of some sections, each with the symbol of the
    /// Mercury row in its place. `first` is the section whose name found the others
    /// [preserved-rows].
    pub(super) fn resolved_rows(
        &mut self,
        (first, sections): (u32, &[(SectionId, u32)]),
        twins: &[PlanReloc],
        shown: DynamicNames,
        rows: &mut Vec<PlanReloc>,
    ) {
        let module = self.module;
        let start = rows.len();
        let mut symbols = twins.iter().map(|twin| twin.symbol);
        for (section, patched) in sections {
            for row in module.relocs[module.sections[*section].relocs].iter().rev() {
                if let RelocAction::Apply { ty, in_place, .. } = row.plan
                    && is_recorded_beside_mercury(module, row, shown)
                {
                    if *patched != first {
                        self.applied_to_other(first, *section);
                    }
                    rows.push(PlanReloc {
                        offset: row.offset,
                        ty,
                        symbol: symbols.next().unwrap_or(0),
                        addend: resolved_addend(module, row, ty, in_place),
                    });
                }
            }
        }
        if rows.len() - start != twins.len() {
            let what = mercury::RELOCATION_VIEWS;
            self.refusals.push(Refusal::new(what, None));
        }
    }

    /// Notes that rows of another function than the first of its name are shown. nvlink looks
    /// their places up in the first one's Mercury code, where there may be none (deviation D22).
    fn applied_to_other(&mut self, first: u32, section: SectionId) {
        if self.applied_together.is_some() {
            return;
        }
        let code = self.plan.sections.get(first as usize);
        self.applied_together = code.map(|code| code.name);
        if self.module.options.strict {
            let what = mercury::APPLIED_TOGETHER;
            self.refusals.push(Refusal::new(what, section));
        }
    }
}

/// Says that applied rows of several functions of a name keep the places in their own code.
pub(super) fn applied_together(code: &[u8]) -> Diagnostic {
    let name = String::from_utf8_lossy(code);
    let message =
        format!("the applied relocations of several sections '{name}' keep their own places");
    Diagnostic::remark(deviation::APPLIED_ROWS, message).deviates("D22")
}
