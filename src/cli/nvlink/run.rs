//! A link as nvlink would do it: arguments in, messages and the output file out.

use crate::file_name;
use std::ffi::OsString;
use std::io;
use std::io::Read;
use std::io::Write;
use std::mem::ManuallyDrop;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::codes::deviation;
use cuweld_diagnostics::codes::input;
use cuweld_diagnostics::codes::system;
use cuweld_diagnostics::codes::unsupported;
use cuweld_elf::toolkit::Toolkit;
use cuweld_ir::Arena;
use cuweld_ir::Phase;
use cuweld_passes::pipeline::Facts;

use super::args::NvlinkArgs;
use super::command_line::Command;
use super::command_line::read_command_line;
use super::environment::Surroundings;
use super::help::help_text;
use super::host_linker_script::host_linker_script;
use super::output::report_output;
use super::output::write_output;
use super::path_of;
use super::time_table::TimeTable;
use super::version::version_text;
use crate::cli::Program;
use crate::cli::finalizer_args::traces_compatibility;
use crate::cli::log::traced;
use crate::cli::output_file::write_or_print;
use crate::cli::pipeline_args::print_pipeline;
use crate::cli::pipeline_args::without_option;
use crate::cli::report::report_of_link;
use crate::compile::search_dirs;
use crate::diagnostics::Reporter;
use crate::diagnostics::Style;
use crate::driver::Hooks;
use crate::driver::Request;
use crate::driver::link;
use crate::gc_sections;
use crate::input::DiscoverOptions;
use crate::input::EarlyErrors;
use crate::input::InputArena;
use crate::jobs;
use crate::map_file;
use crate::repro::Recorder;
use crate::repro::finish;

/// Runs the arguments after the program's name; returns the exit code.
pub fn run(
    arguments: &[&[u8]],
    surroundings: Surroundings<'_>,
    program: Program<'_>,
    stdout: &mut dyn Write,
    stderr: &mut dyn Write,
) -> io::Result<u8> {
    let mut options_files = Vec::new();
    let mut read_file = |path: &Path| {
        options_files.push(file_name::of_path(path));
        read_options(path)
    };
    let mut reporter = Reporter::new(stderr, Style::Nvlink);
    let command = read_command_line(arguments, surroundings, &mut read_file, &mut reporter)?;
    match command {
        None => {}
        Some(Command::Help) => stdout.write_all(help_text("nvlink").as_bytes())?,
        Some(Command::Version(toolkit)) => {
            stdout.write_all(version_text("nvlink", toolkit).as_bytes())?
        }
        Some(Command::HostLinkerScript {
            complete,
            host_compiler,
            kind,
            output,
        }) => {
            let host_compiler = host_compiler.as_deref();
            host_linker_script(
                complete,
                (host_compiler, kind),
                output.as_deref(),
                stdout,
                &mut reporter,
            )?;
        }
        Some(Command::Link(mut args)) => {
            args.controls.extensions.register = program.register.to_vec();
            let debug = (surroundings.environment)("CAN_FINALIZE_DEBUG");
            let debug = debug.map(|value| String::from_utf8_lossy(&value).into_owned());
            args.link.reports.trace_compatibility = traces_compatibility(debug.as_deref());
            let chosen = args.toolkit.fixed;
            let toolkit = chosen.filter(|_| surroundings.shadowed.is_some());
            let recorder = || recorder(arguments, toolkit, &options_files);
            let trace = ("nvlink", args.trace.as_deref());
            let with_remarks = args.controls.watching.remarks.is_some();
            traced(trace, with_remarks, &mut reporter, |reporter| {
                let hooks = program.hooks;
                run_link(&args, recorder, hooks, surroundings, stdout, reporter)
            })?;
        }
    }
    Ok(reporter.exit_code())
}

/// Bytes that an options file has at most: a device that never ends is none.
const LARGEST_OPTIONS: u64 = 64 << 20;

/// Reads an options file.
pub fn read_options(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path)?;
    file.take(LARGEST_OPTIONS + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > LARGEST_OPTIONS {
        true => Err(io::Error::other("it has more than 64 MiB")),
        false => Ok(bytes),
    }
}

