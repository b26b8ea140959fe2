//! `cuweld dlink`: the whole device-link step.

use std::ffi::OsStr;
use std::io;
use std::io::Write;
use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::codes::usage;
use cuweld_elf::Target;

use super::Program;
use super::log::traced;
use super::nvlink::split_words;
use super::output_file::write;
use super::output_file::write_or_print;
use super::pipeline_args::InputArgs;
use super::pipeline_args::PipelineArgs;
use super::pipeline_args::parse_target;
use crate::controls::Controls;
use crate::diagnostics::Reporter;
use crate::diagnostics::Style;
use crate::dlink::Collected;
use crate::dlink::Form;
use crate::dlink::architectures::InputTargets;
use crate::dlink::architectures::common;
use crate::dlink::architectures::targets_of;
use crate::dlink::dependencies;
use crate::dlink::fatbin::Compression;
use crate::dlink::fatbin::FatbinOptions;
use crate::dlink::links::LinkJob;
use crate::dlink::links::link_all;
use crate::dlink::stub::Host;
use crate::dlink::stub::HostForm;
use crate::dlink::stub::Visibility;
use crate::file_name;
use crate::input::InputArena;
use crate::input::SharedFiles;
use crate::input::mapped::load;

/// The output where none is named, as nvcc's.
const OUTPUT: &str = "a_dlink.o";

/// Arguments of the device-link step.
#[derive(clap::Args)]
pub struct DlinkArgs {
    /// Host objects, archives, cubins and fatbins, in link order.
    #[arg(required = true)]
    inputs: Vec<String>,
    /// The GPUs to link for, such as sm_80,sm_90; `all`: those that each input has code for.
    #[arg(long, value_name = "ARCH", value_delimiter = ',', default_value = "all", value_parser = parse_architecture)]
    arch: Vec<Architecture>,
    /// The output: a host object, or the device code alone if its name ends in `.fatbin` or `.cubin`;
    /// `a_dlink.o` if it is not given, and the standard output for C.
    #[arg(short, long, value_parser = file_name::parse)]
    output: Option<PathBuf>,
    /// Write the device code alone, whatever the output's name.
    #[arg(long, conflicts_with = "host_source")]
    fatbin: bool,
    /// Write C in place of the host object, for the compiler of another host.
    #[arg(long)]
    host_source: bool,
    /// The machine of the host object; else this one.
    #[arg(long, value_name = "MACHINE")]
    host: Option<Host>,
    /// Who sees the functions that the host object defines: with `hidden`, as with the compiler's
    /// -fvisibility=hidden, several shared libraries of a process may have the same modules.
    #[arg(
        long,
        value_name = "VISIBILITY",
        default_value = "default",
        conflicts_with = "host_source"
    )]
    visibility: Visibility,
    /// How device code is packed: as fatbinary's and nvcc's option of this name.
    #[arg(long, value_name = "MODE", default_value = "default")]
    compress_mode: Compression,
    /// Pack all device code; else only that of a debugger (-g), or of more than 10 MB for a GPU.
    #[arg(long)]
    compress_all: bool,
    /// Optimise LTO-IR at link time.
    #[arg(long)]
    lto: bool,
    /// The libnvJitLink that optimises; else one that is found.
    #[arg(long, value_name = "FILE")]
    nvjitlink: Option<PathBuf>,
    /// Link for further GPUs after one has failed, to see all that is wrong.
    #[arg(long)]
    keep_going: bool,
    /// Write a rule for make or ninja: what the output depends on.
    #[arg(long, value_name = "FILE", value_parser = file_name::parse)]
    dependency_output: Option<PathBuf>,
    /// Read further arguments from this file.
    #[arg(long, value_name = "FILE")]
    options_file: Vec<String>,
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    pipeline: PipelineArgs,
}

/// A word of `--arch`.
#[derive(Clone, Copy, Debug)]
enum Architecture {
    All,
    One(Target),
}

fn parse_architecture(name: &str) -> Result<Architecture, String> {
    match name {
        "all" => Ok(Architecture::All),
        name => parse_target(name).map(Architecture::One),
    }
}

/// How many options files may name one another.
const DEEPEST: usize = 16;

