//! Our own command line.

use crate::file_name;
use std::io;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::path::PathBuf;

use clap::Parser;
use clap::Subcommand;
use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::codes::internal;
use cuweld_diagnostics::codes::usage;
use cuweld_elf::Target;
use cuweld_ir::Arena;
use cuweld_ir::Phase;
use cuweld_passes::checks::finalizer::BinaryKind;
use cuweld_passes::checks::finalizer::default_output_name;
use cuweld_passes::checks::finalizer::sass_view;
use cuweld_passes::pipeline::Facts;
use cuweld_passes::reports::link_map::LinkMap;

use super::bisect::BisectArgs;
use super::check::CheckArgs;
use super::diff::DiffArgs;
use super::disasm::DisasmArgs;
use super::dlink::DlinkArgs;
use super::explain::ExplainArgs;
use super::finalize::FinalizeArgs;
use super::finalizer_args::FinalizerArgs;
use super::inspect::InspectArgs;
use super::jitlink::JitlinkArgs;
use super::language_server::LanguageServerArgs;
use super::log::traced;
use super::module_args::is_text_path;
use super::new_pass::NewPassArgs;
use super::nvlink::environment::Surroundings;
use super::opt::OptArgs;
use super::output_file::unwritten;
use super::output_file::write_or_print;
use super::passes::PassesArgs;
use super::pipeline_args::InputArgs;
use super::pipeline_args::PipelineArgs;
use super::pipeline_args::parse_target;
use super::pipeline_args::print_pipeline;
use super::pipeline_args::without_option;
use super::reduce::ReduceArgs;
use super::replay::ReplayArgs;
use super::report::ReportArgs;
use super::report::report_of_link;
use super::size::SizeArgs;
use super::test_passes::TestPassesArgs;
use super::toolkit::ToolkitArgs;
use crate::cli::Program;
use crate::compile::search_dirs;
use crate::controls::Controls;
use crate::diagnostics::Reporter;
use crate::diagnostics::Style;
use crate::driver::LinkedFile;
use crate::driver::link;
use crate::gc_sections;
use crate::input::InputArena;
use crate::map_file;
use crate::repro::Recorder;
use crate::repro::finish;

/// An open CUDA device linker.
#[derive(Parser)]
#[command(name = "cuweld", version, about)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

/// The part of [`Cli`] that builds run: to set up the options of all commands takes a sixth of the
/// device-link step of two small objects. (clap's `defer` would show other texts for commands.)
#[derive(Parser)]
#[command(name = "cuweld", version, about)]
struct LinkCli {
    #[command(subcommand)]
    command: LinkCommand,
}

#[derive(Subcommand)]
enum LinkCommand {
    /// Link relocatable device code into an executable cubin.
    Link(Box<LinkArgs>),
    /// Do the whole device-link step: link for several GPUs and write the host object that registers
    /// the code, as `nvcc -dlink` does.
    Dlink(Box<DlinkArgs>),
}

