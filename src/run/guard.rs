//! Passes from elsewhere that do not come to their end: by a panic, a signal, or an exit.
//!
//! The link says which pass it was, and leaves a reproducer: the module before it, the passes from it
//! on, and the command that runs them. A pass of the program that embeds cuweld, or of a plugin, may
//! take the whole process with it, so that its reproducer is written before it runs, and removed
//! afterwards. For a program that runs as a pass it is written when that has failed.

use std::io;
use std::path::Path;
use std::path::PathBuf;

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::codes::extension;
use cuweld_ir::Module;
use cuweld_ir::Phase;
use cuweld_ir::text;
use cuweld_ir::text::DumpBytes;
use cuweld_passes::PassError;
use cuweld_passes::instrument::Instrument;
use cuweld_passes::instrument::InstrumentError;
use cuweld_passes::instrument::PassReport;
use cuweld_passes::instrument::StepInfo;
use cuweld_passes::pipeline::Resolved;
use cuweld_passes::pipeline::toml_form;
use cuweld_passes::registry::Origin;
use cuweld_sys::foreign_code::Watched;
use cuweld_sys::foreign_code::watch;
use tempfile::TempDir;

use crate::controls::Controls;
use crate::controls::Crashes;
use crate::diagnostics::Reporter;
use crate::extend::exec;

/// Stands for what ended the process, in the text that is made before.
const CAUSE: &str = "\u{fffc}";

/// Writes a finding.
type Render = dyn Fn(&Diagnostic) -> Vec<u8>;

/// Watches passes from elsewhere.
pub struct Guard<'a> {
    pipeline: &'a Resolved,
    controls: &'a Controls,
    /// Writes a finding as the link writes its findings.
    render: Box<Render>,
    /// The pass from elsewhere that runs.
    running: Option<Running>,
    /// What is said of the pass that did not come to its end.
    finding: Option<Diagnostic>,
}

/// A pass from elsewhere while it runs.
struct Running {
    /// Dropped first: the text names the reproducer.
    _watched: Option<Watched>,
    reproducer: Option<io::Result<Reproducer>>,
}

impl<'a> Guard<'a> {
    /// Makes the guard of a run of `pipeline`, if that has passes from elsewhere. What it says looks as
    /// if `reporter` had written it.
    pub fn new(
        pipeline: &'a Resolved,
        controls: &'a Controls,
        reporter: &Reporter<'_>,
    ) -> Option<Self> {
        let mut steps = pipeline.steps().iter();
        let is_needed =
            steps.any(|step| step.origin != Origin::Cuweld || step.pass.info().name == exec::NAME);
        is_needed.then(|| Guard {
            pipeline,
            controls,
            render: Box::new(reporter.renderer()),
            running: None,
            finding: None,
        })
    }

    /// Returns what there is to say of the pass that did not come to its end.
    pub fn finding(self) -> Option<Diagnostic> {
        self.finding
    }

    fn origin(&self, step: &StepInfo<'_>) -> Origin {
        let step = step.number.checked_sub(1);
        let step = step.and_then(|index| self.pipeline.steps().get(index));
        step.map_or(Origin::Cuweld, |step| step.origin.clone())
    }

    fn reproducer(
        &self,
        step: &StepInfo<'_>,
        module: &Module<'_>,
    ) -> Option<io::Result<Reproducer>> {
        (self.controls.watching.crashes == Crashes::Reproduced)
            .then(|| Reproducer::write(self.pipeline, self.controls, step, module))
    }
}

impl Instrument for Guard<'_> {
    fn before_pass(
        &mut self,
        step: &StepInfo<'_>,
        module: &Module<'_>,
    ) -> Result<(), InstrumentError> {
        let origin = self.origin(step);
        if origin == Origin::Cuweld || self.controls.watching.crashes == Crashes::Panics {
            return Ok(());
        }
        let reproducer = self.reproducer(step, module);
        let message = format!("cuweld: {} was ended by {CAUSE}", who(step, &origin));
        let finding = Diagnostic::fatal(extension::CRASH, message);
        let finding = with_reproducer(finding, reproducer.as_ref());
        let text = (self.render)(&finding);
        let cause = text
            .windows(CAUSE.len())
            .position(|it| it == CAUSE.as_bytes());
        let _watched = cause.and_then(|cause| {
            let (before, after) = text.split_at(cause);
            watch(before, after.get(CAUSE.len()..).unwrap_or_default())
        });
        self.running = Some(Running {
            _watched,
            reproducer,
        });
        Ok(())
    }

    fn after_pass(
        &mut self,
        _: &StepInfo<'_>,
        _: &Module<'_>,
        _: &PassReport<'_>,
    ) -> Result<(), InstrumentError> {
        self.running = None;
        Ok(())
    }

    fn after_failed(&mut self, step: &StepInfo<'_>, module: &Module<'_>, error: &PassError) {
        let running = self.running.take();
        let origin = self.origin(step);
        let finding = match error {
            PassError::Panicked(text) if origin != Origin::Cuweld => {
                let message = format!("cuweld: {} panicked: {text}", who(step, &origin));
                Diagnostic::fatal(extension::CRASH, message)
            }
            PassError::Crashed(diagnostic) => (**diagnostic).clone(),
            _ => return,
        };
        let reproducer = match running {
            Some(running) => running.reproducer,
            None => self.reproducer(step, module),
        };
        self.finding = Some(with_reproducer(finding, reproducer.as_ref()));
        if let Some(Ok(reproducer)) = reproducer {
            reproducer.keep();
        }
    }
}

