//! `cuweld replay`: runs a reproducer again.

use std::io;
use std::io::Write;
use std::path::PathBuf;

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::codes::usage;

use crate::diagnostics::Reporter;
use crate::diagnostics::Style;
use crate::repro::Replay;

/// Arguments of `cuweld replay`.
#[derive(clap::Args, Debug)]
pub struct ReplayArgs {
    /// The reproducer, as `--repro` wrote it.
    archive: String,
    /// Run this linker, which has nvlink's command line, in place of cuweld.
    #[arg(long, value_name = "PROGRAM")]
    linker: Option<PathBuf>,
    /// Unpack it here and leave it, with the output; otherwise into a temporary folder.
    #[arg(long, value_name = "DIR")]
    into: Option<PathBuf>,
    /// Run what the reproducer brings, too: plugins, programs of `exec` and `--exec-on-change`,
    /// compilers; and let it write anywhere.
    #[arg(long)]
    trust: bool,
    /// Show what was run, and do not run it.
    #[arg(long)]
    show: bool,
}

/// Runs the command; its exit code is that of the link.
pub fn run(args: &ReplayArgs, stdout: &mut dyn Write, stderr: &mut dyn Write) -> io::Result<u8> {
    let temporary;
    let folder = match &args.into {
        Some(folder) => folder.as_path(),
        None => {
            temporary = tempfile::tempdir()?;
            temporary.path()
        }
    };
    let refuse = |stderr: &mut dyn Write, message: String| -> io::Result<u8> {
        let mut reporter = Reporter::new(stderr, Style::Native);
        reporter.report(&Diagnostic::fatal(usage::REPRODUCER, message))?;
        Ok(reporter.exit_code())
    };
    let replay = match Replay::unpack(&args.archive, folder) {
        Ok(replay) => replay,
        Err(error) => return refuse(stderr, error.to_string()),
    };
    if args.show {
        let description = &replay.description;
        writeln!(stdout, "cuweld {}", description.cuweld)?;
        writeln!(stdout, "in {}", description.folder)?;
        writeln!(stdout, "ran {}", description.arguments.join(" "))?;
        let pipeline = Some(description.pipeline.as_str()).filter(|text| !text.is_empty());
        writeln!(
            stdout,
            "passes {}",
            pipeline.unwrap_or("(those of the target)")
        )?;
        writeln!(stdout, "exit {}", description.exit)?;
        return Ok(0);
    }
    let ourselves = std::env::current_exe()?;
    let program = args.linker.as_deref().unwrap_or(&ourselves);
    match replay.run(program, args.linker.is_some(), args.trust) {
        Ok(output) => {
            stdout.write_all(&output.stdout)?;
            stderr.write_all(&output.stderr)?;
            let code = output
                .status
                .code()
                .and_then(|code| u8::try_from(code).ok());
            Ok(code.unwrap_or(1))
        }
        Err(error) => refuse(stderr, error.to_string()),
    }
}
