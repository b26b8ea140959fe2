//! The model that both forms of a pipeline have in common.

use std::ops::Range;

use crate::options::PassOptions;

/// How many steps and included texts a pipeline has at most: a few files that include each other twice
/// would have any number.
pub(super) const MOST_STEPS: usize = 10_000;

/// A pipeline as written.
///
/// Two pipelines are equal if they say the same, wherever they were read from.
#[derive(Clone, Debug, Default)]
pub struct Pipeline {
    /// Its name.
    pub name: String,
    /// One line that says what it is for; may be empty.
    pub summary: String,
    /// What holds for the links that it is for.
    pub when: Vec<Condition>,
    /// What it does, in order.
    pub steps: Vec<Step>,
    /// What it was read from, for messages.
    pub source: Option<Source>,
}

impl PartialEq for Pipeline {
    fn eq(&self, other: &Self) -> bool {
        let says = |it: &Self| (it.name.clone(), it.summary.clone(), it.when.clone());
        says(self) == says(other) && self.steps == other.steps
    }
}

/// A text that a pipeline was read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// What messages call it: a file name or an option.
    pub name: String,
    /// The text.
    pub text: String,
}

/// One entry of a pipeline.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// What it does.
    pub action: Action,
    /// Under which conditions: all must hold.
    pub when: Vec<Condition>,
    /// Where it goes, if not after the steps before it.
    pub anchor: Option<Anchor>,
    /// Where the name of the pass or pipeline stands.
    pub place: Place,
}

/// The place of a step beside one of a pass that stands before it in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Anchor {
    /// On which side.
    pub side: Side,
    /// Name of the pass.
    pub pass: String,
    /// Where that stands.
    pub place: Place,
}

/// Where a step goes that names another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Before it.
    Before,
    /// After it.
    After,
    /// In its place.
    Replace,
}

impl Side {
    /// All there are.
    pub const ALL: [Side; 3] = [Side::Before, Side::After, Side::Replace];

    /// Returns the word that stands for it in both forms of pipelines.
    pub fn name(self) -> &'static str {
        match self {
            Side::Before => "before",
            Side::After => "after",
            Side::Replace => "replace",
        }
    }
}

impl Step {
    /// Creates a pass without options and conditions.
    pub fn pass(name: impl Into<String>) -> Self {
        let action = Action::Pass {
            name: name.into(),
            options: Vec::new(),
        };
        Step {
            action,
            when: Vec::new(),
            anchor: None,
            place: Place::default(),
        }
    }
}

/// What an entry of a pipeline does.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Runs a pass.
    Pass {
        /// Name of the pass.
        name: String,
        /// Its options, ordered by name.
        options: Vec<Setting>,
    },
    /// Runs another pipeline's steps.
    Include {
        /// Name of the pipeline.
        pipeline: String,
    },
}

/// An option with its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// Name of the option.
    pub name: String,
    /// Its value.
    pub value: toml::Value,
    /// Where the name stands.
    pub place: Place,
}

/// Returns options as a pass takes them.
pub(super) fn pass_options(settings: &[Setting]) -> PassOptions {
    let pairs = settings
        .iter()
        .map(|setting| (setting.name.clone(), setting.value.clone()));
    PassOptions::new(pairs.collect())
}

/// A fact of the link that must, or must not, hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// Name of the fact.
    pub fact: String,
    /// Whether it must not hold.
    pub negated: bool,
    /// Where it stands.
    pub place: Place,
}

impl Condition {
    /// Reads `debug` or `not debug`.
    pub(super) fn parse(text: &str, place: Place) -> Self {
        let text = text.trim();
        let (fact, negated) = match text.strip_prefix("not") {
            Some(rest) if rest.starts_with(char::is_whitespace) => (rest.trim_start(), true),
            _ => (text, false),
        };
        Condition {
            fact: fact.to_owned(),
            negated,
            place,
        }
    }
}

impl std::fmt::Display for Condition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}{}", if self.negated { "not " } else { "" }, self.fact)
    }
}

/// Bytes of the source text, if there is one. All places are equal, so that comparing pipelines
/// compares what they say.
#[derive(Clone, Debug, Default)]
pub struct Place(pub Option<Range<usize>>);

impl Place {
    /// Returns the place with this range of bytes.
    pub fn at(range: Range<usize>) -> Self {
        Place(Some(range))
    }
}

impl PartialEq for Place {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Place {}