/// Builds the recorder with what a reproducer of the link needs beside its inputs.
fn recorder(arguments: &[&[u8]], toolkit: Option<&Toolkit>, options_files: &[String]) -> Recorder {
    let words = arguments.iter().map(|word| file_name::text(word));
    let words = without_option(&words.collect::<Vec<_>>(), "--cuweld-repro");
    let words = without_option(&words, "--cuweld-map");
    let words = without_option(&words, "--cuweld-report");
    let words = without_option(&words, "--cuweld-trace");
    let words = without_option(&words, "--cuweld-remarks-output");
    let is_own = |word: &String| word.trim_start_matches('-').starts_with("cuweld-");
    let nvlinks = words.iter().filter(|word| !is_own(word)).cloned().collect();
    let mut all = vec!["nvlink".to_owned()];
    match toolkit {
        None => all.extend(words),
        // The shadow toolkit is not there where the link is run again.
        Some(toolkit) => {
            all.push(format!("--cuweld-toolkit={}", toolkit.version));
            all.extend(without_option(&words, "--cuweld-toolkit"));
        }
    }
    let mut recorder = Recorder::new(all);
    recorder.nvlink_arguments(nvlinks);
    for file in options_files {
        recorder.file(file);
    }
    recorder
}

fn run_link(
    args: &NvlinkArgs,
    recorder: impl FnOnce() -> Recorder,
    hooks: Hooks,
    surroundings: Surroundings<'_>,
    stdout: &mut dyn Write,
    reporter: &mut Reporter<'_>,
) -> io::Result<()> {
    if let Some(option) = args.unsupported.first() {
        reporter.report(
            &Diagnostic::fatal(unsupported::OPTION, format!("option '{option}'"))
                .help("docs/SUPPORT.md lists what this version links"),
        )?;
        return Ok(());
    }
    let mut time_table = None;
    if let Some(path) = &args.time {
        match TimeTable::open(path, stdout) {
            Ok(table) => time_table = Some(table),
            Err(error) => {
                let diagnostic =
                    Diagnostic::fatal(system::CANNOT_WRITE, format!("Cannot open file '{path}'"));
                return reporter.report(&diagnostic.note(error.to_string()));
            }
        }
    }
    if let Some(file) = &args.index_file {
        return reporter.report(&refused_index(file));
    }
    let library_path = library_path(surroundings);
    let request = Request {
        hooks,
        ..request_of(
            args,
            library_path.as_deref(),
            surroundings,
            reporter.early_errors(),
        )
    };
    if args.prints_search_dirs {
        let text = search_dirs(&request.discover, &request.compile);
        return stdout.write_all(text.as_bytes());
    }
    if args.prints_pipeline {
        let facts = Facts::new(args.target, &request.options);
        return print_pipeline(&args.controls, facts, Phase::Lowered, stdout, reporter);
    }
    // Given back with the process.
    let input_arena = ManuallyDrop::new(InputArena::new());
    let arena = ManuallyDrop::new(Arena::new());
    let outcome = link(&request, &input_arena, &arena, reporter)?;
    if !args.waits {
        (hooks.linked)();
    }
    let strict = args.controls.strict;
    if let Some(table) = &mut time_table {
        table.add(&outcome.compile_times, args.target, &args.tool_name, stdout)?;
    }
    if args.controls.print_gc_sections && !reporter.failed() {
        gc_sections::print(outcome.unused.as_deref(), stdout, reporter)?;
    }
    if let Some(file) = outcome.output.filter(|_| !reporter.failed()) {
        let written = file.write(
            &file_name::path(&args.output),
            &input_arena,
            &request.threads,
        );
        report_output(&args.output, file.size(), strict, written, reporter)?;
        if let Some(path) = args.map.as_ref().filter(|_| !reporter.failed()) {
            match &outcome.map {
                None => reporter.report(&map_file::missing())?,
                Some(map) => {
                    let path_of_map = file_name::path(path);
                    if let Err(error) = map_file::write(map, &path_of_map, stdout) {
                        let message = format!("Could not open output file '{path}'");
                        let finding = Diagnostic::fatal(system::CANNOT_WRITE, message);
                        reporter.report(&finding.note(error.to_string()))?;
                    }
                }
            }
        }
        if let Some(path) = args.report.as_ref().filter(|_| !reporter.failed()) {
            let page = report_of_link(outcome.report, &file, &file_name::path(&args.output));
            let path = file_name::path(path);
            let written = page.and_then(|page| write_or_print(&path, page.as_bytes(), stdout));
            if let Err(finding) = written {
                reporter.report(&finding)?;
            }
        }
        // The process ends: what the link leaves in memory goes with it.
        std::mem::forget(file);
    }
    finish(recorder, &args.controls, &input_arena, reporter)?;
    // Errors such as undefined names leave the register file, fatal ones do not.
    match (&args.register_link_binaries, outcome.registration) {
        (Some(path), Some(registration)) if !reporter.is_fatal() => {
            let text = registration.text();
            if outcome.leaves_registration && is_stale(path, &text) {
                if strict {
                    return Ok(());
                }
                let message = format!("the register file '{path}' is written anew");
                let remark = Diagnostic::remark(deviation::REGISTER_FILE, message);
                reporter.report(&remark.deviates("D30"))?;
            }
            write_output(path, text.as_bytes(), strict, reporter)
        }
        _ => Ok(()),
    }
}

