//! Pass cases: a module as text, the passes to run on it, and what they say and change.
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

mod changes;

use std::path::Path;
use std::path::PathBuf;

use cuweld_diagnostics::Diagnostic;
use cuweld_ir::Arena;
use cuweld_ir::Module;
use cuweld_ir::text;
use cuweld_ir::text::DumpBytes;
use cuweld_passes::pipeline::Facts;

use self::changes::changes;
use crate::controls::Controls;
use crate::controls::Crashes;
use crate::controls::PassSelection;
use crate::controls::RemarkOptions;
use crate::controls::Watching;
use crate::diagnostics::Reporter;
use crate::diagnostics::Style;
use crate::extend::Extensions;
use crate::invariants::findings;
use crate::run::run_pipeline;

const RUN: &str = "; run: ";
const REMARKS: &str = "; remarks: ";
const END: &str = "\nend\n";

/// A pass case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PassCase<'t> {
    /// The passes that run, as `--passes` takes them.
    pub passes: &'t str,
    /// The remarks that are shown, as `--remarks` takes them.
    remarks: Option<&'t str>,
    /// The case up to the end of its module.
    input: &'t str,
    /// What follows the module.
    expected: &'t str,
}

impl<'t> PassCase<'t> {
    /// Returns `true` if a text is meant as a case: it says what to run.
    pub fn is_case(text: &str) -> bool {
        passes_of(text).is_some()
    }

    /// Reads the text of a case; says what it lacks.
    pub fn parse(text: &'t str) -> Result<Self, String> {
        let passes = passes_of(text).ok_or("the file has no line `; run: PASSES`")?;
        let end = text.find(END).ok_or("the module has no line `end`")?;
        let (input, expected) = text.split_at(end + END.len());
        Ok(PassCase {
            passes,
            remarks: text.lines().find_map(|line| line.strip_prefix(REMARKS)),
            input,
            expected,
        })
    }

    /// Runs the passes. Returns the text of the case as it should be: equal to what was parsed if
    /// the passes did what the case expects.
    ///
    /// # Errors
    ///
    /// If the module does not parse, or is broken before or after the passes.
    pub fn run(&self, extensions: &Extensions) -> Result<String, String> {
        Ok(format!("{}{}", self.input, self.outcome(extensions)?))
    }

    /// Returns the differences of what the case expects and of `found`, which [`PassCase::run`]
    /// returned, as lines of a diff.
    pub fn difference(&self, found: &str) -> String {
        let found = found.get(self.input.len()..).unwrap_or_default();
        changes::difference(self.expected, found)
    }

    /// Returns messages, then the changed lines of the module if nothing failed.
    fn outcome(&self, extensions: &Extensions) -> Result<String, String> {
        let arena = Arena::new();
        let mut module =
            text::parse(self.input, &arena, &|_| None).map_err(|error| error.to_string())?;
        sound(&module, "before")?;
        let before = text::print(&module, DumpBytes::Full);
        let controls = self.controls(extensions);
        let facts = Facts::new(module.target, &module.options);
        let manager = match controls.manager(facts, module.phase) {
            Ok(manager) => manager,
            // The passes are in no order that works, or not for this link.
            Err(Diagnostic { message, .. }) => return Ok(commented(&message)),
        };
        let mut messages = Vec::new();
        let mut reporter = Reporter::new(&mut messages, Style::Native);
        let findings = Default::default();
        run_pipeline(
            &controls,
            &manager,
            &mut module,
            &arena,
            findings,
            &mut reporter,
        )
        .map_err(|error| error.to_string())?;
        let failed = reporter.failed();
        let mut found = commented(&String::from_utf8_lossy(&messages));
        if !failed {
            sound(&module, "after")?;
            // They are told as messages.
            module.findings = Default::default();
            let after = text::print(&module, DumpBytes::Full);
            found.push_str(&commented(&changes(&before, &after)));
        }
        Ok(found)
    }