#[derive(Subcommand)]
enum Command {
    #[command(flatten)]
    Link(LinkCommand),
    /// Run passes over objects or over a module in text form, and write either.
    Opt(Box<OptArgs>),
    /// Find the pass after which a check fails.
    Bisect(Box<BisectArgs>),
    /// List how two cubins differ, in a linker's terms.
    Diff(DiffArgs),
    /// Prove that cubins are sound: every byte has an owner, both views of Mercury files say the
    /// same.
    Check(CheckArgs),
    /// Put a file with Mercury through the finalizer's front end: for another SM, or to its SASS
    /// alone.
    Finalize(Box<FinalizeArgs>),
    /// Show what is in cubins, fatbins, host files and archives.
    Inspect(Box<InspectArgs>),
    /// Show the instructions of device code: control bits, registers, relocations.
    Disasm(DisasmArgs),
    /// Say how large device code is, by section, symbol, kernel, template, object or architecture, and
    /// by how much it grew since another file.
    Size(SizeArgs),
    /// Write an HTML file that shows what is in cubins, objects and archives: sizes, calls, memory.
    Report(ReportArgs),
    /// The nvlink-compatible command line; see `cuweld nvlink --help`.
    #[command(disable_help_flag = true)]
    Nvlink {
        /// nvlink's options and inputs.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Make a CUDA toolkit that links with cuweld, for nvcc, CMake and clang.
    Toolkit(ToolkitArgs),
    /// Programs that load libnvJitLink load cuweld's
    Jitlink(JitlinkArgs),
    /// Print the nvlink-compatible command line's manual page, or its completion for a shell.
    Document {
        /// Which one.
        #[arg(value_parser = ["man", "bash", "zsh", "fish"])]
        kind: String,
    },
    /// Make inputs smaller while a check keeps failing.
    Reduce(Box<ReduceArgs>),
    /// Run a link again from the file that `--repro` wrote.
    Replay(ReplayArgs),
    /// List passes and pipelines, or describe one; print pipelines.
    Passes(PassesArgs),
    /// Make a project for a pass of your own, with a test that passes.
    NewPass(NewPassArgs),
    /// Run pass cases: modules in text form with the passes to run on them and what these change.
    TestPasses(TestPassesArgs),
    /// Say what the code of a finding means, when it comes, and what to do.
    Explain(ExplainArgs),
    /// Answer an editor's questions about `.lir` and pipeline files, by the Language Server Protocol
    /// on standard input and output.
    LanguageServer(LanguageServerArgs),
}

#[derive(clap::Args)]
struct LinkArgs {
    /// Cubins, fatbins, host objects and archives, in link order.
    #[arg(required = true)]
    inputs: Vec<String>,
    /// The GPU to link for, such as sm_90.
    #[arg(long, value_parser = parse_target)]
    arch: Target,
    /// The output file: cubin below sm_100, else capmerc.cubin or sass.cubin if it is not given. The
    /// module in text form if its name ends in `.lir`.
    #[arg(short, long, value_parser = file_name::parse)]
    output: Option<PathBuf>,
    /// Write a map of the output to this file: what lies where, and which input it came from. JSON if
    /// its name ends in `.json`, otherwise text; `-` is the standard output.
    #[arg(long, value_name = "FILE", value_parser = file_name::parse)]
    map: Option<PathBuf>,
    /// Write a report of the link to this HTML file, which needs nothing else: what is how large and
    /// why it is there, calls, memory, what was left out, and what each pass changed; with
    /// --time-passes also times. `-` is the standard output.
    #[arg(long, value_name = "FILE.html", value_parser = file_name::parse)]
    report: Option<PathBuf>,
    /// List the sections that are left out because nothing uses them, one a line.
    #[arg(long)]
    print_gc_sections: bool,
    /// Print where libraries, ptxas and libnvJitLink are looked for, and link nothing.
    #[arg(long)]
    print_search_dirs: bool,
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    finalizer: FinalizerArgs,
    #[command(flatten)]
    pipeline: PipelineArgs,
}

/// Runs the program, with passes of the program that embeds cuweld: `arguments` begin with its
/// name.
pub fn run(
    arguments: &[String],
    program: Program<'_>,
    stdout: &mut dyn Write,
    stderr: &mut dyn Write,
) -> io::Result<u8> {
    let expanded;
    let arguments = match arguments.get(1).is_some_and(|command| command == "dlink") {
        false => arguments,
        true => match super::dlink::with_options_files(arguments) {
            Ok(words) => {
                expanded = words;
                &expanded
            }
            Err(error) => {
                writeln!(stderr, "error: {error}")?;
                return Ok(2);
            }
        },
    };
    let links = arguments.get(1).map(String::as_str);
    let command = match links.is_some_and(LinkCommand::has_subcommand) {
        true => LinkCli::try_parse_from(arguments).map(|cli| Command::Link(cli.command)),
        false => Cli::try_parse_from(arguments).map(|cli| cli.command),
    };
    let command = match command {
        Ok(command) => command,
        Err(error) => {
            let text = error.render().to_string();
            if error.use_stderr() {
                stderr.write_all(text.as_bytes())?;
                return Ok(2);
            }
            stdout.write_all(text.as_bytes())?;
            return Ok(0);
        }
    };
    match command {
        Command::Link(LinkCommand::Link(args)) => run_link(
            &args,
            arguments.get(1..).unwrap_or_default(),
            program,
            stdout,
            stderr,
        ),
        Command::Link(LinkCommand::Dlink(args)) => {
            super::dlink::run(&args, program, stdout, stderr)
        }
        Command::Opt(args) => super::opt::run(
            &args,
            arguments.get(1..).unwrap_or_default(),
            program.register,
            stdout,
            stderr,
        ),
        Command::Bisect(args) => super::bisect::run(&args, program.register, stdout, stderr),
        Command::Check(args) => super::check::run(&args, stdout, stderr),
        Command::Finalize(args) => super::finalize::run(&args, stderr),
        Command::Diff(args) => super::diff::run(&args, stdout, stderr),
        Command::Inspect(args) => super::inspect::run(&args, stdout, stderr),
        Command::Disasm(args) => super::disasm::run(&args, stdout, stderr),
        Command::Report(args) => super::report::run(&args, stdout, stderr),
        Command::Size(args) => super::size::run(&args, stdout, stderr),
        Command::Nvlink { arguments } => {
            let words: Vec<&[u8]> = arguments.iter().map(String::as_bytes).collect();
            let surroundings = Surroundings {
                environment: &|_| None,
                shadowed: None,
            };
            super::nvlink::run(&words, surroundings, program, stdout, stderr)
        }
        Command::Document { kind } => {
            let text = match kind.as_str() {
                "man" => super::nvlink::documents::man_page(),
                "zsh" => super::nvlink::documents::zsh_completion(),
                "fish" => super::nvlink::documents::fish_completion(),
                _ => super::nvlink::documents::bash_completion(),
            };
            stdout.write_all(text.as_bytes())?;
            Ok(0)
        }
        Command::Toolkit(args) => super::toolkit::run(&args, stdout, stderr),
        Command::Jitlink(args) => super::jitlink::run(&args, stdout, stderr),
        Command::Reduce(args) => super::reduce::run(&args, stdout, stderr),
        Command::Replay(args) => super::replay::run(&args, stdout, stderr),
        Command::Passes(args) => super::passes::run(&args, program.register, stdout, stderr),
        Command::NewPass(args) => super::new_pass::run(&args, stdout, stderr),
        Command::TestPasses(args) => {
            super::test_passes::run(&args, program.register, stdout, stderr)
        }
        Command::Explain(args) => super::explain::run(&args, stdout, stderr),
        Command::LanguageServer(args) => {
            super::language_server::run(&args, program.register, stdout, stderr)
        }
    }
}

fn run_link(
    args: &LinkArgs,
    words: &[String],
    program: Program<'_>,
    stdout: &mut dyn Write,
    stderr: &mut dyn Write,
) -> io::Result<u8> {
    let mut reporter = Reporter::new(stderr, Style::Native);
    args.pipeline.set_up(&mut reporter);
    let controls = args.pipeline.controls(program.register);
    let trace = ("link", args.pipeline.trace());
    traced(
        trace,
        controls.watching.remarks.is_some(),
        &mut reporter,
        |reporter| {
            let memory = (InputArena::new(), Arena::new());
            link_with(args, words, (program, controls), &memory, stdout, reporter)?;
            let _span = tracing::info_span!("free-memory").entered();
            drop(memory);
            Ok(())
        },
    )?;
    Ok(reporter.exit_code())
}

fn link_with(
    args: &LinkArgs,
    words: &[String],
    (program, mut controls): (Program<'_>, Controls),
    (input_arena, arena): &(InputArena, Arena),
    stdout: &mut dyn Write,
    reporter: &mut Reporter<'_>,
) -> io::Result<()> {
    controls.map = args.map.is_some();
    controls.print_gc_sections = args.print_gc_sections;
    controls.report = args.report.is_some();
    let words = without_option(words, "--repro");
    let words = without_option(&words, "--report");
    let words = without_option(&words, "--trace");
    let words = without_option(&words, "--remarks-output");
    let mut recorder = Recorder::new(without_option(&words, "--map"));
    let finalizer = args.finalizer.options();
    let wants_sass = finalizer.out_sass || finalizer.binary_kind == Some(BinaryKind::Sass);
    let kind = if wants_sass {
        Some(BinaryKind::Sass)
    } else {
        finalizer.binary_kind
    };
    let default = || PathBuf::from(default_output_name(args.arch, kind));
    let output = args.output.clone().unwrap_or_else(default);
    let path = file_name::of_path(&output);
    recorder.nvlink_arguments(args.input.nvlink_words(&args.inputs, args.arch, &path));
    let name = output.file_name();
    let name = name.map_or(Vec::new(), |name| name.as_bytes().to_vec());
    let takes_sass = wants_sass && args.arch.is_mercury();
    let request = finalizer
        .check(args.arch)
        .map_err(|error| Diagnostic::fatal(error.diagnostic_code(), error.to_string()));
    let request = request.and_then(|()| can_be_shown(&controls, takes_sass, is_text_path(&output)));
    let request = request.and_then(|()| {
        args.input
            .request(&args.inputs, args.arch, name.clone(), &controls)
    });
    let request = match request {
        Ok(mut request) => {
            args.finalizer.apply(&mut request.options, name);
            request.hooks = program.hooks;
            request.as_text = is_text_path(&output).then(|| args.pipeline.output_bytes());
            request
        }
        Err(diagnostic) => {
            reporter.report(&diagnostic)?;
            return Ok(());
        }
    };
    if args.pipeline.print_pipeline {
        let facts = Facts::new(args.arch, &request.options);
        print_pipeline(&controls, facts, Phase::Lowered, stdout, reporter)?;
        return Ok(());
    }
    if args.print_search_dirs {
        stdout.write_all(search_dirs(&request.discover, &request.compile).as_bytes())?;
        return Ok(());
    }
    let outcome = link(&request, input_arena, arena, reporter)?;
    if outcome.output.is_none() && !reporter.failed() {
        let message = "the passes ended before the file was made: nothing is written";
        let note = Diagnostic::remark(usage::OUTPUT, message);
        reporter.report(&note.help("`cuweld opt` writes the module as it is"))?;
    }
    if args.print_gc_sections && !reporter.failed() {
        gc_sections::print(outcome.unused.as_deref(), stdout, reporter)?;
    }
    let file = match outcome.output {
        Some(file) if wants_sass && args.arch.is_mercury() && request.as_text.is_none() => {
            match sass_file(&file) {
                Ok(file) => Some(file),
                Err(diagnostic) => {
                    reporter.report(&diagnostic)?;
                    None
                }
            }
        }
        file => file,
    };
    let is_linked = file.is_some();
    let report = match (&args.report, &file) {
        (Some(path), Some(file)) if !reporter.failed() => {
            Some((path, report_of_link(outcome.report, file, &output)))
        }
        _ => None,
    };
    if let Some(file) = file
        && let Err(error) = file.write(&output, input_arena, &request.threads)
    {
        reporter.internal_error |= error.is_internal();
        reporter.report(&unwritten(&output, &error))?;
    }
    if let Some(path) = args.map.as_ref().filter(|_| is_linked)
        && !reporter.failed()
    {
        write_map(outcome.map.as_ref(), path, stdout, reporter)?;
    }
    if let Some((path, report)) = report
        && !reporter.failed()
    {
        let written = report.and_then(|page| write_or_print(path, page.as_bytes(), stdout));
        if let Err(finding) = written {
            reporter.report(&finding)?;
        }
    }
    finish(|| recorder, &controls, input_arena, reporter)?;
    Ok(())
}

/// Refuses a map or a report of what is not the file that the link writes: of the SASS that is taken
/// out of it, and a report of a module as text.
fn can_be_shown(controls: &Controls, takes_sass: bool, is_text: bool) -> Result<(), Diagnostic> {
    let asked = [(controls.map, "--map"), (controls.report, "--report")];
    let asked = asked.into_iter().find(|(is_asked, _)| *is_asked);
    let message = match asked {
        Some((_, option)) if takes_sass => {
            format!("{option} shows a file with Mercury, not the SASS that is taken out of it")
        }
        _ if controls.report && is_text => {
            "--report shows a linked file, not a module in text form".to_owned()
        }
        _ => return Ok(()),
    };
    Err(Diagnostic::fatal(usage::COMMAND_LINE, message))
}

/// Writes the map that was asked for, or reports why it is not written.
fn write_map(
    map: Option<&LinkMap>,
    path: &Path,
    stdout: &mut dyn Write,
    reporter: &mut Reporter<'_>,
) -> io::Result<()> {
    let Some(map) = map else {
        return reporter.report(&map_file::missing());
    };
    match map_file::write(map, path, stdout) {
        Ok(()) => Ok(()),
        Err(error) => reporter.report(&unwritten(path, &error)),
    }
}

/// Returns the SASS view of a linked file.
fn sass_file<'data>(file: &LinkedFile<'data>) -> Result<LinkedFile<'data>, Diagnostic> {
    let image = file
        .image()
        .map_err(|error| Diagnostic::fatal(internal::FAULT, error.to_string()))?;
    let sass = sass_view(&image)
        .map_err(|error| Diagnostic::fatal(error.diagnostic_code(), error.to_string()))?;
    Ok(LinkedFile::Image(sass))
}
