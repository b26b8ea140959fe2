//! `cuweld bisect`: finds the pass after which a check fails.

use std::io;
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::process::Stdio;

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::Diagnostics;
use cuweld_diagnostics::codes::usage;
use cuweld_ir::Arena;
use cuweld_ir::Module;
use cuweld_ir::text;
use cuweld_ir::text::DumpBytes;
use cuweld_passes::manager::PassManager;
use cuweld_passes::manager::optional_steps;
use cuweld_passes::pipeline::Facts;

use super::module_args::ModuleArgs;
use super::pipeline_args::PipelineArgs;
use crate::controls::Controls;
use crate::diagnostics::Reporter;
use crate::diagnostics::Style;
use crate::extend::Register;
use crate::input::InputArena;
use crate::run::run_pipeline;

/// Arguments of `cuweld bisect`.
#[derive(clap::Args, Debug)]
pub struct BisectArgs {
    /// A shell command that is given a file as its last argument and succeeds if that is good.
    #[arg(long, value_name = "CHECK")]
    command: String,
    /// What the check looks at: `output`, a cubin linked with fewer and fewer of the passes that a
    /// link is right without, or `module`, the module in text form after each pass.
    #[arg(long, value_name = "WHAT", default_value = "output", value_parser = ["output", "module"])]
    on: String,
    #[command(flatten)]
    module: ModuleArgs,
    #[command(flatten)]
    pipeline: PipelineArgs,
}

/// Runs the command. Its exit code is 0 if a pass was found.
pub fn run(
    args: &BisectArgs,
    register: &[Register],
    stdout: &mut dyn Write,
    stderr: &mut dyn Write,
) -> io::Result<u8> {
    let mut reporter = Reporter::new(stderr, Style::Native);
    let controls = args.pipeline.controls(register);
    let (input_arena, arena) = (InputArena::new(), Arena::new());
    let module = args
        .module
        .load(Vec::new(), &controls, &input_arena, &arena, &mut reporter)?;
    let Some((module, findings)) = module else {
        return Ok(reporter.exit_code());
    };
    if !reporter.report_inputs(findings.list())? {
        return Ok(reporter.exit_code());
    }
    let facts = Facts::new(module.target, &module.options);
    let manager = match controls.manager(facts, module.phase) {
        Ok(manager) => manager,
        Err(diagnostic) => {
            reporter.report(&diagnostic)?;
            return Ok(reporter.exit_code());
        }
    };
    let mut search = Search {
        args,
        controls,
        manager,
        module,
        arena: &arena,
        folder: tempfile::tempdir()?,
        tried: 0,
    };
    match search.run(stdout)? {
        Ok(()) => Ok(0),
        Err(diagnostic) => {
            reporter.report(&diagnostic)?;
            Ok(reporter.exit_code())
        }
    }
}

struct Search<'a, 'data> {
    args: &'a BisectArgs,
    controls: Controls,
    manager: PassManager,
    module: Module<'data>,
    arena: &'data Arena,
    folder: tempfile::TempDir,
    tried: usize,
}

/// What the check says of a link with some of the steps; the reason if there is none to check.
type Verdict = Result<bool, Diagnostic>;

impl Search<'_, '_> {
    fn run(&mut self, stdout: &mut dyn Write) -> io::Result<Result<(), Diagnostic>> {
        let on_module = self.args.on == "module";
        // What can be left out from the end on, as numbers of steps.
        let steps: Vec<usize> = match on_module {
            true => (1..=self.manager.pipeline().steps().len()).collect(),
            false => optional_steps(self.manager.pipeline()).collect(),
        };
        let (mut good, mut bad) = (0, steps.len());
        match self.check(bad)? {
            Err(diagnostic) => return Ok(Err(diagnostic)),
            Ok(true) => {
                let message = "the check succeeds after all passes: there is nothing to find";
                return Ok(Err(Diagnostic::error(usage::CHECK, message)));
            }
            Ok(false) => {}
        }
        let first = if bad == 0 { Ok(false) } else { self.check(0)? };
        match first {
            Err(diagnostic) => return Ok(Err(diagnostic)),
            Ok(true) => {}
            Ok(false) => {
                let message = match on_module {
                    true => "the check fails before the first pass already",
                    false => "the check fails without any optional pass already",
                };
                let mut diagnostic = Diagnostic::error(usage::CHECK, message);
                if !on_module {
                    diagnostic = diagnostic.help(
                        "use --on=module with a check of the text form to look at every pass",
                    );
                }
                return Ok(Err(diagnostic));
            }
        }
        while bad - good > 1 {
            let middle = good + (bad - good) / 2;
            match self.check(middle)? {
                Ok(true) => good = middle,
                Ok(false) => bad = middle,
                Err(diagnostic) => return Ok(Err(diagnostic)),
            }
        }
        let number = steps.get(good).copied().unwrap_or(0);
        let pass = self.name(number);
        writeln!(
            stdout,
            "step {number} '{pass}' is the first after which the check fails"
        )?;
        let how = match on_module {
            true => format!("--stop-after={number}"),
            false => format!("--bisect-limit={bad}"),
        };
        writeln!(
            stdout,
            "{how} runs up to it; {} runs were checked",
            self.tried
        )?;
        Ok(Ok(()))
    }

    fn name(&self, number: usize) -> &'static str {
        let step = number.checked_sub(1);
        let step = step.and_then(|index| self.manager.pipeline().steps().get(index));
        step.map_or("", |step| step.pass.info().name)
    }

    /// Links with the first `count` of what can be left out and runs the check.
    fn check(&mut self, count: usize) -> io::Result<Verdict> {
        self.tried += 1;
        let on_module = self.args.on == "module";
        let mut controls = self.controls.clone();
        match on_module {
            true => controls.selection.stop_after = Some(count.to_string()),
            false => controls.selection.bisect_limit = Some(count),
        }
        let mut module = self.module.clone();
        if !on_module || count > 0 {
            let mut said = Vec::new();
            let mut reporter = Reporter::new(&mut said, Style::Native);
            run_pipeline(
                &controls,
                &self.manager,
                &mut module,
                self.arena,
                Diagnostics::default(),
                &mut reporter,
            )?;
            if reporter.failed() {
                let mut diagnostic = Diagnostic::fatal(usage::CHECK, "a link to be checked failed");
                let said = String::from_utf8_lossy(&said);
                diagnostic.notes = said.lines().map(str::to_owned).collect();
                return Ok(Err(diagnostic));
            }
        }
        let (name, bytes) = if on_module {
            let text = text::print(&module, DumpBytes::Full);
            ("module.lir", text.into_bytes())
        } else if let Some(image) = module.image {
            ("output.cubin", image)
        } else {
            let diagnostic =
                Diagnostic::fatal(usage::OUTPUT, "the pipeline does not write a cubin")
                    .help("check modules, with --on=module");
            return Ok(Err(diagnostic));
        };
        let path = self.folder.path().join(name);
        std::fs::write(&path, bytes)?;
        Ok(Ok(check(&self.args.command, &path)?))
    }
}

/// Runs a check on a file: a shell command that succeeds if the file is good.
pub fn check(command: &str, file: &Path) -> io::Result<bool> {
    let status = Command::new("sh")
        .args(["-c", &format!("{command} \"$@\""), "sh"])
        .arg(file)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()?;
    Ok(status.success())
}
