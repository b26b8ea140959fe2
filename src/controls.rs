//! How a pipeline runs and what is shown of it.

mod dumping;
mod progress;
mod selection;
mod watching;

use std::path::PathBuf;

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::codes::internal;
use cuweld_ir::Finalize;
use cuweld_ir::Phase;
use cuweld_passes::INSTRUMENTED;
use cuweld_passes::instrument::Questions;
use cuweld_passes::manager::PassManager;
use cuweld_passes::pipeline::Facts;

pub use self::dumping::DumpChanged;
pub use self::dumping::DumpFormat;
pub use self::dumping::Dumping;
pub use self::selection::PassSelection;
pub use self::watching::Crashes;
pub use self::watching::Progress;
pub use self::watching::RemarkOptions;
pub use self::watching::StatisticsForm;
pub use self::watching::Watching;
pub(crate) use self::watching::split_names;
use crate::extend::Extensions;
use crate::pipeline_files::files_of;

/// How a pipeline runs and what is shown of it.
#[derive(Clone, Debug, Default)]
pub struct Controls {
    /// Passes from outside.
    pub extensions: Extensions,
    /// Do as nvlink even where it loses code.
    pub strict: bool,
    /// Refuse kernels that only NVIDIA's finalizer links as nvlink does.
    pub strict_finalize: bool,
    /// Which code for sm_100 and later is made anew.
    pub finalize: Finalize,
    /// Which passes run.
    pub selection: PassSelection,
    /// What is checked and measured around passes.
    pub watching: Watching,
    /// What is dumped.
    pub dumping: Dumping,
    /// What is explained.
    pub explaining: Questions,
    /// Make a map of the output: [`LinkOutcome::map`](crate::LinkOutcome::map).
    pub map: bool,
    /// List the sections that nothing uses: [`LinkOutcome::unused`](crate::LinkOutcome::unused).
    pub print_gc_sections: bool,
    /// Collect what a report of the link shows: [`LinkOutcome::report`](crate::LinkOutcome::report).
    /// It has times if [`Watching::time_passes`] is set.
    pub report: bool,
    /// File for a reproducer; after an internal error there is one in any case.
    pub repro: Option<String>,
}

impl Controls {
    /// Returns `true` if anything looks at the module between passes.
    pub(crate) fn observe(&self) -> bool {
        self.report
            || self.watching.is_any()
            || self.dumping.is_any()
            || !self.explaining.is_empty()
            || !self.extensions.instruments().is_empty()
    }

    /// Resolves the pipeline that was asked for, for a module that has the phase `start`.
    pub fn manager(&self, facts: Facts, start: Phase) -> Result<PassManager, Diagnostic> {
        if !INSTRUMENTED && self.observe() {
            return Err(Diagnostic::fatal(
                internal::NO_INSTRUMENTS,
                "cuweld: this build has no instruments",
            ));
        }
        let registry = self.extensions.registry()?;
        let pipeline = self.selection.resolve(&registry, facts, start)?;
        self.dumping.check(&registry, &pipeline)?;
        Ok(PassManager::new(pipeline))
    }

    /// Returns the files that passes are read from and speak of.
    pub fn files(&self) -> Vec<PathBuf> {
        let given = self.selection.pipeline.iter();
        let given = given.chain(&self.extensions.plugins);
        let mut files: Vec<PathBuf> = given.map(PathBuf::from).collect();
        let parsed = self.selection.parsed();
        if let (Ok(Some(pipeline)), Ok(registry)) = (parsed, self.extensions.registry()) {
            files.extend(files_of(&pipeline, &registry));
        }
        files
    }
}
