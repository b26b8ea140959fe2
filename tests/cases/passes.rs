//! Single passes: every `tests/passes/<pass>/*.lir` is a module, what to run on it, and what changes.
//!
//! ```text
//! ; One sentence that states the rule.
//! ; run: callgraph-dce
//! lir 1
//! ...
//! end
//! ; error: a message, with its notes
//! ; - a line of the module that goes
//! ; + a line that comes
//! ```
//!
//! With a line `; remarks: all`, or with names of passes and symbols, remarks are among the messages.
//!
//! `BLESS=1` writes what stands after `end` anew: no other tool has this form, so read the difference before committing it.
//! `cargo test --test cases passes::weak` runs the files whose name contains a word.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Path, PathBuf};

use cuweld::diagnostics::{Reporter, Style};
use cuweld::extend::registry;
use cuweld::{Controls, PassSelection, RemarkOptions, Watching, run_pipeline};
use cuweld_ir::text::{self, DumpBytes};
use cuweld_ir::{Arena, Module, verify};
use cuweld_passes::pipeline::{Action, Facts, Source, text_form};
use libtest_mimic::{Arguments, Conclusion, Failed, Trial};

const RUN: &str = "; run: ";
const REMARKS: &str = "; remarks: ";

/// The least number of files that every pass has.
const LEAST: usize = 5;

pub fn run_all(arguments: &Arguments) -> Result<Conclusion, Box<dyn Error>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/passes");
    let mut files: Vec<PathBuf> = Vec::new();
    for pass in std::fs::read_dir(folder)? {
        for file in std::fs::read_dir(pass?.path())? {
            files.push(file?.path());
        }
    }
    files.sort();
    let mut trials = Vec::new();
    let mut shown: BTreeMap<String, usize> = BTreeMap::new();
    for file in files {
        let text = std::fs::read_to_string(&file)?;
        let passes = passes_of(&text).unwrap_or_default();
        for name in pass_names(passes) {
            *shown.entry(name).or_default() += 1;
        }
        let stem = file.with_extension("");
        let pass = file.parent().and_then(Path::file_name).unwrap_or_default();
        let what = stem.file_name().unwrap_or_default();
        let name = format!("passes::{}/{}", pass.display(), what.display());
        trials.push(Trial::test(name, move || run(&file, &text)));
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

fn run(file: &Path, text: &str) -> Result<(), Failed> {
    let passes = passes_of(text).ok_or("the file has no line `; run: PASSES`")?;
    let (input, expected) = text
        .split_once("\nend\n")
        .ok_or("the module has no line `end`")?;
    let input = format!("{input}\nend\n");
    let names = text.lines().find_map(|line| line.strip_prefix(REMARKS));
    let found = outcome(&input, passes, RemarkOptions::parse(names, None))?;
    if found == expected {
        return Ok(());
    }
    if std::env::var_os("BLESS").is_some_and(|value| value == "1") {
        std::fs::write(file, format!("{input}{found}"))?;
        return Ok(());
    }
    Err(format!("expected:\n{expected}\nfound:\n{found}").into())
}

/// Messages, then the changed lines of the module if nothing failed.
fn outcome(input: &str, passes: &str, remarks: Option<RemarkOptions>) -> Result<String, Failed> {
    let arena = Arena::new();
    let mut module = text::parse(input, &arena, &|_| None).map_err(|error| error.to_string())?;
    sound(&module, "before")?;
    let before = text::print(&module, DumpBytes::Full);
    let controls = Controls {
        selection: PassSelection {
            passes: Some(passes.to_owned()),
            ..PassSelection::default()
        },
        watching: Watching {
            remarks,
            ..Watching::default()
        },
        ..Controls::default()
    };
    let facts = Facts::new(module.target, &module.options);
    let commented = |text: &str| text.lines().map(|line| format!("; {line}\n")).collect();
    let manager = match controls.manager(facts, module.phase) {
        Ok(manager) => manager,
        // The passes are in no order that works, or not for this link.
        Err(refused) => return Ok(commented(&refused.message)),
    };
    let mut messages = Vec::new();
    let mut reporter = Reporter::new(&mut messages, Style::Native);
    run_pipeline(
        &controls,
        &manager,
        &mut module,
        &arena,
        Default::default(),
        &mut reporter,
    )?;
    let failed = reporter.failed();
    let mut found: String = commented(&String::from_utf8_lossy(&messages));
    if !failed {
        sound(&module, "after")?;
        let after = text::print(&module, DumpBytes::Full);
        found.push_str(&changes(&before, &after));
    }
    Ok(found)
}

fn sound(module: &Module<'_>, when: &str) -> Result<(), Failed> {
    let errors = verify(module);
    if errors.is_empty() {
        return Ok(());
    }
    let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
    Err(format!("the module is broken {when}: {}", errors.join("; ")).into())
}

/// The lines that go and come, by the longest common subsequence.
fn changes(before: &str, after: &str) -> String {
    let (before, after): (Vec<&str>, Vec<&str>) =
        (before.lines().collect(), after.lines().collect());
    // length[i][j]: the longest one of what follows line i and line j.
    let mut length = vec![vec![0; after.len() + 1]; before.len() + 1];
    for i in (0..before.len()).rev() {
        for j in (0..after.len()).rev() {
            length[i][j] = if before[i] == after[j] {
                length[i + 1][j + 1] + 1
            } else {
                length[i + 1][j].max(length[i][j + 1])
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut found = String::new();
    while i < before.len() || j < after.len() {
        // What changes up to the next line that stays.
        let (mut old, mut new) = (Vec::new(), Vec::new());
        while i < before.len() || j < after.len() {
            if i < before.len() && before.get(i) == after.get(j) {
                break;
            }
            if j == after.len() || i < before.len() && length[i + 1][j] >= length[i][j + 1] {
                old.push(before[i].trim());
                i += 1;
            } else {
                new.push(after[j].trim());
                j += 1;
            }
        }
        let old = old.into_iter().map(|line| ('-', line));
        let new = new.into_iter().map(|line| ('+', line));
        let lines: Vec<_> = if old.len() == new.len() {
            old.zip(new).flat_map(|(old, new)| [old, new]).collect()
        } else {
            old.chain(new).collect()
        };
        for (sign, line) in lines.into_iter().filter(|(_, line)| !line.is_empty()) {
            found.push_str(&format!("; {sign} {line}\n"));
        }
        (i, j) = (i + 1, j + 1);
    }
    found
}
