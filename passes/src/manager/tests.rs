//! Tests of the manager, and what tests of instruments run it with.

use std::cell::RefCell;

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::codes::link;
use cuweld_elf::Target;
use cuweld_ir::LinkOptions;

use super::*;
use crate::manager::fake::Fake;
use crate::pipeline::Facts;
use crate::pipeline::PipelineSource;
use crate::pipeline::Source;
use crate::pipeline::resolve;
use crate::pipeline::text_form;

/// A pipeline of fake passes, ready to run on an empty module.
pub(crate) struct Bench {
    manager: PassManager,
}

/// One pipeline to include.
struct Front;

impl PipelineSource for Front {
    fn find(&self, name: &str, _: Option<&Source>) -> Option<Source> {
        let text = "name = 'front'\npass = [{ use = 'classify' }, { use = 'select-objects' }]";
        (name == "front").then(|| Source {
            name: name.into(),
            text: text.into(),
        })
    }

    fn names(&self) -> Vec<String> {
        Vec::new()
    }
}

impl Bench {
    /// Creates a pipeline in the one-line form.
    pub fn new(text: &str) -> Self {
        Self::starting(text, Phase::Lowered)
    }

    /// Creates a pipeline that may include `front`: classify and select-objects.
    pub fn including(text: &str) -> Self {
        Self::new(text)
    }

    fn starting(text: &str, start: Phase) -> Self {
        let source = Source {
            name: "test".into(),
            text: text.into(),
        };
        let pipeline = text_form::parse(source).unwrap();
        let registry = Fake::registry();
        let resolved = resolve(&pipeline, &registry, &Front, Facts::default(), start);
        let resolved = resolved.unwrap_or_else(|error| panic!("{}", error.render()));
        Bench {
            manager: PassManager::new(resolved),
        }
    }

    /// Runs everything on an empty module.
    pub fn run(&self, instruments: &mut [&mut dyn Instrument]) -> Result<Outcome, RunError> {
        self.run_with(&mut empty(), &RunOptions::default(), instruments)
    }

    fn run_with(
        &self,
        module: &mut Module<'_>,
        options: &RunOptions,
        instruments: &mut [&mut dyn Instrument],
    ) -> Result<Outcome, RunError> {
        let arena = Arena::new();
        // The fake passes make nothing that lives in the arena, so a module of any life will do.
        let mut own = Module::new(module.target, module.options.clone());
        own.phase = module.phase;
        let result = self.manager.run(&mut own, &arena, options, instruments);
        module.phase = own.phase;
        module.options = own.options;
        result
    }

    fn refusal(&self, options: &RunOptions) -> String {
        let mut module = empty();
        let error = self.run_with(&mut module, options, &mut []).unwrap_err();
        assert!(matches!(error, RunError::Selection(_)));
        assert_eq!(module.options.record.output_name, b"", "a pass ran");
        assert_eq!(
            self.manager
                .check(options, Phase::Lowered)
                .unwrap_err()
                .to_string(),
            error.to_string()
        );
        error.to_string()
    }
}

fn empty() -> Module<'static> {
    Module::new(Target::parse("sm_90").unwrap(), LinkOptions::default())
}

fn pass(name: &str) -> Option<StepSelector> {
    Some(StepSelector::Pass(name.to_owned()))
}

const TO_LIVE: &str = "classify,select-objects,symbol-resolve,callgraph-dce";

#[test]
fn passes_run_in_order_and_set_phases() {
    let mut module = empty();
    let outcome = Bench::new(TO_LIVE)
        .run_with(&mut module, &RunOptions::default(), &mut [])
        .unwrap();
    assert_eq!(
        outcome,
        Outcome {
            done: 4,
            complete: true,
            changed: Changed::Yes
        }
    );
    assert_eq!(module.phase, Phase::Live);
    assert_eq!(
        module.options.record.output_name,
        b"classify select-objects symbol-resolve callgraph-dce "
    );
    let outcome = Bench::new("nothing").run(&mut []).unwrap();
    assert_eq!(outcome.changed, Changed::No);
}

#[test]
fn stopping_and_going_on_is_running_through() {
    let bench = Bench::new(&format!(
        "{TO_LIVE},merge-metadata,propagate-resources,place-memory"
    ));
    let mut whole = empty();
    bench
        .run_with(&mut whole, &RunOptions::default(), &mut [])
        .unwrap();
    for k in 0..=7 {
        let mut module = empty();
        if k > 0 {
            let stop_after = Some(StepSelector::Number(k));
            let options = RunOptions {
                stop_after,
                ..Default::default()
            };
            let outcome = bench.run_with(&mut module, &options, &mut []).unwrap();
            assert_eq!((outcome.done, outcome.complete), (k, k == 7));
        }
        let options = RunOptions {
            start_after: Some(StepSelector::Number(k)),
            ..Default::default()
        };
        bench.run_with(&mut module, &options, &mut []).unwrap();
        assert_eq!(module, whole, "stopped after step {k}");
    }
    let mut module = empty();
    let first = RunOptions {
        stop_after: pass("symbol-resolve"),
        ..Default::default()
    };
    bench.run_with(&mut module, &first, &mut []).unwrap();
    assert_eq!(module.phase, Phase::Resolved);
    let rest = RunOptions {
        start_after: pass("symbol-resolve"),
        ..Default::default()
    };
    bench.run_with(&mut module, &rest, &mut []).unwrap();
    assert_eq!(module, whole);
}