/// Returns `LIBRARY_PATH`.
pub fn library_path(surroundings: Surroundings<'_>) -> Option<String> {
    let path = (surroundings.environment)("LIBRARY_PATH")?;
    Some(file_name::text(&path))
}

/// Returns what a command line asks of the link.
pub fn request_of<'a>(
    args: &'a NvlinkArgs,
    library_path: Option<&'a str>,
    surroundings: Surroundings<'_>,
    errors: EarlyErrors,
) -> Request<'a> {
    let discover = DiscoverOptions {
        toolkit: args.toolkit.before_inputs(),
        target: args.target,
        inputs: &args.inputs,
        libraries: &args.libraries,
        library_paths: &args.library_paths,
        env_library_path: library_path,
        cpu_arch: args.cpu_arch,
        lto: args.lto,
        registers: args.register_link_binaries.is_some(),
        strict: args.controls.strict,
        errors,
        limits: args.limits,
    };
    let mut compile = args.compile.clone();
    let variable = |name| (surroundings.environment)(name).filter(|value| !value.is_empty());
    compile.tools.toolkit = surroundings.shadowed.map(|toolkit| toolkit.root.clone());
    compile.tools.cuda_home = variable("CUDA_HOME").map(|root| path_of(&root));
    compile.tools.path = variable("PATH").map(OsString::from_vec);
    Request {
        toolkit: args.toolkit.fixed,
        threads: jobs::threads(args.jobs),
        discover,
        compile,
        options: args.link.clone(),
        ignore_host_info: args.ignore_host_info,
        controls: &args.controls,
        as_text: None,
        hooks: Hooks::default(),
    }
}

/// Returns `true` if a register file is there, and is not what is registered now. One without a
/// name is always written.
fn is_stale(path: &str, text: &str) -> bool {
    let names_something = text.lines().count() > 1;
    let there = std::fs::read(file_name::path(path));
    names_something && there.is_ok_and(|there| there != text.as_bytes())
}

/// Refuses the file of `--uidx-file`. Files of that format are not known to us: no tool of the
/// toolkit was seen to write one, and nvlink accepts none of all other files.
fn refused_index(file: &str) -> Diagnostic {
    match std::fs::read(file_name::path(file)) {
        Err(error) => Diagnostic::fatal(
            input::UNIFIED_INDEX,
            format!("Could not open input file '{file}'"),
        )
        .note(error.to_string()),
        Ok(bytes) if bytes.is_empty() => Diagnostic::fatal(
            input::UNIFIED_INDEX,
            format!("Could not read file '{file}'"),
        ),
        Ok(_) => Diagnostic::fatal(input::UNIFIED_INDEX, "Internal error: not uidx input"),
    }
}
