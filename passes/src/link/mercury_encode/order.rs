//! The order and the numbers of the sections that both views have of their own.

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::codes::deviation;
use cuweld_elf::behaviours;
use cuweld_elf::raw::SHN_LORESERVE;
use cuweld_ir::FunctionId;

use super::Encode;
use super::IndexTables;
use super::Second;

impl Encode<'_, '_> {
    /// Returns `true` if the sections of the Mercury view are sorted as those of the SASS view are
    /// [mercury-view-sorted].
    pub(super) fn is_sorted(&self) -> bool {
        let rule = &behaviours::mercury::MERCURY_VIEW_SORTED;
        self.module.toolkit.has(rule)
    }

    /// Returns `true` if the output has unified tables to whose `sh_link` nvlink gives the number of
    /// some section [mercury-view-sorted].
    pub(super) fn has_unified_links(&self) -> bool {
        let is_sorted = self.is_sorted() && self.module.options.relocatable;
        is_sorted && self.second.contains(&Second::UnifiedEntries)
    }

    /// Returns the sections of the view that have a second one, in the order of these.
    pub(super) fn clone_order(&self) -> Vec<usize> {
        let mut clones: Vec<usize> = (0..self.view)
            .filter(|index| self.second[*index] != Second::None)
            .collect();
        if self.is_sorted() {
            clones.sort_by_key(|index| self.second[*index].rank());
        }
        clones
    }

    /// Decides the indices of the sections that are added: parameters of kernels, code, the clones
    /// in the order of their originals, symbols; and tables of section indices, where symbols need
    /// them.
    pub(super) fn number(&mut self) {
        let functions = self.functions.iter().flatten();
        let kernels: Vec<FunctionId> = functions
            .clone()
            .filter(|id| {
                let row = &self.module.functions[**id];
                // Where the view has slots of textures, parameters precede them.
                self.module.symbols[row.symbol].is_entry() && row.header_kinds == 0
            })
            .copied()
            .collect();
        let of_code = (0..self.view).filter(|index| self.functions[*index].is_some());
        let of_code: Vec<usize> = of_code.collect();
        let clones = self.clone_order();
        let others = self.view + kernels.len() + of_code.len() + clones.len();
        let classic = self.classic_index_table();
        // With the table of symbols.
        let is_added = classic.is_none() && others + 1 > SHN_LORESERVE.into();
        let mut next = self.view as u32 + u32::from(is_added);
        for function in kernels {
            self.parameters.push((function, next));
            next += 1;
        }
        let tables = 1 + u32::from(is_added);
        let mut tables_at = next + (of_code.len() + clones.len()) as u32;
        let mut before_code = 0;
        if self.is_sorted() {
            before_code = clones.partition_point(|index| !self.second[*index].is_memory());
            tables_at = next;
            next += tables;
        }
        let (before, after) = clones.split_at(before_code);
        for &index in before.iter().chain(&of_code).chain(after) {
            self.twin[index] = Some(next);
            next += 1;
        }
        self.mercury_symbols = tables_at + u32::from(is_added);
        let added = others + tables as usize + usize::from(is_added) - self.view;
        self.plan.sections.reserve_exact(added);
        self.index_tables = match classic {
            Some(index) => IndexTables::Cloned(index),
            None if is_added => IndexTables::Added { mercury: tables_at },
            None => IndexTables::None,
        };
    }
}

/// Says that unified tables name their symbols (deviation D29).
pub(super) fn unified_links() -> Diagnostic {
    let message = "unified tables name the table of their symbols".to_owned();
    Diagnostic::remark(deviation::UNIFIED_LINKS, message).deviates("D29")
}
