//! A link as nvlink would do it: arguments in, messages and the output file out.

use std::io;
use std::io::Write;
use std::path::Path;

use cuweld_ir::Arena;
use cuweld_passes::Diagnostic;
use cuweld_passes::Severity;

use super::args::Environment;
use super::args::NvlinkArgs;
use super::args::apply_environment;
use super::error::ArgError;
use super::help::help_text;
use super::options::OptionId;
use super::parse::LowArgs;
use super::parse::parse;
use super::version::version_text;
use crate::diagnostics::Reporter;
use crate::diagnostics::Style;
use crate::driver::Request;
use crate::driver::link;
use crate::input::DiscoverOptions;
use crate::input::InputArena;
use crate::output::write_atomically;

/// Runs the command line behind the program's name; returns the exit code.
pub fn run(
    arguments: &[Vec<u8>],
    environment: &Environment<'_>,
    stdout: &mut dyn Write,
    stderr: &mut dyn Write,
) -> io::Result<u8> {
    let words: Vec<&[u8]> = arguments.iter().map(Vec::as_slice).collect();
    let mut low = LowArgs::default();
    let mut redefinitions = Vec::new();
    let mut read_file = |path: &Path| std::fs::read(path);
    let parsed = parse(&words, &mut read_file, &mut low, &mut redefinitions)
        .and_then(|()| apply_environment(&mut low, environment));
    let mut reporter = Reporter::new(stderr, Style::Nvlink);
    reporter.explain = low.text(OptionId::CuweldExplain) != Some(b"off");
    for redefinition in redefinitions {
        reporter.report(&Diagnostic::warning(format!(
            "incompatible redefinition for option '{}', the last value of this option was used",
            redefinition.option
        )))?;
    }
    if let Err(error) = parsed {
        return refuse(&mut reporter, &error);
    }
    if low.given(OptionId::Help) || low.given(OptionId::Version) {
        let text = if low.given(OptionId::Help) {
            help_text("nvlink")
        } else {
            version_text("nvlink")
        };
        stdout.write_all(text.as_bytes())?;
        return Ok(0);
    }
    let args = match NvlinkArgs::resolve(&low) {
        Ok(args) => args,
        Err(error) => return refuse(&mut reporter, &error),
    };
    reporter.tool_name.clone_from(&args.tool_name);
    reporter.werror = args.werror;
    reporter.silence_arch_warnings = args.silence_arch_warnings;
    reporter.report_arch = args.report_arch.then(|| args.target.to_string());
    if let Some(option) = args.unsupported.first() {
        reporter.report(
            &Diagnostic::fatal(format!("cuweld: unsupported: option '{option}'"))
                .help("docs/SUPPORT.md lists what this version links"),
        )?;
        return Ok(reporter.exit_code());
    }
    if args.host_info_replaced {
        reporter.report(&Diagnostic::new(
            Severity::Info,
            "ignore -use-host-info because -kernels-used or -variables-used is specified",
        ))?;
    }
    let library_path =
        environment("LIBRARY_PATH").map(|path| String::from_utf8_lossy(&path).into_owned());
    let discover = DiscoverOptions {
        target: args.target,
        inputs: &args.inputs,
        libraries: &args.libraries,
        library_paths: &args.library_paths,
        env_library_path: library_path.as_deref(),
        cpu_arch: args.cpu_arch,
        lto: false,
    };
    let request = Request {
        discover,
        options: args.link.clone(),
        ignore_host_info: args.ignore_host_info,
        controls: &args.controls,
    };
    let (input_arena, arena) = (InputArena::new(), Arena::new());
    let outcome = link(&request, &input_arena, &arena, &mut reporter)?;
    if reporter.failed() {
        return Ok(reporter.exit_code());
    }
    if let Some(bytes) = outcome.output
        && let Err(error) = write_atomically(Path::new(&args.output), &bytes)
    {
        reporter.report(
            &Diagnostic::fatal(format!("Could not open output file '{}'", args.output))
                .note(error.to_string()),
        )?;
    }
    Ok(reporter.exit_code())
}

fn refuse(reporter: &mut Reporter<'_>, error: &ArgError) -> io::Result<u8> {
    let mut diagnostic = Diagnostic::fatal(error.to_string());
    diagnostic.helps = error.helps();
    reporter.report(&diagnostic)?;
    Ok(reporter.exit_code())
}
