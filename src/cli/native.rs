//! Our own command line.

use std::io;
use std::io::Write;
use std::path::Path;
use std::path::PathBuf;

use clap::Parser;
use clap::Subcommand;
use cuweld_ir::Arena;
use cuweld_ir::LinkOptions;
use cuweld_ir::Target;
use cuweld_passes::Diagnostic;
use cuweld_passes::pipeline::Embedded;
use cuweld_passes::pipeline::PipelineSource;
use cuweld_passes::pipeline::text_form;
use cuweld_passes::pipeline::toml_form;
use cuweld_passes::registry::Registry;

use crate::diagnostics::Reporter;
use crate::diagnostics::Style;
use crate::driver::Controls;
use crate::driver::Request;
use crate::driver::link;
use crate::input::CpuArch;
use crate::input::DiscoverOptions;
use crate::input::InputArena;
use crate::output::write_atomically;

/// An open CUDA device linker.
#[derive(Parser)]
#[command(name = "cuweld", version, about)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Link relocatable device code into an executable cubin.
    Link(Box<LinkArgs>),
    /// The nvlink-compatible command line; see `cuweld nvlink --help`.
    #[command(disable_help_flag = true)]
    Nvlink {
        /// nvlink's options and inputs.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// List the passes, or describe one; print pipelines.
    Passes(PassesArgs),
}

#[derive(clap::Args)]
struct LinkArgs {
    /// Cubins, fatbins, host objects and archives, in link order.
    #[arg(required = true)]
    inputs: Vec<String>,
    /// The GPU to link for, such as sm_90.
    #[arg(long, value_parser = parse_target)]
    arch: Target,
    /// The output file.
    #[arg(short, long)]
    output: PathBuf,
    /// Link against this library.
    #[arg(short = 'l', value_name = "NAME")]
    libraries: Vec<String>,
    /// Search libraries here.
    #[arg(short = 'L', value_name = "DIR")]
    library_paths: Vec<String>,
    /// Keep all code, record file names.
    #[arg(short = 'g', long)]
    debug: bool,
    /// The tool that the output names as its linker: `nvlink-13.0.88` writes the record that nvlink
    /// would write.
    #[arg(long, value_name = "NAME")]
    stamp: Option<String>,
    /// Keep kernels that no host code references.
    #[arg(long)]
    ignore_host_info: bool,
    /// Reproduce nvlink even where docs/deviations.md lists a deviation.
    #[arg(long)]
    strict: bool,
    /// The pipeline to run: a predefined one, or a file.
    #[arg(long, value_name = "NAME|FILE")]
    pipeline: Option<String>,
    /// The passes to run, such as `classify,select-objects,...`.
    #[arg(long, value_name = "PASSES", conflicts_with = "pipeline")]
    passes: Option<String>,
    /// Check the invariants of the IR after every pass.
    #[arg(long)]
    verify_each: bool,
    /// Report the time of every pass.
    #[arg(long)]
    time_passes: bool,
    /// Dump the IR before these passes, or `all`.
    #[arg(long, value_name = "PASS", value_delimiter = ',')]
    dump_before: Vec<String>,
    /// Dump the IR after these passes, or `all`.
    #[arg(long, value_name = "PASS", value_delimiter = ',')]
    dump_after: Vec<String>,
    /// Put dumps into files of this folder.
    #[arg(long, value_name = "DIR")]
    dump_dir: Option<String>,
    /// End the link after this pass.
    #[arg(long, value_name = "PASS")]
    stop_after: Option<String>,
}

#[derive(clap::Args)]
struct PassesArgs {
    /// Describe this pass.
    name: Option<String>,
    /// Print this pipeline in its one-line form.
    #[arg(long, value_name = "NAME|FILE")]
    pipeline: Option<String>,
}

fn parse_target(name: &str) -> Result<Target, String> {
    Target::parse(name).ok_or_else(|| {
        let known: Vec<String> = Target::ALL
            .iter()
            .map(|(sm, _)| format!("sm_{sm}"))
            .collect();
        format!(
            "no such architecture; known are {} and their variants",
            known.join(" ")
        )
    })
}

