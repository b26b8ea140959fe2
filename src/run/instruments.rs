//! The instruments of one run, and what they report after it.

use std::io;

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::codes::system;
use cuweld_passes::instrument::Instrument;
use cuweld_passes::instrument::PassStatistics;
use cuweld_passes::instrument::RemarkList;
use cuweld_passes::instrument::Timing;
use cuweld_passes::instrument::TracingSpans;
use cuweld_passes::instrument::VerifyEach;
use cuweld_passes::instrument::Why;
use cuweld_passes::manager::PassManager;
use cuweld_passes::remark::DISCOVER;
use cuweld_passes::remark::RemarkFilter;
use cuweld_passes::remark::Shown;

use crate::controls::Controls;
use crate::controls::Progress;
use crate::controls::RemarkOptions;
use crate::controls::StatisticsForm;
use crate::diagnostics::Reporter;
use crate::diagnostics::line_of_remark;
use crate::file_name;
use crate::invariants::findings;
use crate::watch::ExecOnChange;
use crate::watch::cpu_time;
use crate::watch::peak_memory;

/// The instruments of one run, but for dumps, whose sink outlives them.
pub struct Instruments {
    verify_each: Option<VerifyEach<'static>>,
    why: Option<Why>,
    exec: Option<ExecOnChange>,
    statistics: Option<PassStatistics>,
    spans: Option<TracingSpans>,
    remarks: Option<RemarkList>,
    progress: Option<Progress>,
    /// Those of the program that embeds cuweld.
    own: Vec<Box<dyn Instrument>>,
    timing: Option<Timing<'static>>,
}

impl Instruments {
    /// Makes the instruments that `controls` asks for. The remarks `earlier` were made before the run.
    pub fn new(controls: &Controls, earlier: Vec<Shown>) -> Self {
        let watching = &controls.watching;
        let (filter, passes) = match &watching.remarks {
            Some(options) => remark_filter(controls, options),
            None => (RemarkFilter::default(), Vec::new()),
        };
        Instruments {
            verify_each: watching.verify_each.then(|| VerifyEach::new(findings)),
            why: (!controls.explaining.is_empty()).then(|| Why::new(controls.explaining.clone())),
            exec: watching.exec_on_change.as_deref().map(ExecOnChange::new),
            statistics: watching.statistics.map(|_| PassStatistics::new()),
            spans: tracing::dispatcher::has_been_set()
                .then(|| TracingSpans::new().with_remarks(filter.clone())),
            remarks: watching
                .remarks
                .as_ref()
                .map(|_| RemarkList::new(filter, passes).after(earlier)),
            progress: watching.progress.clone(),
            own: controls.extensions.instruments(),
            timing: watching
                .time_passes
                .then(|| Timing::new().with_cpu(cpu_time)),
        }
    }

    /// Lists the instruments in order, with the guard of passes from elsewhere: the last is closest to
    /// the passes.
    pub fn list<'s>(
        &'s mut self,
        guard: Option<&'s mut dyn Instrument>,
    ) -> impl Iterator<Item = &'s mut dyn Instrument> {
        let own = self
            .own
            .iter_mut()
            .map(|it| &mut **it as &mut dyn Instrument);
        let before = [
            self.verify_each
                .as_mut()
                .map(|it| it as &mut dyn Instrument),
            self.why.as_mut().map(|it| it as &mut dyn Instrument),
            self.exec.as_mut().map(|it| it as &mut dyn Instrument),
            self.statistics.as_mut().map(|it| it as &mut dyn Instrument),
            self.spans.as_mut().map(|it| it as &mut dyn Instrument),
            self.remarks.as_mut().map(|it| it as &mut dyn Instrument),
            self.progress.as_mut().map(|it| it as &mut dyn Instrument),
        ];
        let timing = self.timing.as_mut().map(|it| it as &mut dyn Instrument);
        before
            .into_iter()
            .flatten()
            .chain(own)
            .chain(guard)
            .chain(timing)
    }

    /// Reports what the instruments saw of a run of `manager`.
    pub fn report(
        self,
        controls: &Controls,
        manager: &PassManager,
        reporter: &mut Reporter<'_>,
    ) -> io::Result<()> {
        for name in self.verify_each.iter().flat_map(VerifyEach::not_compared) {
            reporter.text(&format!(
                "verify-each: analysis '{name}' cannot be compared with itself computed anew: it has no 'equals'\n"
            ))?;
        }
        reporter.text(&self.exec.map_or(String::new(), ExecOnChange::said))?;
        reporter.text(&self.why.map_or(String::new(), |why| why.report()))?;
        reporter.text(&controls.selection.bisect_report(manager))?;
        let watching = &controls.watching;
        if let Some(counts) = self.statistics {
            let text = match watching.statistics {
                Some(StatisticsForm::Json) => counts.json(),
                _ => counts.report(),
            };
            put(&text, watching.statistics_output.as_deref(), reporter)?;
        }
        for instrument in &self.own {
            reporter.text(&instrument.said())?;
        }
        if let Some(timing) = self.timing {
            let mut text = timing.report();
            if let Some(bytes) = peak_memory() {
                text += &format!("peak memory: {} KiB\n", bytes >> 10);
            }
            put(&text, watching.time_output.as_deref(), reporter)?;
        }
        if let (Some(remarks), Some(options)) = (self.remarks, &controls.watching.remarks) {
            show(remarks.list(), options, reporter)?;
        }
        Ok(())
    }
}

/// Returns the filter that was asked for, and the known passes.
fn remark_filter(
    controls: &Controls,
    options: &RemarkOptions,
) -> (RemarkFilter, Vec<&'static str>) {
    let registry = controls.extensions.registry();
    let passes: Vec<&'static str> = match &registry {
        Ok(registry) => registry.iter().map(|info| info.name).collect(),
        // There is no pipeline without it.
        Err(_) => Vec::new(),
    };
    let passes: Vec<&'static str> = passes.into_iter().chain([DISCOVER]).collect();
    let words = options.names.iter().map(String::as_str);
    (RemarkFilter::new(words, &passes), passes)
}

/// Writes remarks into the file that was asked for, or reports them.
fn show(remarks: &[Shown], options: &RemarkOptions, reporter: &mut Reporter<'_>) -> io::Result<()> {
    let Some(file) = &options.output else {
        return remarks
            .iter()
            .try_for_each(|remark| reporter.remark(remark));
    };
    let mut lines = String::new();
    for remark in remarks {
        lines += &line_of_remark(remark);
        lines.push('\n');
    }
    put(&lines, Some(file), reporter)
}

/// Writes a text into a file, or reports it if there is none.
fn put(text: &str, file: Option<&str>, reporter: &mut Reporter<'_>) -> io::Result<()> {
    let Some(file) = file else {
        return reporter.text(text);
    };
    if let Err(error) = std::fs::write(file_name::path(file), text) {
        let message = format!("cannot write '{file}': {error}");
        return reporter.report(&Diagnostic::fatal(system::CANNOT_WRITE, message));
    }
    Ok(())
}
