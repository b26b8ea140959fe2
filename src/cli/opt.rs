//! `cuweld opt`: runs passes over objects or over a module in text form.

use std::io;
use std::io::Write;
use std::path::Path;
use std::path::PathBuf;

use cuweld_ir::Arena;
use cuweld_ir::Module;
use cuweld_ir::ObjectId;
use cuweld_ir::Phase;
use cuweld_ir::Target;
use cuweld_ir::elf;
use cuweld_ir::text;
use cuweld_ir::text::ImageKey;
use cuweld_passes::Diagnostic;
use cuweld_passes::pipeline::Facts;

use super::pipeline_args::InputArgs;
use super::pipeline_args::PipelineArgs;
use super::pipeline_args::parse_target;
use crate::diagnostics::Reporter;
use crate::diagnostics::Style;
use crate::driver::read_inputs;
use crate::input::InputArena;
use crate::output::write_atomically;
use crate::run::Controls;
use crate::run::findings;
use crate::run::run_pipeline;

/// Arguments of `cuweld opt`.
#[derive(clap::Args, Debug)]
pub struct OptArgs {
    /// One module in text form (`.lir`), or cubins, fatbins, host objects and archives.
    #[arg(required = true)]
    inputs: Vec<String>,
    /// The GPU to link for, such as sm_90; a module in text form knows its own.
    #[arg(long, value_parser = parse_target)]
    arch: Option<Target>,
    /// The output file: a module in text form if its name ends in `.lir`, otherwise a cubin.
    #[arg(short, long)]
    output: PathBuf,
    /// The last pass that the module has been through already.
    #[arg(long, value_name = "PASS")]
    start_after: Option<String>,
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    pipeline: PipelineArgs,
}

/// Runs the command.
pub fn run(args: &OptArgs, stderr: &mut dyn Write) -> io::Result<u8> {
    let mut reporter = Reporter::new(stderr, Style::Native);
    let controls = Controls {
        start_after: args.start_after.clone(),
        ..args.pipeline.controls()
    };
    let (input_arena, arena) = (InputArena::new(), Arena::new());
    let read = match text_input(&args.inputs) {
        Ok(Some(text)) => Input::Text(text),
        Ok(None) => Input::Objects,
        Err(diagnostic) => {
            reporter.report(&diagnostic)?;
            return Ok(reporter.exit_code());
        }
    };
    let module = match read {
        Input::Text(text) => match parse(args, &text, &arena) {
            Ok(module) => Some(module),
            Err(diagnostic) => {
                reporter.report(&diagnostic)?;
                None
            }
        },
        Input::Objects => read_objects(args, &controls, &input_arena, &arena, &mut reporter)?,
    };
    let Some(mut module) = module else {
        return Ok(reporter.exit_code());
    };
    // With a start in its middle the pipeline begins where it always does.
    let start = match controls.start_after {
        Some(_) => Phase::Lowered,
        None => module.phase,
    };
    match controls.manager(Facts::new(module.target, &module.options), start) {
        Ok(manager) => run_pipeline(&controls, &manager, &mut module, &arena, &mut reporter)?,
        Err(diagnostic) => reporter.report(&diagnostic)?,
    }
    if !reporter.failed() {
        let bytes = output(&module, args, &arena);
        let written = bytes.and_then(|bytes| {
            write_atomically(&args.output, &bytes).map_err(|error| {
                let name = args.output.display();
                Diagnostic::fatal(format!("cannot write '{name}': {error}"))
            })
        });
        if let Err(diagnostic) = written {
            reporter.report(&diagnostic)?;
        }
    }
    Ok(reporter.exit_code())
}

/// What the inputs are.
enum Input {
    Text(String),
    Objects,
}

/// Whether a path names a file in text form.
fn is_text_path(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "lir")
}

