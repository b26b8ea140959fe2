//! Command lines: `cuweld nvlink` (and any program name that ends in `nvlink`) is the compatible
//! one, everything else is ours.

use std::ffi::OsString;
use std::io;
use std::io::Write;
use std::os::unix::ffi::OsStringExt;
use std::process::ExitCode;

use self::nvlink::environment::Surroundings;
use crate::driver::Hooks;
use crate::extend::Register;
use crate::toolkit::shadow::Shadowed;
use crate::toolkit::shadow::this_program;

mod bisect;
mod check;
mod diff;
mod disasm;
mod dlink;
mod explain;
mod finalize;
mod finalizer_args;
mod inspect;
mod jitlink;
mod language_server;
mod log;
mod module_args;
mod native;
mod new_pass;
mod nvcc;
pub(crate) mod nvlink;
mod opt;
mod output_file;
mod passes;
mod pipeline_args;
mod reduce;
mod replay;
pub(crate) mod report;
mod size;
mod test_passes;
mod text_images;
mod toolkit;

pub use native::run as native;

/// A program that has these command lines.
#[derive(Clone, Copy, Debug, Default)]
pub struct Program<'p> {
    /// Adds passes of its own.
    pub register: &'p [Register],
    /// What it does while a link runs.
    pub hooks: Hooks,
}

/// Runs the whole program: decides by the program's name and its first argument which command line
/// it is.
///
/// A program of its own is `cuweld::cli::main(&[register])` and has every command of `cuweld`, with
/// the passes that `register` adds.
pub fn main(register: &[Register]) -> ExitCode {
    let hooks = Hooks::default();
    run(Program { register, hooks })
}

/// Runs the whole program as [`main`] does, with hooks.
pub fn run(program: Program<'_>) -> ExitCode {
    let arguments: Vec<Vec<u8>> = std::env::args_os().map(OsString::into_vec).collect();
    let arguments: Vec<&[u8]> = arguments.iter().map(Vec::as_slice).collect();
    ExitCode::from(exit_code(&arguments, program))
}

/// Runs the command line, the program's name first; returns the exit code.
fn exit_code(arguments: &[&[u8]], program: Program<'_>) -> u8 {
    let mut stdout = std::io::stdout().lock();
    let mut stderr = std::io::BufWriter::new(Messages(std::io::stderr().lock()));
    if log::start(&mut stderr).is_err() {
        return 1;
    }
    // Drivers call us by nvlink's name; on that path nothing of clap is set up.
    let by_name = arguments
        .first()
        .is_some_and(|name| name.ends_with(b"nvlink"));
    let as_nvcc = arguments
        .first()
        .is_some_and(|name| name.ends_with(b"nvcc"));
    let by_command = arguments.get(1).is_some_and(|word| *word == b"nvlink");
    let result = if by_name || by_command {
        let words = arguments
            .get(if by_name { 1 } else { 2 }..)
            .unwrap_or_default();
        let environment = |name: &str| std::env::var_os(name).map(OsString::into_vec);
        let shadowed = by_name.then(Shadowed::of_this_program).flatten();
        let surroundings = Surroundings {
            environment: &environment,
            shadowed: shadowed.as_ref(),
        };
        let told = shadowed.as_ref().and_then(|_| nvcc::tell_links(words));
        match told {
            Some(told) => told.map(|()| 0),
            None => nvlink::run(words, surroundings, program, &mut stdout, &mut stderr),
        }
    } else if as_nvcc {
        let words = arguments.get(1..).unwrap_or_default();
        let toolkit = Shadowed::of_this_program();
        let name = this_program();
        nvcc::run(
            (&name, words),
            toolkit.as_ref(),
            program,
            &mut stdout,
            &mut stderr,
        )
    } else {
        let words: Vec<String> = arguments
            .iter()
            .map(|word| crate::file_name::text(word))
            .collect();
        native::run(&words, program, &mut stdout, &mut stderr)
    };
    let flushed = stderr.flush().and_then(|()| stdout.flush());
    match (result, flushed) {
        (Ok(code), Ok(())) => code,
        // What was asked for could not be shown.
        _ => 1,
    }
}

/// Where messages go. Nobody may be there to read them, which changes nothing of what is done.
struct Messages<W>(W);

impl<W: Write> Write for Messages<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.0.write(bytes) {
            Err(error) if error.kind() != io::ErrorKind::Interrupted => Ok(bytes.len()),
            written => written,
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        // As above.
        let _ = self.0.flush();
        Ok(())
    }
}