/// Puts the words of options files after the options that name them. Words are separated as in
/// nvlink's options files.
///
/// # Errors
///
/// Files that cannot be read, and quotes without an end.
pub fn with_options_files(words: &[String]) -> Result<Vec<String>, String> {
    let mut all = Vec::new();
    add_words(words, 0, &mut all)?;
    Ok(all)
}

fn add_words(words: &[String], depth: usize, all: &mut Vec<String>) -> Result<(), String> {
    let mut words = words.iter();
    while let Some(word) = words.next() {
        all.push(word.clone());
        let file = match word.strip_prefix("--options-file") {
            Some("") => match words.next() {
                Some(file) => {
                    all.push(file.clone());
                    file
                }
                None => continue,
            },
            Some(rest) if rest.starts_with('=') => &rest[1..],
            _ => continue,
        };
        if depth == DEEPEST {
            return Err(format!("the options file '{file}' is read by itself"));
        }
        let read = std::fs::read(file_name::path(file));
        let contents = read.map_err(|error| format!("cannot read '{file}': {error}"))?;
        let inner = split_words(&contents).map_err(|error| format!("'{file}': {error}"))?;
        let inner: Vec<String> = inner.iter().map(|word| file_name::text(word)).collect();
        add_words(&inner, depth + 1, all)?;
    }
    Ok(())
}

/// Links, and writes the output.
pub fn run(
    args: &DlinkArgs,
    program: Program<'_>,
    stdout: &mut dyn Write,
    stderr: &mut dyn Write,
) -> io::Result<u8> {
    let controls = args.pipeline.controls(program.register);
    let files = Arc::new(SharedFiles::default());
    let mut reporter = Reporter::new(stderr, Style::Native);
    args.pipeline.set_up(&mut reporter);
    let trace = ("dlink", args.pipeline.trace());
    let mut code = 0;
    traced(
        trace,
        controls.watching.remarks.is_some(),
        &mut reporter,
        |reporter| {
            code = link_targets(args, &controls, files, stdout, reporter)?;
            Ok(())
        },
    )?;
    Ok(code.max(reporter.exit_code()))
}

fn link_targets(
    args: &DlinkArgs,
    controls: &Controls,
    files: Arc<SharedFiles>,
    stdout: &mut dyn Write,
    reporter: &mut Reporter<'_>,
) -> io::Result<u8> {
    let prepared = args.form().and_then(|form| {
        let targets = args.targets(&files)?;
        args.check(controls, form, &targets)?;
        Ok((form, targets))
    });
    let (form, targets) = match prepared {
        Ok(prepared) => prepared,
        Err(diagnostic) => {
            reporter.report(&diagnostic)?;
            return Ok(reporter.exit_code());
        }
    };
    let output = args.output.as_deref();
    let output = output.unwrap_or(Path::new(if form == Form::Source { "-" } else { OUTPUT }));
    let name = output
        .file_name()
        .map_or(Vec::new(), |name| name.as_encoded_bytes().to_vec());
    let jobs: Result<Vec<_>, _> = targets
        .iter()
        .map(|target| args.job(*target, targets.len() > 1, &name, controls))
        .collect();
    let jobs = match jobs {
        Ok(jobs) => jobs,
        Err(diagnostic) => {
            reporter.report(&diagnostic)?;
            return Ok(reporter.exit_code());
        }
    };
    let options = FatbinOptions {
        compression: args.compress_mode,
        compress_all: args.compress_all,
        debug: args.input.is_debug(),
        ..FatbinOptions::default()
    };
    let mut made = Collected::new(form, options);
    let how = (args.input.asked_jobs(), args.keep_going);
    link_all(&jobs, &files, how, &mut |link| made.add(link));
    made.finish(reporter, |bytes| {
        write_or_print(output, bytes, stdout)?;
        match &args.dependency_output {
            None => Ok(()),
            Some(path) => {
                let rule = dependencies::rule(&file_name::of_path(output), &args.opened(&files));
                write(path, &file_name::bytes(&rule))
            }
        }
    })
}