/// Runs the program: `arguments` begin with the program's name.
pub fn run(arguments: &[String], stdout: &mut dyn Write, stderr: &mut dyn Write) -> io::Result<u8> {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
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
    match cli.command {
        Command::Link(args) => run_link(&args, stderr),
        Command::Nvlink { arguments } => {
            let words: Vec<Vec<u8>> = arguments.into_iter().map(String::into_bytes).collect();
            super::nvlink::run(&words, &|_| None, stdout, stderr)
        }
        Command::Passes(args) => run_passes(&args, stdout, stderr),
    }
}

fn run_link(args: &LinkArgs, stderr: &mut dyn Write) -> io::Result<u8> {
    let mut reporter = Reporter::new(stderr, Style::Native);
    let stamp_nvlink = match args.stamp.as_deref() {
        None | Some("cuweld") => false,
        Some("nvlink-13.0.88") => true,
        Some(other) => {
            reporter.report(
                &Diagnostic::fatal(format!("unknown stamp '{other}'"))
                    .help("known are cuweld and nvlink-13.0.88"),
            )?;
            return Ok(reporter.exit_code());
        }
    };
    let controls = Controls {
        strict: args.strict,
        pipeline: args.pipeline.clone(),
        passes: args.passes.clone(),
        verify_each: args.verify_each,
        time_passes: args.time_passes,
        dump_before: args.dump_before.clone(),
        dump_after: args.dump_after.clone(),
        dump_dir: args.dump_dir.clone(),
        stop_after: args.stop_after.clone(),
    };
    let request = Request {
        discover: DiscoverOptions {
            target: args.arch,
            inputs: &args.inputs,
            libraries: &args.libraries,
            library_paths: &args.library_paths,
            env_library_path: None,
            cpu_arch: CpuArch::default(),
            lto: false,
        },
        options: LinkOptions {
            debug: args.debug,
            recorded_options: format!("-arch {} ", args.arch),
            output_name: args.output.file_name().map_or(String::new(), |name| {
                if args.debug {
                    name.to_string_lossy().into_owned()
                } else {
                    String::new()
                }
            }),
            stamp_nvlink,
            ..Default::default()
        },
        ignore_host_info: args.ignore_host_info,
        controls: &controls,
    };
    let (input_arena, arena) = (InputArena::new(), Arena::new());
    let outcome = link(&request, &input_arena, &arena, &mut reporter)?;
    if let Some(bytes) = outcome.output
        && let Err(error) = write_atomically(&args.output, &bytes)
    {
        let name = args.output.display();
        reporter.report(&Diagnostic::fatal(format!(
            "cannot write '{name}': {error}"
        )))?;
    }
    Ok(reporter.exit_code())
}

fn run_passes(args: &PassesArgs, stdout: &mut dyn Write, stderr: &mut dyn Write) -> io::Result<u8> {
    let registry = Registry::standard();
    if let Some(name) = &args.pipeline {
        let source = match Embedded.find(name) {
            Some(source) => source,
            None => match std::fs::read_to_string(Path::new(name)) {
                Ok(text) => cuweld_passes::pipeline::Source {
                    name: name.clone(),
                    text,
                },
                Err(error) => {
                    writeln!(stderr, "error: cannot read pipeline '{name}': {error}")?;
                    return Ok(1);
                }
            },
        };
        return match toml_form::parse(source) {
            Ok(pipeline) => {
                writeln!(stdout, "{}", text_form::print(&pipeline))?;
                Ok(0)
            }
            Err(error) => {
                writeln!(stderr, "{}", error.render())?;
                Ok(1)
            }
        };
    }
    match &args.name {
        None => {
            for info in registry.iter() {
                writeln!(stdout, "{:22} {}", info.name, info.summary)?;
            }
            writeln!(stdout, "\npipelines: {}", Embedded.names().join(" "))?;
            Ok(0)
        }
        Some(name) => match registry.get(name) {
            Some(info) => {
                writeln!(stdout, "{}: {}\n\n{}", info.name, info.summary, info.doc())?;
                Ok(0)
            }
            None => {
                let meant = registry
                    .suggest(name)
                    .map_or(String::new(), |word| format!("; did you mean '{word}'?"));
                writeln!(stderr, "error: no pass '{name}'{meant}")?;
                Ok(1)
            }
        },
    }
}
