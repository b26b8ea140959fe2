//! The module as text, before and after passes.

use std::io;

use cuweld_ir::Module;

use super::Instrument;
use super::InstrumentError;
use super::PassReport;
use super::RunInfo;
use super::StepInfo;
use crate::pass::PassError;

/// Takes dumps: files in a directory, one stream, memory.
pub trait DumpSink {
    /// Takes a dump. Names sort in order of steps: `03-callgraph-dce.after.lir`.
    fn write(&mut self, name: &str, text: &str) -> io::Result<()>;
}

/// Around which passes to dump.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum DumpPasses {
    /// None.
    #[default]
    None,
    /// All.
    All,
    /// Those of these names or numbers.
    Named(Vec<String>),
}

impl DumpPasses {
    /// Reads `all`, or the name of a pass or the number of a step to add.
    pub fn add(&mut self, word: &str) {
        match (word, &mut *self) {
            (_, DumpPasses::All) => {}
            ("all", _) => *self = DumpPasses::All,
            (_, DumpPasses::Named(names)) => names.push(word.to_owned()),
            (_, DumpPasses::None) => *self = DumpPasses::Named(vec![word.to_owned()]),
        }
    }

    /// Returns the names that are listed, for checks against the pipeline.
    pub fn names(&self) -> &[String] {
        match self {
            DumpPasses::Named(names) => names,
            DumpPasses::None | DumpPasses::All => &[],
        }
    }

    fn contains(&self, step: &StepInfo<'_>) -> bool {
        match self {
            DumpPasses::None => false,
            DumpPasses::All => true,
            DumpPasses::Named(names) => names
                .iter()
                .any(|known| known == step.name || known.parse() == Ok(step.number)),
        }
    }
}

/// Says how a text differs from another: old name, old text, new name, new text.
pub type DiffText = fn(&str, &str, &str, &str) -> String;

/// Dumps the module around passes.
pub struct Dump<'a> {
    /// Before which passes.
    pub before: DumpPasses,
    /// After which passes.
    pub after: DumpPasses,
    /// After passes that changed the text, whatever they say of themselves.
    pub changed: bool,
    /// What is written of a change instead of the whole text: old name, old text, new name, new
    /// text.
    pub diff: Option<DiffText>,
    /// What names of dumps end in.
    pub extension: &'static str,
    printer: Box<dyn Fn(&Module<'_>) -> String + 'a>,
    sink: &'a mut dyn DumpSink,
    /// The text after the pass before, if changes are looked for.
    last: Option<String>,
}

impl<'a> Dump<'a> {
    /// Builds an instrument that writes to `sink` what `printer` makes of the module. It does not
    /// dump around any pass yet.
    pub fn new(printer: impl Fn(&Module<'_>) -> String + 'a, sink: &'a mut dyn DumpSink) -> Self {
        Dump {
            before: DumpPasses::None,
            after: DumpPasses::None,
            changed: false,
            diff: None,
            extension: "lir",
            printer: Box::new(printer),
            sink,
            last: None,
        }
    }

    fn write(
        &mut self,
        step: &StepInfo<'_>,
        side: &str,
        text: &str,
    ) -> Result<(), InstrumentError> {
        let name = format!("{}.{side}.{}", step.label(), self.extension);
        self.put(name, text)
    }

    fn put(&mut self, name: String, text: &str) -> Result<(), InstrumentError> {
        self.sink
            .write(&name, text)
            .map_err(|error| InstrumentError::Dump {
                name,
                message: error.to_string(),
            })
    }
}

impl Instrument for Dump<'_> {
    fn before_run(&mut self, _: &RunInfo<'_>, module: &Module<'_>) -> Result<(), InstrumentError> {
        self.last = self.changed.then(|| (self.printer)(module));
        Ok(())
    }

    fn before_pass(
        &mut self,
        step: &StepInfo<'_>,
        module: &Module<'_>,
    ) -> Result<(), InstrumentError> {
        if !self.before.contains(step) {
            return Ok(());
        }
        let text = (self.printer)(module);
        self.write(step, "before", &text)
    }

