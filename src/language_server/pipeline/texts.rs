//! What is said of passes, options, conditions and pipelines, in Markdown.

use cuweld_passes::PassInfo;
use cuweld_passes::options::OptionInfo;
use cuweld_passes::pass::Required;
use cuweld_passes::pipeline::Facts;
use cuweld_passes::pipeline::Pipeline;
use cuweld_passes::pipeline::text_form;

/// Keys of pipeline files, at the top and of steps, with what they mean.
pub const FILE_KEYS: &[(&str, &str)] = &[
    ("name", "Its name; required."),
    ("summary", "One line that says what it is for."),
    (
        "when",
        "Conditions, all of which must hold in a link that runs or includes it; without it the pipeline is for all links.",
    ),
    (
        "pass",
        "A step; the order in the file is the order in which they run.",
    ),
];

/// Keys of steps.
pub const STEP_KEYS: &[(&str, &str)] = &[
    ("use", "The name of a pass."),
    (
        "include",
        "A pipeline whose steps stand here: a predefined one, or a file beside this one. A step has `use` or `include`, not both.",
    ),
    (
        "options",
        "Options of the pass, as a table. An included pipeline takes none.",
    ),
    (
        "before",
        "The step goes before the one step of this pass that stands before it, also in what is included.",
    ),
    (
        "after",
        "The step goes after the one step of this pass that stands before it, also in what is included.",
    ),
    (
        "replace",
        "The step goes in place of the one step of this pass that stands before it, also in what is included.",
    ),
    (
        "when",
        "Conditions, all of which must hold; without it the step always runs.",
    ),
];

/// Describes a pass.
pub fn pass(info: &PassInfo) -> String {
    let mut text = format!("**{}** — {}\n\n", info.name, info.summary);
    text += &format!("requires `{}`", info.requires.name());
    if let Some(phase) = info.establishes {
        text += &format!(", establishes `{}`", phase.name());
    }
    if let Some(phase) = info.before {
        text += &format!(", runs before `{}`", phase.name());
    }
    if info.once {
        text += ", once";
    }
    text += match info.required {
        Required::No => "",
        Required::Always => "; every link needs it",
        Required::If(_) | Required::Unless(_) => "; some links need it",
    };
    if let Required::If(fact) = info.required {
        text += &format!(": those with `{fact}`");
    }
    if let Required::Unless(fact) = info.required {
        text += &format!(": those without `{fact}`");
    }
    text.push('\n');
    for option in info.options {
        text += &format!("\n- {}", self::option(option));
    }
    if !info.options.is_empty() {
        text.push('\n');
    }
    let documentation = info.documentation();
    if !documentation.is_empty() {
        text += &format!("\n---\n\n{documentation}\n");
    }
    text
}

/// Describes an option.
pub fn option(info: &OptionInfo) -> String {
    let default = match info.default {
        "" => "\"\"",
        default => default,
    };
    format!("`{} = {default}`: {}. {}", info.name, info.ty, info.doc)
}

/// Describes a condition.
pub fn condition(text: &str) -> Option<String> {
    let text = text.trim();
    let (fact, negated) = match text.strip_prefix("not ") {
        Some(fact) => (fact.trim(), true),
        None => (text, false),
    };
    let info = Facts::ALL.iter().find(|info| info.name == fact)?;
    let word = if negated { "unless" } else { "if" };
    Some(format!("`{text}`: {word} {}", info.doc))
}

/// Describes a pipeline: what it is for, and its steps.
pub fn pipeline(pipeline: &Pipeline) -> String {
    let mut text = format!("**{}**", pipeline.name);
    if !pipeline.summary.is_empty() {
        text += &format!(" — {}", pipeline.summary);
    }
    text += "\n\n";
    let when: Vec<String> = pipeline.when.iter().map(|it| format!("`{it}`")).collect();
    if !when.is_empty() {
        text += &format!("for links where {}\n\n", when.join(", "));
    }
    for step in &pipeline.steps {
        // Each step alone is a pipeline of one.
        let one = Pipeline {
            steps: vec![step.clone()],
            ..Pipeline::default()
        };
        text += &format!("1. `{}`\n", text_form::print(&one));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_those_of_the_page() {
        let page = include_str!("../../../docs/using/pipelines.md");
        for (key, meaning) in FILE_KEYS.iter().chain(STEP_KEYS) {
            let is_row = |line: &&str| {
                let mut cells = line.split('|').skip(1);
                let names = cells.next().is_some_and(|cell| {
                    cell.contains(&format!("`{key}`")) || cell.contains(&format!("[{key}]"))
                });
                // The place of a step beside another one is one row for three keys.
                let said = cells.nth(1).is_some_and(|cell| {
                    cell.trim() == *meaning
                        || meaning.starts_with("The step goes")
                            && cell.trim().starts_with("The step goes")
                });
                names && said
                    || *key == "pass" && line.contains("`[[pass]]`") && line.contains(meaning)
            };
            assert!(page.lines().any(|line| is_row(&line)), "{key}: {meaning}");
        }
    }

    #[test]
    fn passes_and_conditions_are_described() {
        let registry = crate::extend::registry();
        let text = pass(&registry.get("order-functions").unwrap().info);
        assert!(text.starts_with("**order-functions** — "), "{text}");
        assert!(
            text.contains(
                "\n- `file = \"\"`: a string: the path of a file. A file with more names."
            ),
            "{text}"
        );
        assert_eq!(
            condition("not  debug").as_deref(),
            Some("`not  debug`: unless the link keeps debug information (`-g`)")
        );
        assert_eq!(condition("debgu"), None);
    }
}
