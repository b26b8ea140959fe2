//! Where pipelines come from when they are named.

use super::Facts;
use super::error::PipelineError;
use super::error::PipelineErrorKind;
use super::model::Condition;
use super::model::Pipeline;
use super::model::Place;
use super::model::Source;
use super::model::Step;
use super::toml_form;

/// Finds pipelines by name. Programs with a file system implement this by reading files; this crate
/// does no IO.
pub trait PipelineSource {
    /// Returns the pipeline file of this name; `within` is the text that includes it, if one does.
    fn find(&self, name: &str, within: Option<&Source>) -> Option<Source>;

    /// Returns the names that there are, for suggestions.
    fn names(&self) -> Vec<String>;
}

/// The pipelines that are part of cuweld.
#[derive(Clone, Copy, Debug, Default)]
pub struct Embedded;

/// A pipeline that is part of cuweld.
struct File {
    name: &'static str,
    summary: &'static str,
    text: &'static str,
    /// Its own conditions.
    when: &'static [&'static str],
    /// Its passes with their conditions, so that the usual link parses no TOML; `None` if a step
    /// says more.
    steps: Option<&'static [(&'static str, &'static [&'static str])]>,
}

/// The pipelines that are part of cuweld, by name; `passes/build.rs` writes them from
/// `pipelines/*.toml`.
const FILES: &[File] = include!(concat!(env!("OUT_DIR"), "/pipelines.rs"));

impl File {
    fn named(name: &str) -> Option<&'static File> {
        FILES.iter().find(|file| file.name == name)
    }

    /// Returns the pipeline of the file, without places for messages where its steps are known.
    fn pipeline(&self) -> Result<Pipeline, PipelineError> {
        let Some(steps) = self.steps else {
            return toml_form::parse(self.source());
        };
        let when = |facts: &[&str]| {
            let condition = |fact: &&str| Condition::parse(fact, Place::default());
            facts.iter().map(condition).collect()
        };
        let steps = steps.iter().map(|(pass, facts)| Step {
            when: when(facts),
            ..Step::pass(*pass)
        });
        Ok(Pipeline {
            name: self.name.to_owned(),
            summary: self.summary.to_owned(),
            when: when(self.when),
            steps: steps.collect(),
            source: None,
        })
    }

    fn source(&self) -> Source {
        Source {
            name: format!("pipelines/{}.toml", self.name),
            text: self.text.to_owned(),
        }
    }
}

impl PipelineSource for Embedded {
    fn find(&self, name: &str, _: Option<&Source>) -> Option<Source> {
        File::named(name).map(File::source)
    }

    fn names(&self) -> Vec<String> {
        FILES.iter().map(|file| file.name.to_owned()).collect()
    }
}

impl Embedded {
    /// Returns the pipeline that a link runs if none is asked for.
    pub fn standard(facts: Facts) -> &'static str {
        let holds = |fact| facts.holds(fact) == Some(true);
        match (holds("relocatable"), holds("mercury")) {
            (true, true) => "mercury-relocatable",
            (true, false) => "relocatable",
            (false, true) => "mercury",
            (false, false) => "executable",
        }
    }

    /// Returns the pipeline that a link runs if none is asked for, without parsing its file.
    pub(super) fn standard_pipeline(facts: Facts) -> Result<Pipeline, PipelineError> {
        let name = Embedded::standard(facts);
        File::named(name).map(File::pipeline).unwrap_or_else(|| {
            let kind = PipelineErrorKind::UnknownPipeline {
                name: name.to_owned(),
                suggestion: None,
            };
            Err(PipelineError::new(kind, None, &Place::default()))
        })
    }

    /// Parses one of the pipelines that are part of cuweld.
    pub fn pipeline(&self, name: &str) -> Option<Result<Pipeline, PipelineError>> {
        Some(toml_form::parse(self.find(name, None)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_link_parses_no_toml() {
        for name in [
            "executable",
            "relocatable",
            "mercury",
            "mercury-relocatable",
        ] {
            assert!(File::named(name).unwrap().steps.is_some(), "{name}");
        }
    }

    #[test]
    fn the_table_says_what_the_files_say() {
        for file in FILES {
            let parsed = toml_form::parse(file.source()).unwrap();
            assert_eq!(parsed, file.pipeline().unwrap());
            assert_eq!(parsed.source, Some(file.source()));
        }
        assert!(Embedded.pipeline("none").is_none());
    }
}
