//! Runs passes over the module of a document, as `cuweld opt` does over a file.

use std::io;
use std::panic::AssertUnwindSafe;
use std::panic::catch_unwind;

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::Diagnostics;
use cuweld_ir::Arena;
use cuweld_ir::Phase;
use cuweld_ir::text;
use cuweld_ir::text::DumpBytes;
use cuweld_passes::PassInfo;
use cuweld_passes::pipeline::Facts;
use cuweld_passes::registry::Registry;

use super::files::Folders;
use crate::controls::Controls;
use crate::controls::PassSelection;
use crate::diagnostics::Reporter;
use crate::diagnostics::Style;
use crate::extend::Extensions;
use crate::module_text;
use crate::run::run_pipeline;

/// The command that runs passes and returns the module after them.
pub const RUN_PASS: &str = "cuweld.runPass";

/// The command that runs passes and puts the module after them into the document.
pub const APPLY_PASS: &str = "cuweld.applyPass";

/// What to run over what.
pub struct Run {
    /// What messages call the module.
    pub name: String,
    /// The module in text form.
    pub text: String,
    /// The passes, in the one-line form of pipelines.
    pub passes: String,
    /// Where inputs are that the module names.
    pub folders: Folders,
    /// Passes from outside.
    pub extensions: Extensions,
}

/// What came of it.
#[derive(Debug)]
pub struct Outcome {
    /// The module after the passes, in the form that it had; nothing if there was an error.
    pub text: Option<String>,
    /// What there was to say, as `cuweld opt` writes it.
    pub messages: String,
}

impl Run {
    /// Runs the passes. A fault in one of them ends the run alone.
    pub fn run(&self) -> Outcome {
        let mut messages = Vec::new();
        let run = || self.run_with(&mut messages);
        let text = match catch_unwind(AssertUnwindSafe(run)) {
            Ok(Ok(text)) => text,
            Ok(Err(error)) => {
                messages.extend_from_slice(error.to_string().as_bytes());
                None
            }
            Err(_) => {
                messages.extend_from_slice(b"cuweld: internal error: a panic\n");
                None
            }
        };
        Outcome {
            text,
            messages: String::from_utf8_lossy(&messages).into_owned(),
        }
    }

    fn run_with(&self, messages: &mut Vec<u8>) -> io::Result<Option<String>> {
        let mut reporter = Reporter::new(messages, Style::Native);
        let text = match self.module(&mut reporter)? {
            Ok(text) => text,
            Err(diagnostic) => {
                reporter.report(&diagnostic)?;
                return Ok(None);
            }
        };
        Ok(text.filter(|_| !reporter.failed()))
    }

    /// Returns the module after the passes; nothing after an error that was reported.
    fn module(
        &self,
        reporter: &mut Reporter<'_>,
    ) -> io::Result<Result<Option<String>, Diagnostic>> {
        let arena = Arena::new();
        let resolve = |key: &text::ImageKey<'_>| self.folders.image(key, &arena);
        let parsed = module_text::parse(&self.name, &self.text, &arena, &resolve);
        let mut module =
            match parsed.and_then(|it| module_text::sound(&self.name, &it).map(|()| it)) {
                Ok(module) => module,
                Err(diagnostic) => return Ok(Err(diagnostic)),
            };
        let controls = Controls {
            extensions: self.extensions.clone(),
            selection: PassSelection {
                passes: Some(self.passes.clone()),
                ..Default::default()
            },
            ..Default::default()
        };
        let facts = Facts::new(module.target, &module.options);
        let manager = match controls.manager(facts, module.phase) {
            Ok(manager) => manager,
            Err(diagnostic) => return Ok(Err(diagnostic)),
        };
        let findings = Diagnostics::default();
        run_pipeline(&controls, &manager, &mut module, &arena, findings, reporter)?;
        Ok(Ok(
            (!reporter.failed()).then(|| text::print(&module, self.form()))
        ))
    }

    /// Returns the form that contents have in the text.
    fn form(&self) -> DumpBytes {
        let header = self
            .text
            .lines()
            .find(|line| line.trim_start().starts_with("module "));
        let form = header.and_then(|line| line.split_once("bytes="));
        let form = form.and_then(|(_, rest)| rest.split_whitespace().next());
        form.and_then(DumpBytes::from_name)
            .unwrap_or(DumpBytes::Full)
    }
}

/// Returns the passes that can run on a module of this phase, the next milestone of a link first.
pub fn runnable(registry: &Registry, phase: Phase) -> Vec<PassInfo> {
    let can_run = |info: &&PassInfo| {
        info.requires <= phase
            && info.establishes.is_none_or(|it| it > phase)
            && info.before.is_none_or(|it| it > phase)
    };
    let mut passes: Vec<PassInfo> = registry.iter().filter(can_run).copied().collect();
    // Of passes that establish nothing the order is that of the list.
    passes.sort_by_key(|info| info.establishes.unwrap_or(Phase::Checked));
    let next = passes.iter().position(|info| info.establishes.is_some());
    if let Some(next) = next {
        passes.rotate_left(next);
    }
    passes
}
