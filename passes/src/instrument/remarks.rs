//! The remarks of passes.

use cuweld_ir::Module;

use super::Instrument;
use super::StepInfo;
use crate::remark::Remark;
use crate::remark::RemarkFilter;
use crate::remark::Shown;

/// Collects remarks, with names, in the order of steps and of what the passes say.
#[derive(Debug, Default)]
pub struct RemarkList {
    filter: RemarkFilter,
    list: Vec<Shown>,
}

impl RemarkList {
    /// Collects those remarks that the filter takes.
    pub fn new(filter: RemarkFilter) -> Self {
        let list = Vec::new();
        RemarkList { filter, list }
    }

    /// Returns the remarks.
    pub fn list(&self) -> &[Shown] {
        &self.list
    }
}

impl Instrument for RemarkList {
    fn wants_remarks(&self, pass: &str) -> bool {
        self.filter.takes_pass(pass)
    }

    fn remarks(&mut self, step: &StepInfo<'_>, module: &Module<'_>, remarks: &[Remark]) {
        let taken = remarks
            .iter()
            .filter(|remark| self.filter.takes(module, step.name, remark));
        let shown = taken.map(|remark| Shown::new(module, step.name, step.number, remark));
        self.list.extend(shown);
    }
}
