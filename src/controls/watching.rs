//! What is checked and measured around passes.

use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;

use cuweld_passes::remark::DISCOVER;

/// What is checked and measured around passes; by default nothing.
#[derive(Clone, Debug, Default)]
pub struct Watching {
    /// Check invariants after every pass.
    pub verify_each: bool,
    /// Report times.
    pub time_passes: bool,
    /// File for the times; with the messages if there is none.
    pub time_output: Option<String>,
    /// Report what passes counted.
    pub statistics: Option<StatisticsForm>,
    /// File for what passes counted; with the messages if there is none.
    pub statistics_output: Option<String>,
    /// The remarks that are shown.
    pub remarks: Option<RemarkOptions>,
    /// A shell command to run after every pass that changed the module.
    pub exec_on_change: Option<String>,
    /// What is called before every pass.
    pub progress: Option<Progress>,
    /// What is done about passes from elsewhere that do not come to their end.
    pub crashes: Crashes,
}

/// What is done about passes of embedders, plugins and programs that do not come to their end; a panic
/// is an error in any case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Crashes {
    /// Nothing more, and nothing to the process.
    #[default]
    Panics,
    /// A pass that ends the process by a signal or an exit is named on the standard error stream; for
    /// programs with one link at a time.
    Named,
    /// The same, and a reproducer is left in the folder for temporary files.
    Reproduced,
}

/// Which remarks are shown, and where.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RemarkOptions {
    /// Names of passes and of symbols, mangled or as in the source, that remarks have to be of; all
    /// remarks without a name, and with the name `all`.
    pub names: Vec<String>,
    /// File for the remarks, as JSON, an object a line. Without one they are messages.
    pub output: Option<String>,
}

impl RemarkOptions {
    /// Reads names, separated by commas that are not inside of parentheses or angle brackets, and the
    /// file.
    pub fn parse(names: Option<&str>, output: Option<&str>) -> Option<Self> {
        if names.is_none() && output.is_none() {
            return None;
        }
        Some(RemarkOptions {
            names: split_names(names.unwrap_or_default()),
            output: output.map(str::to_owned),
        })
    }
}

/// Splits names at commas that are not inside of parentheses or angle brackets: names of the source
/// have commas.
pub(crate) fn split_names(text: &str) -> Vec<String> {
    let mut depth = 0_usize;
    let split = |letter: char| {
        match letter {
            '(' | '<' => depth += 1,
            ')' | '>' => depth = depth.saturating_sub(1),
            _ => {}
        }
        letter == ',' && depth == 0
    };
    let names = text.split(split).map(str::trim);
    let names = names.filter(|name| !name.is_empty());
    names.map(str::to_owned).collect()
}

impl RemarkOptions {
    /// Returns `true` if remarks on the discovery of inputs are shown: they are about no symbol.
    pub(crate) fn take_discovery(&self) -> bool {
        self.names.is_empty()
            || self
                .names
                .iter()
                .any(|name| name == "all" || name == DISCOVER)
    }
}

/// A function that is called before every pass, with its name, its number from 1 and their number;
/// `Break` ends the link.
#[derive(Clone)]
pub struct Progress(Arc<Told>);

type Told = dyn Fn(&str, usize, usize) -> ControlFlow<()> + Send + Sync;

impl Progress {
    /// Takes the function.
    pub fn new(
        told: impl Fn(&str, usize, usize) -> ControlFlow<()> + Send + Sync + 'static,
    ) -> Self {
        Progress(Arc::new(told))
    }

    /// Calls it.
    pub fn tell(&self, pass: &str, number: usize, of: usize) -> ControlFlow<()> {
        (self.0)(pass, number, of)
    }
}

impl fmt::Debug for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Progress")
    }
}

/// How counts are reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatisticsForm {
    /// A table to read.
    Table,
    /// A list of steps.
    Json,
}

impl StatisticsForm {
    /// Reads the form that was asked for; a file alone asks for what its name says.
    pub fn parse(form: Option<&str>, output: Option<&str>) -> Option<Self> {
        match (form, output) {
            (Some("json"), _) => Some(StatisticsForm::Json),
            (None, Some(file)) if file.ends_with(".json") => Some(StatisticsForm::Json),
            (None, None) => None,
            _ => Some(StatisticsForm::Table),
        }
    }
}

impl Watching {
    /// Returns `true` if anything is checked or measured.
    pub(super) fn is_any(&self) -> bool {
        self.verify_each
            || self.time_passes
            || self.statistics.is_some()
            || self.remarks.is_some()
            || self.exec_on_change.is_some()
            || self.progress.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::RemarkOptions;

    #[test]
    fn names_of_the_source_have_commas() {
        let names = |text| RemarkOptions::parse(Some(text), None).map(|options| options.names);
        let expected = ["place-memory", "f(int, pair<int, long>)", "g"];
        let found = names("place-memory,f(int, pair<int, long>), g,").unwrap();
        assert_eq!(found, expected);
        assert!(names("").unwrap().is_empty());
        assert_eq!(RemarkOptions::parse(None, None), None);
    }
}