/// The text form, if that is what the inputs are.
fn text_input(inputs: &[String]) -> Result<Option<String>, Diagnostic> {
    let mut found = None;
    for input in inputs {
        let named = is_text_path(Path::new(input));
        if !named && !begins_as_text(input) {
            continue;
        }
        let read = std::fs::read(input)
            .map_err(|error| Diagnostic::fatal(format!("cannot read '{input}': {error}")))?;
        let text = String::from_utf8(read)
            .map_err(|_| Diagnostic::fatal(format!("'{input}' is no UTF-8 text")))?;
        found = Some(text);
    }
    if found.is_some() && inputs.len() > 1 {
        return Err(Diagnostic::fatal(
            "a module in text form is a whole link: it takes no other input",
        )
        .help("link the objects first, with --stop-after and an output that ends in .lir"));
    }
    Ok(found)
}

/// Whether a file begins as the text form does. Files that cannot be read are none; whoever reads
/// them next says why.
fn begins_as_text(path: &str) -> bool {
    use std::io::Read;
    let mut start = [0; 6];
    std::fs::File::open(path)
        .and_then(|mut file| file.read_exact(&mut start))
        .is_ok()
        && start == *b"lir 1\n"
}

fn parse<'data>(
    args: &OptArgs,
    text: &str,
    arena: &'data Arena,
) -> Result<Module<'data>, Diagnostic> {
    let input = args.inputs.first().map_or("", String::as_str);
    // An image that the text only names is looked for where the link had it; the parser compares
    // its SHA-256.
    let resolve = |key: &ImageKey<'_>| -> Option<&'data [u8]> {
        let name = std::str::from_utf8(key.name).ok()?;
        let bytes = std::fs::read(name).ok().filter(|_| key.member.is_empty())?;
        Some(arena.bytes(&bytes))
    };
    let module = text::parse(text, arena, &resolve)
        .map_err(|error| Diagnostic::fatal(format!("'{input}': {error}")))?;
    if let Some(target) = args.arch.filter(|target| *target != module.target) {
        return Err(Diagnostic::fatal(format!(
            "'{input}' is a module for {}, not for {target}",
            module.target
        )));
    }
    // Passes rely on the invariants; a text may say anything.
    let broken = findings(&module);
    if broken.is_empty() {
        return Ok(module);
    }
    let mut diagnostic = Diagnostic::fatal(format!("'{input}' is no module that passes can take"));
    diagnostic.notes = broken;
    Err(diagnostic)
}

fn read_objects<'data>(
    args: &OptArgs,
    controls: &Controls,
    input_arena: &'data InputArena,
    arena: &'data Arena,
    reporter: &mut Reporter<'_>,
) -> io::Result<Option<Module<'data>>> {
    let Some(target) = args.arch else {
        let diagnostic = Diagnostic::fatal("the architecture to link for is not given")
            .help("add --arch, such as --arch=sm_90");
        reporter.report(&diagnostic)?;
        return Ok(None);
    };
    let name = args.output.file_name();
    let name = name.map_or(String::new(), |name| name.to_string_lossy().into_owned());
    match args.input.request(&args.inputs, target, name, controls) {
        Ok(request) => {
            let read = read_inputs(&request, input_arena, arena, reporter)?;
            Ok(read.map(|read| read.module))
        }
        Err(diagnostic) => {
            reporter.report(&diagnostic)?;
            Ok(None)
        }
    }
}

/// The module in the form that the output's name asks for.
fn output<'data>(
    module: &Module<'data>,
    args: &OptArgs,
    arena: &'data Arena,
) -> Result<Vec<u8>, Diagnostic> {
    if is_text_path(&args.output) {
        return Ok(text::print(module, args.pipeline.output_bytes()).into_bytes());
    }
    if let Some(image) = &module.image {
        return Ok(image.clone());
    }
    let objects: Vec<ObjectId> = module.objects.ids().collect();
    let phase = module.phase;
    let &[object] = objects.as_slice() else {
        return Err(no_cubin(phase, "a module of several objects"));
    };
    if phase >= Phase::Resolved {
        return Err(no_cubin(phase, "a link that is under way"));
    }
    let plan = elf::plan_object(module, object, arena);
    elf::write(module, &plan)
        .map_err(|error| Diagnostic::fatal(format!("the object cannot be written again: {error}")))
}

fn no_cubin(phase: Phase, what: &str) -> Diagnostic {
    Diagnostic::fatal(format!(
        "{what} is no cubin before it is 'emitted'; the module is '{}'",
        phase.name()
    ))
    .help("run the remaining passes, or name an output that ends in .lir")
}
