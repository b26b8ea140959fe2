//! What is wrong with a pipeline, and where.

use std::fmt;
use std::ops::Range;

use annotate_snippets::AnnotationKind;
use annotate_snippets::Level;
use annotate_snippets::Renderer;
use annotate_snippets::Snippet;
use thiserror::Error;

use super::model::MOST_STEPS;
use super::model::Place;
use super::model::Source;
use super::phases::PhaseError;
use crate::options::OptionError;

/// Why a pipeline was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PipelineError {
    kind: Box<PipelineErrorKind>,
    at: Option<Box<(Source, Range<usize>)>>,
}

/// What is wrong with a pipeline.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PipelineErrorKind {
    /// The text does not follow the grammar.
    #[error("{0}")]
    Syntax(String),
    /// An entry names neither a pass nor a pipeline.
    #[error("this entry has neither 'use' nor 'include'")]
    EmptyStep,
    /// An entry names a pass and a pipeline.
    #[error("this entry has both 'use' and 'include'")]
    TwoActions,
    /// An entry names two steps beside which it goes.
    #[error("this entry has more than one of 'before', 'after' and 'replace'")]
    TwoAnchors,
    /// A step goes beside one that the pipeline does not have before it.
    #[error("there is no step '{pass}' before this one")]
    NoAnchor {
        /// Name of the pass.
        pass: String,
        /// What was probably meant.
        suggestion: Option<String>,
    },
    /// A step goes beside one of several.
    #[error("there are {count} steps '{pass}' before this one")]
    ManyAnchors {
        /// Name of the pass.
        pass: String,
        /// How many there are.
        count: usize,
    },
    /// An included pipeline is given options.
    #[error("an included pipeline takes no options")]
    IncludeOptions,
    /// No pass has this name.
    #[error("unknown pass '{name}'")]
    UnknownPass {
        /// The name.
        name: String,
        /// What was probably meant.
        suggestion: Option<&'static str>,
    },
    /// No pipeline has this name.
    #[error("unknown pipeline '{name}'")]
    UnknownPipeline {
        /// The name.
        name: String,
        /// What was probably meant.
        suggestion: Option<String>,
    },
    /// A pipeline includes itself.
    #[error("pipeline '{}' includes itself: {}", .0.first().map_or("", String::as_str), .0.join(" -> "))]
    IncludeCycle(Vec<String>),
    /// Includes of includes make more steps than any pipeline has.
    #[error("the pipeline has more than {MOST_STEPS} steps with those that it includes")]
    TooManySteps,
    /// No fact has this name.
    #[error("unknown condition '{name}'")]
    UnknownFact {
        /// The name.
        name: String,
        /// What was probably meant.
        suggestion: Option<&'static str>,
    },
    /// An option of a pass is refused.
    #[error("pass '{pass}': {error}")]
    Option {
        /// The pass.
        pass: String,
        /// What is wrong.
        error: OptionError,
    },
    /// The pipeline is for other links.
    #[error("pipeline '{pipeline}' is {} links where {fact}", if *.negated { "not for" } else { "for" })]
    OtherLink {
        /// Name of the pipeline.
        pipeline: String,
        /// Whether its condition is that the fact does not hold.
        negated: bool,
        /// When the fact of its condition holds.
        fact: &'static str,
    },
    /// A pass refuses to run in this link.
    #[error("pass '{pass}' is not for links where {fact}")]
    RefusedFact {
        /// The pass.
        pass: &'static str,
        /// When the fact holds with which it refuses to run.
        fact: &'static str,
    },
    /// The passes are in an order that does not work.
    #[error(transparent)]
    Phase(PhaseError),
}

impl PipelineError {
    /// Creates an error at a place of a text, if it is known.
    pub(super) fn new(kind: PipelineErrorKind, source: Option<&Source>, place: &Place) -> Self {
        let at = source.zip(place.0.as_ref()).map(|(source, range)| {
            let text = &source.text;
            // A span that no reader could have made is moved rather than believed.
            let is_boundary = |at: &usize| text.is_char_boundary(*at);
            let (start, end) = (range.start.min(text.len()), range.end.min(text.len()));
            let start = (0..=start).rev().find(is_boundary).unwrap_or(0);
            let end = (end..=text.len())
                .find(is_boundary)
                .unwrap_or(text.len())
                .max(start);
            Box::new((source.clone(), start..end))
        });
        PipelineError {
            kind: Box::new(kind),
            at,
        }
    }

    /// Returns the kind of the error.
    pub fn kind(&self) -> &PipelineErrorKind {
        &self.kind
    }

    /// Returns the text that it is about, and the bytes of it.
    pub fn place(&self) -> Option<(&Source, Range<usize>)> {
        let (source, range) = self.at.as_deref()?;
        Some((source, range.clone()))
    }

    /// Returns the name of the text with the line and column, counted from one.
    pub fn location(&self) -> Option<(&str, usize, usize)> {
        let (source, range) = self.at.as_deref()?;
        let before = source.text.get(..range.start)?;
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line = before.matches('\n').count() + 1;
        Some((
            &source.name,
            line,
            before.get(line_start..)?.chars().count() + 1,
        ))
    }

    /// Returns a suggestion on how to mend the error.
    pub fn help(&self) -> Option<String> {
        match &*self.kind {
            PipelineErrorKind::UnknownPass { suggestion, .. }
            | PipelineErrorKind::UnknownFact { suggestion, .. } => {
                suggestion.map(|word| format!("did you mean '{word}'?"))
            }
            PipelineErrorKind::UnknownPipeline { suggestion, .. }
            | PipelineErrorKind::NoAnchor { suggestion, .. } => suggestion
                .as_ref()
                .map(|word| format!("did you mean '{word}'?")),
            PipelineErrorKind::Option { error, .. } => error.help(),
            PipelineErrorKind::IncludeOptions => {
                Some("give the options to the passes of the included pipeline".to_owned())
            }
            _ => None,
        }
    }

    /// Returns the message with the lines of the text that it is about.
    pub fn render(&self) -> String {
        let message = self.kind.to_string();
        let mut report = Level::ERROR
            .primary_title(message.as_str())
            .elements(self.at.iter().map(|at| {
                let (source, range) = &**at;
                Snippet::source(source.text.as_str())
                    .path(source.name.as_str())
                    .annotation(AnnotationKind::Primary.span(range.clone()))
            }));
        if let Some(help) = self.help() {
            report = report.element(Level::HELP.message(help));
        }
        Renderer::plain().render(&[report])
    }
}

impl fmt::Display for PipelineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((name, line, column)) = self.location() {
            write!(f, "{name}:{line}:{column}: ")?;
        }
        write!(f, "{}", self.kind)?;
        match self.help() {
            Some(help) => write!(f, "; {help}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for PipelineError {}