impl DlinkArgs {
    /// Returns what is written.
    fn form(&self) -> Result<Form, Diagnostic> {
        let output = self.output.as_deref();
        let extension = output.and_then(Path::extension).and_then(OsStr::to_str);
        match extension {
            _ if self.host_source => Ok(Form::Source),
            Some("cubin") if !self.fatbin => Ok(Form::Cubin),
            Some("fatbin") => Ok(Form::Fatbin),
            _ if self.fatbin => Ok(Form::Fatbin),
            _ => self
                .host
                .or_else(Host::here)
                .map(|host| {
                    Form::Object(HostForm {
                        host,
                        visibility: self.visibility,
                    })
                })
                .ok_or_else(|| {
                    let message = "host objects of this machine cannot be made";
                    Diagnostic::fatal(usage::COMMAND_LINE, message)
                        .help("--host names another machine, --host-source writes C for any")
                }),
        }
    }

    /// Returns the names of the files that were read.
    fn opened(&self, files: &SharedFiles) -> Vec<String> {
        let mut names = [files.names(), self.options_file.clone()].concat();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Returns the targets, each once, in the order in which they were named.
    fn targets(&self, files: &Arc<SharedFiles>) -> Result<Vec<Target>, Diagnostic> {
        let mut targets = Vec::new();
        for word in &self.arch {
            let named = match word {
                Architecture::One(target) => vec![*target],
                Architecture::All => self.all_targets(files)?,
            };
            for target in named {
                if !targets.contains(&target) {
                    targets.push(target);
                }
            }
        }
        Ok(targets)
    }

    fn all_targets(&self, files: &Arc<SharedFiles>) -> Result<Vec<Target>, Diagnostic> {
        let arena = InputArena::sharing(files);
        let inputs = targets_of(&self.inputs, &arena);
        let targets = common(&inputs);
        if !targets.is_empty() {
            return Ok(targets);
        }
        let message = match inputs.is_empty() {
            true => "no input has code for a GPU",
            false => "there is no GPU that all inputs have code for",
        };
        let mut diagnostic = Diagnostic::fatal(usage::COMMAND_LINE, message)
            .help("--arch names the GPUs to link for, such as --arch sm_80,sm_90");
        for InputTargets { input, targets } in inputs {
            let targets: Vec<String> = targets.iter().map(Target::to_string).collect();
            diagnostic = diagnostic.note(format!("'{input}' has {}", targets.join(", ")));
        }
        for input in &self.inputs {
            if let Err(error) = load(input, &arena) {
                diagnostic = diagnostic.note(format!("cannot read '{input}': {error}"));
            }
        }
        Err(diagnostic)
    }

    /// Refuses what is for one link alone.
    fn check(&self, controls: &Controls, form: Form, targets: &[Target]) -> Result<(), Diagnostic> {
        let refused = |message: &str, help: &str| {
            Err(Diagnostic::fatal(usage::COMMAND_LINE, message).help(help))
        };
        if self.input.is_relocatable() {
            return refused(
                "the device-link step makes nothing that is linked again",
                "`cuweld link -r` writes a relocatable object",
            );
        }
        if controls.repro.is_some() || self.pipeline.print_pipeline {
            return refused(
                "--repro and --print-pipeline are for one link",
                "`cuweld link --arch` does the link of one GPU",
            );
        }
        if targets.len() > 1 && controls.observe() {
            return refused(
                "what shows a link at work is for one GPU at a time",
                "name one of them with --arch",
            );
        }
        if targets.len() > 1 && form == Form::Cubin {
            return refused(
                "a cubin holds the code for one GPU",
                "name the output .fatbin",
            );
        }
        Ok(())
    }

    /// Returns the link for a target, which messages name if it is one of several.
    fn job<'a>(
        &'a self,
        target: Target,
        is_named: bool,
        output_name: &[u8],
        controls: &'a Controls,
    ) -> Result<LinkJob<'a>, Diagnostic> {
        let name = output_name.to_vec();
        let mut request = self.input.request(&self.inputs, target, name, controls)?;
        request.discover.lto = self.lto;
        request.discover.registers = true;
        let library = std::env::var_os("CUWELD_NVJITLINK").filter(|value| !value.is_empty());
        let library = library.map(PathBuf::from);
        request.compile.lto.library = self.nvjitlink.clone().or(library);
        Ok(LinkJob {
            request,
            style: Style::Native,
            set_up: Box::new(move |reporter| {
                self.pipeline.set_up(reporter);
                reporter.report_arch = is_named.then(|| target.to_string());
            }),
        })
    }
}
