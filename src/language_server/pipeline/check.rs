//! What is wrong with a pipeline, as a link would say it before it opens an input.

use std::ops::Range;
use std::path::PathBuf;

use cuweld_elf::Target;
use cuweld_ir::LinkOptions;
use cuweld_ir::Phase;
use cuweld_passes::pipeline::Action;
use cuweld_passes::pipeline::Condition;
use cuweld_passes::pipeline::Facts;
use cuweld_passes::pipeline::Pipeline;
use cuweld_passes::pipeline::PipelineError;
use cuweld_passes::pipeline::PipelineErrorKind;
use cuweld_passes::pipeline::PipelineSource;
use cuweld_passes::pipeline::Source;
use cuweld_passes::pipeline::Step;
use cuweld_passes::pipeline::resolve;
use cuweld_passes::pipeline::toml_form;
use cuweld_passes::registry::Registry;

use crate::language_server::finding::Finding;

/// A kind of link, of those that pipelines are for.
struct Link {
    name: String,
    facts: Facts,
}

/// Checks the pipeline of a text.
///
/// Which link will run it is not known. What holds for every kind of link is an error; what holds for
/// some of those that the pipeline is for is a remark.
pub fn check(text: Source, registry: &Registry, source: &dyn PipelineSource) -> Vec<Finding> {
    let checker = Checker {
        registry,
        source,
        text: &text,
    };
    match toml_form::parse(text.clone()) {
        Ok(pipeline) => checker.check(&pipeline),
        Err(error) => vec![checker.finding(&error, 0..0)],
    }
}

struct Checker<'c> {
    registry: &'c Registry,
    source: &'c dyn PipelineSource,
    text: &'c Source,
}

impl Checker<'_> {
    fn check(&self, pipeline: &Pipeline) -> Vec<Finding> {
        let named = self.names(pipeline);
        if !named.is_empty() {
            return named;
        }
        let links = links(pipeline);
        let (works, refused) = self.try_links(pipeline, &links, Phase::Lowered);
        if refused.is_empty() {
            return Vec::new();
        }
        if works {
            // A link for which a pipeline is not is refused with these words; nothing is wrong.
            let matters = |error: &PipelineError| {
                !matches!(
                    error.kind(),
                    PipelineErrorKind::OtherLink { .. } | PipelineErrorKind::RefusedFact { .. }
                )
            };
            let mut refused = refused.iter().filter(|(_, error)| matters(error));
            let first = refused.next();
            return first
                .into_iter()
                .map(|(link, error)| self.some(pipeline, error, &link.name))
                .collect();
        }
        let later = Phase::ALL.into_iter().skip(1);
        let mut later = later.filter(|phase| self.try_links(pipeline, &links, *phase).0);
        let Some((_, error)) = refused.first() else {
            return Vec::new();
        };
        let finding = self.whole(pipeline, error);
        match later.next() {
            // To be included, or for `cuweld opt`.
            Some(phase) => vec![Finding::information(
                finding.place,
                format!(
                    "runs on modules that are '{}', not at the start of a link",
                    phase.name()
                ),
            )],
            None => vec![finding],
        }
    }

    /// Finds wrong names and options, of each step by itself.
    fn names(&self, pipeline: &Pipeline) -> Vec<Finding> {
        let alone = |steps: Vec<Step>, when: &[Condition]| {
            let pipeline = Pipeline {
                steps,
                when: when.to_vec(),
                ..pipeline.clone()
            };
            resolve(
                &pipeline,
                self.registry,
                self.source,
                Facts::default(),
                Phase::Lowered,
            )
            .err()
        };
        let mut findings = Vec::new();
        if let Some(error) = alone(Vec::new(), &pipeline.when).filter(is_about_names) {
            findings.push(self.finding(&error, self.name_place()));
        }
        for step in &pipeline.steps {
            let place = step.place.0.clone().unwrap_or(0..0);
            let step = Step {
                anchor: None,
                ..step.clone()
            };
            if let Some(error) = alone(vec![step], &[]).filter(is_about_names) {
                findings.push(self.finding(&error, place));
            }
        }
        findings
    }

    /// Tries a pipeline for links of these kinds, from a phase on: whether one would run it, and why
    /// others would not.
    fn try_links<'l>(
        &self,
        pipeline: &Pipeline,
        links: &'l [Link],
        start: Phase,
    ) -> (bool, Vec<(&'l Link, PipelineError)>) {
        let mut works = false;
        let mut refused = Vec::new();
        for link in links {
            match resolve(pipeline, self.registry, self.source, link.facts, start) {
                Ok(_) => works = true,
                Err(error) => refused.push((link, error)),
            }
        }
        (works, refused)
    }

    fn some(&self, pipeline: &Pipeline, error: &PipelineError, link: &str) -> Finding {
        let finding = self.whole(pipeline, error);
        let message = format!("in a link {link}: {}", finding.message);
        Finding::information(finding.place, message)
    }

    /// Returns the finding about a pipeline as a whole. An error in an included one stands at the
    /// step that includes it.
    fn whole(&self, pipeline: &Pipeline, error: &PipelineError) -> Finding {
        let name = error.place().map(|(source, _)| source.name.as_str());
        let includes = |step: &&Step| match &step.action {
            Action::Include { pipeline } => {
                let first = self.source.find(pipeline, Some(self.text));
                name.is_some_and(|name| self.reaches(first, name, 0))
            }
            Action::Pass { .. } => false,
        };
        let step = pipeline.steps.iter().find(includes);
        let place = step.and_then(|step| step.place.0.clone());
        self.finding(error, place.unwrap_or_else(|| self.name_place()))
    }

    /// Returns `true` if a pipeline is the one of this name or includes it.
    fn reaches(&self, source: Option<Source>, name: &str, depth: usize) -> bool {
        let Some(source) = source.filter(|_| depth < 16) else {
            return false;
        };
        if source.name == name {
            return true;
        }
        let parsed = toml_form::parse(source.clone());
        let steps = parsed.map(|pipeline| pipeline.steps).unwrap_or_default();
        steps.iter().any(|step| match &step.action {
            Action::Include { pipeline } => {
                self.reaches(self.source.find(pipeline, Some(&source)), name, depth + 1)
            }
            Action::Pass { .. } => false,
        })
    }

    /// Returns the finding of an error; one that is not in this text, or nowhere, is at `else_at`.
    fn finding(&self, error: &PipelineError, else_at: Range<usize>) -> Finding {
        let message = match error.help() {
            Some(help) => format!("{}; {help}", error.kind()),
            None => error.kind().to_string(),
        };
        match error.place() {
            Some((source, place)) if source.name == self.text.name => {
                Finding::error(place, message)
            }
            Some((source, place)) => Finding {
                elsewhere: Some((PathBuf::from(&source.name), source.text.clone(), place))
                    .filter(|(path, ..)| path.is_absolute()),
                ..Finding::error(else_at, message)
            },
            None => Finding::error(else_at, message),
        }
    }

    /// Returns where the name of the pipeline stands.
    fn name_place(&self) -> Range<usize> {
        let syntax = super::syntax::Syntax::new(&self.text.text);
        let name = syntax.values(&["name"]).next();
        name.map_or(0..0, |(item, _)| item.place.clone())
    }
}

