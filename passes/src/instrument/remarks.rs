//! The remarks of passes.

use cuweld_ir::Module;

use super::Instrument;
use super::InstrumentError;
use super::RunInfo;
use super::StepInfo;
use crate::remark::Remark;
use crate::remark::RemarkFilter;
use crate::remark::Shown;

/// Collects remarks, with names, in the order of steps and of what the passes say.
#[derive(Debug, Default)]
pub struct RemarkList {
    filter: RemarkFilter,
    /// The known passes, for a suggestion where a word of the filter is none of them.
    passes: Vec<&'static str>,
    list: Vec<Shown>,
}

impl RemarkList {
    /// Collects those remarks that the filter takes. A run whose module has no symbol of a name in
    /// the filter does not begin; `passes` are the known passes.
    pub fn new(filter: RemarkFilter, passes: Vec<&'static str>) -> Self {
        RemarkList {
            filter,
            passes,
            list: Vec::new(),
        }
    }

    /// Puts remarks from before the run in front.
    pub fn after(mut self, earlier: Vec<Shown>) -> Self {
        self.list.splice(..0, earlier);
        self
    }

    /// Returns the remarks.
    pub fn list(&self) -> &[Shown] {
        &self.list
    }
}

impl Instrument for RemarkList {
    fn before_run(&mut self, _: &RunInfo<'_>, module: &Module<'_>) -> Result<(), InstrumentError> {
        Ok(self.filter.check(module, &self.passes)?)
    }

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instrument::PassStatistics;
    use crate::manager::fake::REMARKS_MADE;
    use crate::manager::tests::Bench;

    #[test]
    fn remarks_come_in_order_of_steps() {
        let mut list = RemarkList::new(RemarkFilter::default(), Vec::new());
        Bench::new("classify,nothing,select-objects")
            .run(&mut [&mut list])
            .unwrap();
        let lines: Vec<String> = list.list().iter().map(Shown::line).collect();
        assert_eq!(
            lines,
            [
                "remark: classify: it runs",
                "remark: classify: 9 bytes",
                "remark: nothing: 9 bytes",
                "remark: select-objects: it runs",
                "remark: select-objects: 24 bytes",
            ]
        );
        assert_eq!(list.list()[3].step, 3);
    }

    #[test]
    fn nothing_is_made_without_a_listener() {
        REMARKS_MADE.set(0);
        let bench = || Bench::new("classify,select-objects");
        bench().run(&mut []).unwrap();
        bench().run(&mut [&mut PassStatistics::new()]).unwrap();
        let passes = ["classify", "select-objects"];
        let none = RemarkFilter::new(["relocate"], &["relocate"]);
        bench()
            .run(&mut [&mut RemarkList::new(none, Vec::new())])
            .unwrap();
        assert_eq!(REMARKS_MADE.get(), 0);
        let one = RemarkFilter::new(["select-objects"], &passes);
        let mut list = RemarkList::new(one, passes.to_vec());
        bench().run(&mut [&mut list]).unwrap();
        assert_eq!((REMARKS_MADE.get(), list.list().len()), (2, 2));
    }

    #[test]
    fn a_name_of_nothing_ends_the_run_before_it_begins() {
        let passes = ["classify"];
        let filter = RemarkFilter::new(["clasify"], &passes);
        let mut list = RemarkList::new(filter, passes.to_vec());
        let error = Bench::new("classify").run(&mut [&mut list]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "before the first pass: no pass and no symbol of the link is named 'clasify'; did you mean 'classify'?"
        );
    }
}
