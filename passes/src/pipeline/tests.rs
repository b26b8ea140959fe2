//! Refusals of [`resolve`](super::resolve), each with its message.

mod places;

use cuweld_elf::Target;
use cuweld_ir::LinkOptions;
use cuweld_ir::Phase;

use super::*;
use crate::manager::fake::Fake;
use crate::options::OptionInfo;
use crate::options::OptionType;
use crate::pass::PassInfo;
use crate::registry::Registry;

/// Pipelines by name.
struct Files(&'static [(&'static str, &'static str)]);

impl PipelineSource for Files {
    fn find(&self, name: &str, _: Option<&Source>) -> Option<Source> {
        let (_, text) = self.0.iter().find(|(known, _)| *known == name)?;
        Some(Source {
            name: format!("{name}.toml"),
            text: (*text).to_owned(),
        })
    }

    fn names(&self) -> Vec<String> {
        self.0.iter().map(|(name, _)| (*name).to_owned()).collect()
    }
}

#[derive(Default, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
struct DceOptions {
    roots: String,
}

const DCE_OPTIONS: &[OptionInfo] = &[OptionInfo {
    name: "roots",
    ty: OptionType::Choice(&["kernels", "all"]),
    default: "kernels",
    doc: "What keeps functions.",
}];

fn registry() -> Registry {
    let mut registry = Fake::registry();
    let info = PassInfo {
        options: DCE_OPTIONS,
        ..Fake::boxed("callgraph-dce").info()
    };
    registry.register_made(info, |given| {
        given.read::<DceOptions>()?;
        Ok(Fake::boxed("callgraph-dce"))
    });
    registry
}

fn facts(debug: bool) -> Facts {
    let options = LinkOptions {
        debug,
        ..Default::default()
    };
    Facts::new(Target::parse("sm_90").unwrap(), &options)
}

fn resolve_with(text: &str, files: &Files, start: Phase) -> Result<Resolved, PipelineError> {
    let source = Source {
        name: "--passes".into(),
        text: text.into(),
    };
    resolve(
        &text_form::parse(source).unwrap(),
        &registry(),
        files,
        facts(false),
        start,
    )
}

fn resolve_text(text: &str) -> Result<Resolved, PipelineError> {
    resolve_with(text, &Files(&[]), Phase::Lowered)
}

fn refusal(text: &str) -> String {
    resolve_text(text).expect_err("must be refused").to_string()
}

const TO_LIVE: &str = "classify,select-objects,symbol-resolve,callgraph-dce";

#[test]
fn a_good_order_is_taken() {
    let resolved = resolve_text(&format!("{TO_LIVE}{{roots=all}},merge-metadata")).unwrap();
    assert_eq!(
        (resolved.start(), resolved.end()),
        (Phase::Lowered, Phase::Merged)
    );
    assert_eq!(
        text_form::print(&resolved.to_pipeline()),
        format!("{TO_LIVE}{{roots=all}},merge-metadata")
    );
    assert_eq!(resolve_text("").unwrap().steps().len(), 0);
    let later = resolve_with("place-memory", &Files(&[]), Phase::Propagated).unwrap();
    assert_eq!(later.end(), Phase::Placed);
}

#[test]
fn unknown_names_are_refused() {
    assert_eq!(
        refusal("clasify"),
        "--passes:1:1: unknown pass 'clasify'; did you mean 'classify'?"
    );
    assert_eq!(
        refusal("classify,inline"),
        "--passes:1:10: unknown pass 'inline'"
    );
    assert_eq!(
        refusal("classify[debgu]"),
        "--passes:1:10: unknown condition 'debgu'; did you mean 'debug'?"
    );
    assert_eq!(
        refusal("classify[not fast]"),
        "--passes:1:14: unknown condition 'fast'"
    );
    assert_eq!(
        refusal("@executable"),
        "--passes:1:2: unknown pipeline 'executable'"
    );
    let files = Files(&[("mercury", "name = 'mercury'")]);
    assert_eq!(
        resolve_with("@mercuri", &files, Phase::Lowered)
            .unwrap_err()
            .to_string(),
        "--passes:1:2: unknown pipeline 'mercuri'; did you mean 'mercury'?"
    );
}

#[test]
fn wrong_options_are_refused() {
    assert_eq!(
        refusal(&format!("{TO_LIVE}{{rots=all}}")),
        "--passes:1:54: pass 'callgraph-dce': there is no option 'rots'; did you mean 'roots'?"
    );
    assert_eq!(
        refusal(&format!("{TO_LIVE}{{roots=1}}")),
        "--passes:1:54: pass 'callgraph-dce': option 'roots' takes 'kernels' or 'all', not 1"
    );
    assert_eq!(
        refusal("classify{x=1}"),
        "--passes:1:10: pass 'classify': there is no option 'x'; this pass has no options"
    );
    // Also where the step is left out.
    assert_eq!(
        refusal("classify{x=1}[debug]"),
        "--passes:1:10: pass 'classify': there is no option 'x'; this pass has no options"
    );
}

#[test]
fn a_pass_before_its_phase_is_refused() {
    assert_eq!(
        refusal("classify,callgraph-dce,select-objects,symbol-resolve"),
        "--passes:1:10: pass 'callgraph-dce' (step 2) requires phase 'resolved', but after \
         'classify' the module is only 'classified'; 'symbol-resolve' establishes it only later \
         (step 4)"
    );
    assert_eq!(
        refusal("classify,symbol-resolve"),
        "--passes:1:10: pass 'symbol-resolve' (step 2) requires phase 'selected', but after \
         'classify' the module is only 'classified'; 'select-objects', which establishes it, is \
         not in the pipeline"
    );
    assert_eq!(
        refusal("nothing,emit"),
        "--passes:1:9: pass 'emit' (step 2) requires phase 'relocated', but at the start the \
         module is only 'lowered'; 'relocate', which establishes it, is not in the pipeline"
    );
    assert_eq!(
        refusal("classify[debug],select-objects"),
        "--passes:1:17: pass 'select-objects' (step 1) requires phase 'classified', but at the \
         start the module is only 'lowered'; 'classify', which establishes it, is left out: \
         'debug' does not hold"
    );
    let mut lone = Registry::new();
    Fake::register(&mut lone, "emit");
    let pipeline = Pipeline {
        steps: vec![Step::pass("emit")],
        ..Default::default()
    };
    assert_eq!(
        resolve(&pipeline, &lone, &Embedded, facts(false), Phase::Planned)
            .unwrap_err()
            .to_string(),
        "pass 'emit' (step 1) requires phase 'relocated', but at the start the module is only \
         'planned'; no known pass establishes it"
    );
}

#[test]
fn a_pass_behind_its_phase_is_refused() {
    assert_eq!(
        refusal("classify,select-objects,classify"),
        "--passes:1:25: pass 'classify' (step 3) establishes phase 'classified', but after \
         'select-objects' the module is already 'selected'"
    );
    assert_eq!(
        resolve_with("classify", &Files(&[]), Phase::Live)
            .unwrap_err()
            .to_string(),
        "--passes:1:1: pass 'classify' (step 1) establishes phase 'classified', but at the start \
         the module is already 'live'"
    );
}

#[test]
fn conditions_choose_steps() {
    let source = Source {
        name: "p".into(),
        text: "classify,nothing[debug],select-objects[not debug,compat]".into(),
    };
    let pipeline = text_form::parse(source).unwrap();
    let print = |debug| {
        let resolved = resolve(
            &pipeline,
            &registry(),
            &Embedded,
            facts(debug),
            Phase::Lowered,
        )
        .unwrap();
        text_form::print(&resolved.to_pipeline())
    };
    assert_eq!(print(false), "classify,select-objects");
    assert_eq!(print(true), "classify,nothing");
}

const INCLUDES: Files = Files(&[
    (
        "front",
        "name = 'front'\n[[pass]]\nuse = 'classify'\n[[pass]]\ninclude = 'select'\n",
    ),
    (
        "select",
        "name = 'select'\n[[pass]]\nuse = 'select-objects'\n",
    ),
    ("wrong", "name = 'wrong'\n[[pass]]\nuse = 'emit'\n"),
    ("broken", "name = \n"),
    ("a", "name = 'a'\n[[pass]]\ninclude = 'b'\n"),
    ("b", "name = 'b'\n[[pass]]\ninclude = 'a'\n"),
]);

#[test]
fn includes_are_put_in_place() {
    let resolved = resolve_with("@front,symbol-resolve", &INCLUDES, Phase::Lowered).unwrap();
    assert_eq!(
        text_form::print(&resolved.to_pipeline()),
        "classify,select-objects,symbol-resolve"
    );
    let via: Vec<_> = resolved
        .steps()
        .iter()
        .map(|step| step.via.join("/"))
        .collect();
    assert_eq!(via, ["front", "front/select", ""]);
    let none = resolve_with("@front[debug]", &INCLUDES, Phase::Lowered).unwrap();
    assert_eq!(none.steps().len(), 0);
    // A pipeline may be included twice if it is not inside itself; here the order forbids it.
    assert_eq!(
        resolve_with("@front,@select", &INCLUDES, Phase::Lowered)
            .unwrap_err()
            .to_string(),
        "select.toml:3:7: pass 'select-objects' (step 3) establishes phase 'selected', but after \
         'select-objects' the module is already 'selected'"
    );
}

#[test]
fn errors_of_included_pipelines_point_into_them() {
    let message = |text| {
        resolve_with(text, &INCLUDES, Phase::Lowered)
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        message("@wrong"),
        "wrong.toml:3:7: pass 'emit' (step 1) requires phase 'relocated', but at the start the \
         module is only 'lowered'; 'relocate', which establishes it, is not in the pipeline"
    );
    assert!(
        message("@broken").starts_with("broken.toml:1:"),
        "{}",
        message("@broken")
    );
}

#[test]
fn include_cycles_are_refused() {
    assert_eq!(
        resolve_with("classify,@a", &INCLUDES, Phase::Lowered)
            .unwrap_err()
            .to_string(),
        "b.toml:3:11: pipeline 'a' includes itself: a -> b -> a"
    );
    let own = toml_form::parse(INCLUDES.find("a", None).unwrap()).unwrap();
    let error = resolve(&own, &registry(), &INCLUDES, facts(false), Phase::Lowered).unwrap_err();
    assert_eq!(
        error.to_string(),
        "b.toml:3:11: pipeline 'a' includes itself: a -> b -> a"
    );
}

#[test]
fn refusals_are_rendered_with_help() {
    assert_eq!(
        resolve_text("classify,emti").unwrap_err().render(),
        "error: unknown pass 'emti'\n --> --passes:1:10\n  |\n1 | classify,emti\n  |          ^^^^\n  |\n  = help: did you mean 'emit'?"
    );
}

/// Checks the examples of docs/using/pipelines.md.
#[test]
fn the_manual_tells_the_truth() {
    let page = include_str!("../../../docs/using/pipelines.md");
    let blocks = |language: &str| -> Vec<&str> {
        let fence = format!("```{language}\n");
        let blocks = page.split(fence.as_str()).skip(1);
        blocks
            .filter_map(|rest| rest.split_once("```").map(|(block, _)| block.trim_end()))
            .collect()
    };
    let files = blocks("toml");
    assert_eq!(files.len(), 1);
    for text in files {
        let source = Source {
            name: "manual".into(),
            text: text.into(),
        };
        let pipeline = toml_form::parse(source).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(pipeline.steps.len(), 3);
    }
    let texts = blocks("text");
    let line = texts.first().copied().unwrap_or_default();
    let source = Source {
        name: "manual".into(),
        text: line.into(),
    };
    assert_eq!(text_form::print(&text_form::parse(source).unwrap()), line);
    // The grammar on the page is that of the module's documentation.
    let grammar = texts.get(1).copied().unwrap_or_default();
    let module = include_str!("text_form.rs");
    for rule in grammar.lines() {
        assert!(module.contains(&format!("//! {rule}\n")), "{rule}");
    }
    let error = resolve_text("classify,callgraph-dce,select-objects,symbol-resolve").unwrap_err();
    let message = format!("error: cuweld: {error}\n");
    assert!(
        texts.iter().any(|text| text.starts_with(&message)),
        "{message}"
    );
}

/// Every rule of the one-line form: texts that are parsed, texts that are refused.
const GRAMMAR: &[(&str, &[&str], &[&str])] = &[
    ("pipeline", &["", "a", "a,b"], &[",", "a,", "a b"]),
    (
        "step",
        &[
            "a",
            "a{}",
            "a{b=1}[debug]",
            "@a",
            "@\"d/a.toml\"[not debug]",
            "@'a b'",
        ],
        &["@", "@a{b=1}", "[debug]", "a[debug]{}", "\"a\"", "@\"a"],
    ),
    (
        "anchor",
        &["a before b", "a{b=1}[debug] after c", "@a replace b,c"],
        &[
            "a after",
            "a after b c",
            "a after {}",
            "after after",
            "a [b] between c",
        ],
    ),
    (
        "options",
        &["a{}", "a{b=1,c=2}"],
        &["a{", "a{b=1", "a{b=1,}", "a{,}", "a{b=1,b=2}"],
    ),
    (
        "option",
        &["a{b-c.d=1}", "a{\"b c\"=1}"],
        &["a{b}", "a{=1}", "a{b=}", "a{b c=1}"],
    ),
    (
        "condition",
        &["a[debug]", "a[not debug,mercury]"],
        &[
            "a[]",
            "a[not]",
            "a[not not debug]",
            "a[debug,]",
            "a[debug mercury]",
        ],
    ),
    (
        "value",
        &[
            "a{b=w}",
            "a{b=1.5}",
            "a{b='w'}",
            "a{b=[1,'x,y']}",
            "a{b={c=1}}",
            "a{b=true}",
        ],
        &["a{b=1 2}", "a{b=[1}", "a{b=w w}", "a{b=}"],
    ),
    (
        "word",
        &["a{b=_}", "a{b=sm_90.x-y}"],
        &["a{b=-}", "a{b=1x}", "a{b=x/y}"],
    ),
];

#[test]
fn every_rule_of_the_grammar_has_examples_and_refusals() {
    let page = include_str!("../../../docs/using/pipelines.md");
    let block = page.split("```text\n").nth(2).unwrap();
    let block = block.split("```").next().unwrap();
    let rules = block.lines().filter_map(|line| line.split_once(" = "));
    let named: Vec<&str> = rules.map(|(name, _)| name.trim()).collect();
    let shown: Vec<&str> = GRAMMAR.iter().map(|row| row.0).collect();
    assert_eq!(named, shown);
    let parse = |text: &str| {
        text_form::parse(Source {
            name: "p".into(),
            text: text.into(),
        })
    };
    for (rule, taken, refused) in GRAMMAR {
        for text in *taken {
            let pipeline = parse(text).unwrap_or_else(|error| panic!("{rule}: {error}"));
            let again = parse(&text_form::print(&pipeline)).unwrap();
            assert_eq!(again.steps, pipeline.steps, "{rule}: {text}");
        }
        for text in *refused {
            assert!(parse(text).is_err(), "{rule}: {text}");
        }
    }
}
