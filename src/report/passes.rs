//! Records what each pass of a link did.

use std::collections::BTreeMap;
use std::time::Instant;

use cuweld_ir::Module;
use cuweld_ir::Object;
use cuweld_ir::Phase;
use cuweld_ir::SymbolId;
use cuweld_ir::text;
use cuweld_ir::text::DumpBytes;
use cuweld_passes::analyses::Analyses;
use cuweld_passes::analyses::HostKernels;
use cuweld_passes::analyses::KnownBy;
use cuweld_passes::instrument::Instrument;
use cuweld_passes::instrument::InstrumentError;
use cuweld_passes::instrument::PassReport;
use cuweld_passes::instrument::RunInfo;
use cuweld_passes::instrument::StepInfo;
use cuweld_passes::pass::Changed;
use cuweld_passes::reports::shared_map::shared_blocks;

use super::model::Diff;
use crate::watch::anchored_diff;

/// Modules with more rows than this have no diffs: their texts would take seconds.
const MOST_ROWS: usize = 500_000;

/// How many lines of a diff are kept.
const MOST_LINES: usize = 400;

/// How many characters of a line are kept: contents can be long.
const LONGEST_LINE: usize = 300;

/// A pass that ran.
#[derive(Clone, Debug, Default)]
pub struct RecordedPass {
    /// Its place in the pipeline, from 1.
    pub number: usize,
    /// Its name.
    pub name: &'static str,
    /// Included pipelines that it comes from.
    pub via: Vec<String>,
    /// Whether it says that it changed the module.
    pub changed: bool,
    /// What it counted.
    pub counters: Vec<(&'static str, u64)>,
    /// Milliseconds, if times were asked for.
    pub ms: Option<f64>,
    /// What it changed in the text of the module.
    pub(super) diff: Option<Diff>,
}

/// Shared memory of a kernel: its name, its bytes, and name, address and size of its variables.
pub(super) type Shared = (Vec<u8>, u64, Vec<(Vec<u8>, u64, u64)>);

/// By object and name of a definition that was not taken, or not for long: the object of the one that
/// was, and why.
pub(super) type Taken = BTreeMap<(String, Vec<u8>), (String, &'static str)>;

/// Records what each pass did, and what the module is at the end.
#[derive(Debug, Default)]
pub struct PassRecorder {
    has_times: bool,
    begun: Option<Instant>,
    text: Option<String>,
    pub(super) pipeline: String,
    pub(super) passes: Vec<RecordedPass>,
    pub(super) shared: Vec<Shared>,
    pub(super) known_by: Option<&'static str>,
    pub(super) taken: Taken,
}

impl PassRecorder {
    /// Builds a recorder, of times too if the report has them: these are never the same again.
    pub fn new(has_times: bool) -> Self {
        PassRecorder {
            has_times,
            ..PassRecorder::default()
        }
    }

    /// Returns the text of a module, if it is not too large.
    fn text(module: &Module<'_>) -> Option<String> {
        let rows = [
            module.sections.len(),
            module.symbols.len(),
            module.relocs.len(),
            module.attributes.len(),
        ];
        let is_small = rows.iter().sum::<usize>() <= MOST_ROWS;
        is_small.then(|| text::print(module, DumpBytes::Ref))
    }
}

impl Instrument for PassRecorder {
    fn before_run(
        &mut self,
        run: &RunInfo<'_>,
        module: &Module<'_>,
    ) -> Result<(), InstrumentError> {
        run.pipeline.clone_into(&mut self.pipeline);
        self.text = PassRecorder::text(module);
        Ok(())
    }

    fn before_pass(&mut self, _: &StepInfo<'_>, _: &Module<'_>) -> Result<(), InstrumentError> {
        self.begun = self.has_times.then(Instant::now);
        Ok(())
    }

    fn after_pass(
        &mut self,
        step: &StepInfo<'_>,
        module: &Module<'_>,
        report: &PassReport<'_>,
    ) -> Result<(), InstrumentError> {
        let ms = self.begun.map(|begun| begun.elapsed().as_secs_f64() * 1e3);
        let mut diff = None;
        if let Some(before) = &self.text {
            let after = PassRecorder::text(module);
            if let Some(after) = &after {
                diff = Some(cut(&anchored_diff(before, after)));
            }
            self.text = after;
        }
        self.passes.push(RecordedPass {
            number: step.number,
            name: step.name,
            via: step.via.to_vec(),
            changed: report.changed == Changed::Yes,
            counters: report.statistics.counters().to_vec(),
            ms,
            diff,
        });
        Ok(())
    }

    fn after_run(&mut self, _: &RunInfo<'_>, module: &Module<'_>) {
        if module.phase < Phase::Live {
            return;
        }
        let analyses = Analyses::default();
        self.known_by = Some(match analyses.get::<HostKernels>(module).known_by {
            KnownBy::Nothing => "nothing",
            KnownBy::Options => "options",
            KnownBy::Host => "host",
        });
        let object = |symbol: SymbolId| {
            let object = module.objects.get(module.symbols.get(symbol)?.object);
            object.map(Object::display)
        };
        for event in &module.merge_log {
            let (lost, taken) = (event.discarded(), event.prevailing());
            let name = module.symbols.get(lost).map(|symbol| symbol.name.to_vec());
            if let (Some(of), Some(name), Some(by)) = (object(lost), name, object(taken)) {
                let reason = event.outcome.reason();
                self.taken.insert((of, name), (by, reason));
            }
        }
        let name = |symbol| module.link_name(symbol).to_vec();
        let blocks = shared_blocks(module).into_iter();
        let blocks = blocks.map(|block| {
            let variables = block.variables.iter();
            let variables = variables.map(|it| (name(it.symbol), it.address, it.size));
            let reserved = (b"[reserved]".to_vec(), 0, block.reserved);
            let reserved = Some(reserved).filter(|(.., size)| *size != 0);
            let all = reserved.into_iter().chain(variables);
            (name(block.kernel), block.size, all.collect())
        });
        self.shared = blocks.collect();
    }
}

/// Keeps the first lines of a unified diff, and counts those that changed.
fn cut(diff: &str) -> Diff {
    let mut kept = Diff::default();
    for (number, line) in diff.lines().enumerate() {
        kept.added += usize::from(line.starts_with('+'));
        kept.removed += usize::from(line.starts_with('-'));
        if number >= MOST_LINES {
            kept.omitted += 1;
            continue;
        }
        match line.char_indices().nth(LONGEST_LINE) {
            None => kept.text.push_str(line),
            Some((end, _)) => {
                kept.text.push_str(line.get(..end).unwrap_or(line));
                kept.text.push('…');
            }
        }
        kept.text.push('\n');
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_diffs_are_cut() {
        let old = "a\n".repeat(3);
        let new = format!("{}{}\n", "b\n".repeat(MOST_LINES), "c".repeat(1000));
        let diff = cut(&anchored_diff(&old, &new));
        assert_eq!((diff.added, diff.removed), (MOST_LINES + 1, 3));
        assert_eq!(diff.text.lines().count(), MOST_LINES);
        assert_eq!(diff.omitted, 5);
        let long = cut(&anchored_diff("", &"é".repeat(1000)));
        assert_eq!(
            long.text.lines().nth(1).map(|line| line.chars().count()),
            Some(LONGEST_LINE + 1)
        );
        assert!(cut("").text.is_empty());
    }
}
