//! `cuweld reduce`: makes inputs smaller while a check keeps failing.

use std::io;
use std::io::Write;
use std::path::Path;
use std::path::PathBuf;
use std::process::Command;
use std::process::Stdio;

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::codes::usage;
use cuweld_ir::Arena;
use cuweld_ir::text;
use cuweld_ir::text::DumpBytes;

use super::module_args::ModuleArgs;
use crate::controls::Controls;
use crate::diagnostics::Reporter;
use crate::diagnostics::Style;
use crate::input::InputArena;
use crate::invariants::findings;
use crate::reduce::KINDS;
use crate::reduce::Rows;
use crate::reduce::minimize;

/// Arguments of `cuweld reduce`.
#[derive(clap::Args, Debug)]
pub struct ReduceArgs {
    /// A shell command that is given what is left as its last arguments: the file in text form, or
    /// all files. It fails (any exit code but 0) as long as the problem is there.
    #[arg(long, value_name = "CMD")]
    check: String,
    /// Where the reduced module goes; for a set of files the names that are left are printed.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    module: ModuleArgs,
}

/// Runs the command.
pub fn run(args: &ReduceArgs, stdout: &mut dyn Write, stderr: &mut dyn Write) -> io::Result<u8> {
    let mut reporter = Reporter::new(stderr, Style::Native);
    let single = args.module.inputs.len() == 1;
    let result = if single {
        reduce_module(args, stdout, &mut reporter)?
    } else {
        reduce_files(args, stdout)?
    };
    if let Some(diagnostic) = result {
        reporter.report(&diagnostic)?;
    }
    Ok(reporter.exit_code())
}

fn no_failure() -> Diagnostic {
    Diagnostic::error(
        usage::CHECK,
        "the check succeeds on the whole input: there is nothing to reduce",
    )
}

fn reduce_files(args: &ReduceArgs, stdout: &mut dyn Write) -> io::Result<Option<Diagnostic>> {
    let files = &args.module.inputs;
    let mut runs = 0;
    let mut fails = |kept: &[usize]| -> io::Result<bool> {
        runs += 1;
        let paths: Vec<&Path> = kept.iter().map(|index| Path::new(&files[*index])).collect();
        fails(&args.check, &paths)
    };
    let all: Vec<usize> = (0..files.len()).collect();
    if !fails(&all)? {
        return Ok(Some(no_failure()));
    }
    let kept = minimize(all, &mut fails)?;
    for index in &kept {
        writeln!(stdout, "{}", files[*index])?;
    }
    writeln!(
        stdout,
        "{} of {} files are left after {runs} runs",
        kept.len(),
        files.len()
    )?;
    Ok(None)
}

fn reduce_module(
    args: &ReduceArgs,
    stdout: &mut dyn Write,
    reporter: &mut Reporter<'_>,
) -> io::Result<Option<Diagnostic>> {
    let Some(output) = &args.output else {
        let diagnostic =
            Diagnostic::fatal(usage::OUTPUT, "where the reduced module goes is not given");
        return Ok(Some(diagnostic.help("add --output, such as -o small.lir")));
    };
    let (input_arena, arena) = (InputArena::new(), Arena::new());
    let controls = Controls::default();
    let module = args
        .module
        .load(Vec::new(), &controls, &input_arena, &arena, reporter)?;
    let Some((mut module, said)) = module else {
        return Ok(None);
    };
    if !reporter.report_inputs(said.list())? {
        return Ok(None);
    }
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("module.lir");
    let mut runs = 0;
    let mut fails = |text: &str| -> io::Result<bool> {
        let arena = Arena::new();
        let sound =
            text::parse(text, &arena, &|_| None).is_ok_and(|module| findings(&module).is_empty());
        if !sound {
            return Ok(false);
        }
        runs += 1;
        std::fs::write(&file, text)?;
        fails(&args.check, &[&file])
    };
    let whole = text::print(&module, DumpBytes::Full);
    if !fails(&whole)? {
        return Ok(Some(no_failure()));
    }
    let mut text = whole.clone();
    // Only what rows use of the inputs.
    for object in module.objects.values_mut() {
        object.image = &[];
    }
    let bare = text::print(&module, DumpBytes::Full);
    if fails(&bare)? {
        text = bare;
    }
    loop {
        let size = text.len();
        for kind in 0..KINDS.len() {
            let rows = Rows::new(&text);
            let all = (0..rows.count(kind)).collect();
            let kept = minimize(all, |kept| fails(&rows.keep(kind, kept)))?;
            text = rows.keep(kind, &kept);
        }
        if text.len() == size {
            break;
        }
    }
    let lines = |text: &str| text.lines().count();
    std::fs::write(output, &text)?;
    writeln!(
        stdout,
        "{} of {} lines are left after {runs} runs",
        lines(&text),
        lines(&whole)
    )?;
    Ok(None)
}

/// Returns whether the check fails on these files.
fn fails(command: &str, files: &[&Path]) -> io::Result<bool> {
    let status = Command::new("sh")
        .args(["-c", &format!("{command} \"$@\""), "sh"])
        .args(files)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()?;
    Ok(!status.success())
}