/// Returns `true` if an error does not depend on what stands around a step.
fn is_about_names(error: &PipelineError) -> bool {
    !matches!(
        error.kind(),
        PipelineErrorKind::Phase(_)
            | PipelineErrorKind::OtherLink { .. }
            | PipelineErrorKind::RefusedFact { .. }
    )
}

/// Returns the kinds of links that a pipeline is for, the most usual first.
fn links(pipeline: &Pipeline) -> Vec<Link> {
    let mut links = Vec::new();
    for relocatable in [false, true] {
        for debug in [false, true] {
            for target in ["sm_90", "sm_80", "sm_100"] {
                let options = LinkOptions {
                    relocatable,
                    debug,
                    ..Default::default()
                };
                let Some(facts) = Target::parse(target).map(|it| Facts::new(it, &options)) else {
                    continue;
                };
                let set = [(relocatable, " with -r"), (debug, " with -g")];
                let set = set.into_iter().filter(|(is_set, _)| *is_set);
                let name = set.fold(format!("for {target}"), |name, (_, set)| name + set);
                links.push(Link { name, facts });
            }
        }
    }
    // What follows from other options is as the pipeline has it.
    let of_target = ["mercury", "compat", "relocatable", "debug"];
    for link in &mut links {
        for condition in &pipeline.when {
            if !of_target.contains(&condition.fact.as_str()) {
                link.facts = link.facts.with(&condition.fact, !condition.negated);
            }
        }
    }
    let meets = |link: &Link| {
        let mut when = pipeline.when.iter();
        when.all(|it| link.facts.holds(&it.fact) == Some(!it.negated))
    };
    if links.iter().any(meets) {
        links.retain(meets);
    }
    links
}
