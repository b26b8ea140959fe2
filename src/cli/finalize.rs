//! `cuweld finalize`: one file with Mercury through the finalizer's front end.

use crate::file_name;
use std::io;
use std::io::Write;
use std::path::PathBuf;

use cuweld_diagnostics::Diagnostic;
use cuweld_elf::Target;
use cuweld_passes::checks::finalizer::EntryPoint;
use cuweld_passes::checks::finalizer::Finalizer;
use cuweld_passes::checks::finalizer::FinalizerConfig;
use cuweld_passes::checks::finalizer::FinalizerError;
use cuweld_passes::checks::finalizer::default_output_name;

use super::finalizer_args::FinalizerArgs;
use super::finalizer_args::traces_compatibility;
use super::pipeline_args::parse_target;
use crate::output::write_atomically;

/// Arguments of `cuweld finalize`.
#[derive(clap::Args, Debug)]
pub struct FinalizeArgs {
    /// A cubin, relocatable or linked.
    #[arg(value_parser = file_name::parse)]
    input: PathBuf,
    /// The GPU to finalize for, such as sm_103.
    #[arg(long, value_parser = parse_target)]
    arch: Target,
    /// The output file: cubin, sass.cubin or capmerc.cubin if it is not given.
    #[arg(short, long, value_parser = file_name::parse)]
    output: Option<PathBuf>,
    /// The file is linked: it has to hold Mercury.
    #[arg(long)]
    post_link: bool,
    /// Speak as a program that links in memory would hear it.
    #[arg(long)]
    jit: bool,
    #[command(flatten)]
    finalizer: FinalizerArgs,
}

/// Runs the command: 0, or 1 after an error.
pub fn run(args: &FinalizeArgs, stderr: &mut dyn Write) -> io::Result<u8> {
    let name = file_name::of_path(&args.input);
    let bytes = match std::fs::read(&args.input) {
        Ok(bytes) => bytes,
        Err(error) => {
            writeln!(stderr, "error: cannot read '{name}': {error}")?;
            return Ok(1);
        }
    };
    let entry = match (args.post_link, args.jit) {
        (false, false) => EntryPoint::InputCubin,
        (true, false) => EntryPoint::PostLink,
        (false, true) => EntryPoint::JitPreLink,
        (true, true) => EntryPoint::JitPostLink,
    };
    let options = args.finalizer.options();
    let kind = if options.out_sass {
        Some(cuweld_passes::checks::finalizer::BinaryKind::Sass)
    } else {
        options.binary_kind
    };
    let config = FinalizerConfig {
        trace_compatibility: traces_compatibility(
            std::env::var("CAN_FINALIZE_DEBUG").ok().as_deref(),
        ),
        options,
        ..FinalizerConfig::new(args.arch, entry).named(&name)
    };
    let mut trace = Vec::new();
    let finalized = Finalizer::run_traced(&bytes, &config, &mut trace);
    for line in trace {
        writeln!(stderr, "{line}")?;
    }
    let finalized = match finalized {
        Ok(finalized) => finalized,
        Err(error) => return report(&error, stderr),
    };
    let default = || PathBuf::from(default_output_name(args.arch, kind));
    let output = args.output.clone().unwrap_or_else(default);
    if let Err(error) = write_atomically(&output, &finalized.image) {
        writeln!(
            stderr,
            "error: cannot write '{}': {error}",
            file_name::of_path(&output)
        )?;
        return Ok(1);
    }
    Ok(0)
}

fn report(error: &FinalizerError, stderr: &mut dyn Write) -> io::Result<u8> {
    let finding = Diagnostic::fatal(error.diagnostic_code(), error.to_string());
    writeln!(stderr, "error: {finding}")?;
    for note in error.notes() {
        writeln!(stderr, "  note: {note}")?;
    }
    Ok(1)
}