#[test]
fn a_pipeline_can_start_late() {
    let bench = Bench::starting("callgraph-dce", Phase::Resolved);
    let mut module = empty();
    module.phase = Phase::Resolved;
    bench
        .run_with(&mut module, &RunOptions::default(), &mut [])
        .unwrap();
    assert_eq!(module.phase, Phase::Live);
}

#[test]
fn passes_that_nothing_needs_can_be_skipped() {
    let bench = Bench::new("classify,nothing,merge-metadata[debug],nothing,select-objects");
    let mut module = empty();
    let skip = vec![
        StepSelector::Pass("nothing".into()),
        StepSelector::Number(4),
    ];
    let options = RunOptions {
        skip,
        ..Default::default()
    };
    bench.run_with(&mut module, &options, &mut []).unwrap();
    assert_eq!(module.options.record.output_name, b"classify ");
    assert_eq!(module.phase, Phase::Classified);
}

#[test]
fn choices_that_cannot_run_are_refused() {
    let bench = Bench::new("classify,nothing,select-objects,nothing");
    let skip = |name: &str| RunOptions {
        skip: vec![StepSelector::Pass(name.into())],
        ..Default::default()
    };
    let stop = |text: &str| RunOptions {
        stop_after: Some(text.parse().unwrap()),
        ..Default::default()
    };
    let start = |text: &str| RunOptions {
        start_after: Some(text.parse().unwrap()),
        ..Default::default()
    };
    assert_eq!(
        bench.refusal(&stop("clasify")),
        "pipeline 'test' has no pass 'clasify'; did you mean 'classify'?"
    );
    assert_eq!(
        bench.refusal(&stop("emit")),
        "pipeline 'test' has no pass 'emit'"
    );
    assert_eq!(
        bench.refusal(&stop("5")),
        "pipeline 'test' has no step 5; it has 4"
    );
    assert_eq!(
        bench.refusal(&stop("0")),
        "pipeline 'test' has no step 0; it has 4"
    );
    assert_eq!(
        bench.refusal(&stop("nothing")),
        "pass 'nothing' is steps 2 and 4 of pipeline 'test'; name the one that is meant by its \
         number"
    );
    assert_eq!(
        bench.refusal(&start("classify")),
        "the module is 'lowered', but after step 1 of the pipeline it would be 'classified'"
    );
    let backwards = RunOptions {
        start_after: Some(StepSelector::Number(3)),
        stop_after: Some(StepSelector::Number(2)),
        ..Default::default()
    };
    assert_eq!(
        bench.refusal(&backwards),
        "nothing is left to run: the start is after step 3, the stop after step 2"
    );
    assert_eq!(
        bench.refusal(&skip("classify")),
        "pass 'select-objects' (step 3) requires phase 'classified', but at the start the module \
         is only 'lowered'; 'classify', which establishes it, is left out: it is skipped"
    );
    let mut later = empty();
    later.phase = Phase::Live;
    let error = bench
        .run_with(&mut later, &RunOptions::default(), &mut [])
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "the module is 'live', but at the start of the pipeline it would be 'lowered'"
    );
}

#[test]
fn a_failing_pass_ends_the_run() {
    let bench = Bench::new("classify,fail,select-objects");
    let arena = Arena::new();
    let mut module = empty();
    let options = RunOptions::default();
    let result = bench.manager.run(&mut module, &arena, &options, &mut []);
    let error = result.unwrap_err();
    let expected = RunError::Pass {
        pass: "fail",
        step: 2,
        error: PassError::Diagnosed,
    };
    assert_eq!(error, expected);
    assert_eq!(
        error.to_string(),
        "pass 'fail' (step 2): the link was stopped by an error"
    );
    // Findings are sorted even so.
    let messages: Vec<_> = module
        .findings
        .list()
        .iter()
        .map(|found| &*found.message)
        .collect();
    assert_eq!(messages, ["first", "second"]);
    assert_eq!(module.phase, Phase::Classified);
    // What it says is part of the module: who goes on from there ends as well, and says no more.
    assert_eq!(module.stopped, Some("fail"));
    let written = module.clone();
    for start_after in [None, Some(StepSelector::Number(1))] {
        let options = RunOptions {
            start_after,
            ..Default::default()
        };
        let again = bench
            .manager
            .run(&mut module, &arena, &options, &mut [])
            .unwrap_err();
        assert_eq!(again, RunError::Stopped);
        assert_eq!(module, written);
    }
}