/// Names a pass.
fn who(step: &StepInfo<'_>, origin: &Origin) -> String {
    let of = match origin {
        Origin::Cuweld | Origin::Embedder => String::new(),
        Origin::Plugin(path) => format!(" of plugin '{path}'"),
    };
    format!("pass '{}' (step {}){of}", step.name, step.number)
}

/// Adds where the reproducer is, and how it is run.
fn with_reproducer(finding: Diagnostic, reproducer: Option<&io::Result<Reproducer>>) -> Diagnostic {
    match reproducer {
        None => finding,
        Some(Err(error)) => finding.note(format!("no reproducer can be written: {error}")),
        Some(Ok(reproducer)) => finding
            .note(format!(
                "'{}' holds the module before the pass, and the passes from it on",
                reproducer.folder.path().display()
            ))
            .help(format!("`{}` runs them again", reproducer.command)),
    }
}

/// A module and what is to run on it, in a folder of their own, which is removed with this value.
struct Reproducer {
    folder: TempDir,
    /// What runs it, as a shell reads it.
    command: String,
}

impl Reproducer {
    fn write(
        pipeline: &Resolved,
        controls: &Controls,
        step: &StepInfo<'_>,
        module: &Module<'_>,
    ) -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("cuweld-pass-").tempdir()?;
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("before.lir"), text::print(module, DumpBytes::Full))?;
        let selection = &controls.selection;
        let is = |selected: &String, number: usize, name: &str| {
            *selected == number.to_string() || selected == name
        };
        // The steps that run, and how many of them are done.
        let mut passes = pipeline.to_pipeline();
        let (mut running, mut done) = (Vec::new(), 0);
        let named = pipeline.steps().iter().map(|it| it.pass.info().name);
        for (number, (row, name)) in (1..).zip(passes.steps.drain(..).zip(named)) {
            if !selection.skip.iter().any(|it| is(it, number, name)) {
                running.push(row);
                done += usize::from(number < step.number);
            }
            if selection
                .stop_after
                .as_ref()
                .is_some_and(|it| is(it, number, name))
            {
                break;
            }
        }
        // A link has to begin with some passes, which may be done.
        let is_whole = done > 0 && module.phase == Phase::Lowered;
        passes.steps = match is_whole {
            true => running,
            false => running.split_off(done),
        };
        passes.name = "rest".to_owned();
        passes.summary = format!("The passes of a link, of which '{}' failed", step.name);
        std::fs::write(path("rest.toml"), toml_form::print(&passes))?;
        let start_after = is_whole.then_some(done);
        let command = command(folder.path(), start_after, &controls.extensions.plugins);
        Ok(Reproducer { folder, command })
    }

    /// Leaves the folder where it is.
    fn keep(self) {
        let _ = self.folder.keep();
    }
}

/// Returns the command that runs the passes of a reproducer on its module, after those that are done.
fn command(folder: &Path, start_after: Option<usize>, plugins: &[String]) -> String {
    let word = |path: &Path| path.to_string_lossy().into_owned();
    let inside = |name: &str| word(&folder.join(name));
    let program = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("cuweld"));
    let mut words = vec![word(&program), "opt".to_owned(), inside("before.lir")];
    words.extend(["--pipeline".to_owned(), inside("rest.toml")]);
    if let Some(done) = start_after {
        words.extend(["--start-after".to_owned(), done.to_string()]);
    }
    for plugin in plugins {
        // The command may run in another folder.
        let path = std::fs::canonicalize(plugin).unwrap_or_else(|_| PathBuf::from(plugin));
        words.extend(["--load-pass-plugin".to_owned(), word(&path)]);
    }
    words.extend(["-o".to_owned(), inside("after.lir")]);
    // A word with a NUL is none that the system took.
    shlex::try_join(words.iter().map(String::as_str)).unwrap_or_else(|_| words.join(" "))
}
