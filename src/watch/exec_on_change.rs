//! Runs a command after every pass that changed the module.

use std::io;
use std::process::Command;
use std::process::Stdio;

use cuweld_ir::Module;
use cuweld_ir::text;
use cuweld_ir::text::DumpBytes;
use cuweld_passes::instrument::Instrument;
use cuweld_passes::instrument::InstrumentError;
use cuweld_passes::instrument::PassReport;
use cuweld_passes::instrument::RunInfo;
use cuweld_passes::instrument::StepInfo;

use crate::replay_root::may_run;

/// After every pass whose text differs from the one before, runs a shell command with the text's
/// file as its last argument. What it prints is shown after the run; a command that fails ends the
/// link.
pub struct ExecOnChange {
    command: String,
    last: String,
    said: String,
    folder: Option<tempfile::TempDir>,
}

impl ExecOnChange {
    /// Runs this command.
    pub fn new(command: &str) -> Self {
        ExecOnChange {
            command: command.to_owned(),
            last: String::new(),
            said: String::new(),
            folder: None,
        }
    }

    /// Returns the output of the commands.
    pub fn said(self) -> String {
        self.said
    }

    fn run(&mut self, step: &StepInfo<'_>, text: &str) -> io::Result<Result<(), String>> {
        may_run()?;
        let folder = match self.folder.take() {
            Some(folder) => folder,
            None => tempfile::tempdir()?,
        };
        let file = folder.path().join(format!("{}.after.lir", step.label()));
        self.folder = Some(folder);
        std::fs::write(&file, text)?;
        let output = Command::new("sh")
            .args(["-c", &format!("{} \"$@\"", self.command), "sh"])
            .arg(&file)
            .env("CUWELD_PASS", step.name)
            .env("CUWELD_STEP", step.number.to_string())
            .stdin(Stdio::null())
            .output()?;
        std::fs::remove_file(&file)?;
        let mut said = String::from_utf8_lossy(&output.stdout).into_owned();
        said.push_str(&String::from_utf8_lossy(&output.stderr));
        if output.status.success() {
            self.said.push_str(&said);
            return Ok(Ok(()));
        }
        Ok(Err(format!("{}: {}", output.status, said.trim_end())))
    }
}

impl Instrument for ExecOnChange {
    fn before_run(&mut self, _: &RunInfo<'_>, module: &Module<'_>) -> Result<(), InstrumentError> {
        self.last = text::print(module, DumpBytes::Full);
        Ok(())
    }

    fn after_pass(
        &mut self,
        step: &StepInfo<'_>,
        module: &Module<'_>,
        _: &PassReport<'_>,
    ) -> Result<(), InstrumentError> {
        let text = text::print(module, DumpBytes::Full);
        if text == self.last {
            return Ok(());
        }
        let result = self.run(step, &text);
        self.last = text;
        let message = match result {
            Ok(Ok(())) => return Ok(()),
            Ok(Err(message)) => message,
            Err(error) => error.to_string(),
        };
        let command = &self.command;
        Err(InstrumentError::Check(format!(
            "'{command}' failed: {message}"
        )))
    }
}
