//! Arguments of commands that work on a module: of objects, or in text form.

use crate::file_name;
use std::borrow::Cow;
use std::io;
use std::path::Path;

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::Diagnostics;
use cuweld_diagnostics::codes::system;
use cuweld_diagnostics::codes::usage;
use cuweld_elf::Target;
use cuweld_ir::Arena;
use cuweld_ir::Module;
use cuweld_ir::Phase;
use cuweld_ir::text;
use cuweld_ir::text::ImageKey;

use super::pipeline_args::InputArgs;
use super::pipeline_args::parse_target;
use super::text_images;
use crate::controls::Controls;
use crate::diagnostics::Reporter;
use crate::dlink::architectures::common;
use crate::dlink::architectures::targets_of;
use crate::driver::read_inputs;
use crate::input::InputArena;
use crate::invariants::misfit;
use crate::module_text;

/// Where a module comes from.
#[derive(clap::Args, Debug)]
pub struct ModuleArgs {
    /// One module in text form (`.lir`; `-` is the standard input), or cubins, fatbins, host objects
    /// and archives.
    #[arg(required = true)]
    pub inputs: Vec<String>,
    /// The GPU to link for, such as sm_90; by default the one that all inputs have code for. A module
    /// in text form knows its own.
    #[arg(long, value_parser = parse_target)]
    pub arch: Option<Target>,
    /// Number the rows of an edited module in text form anew: rows may have been deleted and added, and
    /// have names such as `%.new`.
    #[arg(long)]
    renumber: bool,
    #[command(flatten)]
    input: InputArgs,
}

impl ModuleArgs {
    /// Returns the text form with new numbers, as it is but for these, if `--renumber` asks for it and
    /// the module that it says is sound.
    pub fn renumbered(
        &self,
        input_arena: &InputArena,
        arena: &Arena,
    ) -> Result<Option<String>, Diagnostic> {
        let text = match self.renumber {
            true => text_input(&self.inputs)?,
            false => None,
        };
        let Some(text) = text else { return Ok(None) };
        parse(self, &text, input_arena, arena)?;
        // The parser has taken it.
        Ok(text::renumber(&text).ok())
    }

    /// Reads the module, whose output will have this base name, and what there is to say of its
    /// inputs; `None` if there is none, which has been reported.
    pub fn load<'data>(
        &self,
        output_name: Vec<u8>,
        controls: &Controls,
        input_arena: &'data InputArena,
        arena: &'data Arena,
        reporter: &mut Reporter<'_>,
    ) -> io::Result<Option<(Module<'data>, Diagnostics)>> {
        let text = match text_input(&self.inputs) {
            Ok(Some(text)) => text,
            Ok(None) => {
                return read_objects(self, output_name, controls, input_arena, arena, reporter);
            }
            Err(diagnostic) => {
                reporter.report(&diagnostic)?;
                return Ok(None);
            }
        };
        match parse(self, &text, input_arena, arena) {
            Ok(module) => Ok(Some((module, Diagnostics::default()))),
            Err(diagnostic) => {
                reporter.report(&diagnostic)?;
                Ok(None)
            }
        }
    }
}

/// Returns `true` if a path names a file in text form.
pub fn is_text_path(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "lir")
}

/// Returns `true` if a path stands for the standard input or output.
pub fn is_standard(path: &Path) -> bool {
    path == Path::new("-")
}

/// Returns the text form, if that is what the inputs are.
fn text_input(inputs: &[String]) -> Result<Option<String>, Diagnostic> {
    let mut found = None;
    for input in inputs {
        let is_input = is_standard(Path::new(input));
        let named = is_text_path(Path::new(input)) || is_input;
        if !named && !begins_as_text(input) {
            continue;
        }
        let read = match is_input {
            true => read_input(),
            false => std::fs::read(file_name::path(input)),
        };
        let read = read.map_err(|error| {
            Diagnostic::fatal(
                system::CANNOT_READ,
                format!("cannot read '{input}': {error}"),
            )
        })?;
        let text = String::from_utf8(read)
            .map_err(|_| Diagnostic::fatal(usage::MODULE, format!("'{input}' is no UTF-8 text")))?;
        found = Some(text);
    }
    if found.is_some() && inputs.len() > 1 {
        return Err(Diagnostic::fatal(
            usage::MODULE,
            "a module in text form is a whole link: it takes no other input",
        )
        .help("link the objects first, with --stop-after and an output that ends in .lir"));
    }
    Ok(found)
}

