//! Where steps may stand, which links need them, and steps that go beside others.

use cuweld_ir::Module;

use super::*;
use crate::pass::Changed;
use crate::pass::Pass;
use crate::pass::PassCx;
use crate::pass::PassError;
use crate::pass::Required;

/// A pass of a user's crate that does nothing.
struct Declared(PassInfo);

impl Pass for Declared {
    fn info(&self) -> PassInfo {
        self.0
    }

    fn run<'data>(
        &self,
        _: &mut Module<'data>,
        _: &mut PassCx<'_, 'data>,
    ) -> Result<Changed, PassError> {
        Ok(Changed::No)
    }
}

const WHOLE: &str = "classify,select-objects,symbol-resolve,callgraph-dce,merge-metadata,propagate-resources,\
                     place-memory,plan-relocations,layout-output,relocate";

/// Resolves a pipeline with one more pass, for a link with or without `-g`.
fn with_own(own: PassInfo, text: &str, debug: bool) -> Result<Resolved, String> {
    let mut registry = registry();
    let own = PassInfo { name: "own", ..own };
    registry.register_made(own, move |_| Ok(Box::new(Declared(own))));
    let files = Files(&[(
        "other",
        "name = 'other'\nwhen = ['debug']\n[[pass]]\nuse = 'own'\n",
    )]);
    let source = Source {
        name: "--passes".into(),
        text: text.into(),
    };
    let pipeline = text_form::parse(source).unwrap();
    resolve(&pipeline, &registry, &files, facts(debug), Phase::Lowered)
        .map_err(|error| error.to_string())
}

#[test]
fn own_passes_say_where_they_belong() {
    let plain = PassInfo::DEFAULT;
    let early = PassInfo {
        before: Some(Phase::Live),
        ..plain
    };
    assert!(with_own(early, "own,classify", false).is_ok());
    assert_eq!(
        with_own(early, &format!("{TO_LIVE},own"), false).unwrap_err(),
        "--passes:1:54: pass 'own' (step 5) has to run before phase 'live', but after \
         'callgraph-dce' the module is already 'live'"
    );
    let once = PassInfo {
        once: true,
        ..plain
    };
    assert!(with_own(once, "own,classify,own[debug]", false).is_ok());
    assert_eq!(
        with_own(once, "own,classify,own", false).unwrap_err(),
        "--passes:1:14: pass 'own' (step 3) runs once, and was step 1"
    );
    let refuses = PassInfo {
        refuses: &["mercury", "debug"],
        ..plain
    };
    assert!(with_own(refuses, "own", false).is_ok());
    assert_eq!(
        with_own(refuses, "classify,own", true).unwrap_err(),
        "--passes:1:10: pass 'own' is not for links where the link keeps debug information (`-g`)"
    );
}

#[test]
fn what_a_file_needs_is_asked_for() {
    let whole = format!("{WHOLE},emit");
    let of = |required| PassInfo {
        required,
        ..PassInfo::DEFAULT
    };
    let said = "pass 'own', without which the file may be wrong, is ";
    assert_eq!(
        with_own(of(Required::Always), &whole, false).unwrap_err(),
        format!("{said}not in the pipeline")
    );
    assert_eq!(
        with_own(
            of(Required::Unless("debug")),
            &format!("own[debug],{whole}"),
            false
        )
        .unwrap_err(),
        format!("{said}left out: 'debug' does not hold")
    );
    for (required, text, debug) in [
        (Required::Always, format!("own,{whole}"), false),
        // Nothing is written.
        (Required::Always, WHOLE.to_owned(), false),
        (Required::No, whole.clone(), false),
        (Required::If("debug"), whole.clone(), false),
        (Required::Unless("debug"), whole, true),
    ] {
        assert!(
            with_own(of(required), &text, debug).is_ok(),
            "{required:?} {text}"
        );
    }
}

#[test]
fn pipelines_say_for_which_links_they_are() {
    let own = PassInfo::DEFAULT;
    assert!(with_own(own, "@other", true).is_ok());
    // Nothing of it would run.
    assert!(with_own(own, "@other[debug]", false).is_ok());
    assert_eq!(
        with_own(own, "classify,@other", false).unwrap_err(),
        "other.toml:2:9: pipeline 'other' is for links where the link keeps debug information \
         (`-g`)"
    );
}

/// The steps that a pipeline comes to.
fn flat(text: &str) -> String {
    const FILES: Files = Files(&[(
        "base",
        "name = 'base'\n[[pass]]\nuse = 'classify'\n[[pass]]\nuse = 'select-objects'\n\
         [[pass]]\nuse = 'nothing'\nbefore = 'classify'\n",
    )]);
    resolve_with(text, &FILES, Phase::Lowered).map_or_else(
        |error| error.to_string(),
        |resolved| text_form::print(&resolved.to_pipeline()),
    )
}

#[test]
fn steps_go_beside_others() {
    assert_eq!(flat("@base"), "nothing,classify,select-objects");
    assert_eq!(
        flat("@base,symbol-resolve,nothing after select-objects"),
        "nothing,classify,select-objects,nothing,symbol-resolve"
    );
    assert_eq!(
        flat("@base,callgraph-dce replace nothing")
            .split(':')
            .next(),
        Some("--passes")
    );
    assert_eq!(
        flat("classify,nothing replace classify,@base after nothing"),
        "nothing,nothing,classify,select-objects"
    );
    // One that is left out stands where it is, too.
    assert_eq!(
        flat("@base,nothing[debug] after classify,symbol-resolve"),
        "nothing,classify,select-objects,symbol-resolve"
    );
    assert_eq!(
        flat("classify,nothing after clasify"),
        "--passes:1:24: there is no step 'clasify' before this one; did you mean 'classify'?"
    );
    assert_eq!(
        flat("@base,nothing,nothing before nothing"),
        "--passes:1:30: there are 2 steps 'nothing' before this one"
    );
    // What stands after it does not count, nor do steps around an included pipeline.
    assert_eq!(
        flat("nothing after classify,classify"),
        "--passes:1:15: there is no step 'classify' before this one"
    );
}
