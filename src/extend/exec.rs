//! `exec`: a pass that is another program.
//!
//! The program gets the module in [text form](lir.md) on its standard input and writes the module
//! that the link goes on with to its standard output; if it writes nothing, or comments alone, the
//! module stays as it is. What it writes is parsed and verified; comments in it such as
//! `; warning: ID TEXT`, `; error: ID TEXT`, `; remark: ID TEXT` and `; statistic: NAME = N` are
//! findings, remarks and counts. Lines on its standard error are shown; if it fails, they say why.
//! It is started in the current folder, once, with `CUWELD_PHASE` set to the module's phase.
//!
//! ```toml
//! [[pass]]
//! use = "exec"
//! options = { command = ["python3", "passes/rename.py", "old", "new"], requires = "classified" }
//! ```

use std::io;
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::process::Output;
use std::process::Stdio;

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::codes::extension;
use cuweld_ir::Module;
use cuweld_ir::Phase;
use cuweld_ir::text;
use cuweld_ir::text::DumpBytes;
use cuweld_passes::Changed;
use cuweld_passes::Pass;
use cuweld_passes::PassCx;
use cuweld_passes::PassError;
use cuweld_passes::PassInfo;
use cuweld_passes::options::OptionError;
use cuweld_passes::options::OptionInfo;
use cuweld_passes::options::OptionType;
use cuweld_passes::options::PassOptions;
use cuweld_passes::registry::Registry;
use serde::Deserialize;

use super::exchange::PassFailure;
use super::exchange::exchange;
use super::said::SAID;
use crate::replay_root::may_run;
use crate::replay_root::replayed;

const OPTIONS: &[OptionInfo] = &[
    OptionInfo {
        name: "command",
        ty: OptionType::Command,
        default: "[]",
        doc: "The program and its arguments; has to be given.",
    },
    OptionInfo {
        name: "requires",
        ty: OptionType::String,
        default: "lowered",
        doc: "The phase that a module must have reached.",
    },
    OptionInfo {
        name: "bytes",
        ty: OptionType::Choice(&["ref", "full"]),
        default: "full",
        doc: "How contents stand in the text: with the inputs, or as slices of inputs that are only named.",
    },
];

#[derive(Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Options {
    command: Vec<String>,
    requires: String,
    bytes: String,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            command: Vec::new(),
            requires: Phase::Lowered.name().to_owned(),
            bytes: DumpBytes::Full.name().to_owned(),
        }
    }
}

struct Exec {
    command: Vec<String>,
    requires: Phase,
    form: DumpBytes,
}

/// The name of the pass.
pub(crate) const NAME: &str = "exec";

const INFO: PassInfo = PassInfo {
    name: NAME,
    summary: "Give the module to another program, and go on with what it gives back",
    doc: include_str!("exec.rs"),
    options: OPTIONS,
    remarks: &[SAID],
    ..PassInfo::DEFAULT
};

pub(super) fn register(registry: &mut Registry) {
    registry.register_made(INFO, |options| Ok(Box::new(Exec::new(options)?)));
}

impl Exec {
    fn new(options: &PassOptions) -> Result<Self, OptionError> {
        let options: Options = options.read()?;
        if options.command.is_empty() {
            let message = "option 'command' is missing: the program and its arguments";
            return Err(OptionError::Invalid(message.to_owned()));
        }
        let requires = Phase::from_name(&options.requires).ok_or_else(|| {
            OptionError::Invalid(format!(
                "option 'requires': no phase '{}'",
                options.requires
            ))
        })?;
        Ok(Exec {
            command: options.command,
            requires,
            form: DumpBytes::from_name(&options.bytes).unwrap_or_default(),
        })
    }

    /// Runs the program. The text is written by a thread of its own, as the program may write
    /// before it has read everything.
    fn output(&self, phase: Phase, text: &str) -> io::Result<Output> {
        may_run()?;
        let (program, arguments) = self
            .command
            .split_first()
            .ok_or_else(|| io::Error::other("no command"))?;
        // An argument that is not a path stays as it is.
        let mut child = Command::new(replayed(Path::new(program)))
            .args(arguments.iter().map(|word| replayed(Path::new(word))))
            .env("CUWELD_PHASE", phase.name())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let input = child.stdin.take();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                // A program that does not read to the end is no error; what it writes decides.
                input.map(|mut input| input.write_all(text.as_bytes()))
            });
            child.wait_with_output()
        })
    }
}

impl Pass for Exec {
    fn info(&self) -> PassInfo {
        PassInfo {
            requires: self.requires,
            ..INFO
        }
    }

    fn run<'data>(
        &self,
        module: &mut Module<'data>,
        cx: &mut PassCx<'_, 'data>,
    ) -> Result<Changed, PassError> {
        let command = self.command.join(" ");
        let text = text::print(module, self.form);
        let mut said = None;
        let reply = match self.output(module.phase, &text) {
            Err(error) => Err(PassFailure::Diagnosed(Diagnostic::fatal(
                extension::PROGRAM,
                format!("cuweld: cannot run '{command}': {error}"),
            ))),
            Ok(output) => {
                let lines = String::from_utf8_lossy(&output.stderr);
                let lines = lines.trim_end().to_owned();
                match output.status.success() {
                    true => {
                        said = Some(lines).filter(|lines| !lines.is_empty());
                        Ok(Some(output.stdout))
                    }
                    false => {
                        let message = format!(
                            "cuweld: pass '{NAME}': '{command}' failed: {}",
                            output.status
                        );
                        let mut diagnostic = Diagnostic::fatal(extension::PROGRAM, message);
                        diagnostic.notes = lines.lines().map(str::to_owned).collect();
                        Err(PassFailure::Crashed(diagnostic))
                    }
                }
            }
        };
        let result = exchange(module, cx, &format!("'{command}'"), None, reply);
        if let Some(lines) = said {
            cx.diagnostics.emit(Diagnostic::report(lines));
        }
        result
    }
}
