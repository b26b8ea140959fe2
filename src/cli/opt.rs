//! `cuweld opt`: runs passes over objects or over a module in text form.

use crate::file_name;
use std::io;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::codes::system;
use cuweld_diagnostics::codes::usage;
use cuweld_ir::Arena;
use cuweld_ir::Module;
use cuweld_ir::Phase;
use cuweld_ir::text;
use cuweld_passes::Pass;
use cuweld_passes::checks::check_objects::CheckObjects;
use cuweld_passes::manager::PassManager;
use cuweld_passes::pipeline::Facts;

use super::log::traced;
use super::module_args::ModuleArgs;
use super::module_args::is_standard;
use super::module_args::is_text_path;
use super::output_file::write_or_print;
use super::pipeline_args::PipelineArgs;
use super::pipeline_args::print_pipeline;
use super::pipeline_args::without_option;
use crate::controls::Controls;
use crate::diagnostics::Reporter;
use crate::diagnostics::Style;
use crate::extend::Register;
use crate::input::InputArena;
use crate::invariants::misfit;
use crate::linker::Linker;
use crate::output::OutputError;
use crate::repro::Recorder;
use crate::repro::finish;
use crate::run::run_pipeline;

/// Arguments of `cuweld opt`.
#[derive(clap::Args, Debug)]
pub struct OptArgs {
    #[command(flatten)]
    module: ModuleArgs,
    /// The output file: a module in text form if its name ends in `.lir`, otherwise a cubin. `-`: a
    /// module in text form on the standard output.
    #[arg(short, long, value_parser = file_name::parse)]
    output: PathBuf,
    /// The last pass that the module has been through already.
    #[arg(long, value_name = "PASS")]
    start_after: Option<String>,
    #[command(flatten)]
    pipeline: PipelineArgs,
}

/// Runs the command.
pub fn run(
    args: &OptArgs,
    words: &[String],
    register: &[Register],
    stdout: &mut dyn Write,
    stderr: &mut dyn Write,
) -> io::Result<u8> {
    let mut reporter = Reporter::new(stderr, Style::Native);
    args.pipeline.set_up(&mut reporter);
    let controls = args.pipeline.controls(register);
    let trace = ("opt", args.pipeline.trace());
    traced(
        trace,
        controls.watching.remarks.is_some(),
        &mut reporter,
        |reporter| run_with(args, words, controls, stdout, reporter),
    )?;
    Ok(reporter.exit_code())
}

fn run_with(
    args: &OptArgs,
    words: &[String],
    mut controls: Controls,
    stdout: &mut dyn Write,
    reporter: &mut Reporter<'_>,
) -> io::Result<()> {
    controls.selection.start_after = args.start_after.clone();
    let words = without_option(words, "--repro");
    let words = without_option(&words, "--trace");
    let words = without_option(&words, "--remarks-output");
    let mut recorder = Recorder::new(words);
    for input in &args.module.inputs {
        recorder.file(input);
    }
    let (input_arena, arena) = (InputArena::new(), Arena::new());
    let name = args.output.file_name();
    let name = name.map_or(Vec::new(), |name| name.as_bytes().to_vec());
    // With nothing to run, an edited text keeps its comments.
    let has_no_pass = controls.selection.passes.as_deref() == Some("");
    if has_no_pass && (is_text_path(&args.output) || is_standard(&args.output)) {
        let text = args.module.renumbered(&input_arena, &arena);
        let written =
            text.map(|text| text.map(|text| write_or_print(&args.output, text.as_bytes(), stdout)));
        match written {
            Ok(None) => {}
            Ok(Some(Ok(()))) => return Ok(()),
            Ok(Some(Err(diagnostic))) | Err(diagnostic) => return reporter.report(&diagnostic),
        }
    }
    let module = {
        let _span = tracing::info_span!("read").entered();
        args.module
            .load(name, &controls, &input_arena, &arena, reporter)?
    };
    let Some((mut module, findings)) = module else {
        return Ok(());
    };
    // Contents that a text only names.
    for object in module.objects.values() {
        recorder.file(&String::from_utf8_lossy(object.name));
    }
    // With a start in its middle the pipeline begins where it always does.
    let start = match (&controls.selection.start_after, module.stopped) {
        (None, None) => module.phase,
        _ => Phase::Lowered,
    };
    reporter.werror |= module.options.reports.warnings_are_errors;
    let facts = Facts::new(module.target, &module.options);
    if args.pipeline.print_pipeline {
        print_pipeline(&controls, facts, start, stdout, reporter)?;
        return Ok(());
    }
    match controls.manager(facts, start) {
        Ok(manager) => match unchecked_misfit(&controls, &manager, &mut module, &arena) {
            None => run_pipeline(&controls, &manager, &mut module, &arena, findings, reporter)?,
            Some(misfit) => reporter.report(&misfit)?,
        },
        Err(diagnostic) => reporter.report(&diagnostic)?,
    }
    if !reporter.failed() {
        let bytes = {
            let _span = tracing::info_span!("print").entered();
            output(&module, args, &arena)
        };
        let written = bytes.and_then(|bytes| {
            OutputError::if_changed(&input_arena).map_err(|error| {
                Diagnostic::fatal(system::INPUT_CHANGED, format!("cuweld: {error}"))
            })?;
            write_or_print(&args.output, &bytes, stdout)
        });
        if let Err(diagnostic) = written {
            reporter.report(&diagnostic)?;
        }
    }
    finish(|| recorder, &controls, &input_arena, reporter)?;
    Ok(())
}

/// Returns what is wrong with an object for the module's target, if no pass of the run checks that.
fn unchecked_misfit<'data>(
    controls: &Controls,
    manager: &PassManager,
    module: &mut Module<'data>,
    arena: &'data Arena,
) -> Option<Diagnostic> {
    let is_first = matches!(controls.selection.start_after.as_deref(), None | Some("0"));
    let mut steps = manager.pipeline().steps().iter();
    let is_checked =
        is_first && steps.any(|step| step.pass.info().name == CheckObjects.info().name);
    if is_checked || module.stopped.is_some() {
        return None;
    }
    misfit(module, arena)
}

/// Returns the module in the form that the output's name asks for.
fn output<'data>(
    module: &Module<'data>,
    args: &OptArgs,
    arena: &'data Arena,
) -> Result<Vec<u8>, Diagnostic> {
    if is_text_path(&args.output) || is_standard(&args.output) {
        return Ok(text::print(module, args.pipeline.output_bytes()).into_bytes());
    }
    Linker::cubin(module, arena).map_err(|error| match error.code {
        usage::OUTPUT => {
            error.help("run the remaining passes, or name an output that ends in .lir")
        }
        _ => error,
    })
}
