//! Where pipelines come from when they are named.

use super::Facts;
use super::error::PipelineError;
use super::model::Condition;
use super::model::Pipeline;
use super::model::Place;
use super::model::Source;
use super::model::Step;
use super::resolve::Resolved;
use super::resolve::resolve;
use super::toml_form;
use crate::registry::Registry;
use cuweld_ir::Phase;

/// Finds pipelines by name. Who calls from a program with files implements this by reading them;
/// this crate does no IO.
pub trait PipelineSource {
    /// The pipeline file of this name; `within` is the text that includes it, if one does.
    fn find(&self, name: &str, within: Option<&Source>) -> Option<Source>;

    /// The names that there are, for suggestions.
    fn names(&self) -> Vec<String>;
}

/// The pipelines that are part of cuweld.
#[derive(Clone, Copy, Debug, Default)]
pub struct Embedded;

/// Name, file and contents of each.
const FILES: [(&str, &str, &str); 8] = [
    (
        "check-only",
        "pipelines/check-only.toml",
        include_str!("../../../pipelines/check-only.toml"),
    ),
    (
        "debug",
        "pipelines/debug.toml",
        include_str!("../../../pipelines/debug.toml"),
    ),
    (
        "executable",
        "pipelines/executable.toml",
        include_str!("../../../pipelines/executable.toml"),
    ),
    (
        "size",
        "pipelines/size.toml",
        include_str!("../../../pipelines/size.toml"),
    ),
    (
        "relocatable",
        "pipelines/relocatable.toml",
        include_str!("../../../pipelines/relocatable.toml"),
    ),
    (
        "mercury",
        "pipelines/mercury.toml",
        include_str!("../../../pipelines/mercury.toml"),
    ),
    (
        "mercury-relocatable",
        "pipelines/mercury-relocatable.toml",
        include_str!("../../../pipelines/mercury-relocatable.toml"),
    ),
    (
        "sass",
        "pipelines/sass.toml",
        include_str!("../../../pipelines/sass.toml"),
    ),
];

/// The passes of `pipelines/executable.toml`, so that the usual link parses no TOML.
const EXECUTABLE: [&str; 17] = [
    "classify",
    "select-objects",
    "symbol-resolve",
    "callgraph-dce",
    "merge-metadata",
    "propagate-resources",
    "place-memory",
    "constant-bank-dedup",
    "check-undefined",
    "plan-relocations",
    "report-call-graph",
    "check-limits",
    "layout-output",
    "relocate",
    "check-link",
    "report-resources",
    "emit",
];

/// The passes of `pipelines/mercury.toml`.
const MERCURY: [&str; 18] = [
    "finalize-inputs",
    "classify",
    "select-objects",
    "symbol-resolve",
    "callgraph-dce",
    "merge-metadata",
    "propagate-resources",
    "place-memory",
    "check-undefined",
    "plan-relocations",
    "report-call-graph",
    "check-limits",
    "mercury-encode",
    "finalize-output",
    "relocate",
    "check-link",
    "report-resources",
    "emit",
];

/// The passes of `pipelines/relocatable.toml`: `-r` links parse no TOML either.
const RELOCATABLE: [&str; 13] = [
    "classify",
    "select-objects",
    "symbol-resolve",
    "callgraph-dce",
    "merge-metadata",
    "place-memory",
    "plan-relocations",
    "layout-output",
    "relocate",
    "check-link",
    "report-resources",
    "check-limits",
    "emit",
];

/// The passes of `pipelines/mercury-relocatable.toml`.
const MERCURY_RELOCATABLE: [&str; 15] = [
    "finalize-inputs",
    "classify",
    "select-objects",
    "symbol-resolve",
    "callgraph-dce",
    "merge-metadata",
    "place-memory",
    "plan-relocations",
    "mercury-encode",
    "finalize-output",
    "relocate",
    "check-link",
    "report-resources",
    "check-limits",
    "emit",
];

