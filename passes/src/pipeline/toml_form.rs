//! The form of pipeline files.
//!
//! ```toml
//! name = "executable"
//! summary = "Link relocatable device objects into an executable"
//! when = ["not relocatable"]
//! [[pass]]
//! use = "callgraph-dce"
//! options = { roots = "kernels" }
//! when = ["not debug"]
//! [[pass]]
//! include = "mercury"
//! ```

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Deserialize;
use toml::Spanned;

use super::error::PipelineError;
use super::error::PipelineErrorKind;
use super::model::Action;
use super::model::Anchor;
use super::model::Condition;
use super::model::Pipeline;
use super::model::Place;
use super::model::Setting;
use super::model::Side;
use super::model::Source;
use super::model::Step;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: String,
    #[serde(default)]
    summary: String,
    #[serde(default)]
    when: Vec<Spanned<String>>,
    #[serde(default)]
    pass: Vec<Spanned<Entry>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    r#use: Option<Spanned<String>>,
    include: Option<Spanned<String>>,
    #[serde(default)]
    options: Option<Spanned<BTreeMap<Spanned<String>, toml::Value>>>,
    #[serde(default)]
    when: Vec<Spanned<String>>,
    before: Option<Spanned<String>>,
    after: Option<Spanned<String>>,
    replace: Option<Spanned<String>>,
}

impl Entry {
    /// Takes the step beside which this one goes; there may be one.
    fn take_anchor(&mut self) -> Result<Option<Anchor>, Box<(PipelineErrorKind, Place)>> {
        let given = [
            (Side::Before, self.before.take()),
            (Side::After, self.after.take()),
            (Side::Replace, self.replace.take()),
        ];
        let mut given = given.into_iter().filter_map(|(side, pass)| {
            let pass = pass?;
            Some(Anchor {
                side,
                place: Place::at(pass.span()),
                pass: pass.into_inner(),
            })
        });
        let first = given.next();
        match given.next() {
            Some(second) => Err(Box::new((PipelineErrorKind::TwoAnchors, second.place))),
            None => Ok(first),
        }
    }
}

/// Parses a pipeline file.
pub fn parse(source: Source) -> Result<Pipeline, PipelineError> {
    let file: File = toml::from_str(&source.text).map_err(|error| {
        let place = Place(Some(error.span().unwrap_or(0..0)));
        // The library puts alternatives on lines of their own; a message is one line.
        let message = error.message().trim_end().replace('\n', ", ");
        PipelineError::new(PipelineErrorKind::Syntax(message), Some(&source), &place)
    })?;
    let steps = file.pass.into_iter().map(|entry| {
        let place = Place::at(entry.span());
        step(entry.into_inner(), place)
            .map_err(|refusal| PipelineError::new(refusal.0, Some(&source), &refusal.1))
    });
    let steps = steps.collect::<Result<_, _>>()?;
    Ok(Pipeline {
        name: file.name,
        summary: file.summary,
        when: conditions(file.when),
        steps,
        source: Some(source),
    })
}

/// Parses the conditions of an entry or of a file.
fn conditions(texts: Vec<Spanned<String>>) -> Vec<Condition> {
    let condition =
        |text: Spanned<String>| Condition::parse(text.get_ref(), Place::at(text.span()));
    texts.into_iter().map(condition).collect()
}

/// Parses one entry. The error says what is wrong with it and where.
fn step(mut entry: Entry, whole: Place) -> Result<Step, Box<(PipelineErrorKind, Place)>> {
    let anchor = entry.take_anchor()?;
    let when = conditions(entry.when);
    let (action, place) = match (entry.r#use, entry.include) {
        (Some(name), None) => {
            let place = Place::at(name.span());
            let options = entry.options.map(Spanned::into_inner).unwrap_or_default();
            let settings = options.into_iter().map(|(key, value)| {
                let place = Place::at(key.span());
                Setting {
                    name: key.into_inner(),
                    value,
                    place,
                }
            });
            (
                Action::Pass {
                    name: name.into_inner(),
                    options: settings.collect(),
                },
                place,
            )
        }
        (None, Some(name)) => {
            if let Some(options) = entry.options {
                return Err(Box::new((
                    PipelineErrorKind::IncludeOptions,
                    Place::at(options.span()),
                )));
            }
            let place = Place::at(name.span());
            (
                Action::Include {
                    pipeline: name.into_inner(),
                },
                place,
            )
        }
        (Some(_), Some(name)) => {
            return Err(Box::new((
                PipelineErrorKind::TwoActions,
                Place::at(name.span()),
            )));
        }
        (None, None) => return Err(Box::new((PipelineErrorKind::EmptyStep, whole))),
    };
    Ok(Step {
        action,
        when,
        anchor,
        place,
    })
}

