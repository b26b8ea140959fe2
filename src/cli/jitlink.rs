//! `cuweld jitlink`: programs that load libnvJitLink load cuweld's.

use std::ffi::OsStr;
use std::ffi::OsString;
use std::io;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::path::PathBuf;
use std::process::Command;

use clap::Args;
use clap::Subcommand;

/// Arguments of `cuweld jitlink`.
#[derive(Args, Debug)]
pub struct JitlinkArgs {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Print where the library is.
    Path,
    /// Run a program that finds cuweld's library loaded when it looks for libnvJitLink.
    Run {
        /// The program and its arguments.
        #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
        command: Vec<OsString>,
    },
}

/// The library's name, which is that of NVIDIA's.
const FILE_NAME: &str = "libnvJitLink.so.13";

/// What names the library, if it is at no usual place.
const VARIABLE: &str = "CUWELD_JITLINK";

/// Libraries that the system's loader loads first.
const PRELOAD: &str = "LD_PRELOAD";

/// Runs the command.
pub fn run(args: &JitlinkArgs, stdout: &mut dyn Write, stderr: &mut dyn Write) -> io::Result<u8> {
    let library = match find() {
        Ok(library) => library,
        Err(looked_at) => {
            writeln!(stderr, "error: cuweld's {FILE_NAME} is nowhere")?;
            for path in looked_at {
                writeln!(stderr, "  note: looked at {}", path.display())?;
            }
            writeln!(
                stderr,
                "  help: `cargo xtask jitlink` makes it; {VARIABLE} names another place"
            )?;
            return Ok(1);
        }
    };
    match &args.task {
        Task::Path => writeln!(stdout, "{}", library.display())?,
        Task::Run { command } => {
            let Some((program, words)) = command.split_first() else {
                return Ok(2);
            };
            // It takes the place of this one, and returns where it cannot.
            let error = Command::new(program)
                .args(words)
                .env(PRELOAD, before_others(&library))
                .exec();
            let program = Path::new(program).display();
            writeln!(stderr, "error: cannot run '{program}': {error}")?;
            return Ok(1);
        }
    }
    Ok(0)
}

/// Returns the libraries that are to be loaded first: this one, and those that were to be already.
fn before_others(library: &Path) -> OsString {
    let mut all = library.as_os_str().to_owned();
    if let Some(others) = std::env::var_os(PRELOAD).filter(|others| !others.is_empty()) {
        all.push(":");
        all.push(others);
    }
    all
}

/// Returns the library that `CUWELD_JITLINK` names, else the one beside this program, in the `lib`
/// beside its folder, or in the Python package there; where was looked if there is none.
fn find() -> Result<PathBuf, Vec<PathBuf>> {
    let looked_at = match std::env::var_os(VARIABLE).filter(|named| !named.is_empty()) {
        Some(named) => vec![PathBuf::from(named)],
        None => {
            let program = std::env::current_exe().unwrap_or_default();
            let folder = program.parent().unwrap_or(Path::new(""));
            let beside = folder.join(FILE_NAME);
            let lib = folder.parent().map(|root| root.join("lib"));
            let packages = lib.iter().flat_map(|lib| packages(lib));
            let folders = lib.iter().cloned().chain(packages);
            let libraries = folders.map(|folder| folder.join(FILE_NAME));
            [beside].into_iter().chain(libraries).collect()
        }
    };
    let found = looked_at.iter().find(|path| path.is_file());
    let found = found.and_then(|path| std::path::absolute(path).ok());
    found.ok_or(looked_at)
}

/// Returns the folders in which Python's packages below this one have the library.
fn packages(lib: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(lib).into_iter().flatten().flatten();
    let is_python = |path: &PathBuf| {
        let name = path.file_name().and_then(OsStr::to_str);
        name.is_some_and(|name| name.starts_with("python3"))
    };
    let mut pythons: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(is_python)
        .collect();
    pythons.sort();
    let all = pythons.iter().flat_map(|python| {
        ["site-packages", "dist-packages"].map(|packages| python.join(packages).join("cuweld/lib"))
    });
    all.collect()
}