impl PipelineSource for Embedded {
    fn find(&self, name: &str, _: Option<&Source>) -> Option<Source> {
        let (_, file, text) = FILES.into_iter().find(|(known, ..)| *known == name)?;
        Some(Source {
            name: file.to_owned(),
            text: text.to_owned(),
        })
    }

    fn names(&self) -> Vec<String> {
        FILES.iter().map(|(name, ..)| (*name).to_owned()).collect()
    }
}

impl Embedded {
    /// The pipeline that a link runs if none is asked for.
    pub fn standard(facts: Facts) -> &'static str {
        let holds = |fact| facts.holds(fact) == Some(true);
        match (holds("relocatable"), holds("mercury")) {
            (true, true) => "mercury-relocatable",
            (true, false) => "relocatable",
            (false, true) => "mercury",
            (false, false) => "executable",
        }
    }

    /// Parses one of the pipelines that are part of cuweld.
    pub fn pipeline(&self, name: &str) -> Option<Result<Pipeline, PipelineError>> {
        Some(toml_form::parse(self.find(name, None)?))
    }
}

/// Steps of a link: these passes, then the check that may be asked for.
fn steps(passes: &[&'static str]) -> Vec<Step> {
    let checked = Step {
        when: vec![Condition {
            fact: "self-check".to_owned(),
            negated: false,
            place: Place::default(),
        }],
        ..Step::pass("self-check")
    };
    let mut steps: Vec<Step> = passes.iter().copied().map(Step::pass).collect();
    steps.push(checked);
    steps
}

impl Resolved {
    /// The pipeline that a link runs if none is asked for, resolved without parsing its file.
    pub fn standard(registry: &Registry, facts: Facts) -> Result<Self, PipelineError> {
        let name = Embedded::standard(facts);
        let passes = match name {
            "relocatable" => RELOCATABLE.as_slice(),
            "mercury" => MERCURY.as_slice(),
            "mercury-relocatable" => MERCURY_RELOCATABLE.as_slice(),
            _ => EXECUTABLE.as_slice(),
        };
        let pipeline = Pipeline {
            name: name.to_owned(),
            steps: steps(passes),
            ..Default::default()
        };
        resolve(&pipeline, registry, &Embedded, facts, Phase::Lowered)
    }
}

#[cfg(test)]
mod tests {
    use cuweld_elf::Target;
    use cuweld_ir::LinkOptions;

    use super::*;

    #[test]
    fn the_short_way_equals_the_file() {
        let registry = Registry::standard();
        for (target, relocatable, passes) in [
            ("sm_90", false, EXECUTABLE.as_slice()),
            ("sm_90", true, RELOCATABLE.as_slice()),
            ("sm_100", false, MERCURY.as_slice()),
            ("sm_100", true, MERCURY_RELOCATABLE.as_slice()),
        ] {
            for (debug, self_check) in [(false, false), (true, false), (false, true)] {
                let options = LinkOptions {
                    debug,
                    self_check,
                    relocatable,
                    ..Default::default()
                };
                let facts = Facts::new(Target::parse(target).unwrap(), &options);
                let name = Embedded::standard(facts);
                let parsed = Embedded.pipeline(name).unwrap().unwrap();
                assert_eq!(parsed.name, name);
                assert_eq!(parsed.steps, steps(passes));
                let fast = Resolved::standard(&registry, facts).unwrap();
                let slow = resolve(&parsed, &registry, &Embedded, facts, Phase::Lowered).unwrap();
                assert_eq!(fast.to_pipeline().steps, slow.to_pipeline().steps);
                assert_eq!((fast.start(), fast.end()), (slow.start(), slow.end()));
                let end = [Phase::Emitted, Phase::Checked][usize::from(self_check)];
                assert_eq!(fast.end(), end);
            }
        }
    }

    #[test]
    fn every_embedded_pipeline_parses_and_has_its_own_name() {
        for (name, ..) in FILES {
            assert_eq!(Embedded.pipeline(name).unwrap().unwrap().name, name);
        }
        assert!(Embedded.pipeline("none").is_none());
    }
}