/// Prints a pipeline as a file that parses back to it.
pub fn print(pipeline: &Pipeline) -> String {
    let string = |text: &str| toml::Value::String(text.to_owned());
    let mut out = format!("name = {}\n", string(&pipeline.name));
    if !pipeline.summary.is_empty() {
        let _ = writeln!(out, "summary = {}", string(&pipeline.summary));
    }
    print_conditions(&mut out, &pipeline.when);
    for step in &pipeline.steps {
        out.push_str("\n[[pass]]\n");
        match &step.action {
            Action::Pass { name, options } => {
                let _ = writeln!(out, "use = {}", string(name));
                if !options.is_empty() {
                    let table = options
                        .iter()
                        .map(|set| (set.name.clone(), set.value.clone()));
                    let _ = writeln!(out, "options = {}", toml::Value::Table(table.collect()));
                }
            }
            Action::Include { pipeline } => {
                let _ = writeln!(out, "include = {}", string(pipeline));
            }
        }
        print_conditions(&mut out, &step.when);
        if let Some(anchor) = &step.anchor {
            let _ = writeln!(out, "{} = {}", anchor.side.name(), string(&anchor.pass));
        }
    }
    out
}

fn print_conditions(out: &mut String, conditions: &[Condition]) {
    if !conditions.is_empty() {
        let text = |condition: &Condition| toml::Value::String(condition.to_string());
        let when = conditions.iter().map(text).collect();
        let _ = writeln!(out, "when = {}", toml::Value::Array(when));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_text(text: &str) -> Result<Pipeline, PipelineError> {
        parse(Source {
            name: "p.toml".into(),
            text: text.into(),
        })
    }

    const EXAMPLE: &str = r#"name = "p"
summary = "It says \"so\""

[[pass]]
use = "classify"

[[pass]]
use = "callgraph-dce"
options = { limit = 3, names = ["a", "b"], roots = "kernels" }
when = ["not debug", "mercury"]

[[pass]]
include = "mercury"
when = ["mercury"]

[[pass]]
use = "own"
when = ["debug"]
after = "callgraph-dce"
"#;

    #[test]
    fn prints_what_it_parses() {
        let pipeline = parse_text(EXAMPLE).unwrap();
        assert_eq!(pipeline.steps.len(), 4);
        assert_eq!(pipeline.summary, "It says \"so\"");
        assert_eq!(
            pipeline.steps[1]
                .when
                .iter()
                .map(|when| (&*when.fact, when.negated))
                .collect::<Vec<_>>(),
            [("debug", true), ("mercury", false)]
        );
        assert_eq!(
            pipeline.steps[2].action,
            Action::Include {
                pipeline: "mercury".into()
            }
        );
        let printed = print(&pipeline);
        assert_eq!(
            printed,
            EXAMPLE.replace("\"It says \\\"so\\\"\"", "'It says \"so\"'")
        );
        assert_eq!(parse_text(&printed), Ok(pipeline));
    }

    #[test]
    fn tables_of_options_are_an_equal_form() {
        let block = "name = 'p'\n[[pass]]\nuse = 'x'\n[pass.options]\nb = 1\na = 2\n";
        let inline = "name = 'p'\npass = [{ use = 'x', options = { a = 2, b = 1 } }]\n";
        assert_eq!(parse_text(block).unwrap(), parse_text(inline).unwrap());
    }

    #[test]
    fn refusals_say_where() {
        let cases = [
            (
                "name = 'p'\n[[pass]]\nusing = 'x'\n",
                "p.toml:3:1: unknown field `using`, expected one of `use`, `include`, `options`, `when`, `before`, `after`, `replace`",
            ),
            ("summary = 'x'\n", "p.toml:1:1: missing field `name`"),
            (
                "name = 'p'\n[[pass]\n",
                "p.toml:2:8: unclosed array table, expected `]`",
            ),
            (
                "name = 'p'\n[[pass]]\nuse = 7\n",
                "p.toml:3:7: invalid type: integer `7`, expected a string",
            ),
            (
                "name = 'p'\n[[pass]]\nwhen = []\n",
                "p.toml:2:1: this entry has neither 'use' nor 'include'",
            ),
            (
                "name = 'p'\n[[pass]]\nuse = 'a'\ninclude = 'b'\n",
                "p.toml:4:11: this entry has both 'use' and 'include'",
            ),
            (
                "name = 'p'\n[[pass]]\ninclude = 'b'\noptions = { e = 1 }\n",
                "p.toml:4:11: an included pipeline takes no options; give the options to the passes of the included pipeline",
            ),
            (
                "name = 'p'\n[[pass]]\nuse = 'a'\nbefore = 'b'\nafter = 'c'\n",
                "p.toml:5:9: this entry has more than one of 'before', 'after' and 'replace'",
            ),
            // Columns count characters, not bytes.
            (
                "name = 'p'\npass = [{ when = ['é'], use = 'a', include = 'b' }]\n",
                "p.toml:2:46: this entry has both 'use' and 'include'",
            ),
        ];
        for (text, message) in cases {
            assert_eq!(parse_text(text).unwrap_err().to_string(), message, "{text}");
        }
    }

    #[test]
    fn errors_are_rendered_with_their_lines() {
        let error = parse_text("name = 'p'\n\n[[pass]]\nuse = 'a'\ninclude = 'b'\n").unwrap_err();
        assert_eq!(
            error.render(),
            "error: this entry has both 'use' and 'include'\n --> p.toml:5:11\n  |\n5 | include = 'b'\n  |           ^^^"
        );
    }
}