#[test]
fn passes_that_report_run_after_the_stop() {
    let bench = Bench::new("classify,report,fail,report");
    let arena = Arena::new();
    let mut module = empty();
    let run = |module: &mut _, options: &RunOptions| {
        let error = bench.manager.run(module, &arena, options, &mut []);
        error.unwrap_err()
    };
    run(&mut module, &RunOptions::default());
    let count = |module: &Module<'_>, text: &str| {
        let found = module.findings.list().iter();
        found.filter(|found| &*found.message == text).count()
    };
    assert_eq!(count(&module, "reported"), 2);
    // The module before the last of them, as a dump has it.
    let mut stopped = empty();
    stopped.stopped = Some("fail");
    stopped
        .findings
        .add_sorted([Diagnostic::error(link::UNDEFINED, "first")]);
    run(&mut stopped, &RunOptions::default());
    assert_eq!(count(&stopped, "reported"), 1);
    // Nothing is reported after a fatal error.
    stopped
        .findings
        .add_sorted([Diagnostic::fatal(link::UNDEFINED, "end")]);
    run(&mut stopped, &RunOptions::default());
    assert_eq!(count(&stopped, "reported"), 1);
}

#[test]
fn a_pass_that_ends_the_link_without_an_error_is_at_fault() {
    let error = Bench::new("end-silently").run(&mut []).unwrap_err();
    assert_eq!(
        error.to_string(),
        "pass 'end-silently' (step 1): internal error: the pass ended the link, and said no error"
    );
}

#[test]
fn a_pass_that_panics_is_named() {
    let error = Bench::new("classify,panic,select-objects")
        .run(&mut [])
        .unwrap_err();
    let expected = RunError::Pass {
        pass: "panic",
        step: 2,
        error: PassError::Panicked("on purpose".to_owned()),
    };
    assert_eq!(error, expected);
    assert_eq!(
        error.to_string(),
        "pass 'panic' (step 2): it panicked: on purpose"
    );
}

#[test]
fn a_pass_that_sets_another_phase_is_found() {
    assert_eq!(
        Bench::new("wrong-phase")
            .run(&mut [])
            .unwrap_err()
            .to_string(),
        "pass 'wrong-phase' (step 1): internal error: the pass set phase 'checked' instead of \
         'lowered'"
    );
}

/// Writes down which hooks are called.
struct Log<'a>(&'static str, &'a RefCell<Vec<String>>);

impl Log<'_> {
    fn push(&self, what: &str) {
        self.1.borrow_mut().push(format!("{} {what}", self.0));
    }
}

impl Instrument for Log<'_> {
    fn before_run(&mut self, run: &RunInfo<'_>, _: &Module<'_>) -> Result<(), InstrumentError> {
        self.push(&format!("begin {} {}", run.pipeline, run.steps));
        Ok(())
    }

    fn before_pass(&mut self, step: &StepInfo<'_>, _: &Module<'_>) -> Result<(), InstrumentError> {
        self.push(&format!("before {}", step.label()));
        Ok(())
    }

    fn after_pass(
        &mut self,
        step: &StepInfo<'_>,
        module: &Module<'_>,
        report: &PassReport<'_>,
    ) -> Result<(), InstrumentError> {
        let phase = module.phase.name();
        self.push(&format!(
            "after {} {phase} {:?}",
            step.label(),
            report.changed
        ));
        Ok(())
    }

    fn after_failed(&mut self, step: &StepInfo<'_>, _: &Module<'_>, error: &PassError) {
        self.push(&format!("failed {} {error}", step.label()));
    }

    fn after_run(&mut self, _: &RunInfo<'_>, _: &Module<'_>) {
        self.push("end");
    }
}

#[test]
fn instruments_are_called_as_a_stack() {
    let log = RefCell::new(Vec::new());
    let bench = Bench::new("nothing,classify,fail");
    let options = RunOptions {
        skip: vec![StepSelector::Number(1)],
        ..Default::default()
    };
    let _ = bench.run_with(
        &mut empty(),
        &options,
        &mut [&mut Log("a", &log), &mut Log("b", &log)],
    );
    assert_eq!(
        *log.borrow(),
        [
            "a begin test 3",
            "b begin test 3",
            "a before 02-classify",
            "b before 02-classify",
            "b after 02-classify classified Yes",
            "a after 02-classify classified Yes",
            "a before 03-fail",
            "b before 03-fail",
            "b failed 03-fail the link was stopped by an error",
            "a failed 03-fail the link was stopped by an error",
            "b end",
            "a end",
        ]
    );
}