/// Reads the standard input.
fn read_input() -> io::Result<Vec<u8>> {
    use std::io::Read;
    let mut bytes = Vec::new();
    io::stdin().lock().read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Returns `true` if a file begins as the text form does. Files that cannot be read do not; the
/// code that reads them next says why.
fn begins_as_text(path: &str) -> bool {
    use std::io::Read;
    let mut start = [0; 6];
    std::fs::File::open(file_name::path(path))
        .and_then(|mut file| file.read_exact(&mut start))
        .is_ok()
        && start == *b"lir 1\n"
}

fn parse<'data>(
    args: &ModuleArgs,
    text: &str,
    input_arena: &'data InputArena,
    arena: &'data Arena,
) -> Result<Module<'data>, Diagnostic> {
    let input = args.inputs.first().map_or("", String::as_str);
    // An image that the text only names is looked for where the link had it; the parser compares
    // its SHA-256.
    let resolve = |key: &ImageKey<'_>| text_images::find(key, input_arena);
    let counted = match args.renumber {
        true => {
            let renumbered = text::renumber(text);
            Cow::Owned(renumbered.map_err(|error| module_text::refused(input, error))?)
        }
        false => Cow::Borrowed(text),
    };
    let mut module = module_text::parse(input, &counted, arena, &resolve)?;
    if let Some(target) = args.arch.filter(|target| *target != module.target) {
        return Err(Diagnostic::fatal(
            usage::MODULE,
            format!(
                "'{input}' is a module for {}, not for {target}",
                module.target
            ),
        ));
    }
    module_text::sound(input, &module)?;
    // What objects are for was checked before they were looked into further.
    let is_checked = module.phase == Phase::Lowered || module.stopped.is_some();
    match misfit(&mut module, arena).filter(|_| !is_checked) {
        Some(misfit) => Err(misfit),
        None => Ok(module),
    }
}

/// Returns the one target that all inputs with code have code for.
fn target_of(inputs: &[String]) -> Result<Target, Diagnostic> {
    let found = targets_of(inputs, &InputArena::new());
    let targets = common(&found);
    if let [target] = targets.as_slice() {
        return Ok(*target);
    }
    let what = "the architecture to link for is not given";
    let mut diagnostic = Diagnostic::fatal(usage::COMMAND_LINE, what);
    for input in found {
        let names: Vec<String> = input.targets.iter().map(Target::to_string).collect();
        let note = format!("'{}' has code for {}", input.input, names.join(", "));
        diagnostic = diagnostic.note(note);
    }
    let example = targets
        .first()
        .map_or("sm_90".to_owned(), Target::to_string);
    Err(diagnostic.help(format!("add --arch, such as --arch={example}")))
}

fn read_objects<'data>(
    args: &ModuleArgs,
    output_name: Vec<u8>,
    controls: &Controls,
    input_arena: &'data InputArena,
    arena: &'data Arena,
    reporter: &mut Reporter<'_>,
) -> io::Result<Option<(Module<'data>, Diagnostics)>> {
    let target = match args.arch.map_or_else(|| target_of(&args.inputs), Ok) {
        Ok(target) => target,
        Err(diagnostic) => {
            reporter.report(&diagnostic)?;
            return Ok(None);
        }
    };
    match args
        .input
        .request(&args.inputs, target, output_name, controls)
    {
        Ok(request) => {
            let read = read_inputs(&request, input_arena, arena, reporter);
            Ok(Some((read.module, read.findings)))
        }
        Err(diagnostic) => {
            reporter.report(&diagnostic)?;
            Ok(None)
        }
    }
}
