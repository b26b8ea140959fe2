//! Single passes: every `tests/passes/<pass>/*.lir` is a case of `cuweld test-passes`.
//!
//! `BLESS=1` writes what stands after `end` anew: no other tool has this form, so read the difference before committing it.
//! `cargo test --test cases passes::weak` runs the files whose name contains a word.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;

use cuweld::extend::registry;
use cuweld_passes::pipeline::{Action, Source, text_form};
use cuweld_test::{Program, cases};
use libtest_mimic::{Arguments, Conclusion, Trial};

use crate::harness::command::program;

const RUN: &str = "; run: ";

/// The least number of files that every pass has.
const LEAST: usize = 5;

pub fn run_all(arguments: &Arguments) -> Result<Conclusion, Box<dyn Error>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/passes");
    let program = Program::from(program());
    let mut trials = Vec::new();
    let mut shown: BTreeMap<String, usize> = BTreeMap::new();
    for case in cases(folder, &program)? {
        let text = std::fs::read_to_string(&case.file)?;
        for name in pass_names(passes_of(&text).unwrap_or_default()) {
            *shown.entry(name).or_default() += 1;
        }
        let (name, program) = (format!("passes::{}", case.name), program.clone());
        trials.push(Trial::test(name, move || Ok(case.run(&program)?)));
    }
    let registry = registry();
    for info in registry.iter() {
        let (pass, count) = (info.name, shown.get(info.name).copied().unwrap_or(0));
        trials.push(Trial::test(format!("passes::{pass}/is-shown"), move || {
            (count >= LEAST).then_some(()).ok_or_else(|| {
                format!("{count} files of tests/passes run '{pass}', fewer than {LEAST}").into()
            })
        }));
    }
    Ok(libtest_mimic::run(arguments, trials))
}

fn passes_of(text: &str) -> Option<&str> {
    text.lines().find_map(|line| line.strip_prefix(RUN))
}

/// The passes that a line runs.
fn pass_names(passes: &str) -> Vec<String> {
    let parsed = text_form::parse(Source {
        name: RUN.to_owned(),
        text: passes.to_owned(),
    });
    let steps = parsed.map(|pipeline| pipeline.steps).unwrap_or_default();
    let names = steps.into_iter().filter_map(|step| match step.action {
        Action::Pass { name, .. } => Some(name),
        Action::Include { .. } => None,
    });
    names.collect()
}