    fn controls(&self, extensions: &Extensions) -> Controls {
        Controls {
            extensions: extensions.clone(),
            selection: PassSelection {
                passes: Some(self.passes.to_owned()),
                ..PassSelection::default()
            },
            watching: Watching {
                remarks: RemarkOptions::parse(self.remarks, None),
                // The case is a reproducer.
                crashes: Crashes::Named,
                ..Watching::default()
            },
            ..Controls::default()
        }
    }
}

/// Returns what a text says to run.
fn passes_of(text: &str) -> Option<&str> {
    text.lines().find_map(|line| line.strip_prefix(RUN))
}

fn commented(text: &str) -> String {
    text.lines().map(|line| format!("; {line}\n")).collect()
}

fn sound(module: &Module<'_>, when: &str) -> Result<(), String> {
    let broken = findings(module);
    if broken.is_empty() {
        return Ok(());
    }
    Err(format!(
        "the module is broken {when}: {}",
        broken.join("; ")
    ))
}

/// Returns the files of cases: `path` itself, or those in the folder and its folders that say what
/// to run, in the order of their names.
///
/// # Errors
///
/// If a file or a folder cannot be read, or a file that is named is no case.
pub fn files(path: &Path) -> Result<Vec<PathBuf>, String> {
    if !path.is_dir() {
        PassCase::parse(&read(path)?).map_err(|error| format!("'{}': {error}", path.display()))?;
        return Ok(vec![path.to_owned()]);
    }
    let unread = |error| format!("cannot read '{}': {error}", path.display());
    let mut entries = Vec::new();
    for entry in std::fs::read_dir(path).map_err(unread)? {
        let entry = entry.map_err(unread)?;
        // A link to a folder may lead back.
        let is_folder = entry.file_type().map_err(unread)?.is_dir();
        entries.push((entry.path(), is_folder));
    }
    entries.sort();
    let mut found = Vec::new();
    for (path, is_folder) in entries {
        if is_folder {
            found.extend(files(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "lir")
            && PassCase::is_case(&read(&path)?)
        {
            found.push(path);
        }
    }
    Ok(found)
}

fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path)
        .map_err(|error| format!("cannot read '{}': {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CASE: &str = "; Nothing happens.\n; run: select-objects\nlir 1\nmodule phase=classified toolkit=13.0.88 target=sm_90 bytes=full\nend\n";

    #[test]
    fn a_case_is_compared_with_what_its_passes_do() {
        let case = PassCase::parse(CASE).unwrap();
        let found = case.run(&Extensions::default()).unwrap();
        assert_ne!(found, CASE);
        assert!(found.contains("; - module phase=classified"), "{found}");
        let difference = case.difference(&found);
        assert!(
            difference.contains("+; + module phase=selected"),
            "{difference}"
        );
        let case = PassCase::parse(&found).unwrap();
        assert_eq!(case.run(&Extensions::default()).unwrap(), found);
        assert_eq!(case.difference(&found), "");
    }

    #[test]
    fn what_a_case_lacks_is_said() {
        let error = |text: &str| PassCase::parse(text).unwrap_err();
        assert!(error("lir 1\nend\n").contains("; run: PASSES"));
        assert!(error("; run: emit\nlir 1\n").contains("no line `end`"));
        let broken = CASE.replace("classified", "no-phase");
        let case = PassCase::parse(&broken).unwrap();
        assert!(case.run(&Extensions::default()).is_err());
    }

    #[test]
    fn files_that_say_what_to_run_are_cases() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::create_dir(path("b")).unwrap();
        for name in ["c.lir", "b/d.lir", "a.lir"] {
            std::fs::write(path(name), CASE).unwrap();
        }
        std::fs::write(path("other.lir"), "lir 1\n").unwrap();
        std::fs::write(path("note.txt"), CASE).unwrap();
        let expected = ["a.lir", "b/d.lir", "c.lir"].map(path);
        assert_eq!(files(folder.path()).unwrap(), expected);
        assert_eq!(files(&path("note.txt")).unwrap(), [path("note.txt")]);
        assert!(files(&path("other.lir")).is_err());
        assert!(files(&path("none.lir")).is_err());
    }
}