    fn after_pass(
        &mut self,
        step: &StepInfo<'_>,
        module: &Module<'_>,
        _: &PassReport<'_>,
    ) -> Result<(), InstrumentError> {
        let wanted = self.after.contains(step);
        if !wanted && !self.changed {
            return Ok(());
        }
        let text = (self.printer)(module);
        match (&self.last, self.diff) {
            (Some(last), Some(diff)) if *last != text => {
                let difference = diff("before", last, step.name, &text);
                self.put(format!("{}.diff", step.label()), &difference)?;
                if wanted {
                    self.write(step, "after", &text)?;
                }
            }
            (last, _) => {
                if wanted || last.as_ref().is_some_and(|last| *last != text) {
                    self.write(step, "after", &text)?;
                }
            }
        }
        if self.changed {
            self.last = Some(text);
        }
        Ok(())
    }

    /// Writes the module that a failing pass left, if that pass is watched.
    fn after_failed(&mut self, step: &StepInfo<'_>, module: &Module<'_>, _: &PassError) {
        if self.after.contains(step) {
            let text = (self.printer)(module);
            // The link has failed already; a second error would hide the first.
            let _ = self.write(step, "failed", &text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manager::RunError;
    use crate::manager::tests::Bench;

    #[derive(Default)]
    struct Memory {
        dumps: Vec<(String, String)>,
        full: bool,
    }

    impl DumpSink for Memory {
        fn write(&mut self, name: &str, text: &str) -> io::Result<()> {
            if self.full {
                return Err(io::Error::other("no space"));
            }
            self.dumps.push((name.to_owned(), text.to_owned()));
            Ok(())
        }
    }

    /// Returns the text into which the fake passes write.
    fn print(module: &Module<'_>) -> String {
        String::from_utf8(module.options.record.output_name.clone()).unwrap()
    }

    fn dumps(set: impl FnOnce(&mut Dump<'_>), pipeline: &str) -> Vec<(String, String)> {
        let mut memory = Memory::default();
        let mut dump = Dump::new(print, &mut memory);
        set(&mut dump);
        // A pipeline that fails has dumps as well.
        let _ = Bench::new(pipeline).run(&mut [&mut dump]);
        drop(dump);
        memory.dumps
    }

    fn named(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs
            .iter()
            .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()))
            .collect()
    }

    #[test]
    fn dumps_are_written_around_named_passes() {
        let found = dumps(
            |dump| {
                dump.before.add("select-objects");
                dump.after.add("classify");
                dump.after.add("3");
            },
            "classify,nothing,select-objects",
        );
        let expected = [
            ("01-classify.after.lir", "classify "),
            ("03-select-objects.before.lir", "classify "),
            ("03-select-objects.after.lir", "classify select-objects "),
        ];
        assert_eq!(found, named(&expected));
    }

    #[test]
    fn all_means_all() {
        let found = dumps(|dump| dump.before.add("all"), "classify,nothing");
        let expected = [
            ("01-classify.before.lir", ""),
            ("02-nothing.before.lir", "classify "),
        ];
        assert_eq!(found, named(&expected));
        assert_eq!(dumps(|_| {}, "classify,nothing"), []);
    }

    #[test]
    fn only_changes_are_dumped() {
        let found = dumps(
            |dump| dump.changed = true,
            "classify,nothing,select-objects",
        );
        let expected = [
            ("01-classify.after.lir", "classify "),
            ("03-select-objects.after.lir", "classify select-objects "),
        ];
        assert_eq!(found, named(&expected));
    }

    #[test]
    fn changes_can_be_shown_as_differences() {
        let found = dumps(
            |dump| {
                dump.changed = true;
                dump.diff = Some(|_, old, name, new| format!("{old}|{name}|{new}"));
                dump.extension = "txt";
                dump.after.add("nothing");
            },
            "classify,nothing,select-objects",
        );
        let expected = [
            ("01-classify.diff", "|classify|classify "),
            ("02-nothing.after.txt", "classify "),
            (
                "03-select-objects.diff",
                "classify |select-objects|classify select-objects ",
            ),
        ];
        assert_eq!(found, named(&expected));
    }

    #[test]
    fn what_a_failing_pass_left_is_dumped() {
        let found = dumps(|dump| dump.after.add("fail"), "classify,fail");
        assert_eq!(found, named(&[("02-fail.failed.lir", "classify ")]));
    }

    #[test]
    fn a_full_sink_ends_the_link() {
        let mut memory = Memory {
            full: true,
            ..Default::default()
        };
        let mut dump = Dump::new(print, &mut memory);
        dump.after = DumpPasses::All;
        let error = Bench::new("classify").run(&mut [&mut dump]).unwrap_err();
        assert!(matches!(error, RunError::Instrument { .. }));
        assert_eq!(
            error.to_string(),
            "after pass 'classify' (step 1): cannot write dump '01-classify.after.lir': no space"
        );
    }
}
