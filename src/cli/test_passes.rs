//! `cuweld test-passes`: runs pass cases and says which hold.

use std::io;
use std::io::Write;
use std::path::Path;
use std::path::PathBuf;

use crate::extend::Extensions;
use crate::extend::Register;
use crate::file_name;
use crate::pass_case;
use crate::pass_case::PassCase;

/// Arguments of `cuweld test-passes`.
#[derive(clap::Args, Debug)]
pub struct TestPassesArgs {
    /// Cases, or folders with cases: files `*.lir` with a line `; run: PASSES`.
    #[arg(required = true, value_name = "PATH", value_parser = file_name::parse)]
    paths: Vec<PathBuf>,
    /// Load passes from this library.
    #[arg(long, value_name = "LIBRARY")]
    load_pass_plugin: Vec<String>,
    /// Write what the passes say and change into the cases, after `end`; so does the variable
    /// BLESS=1. Read the difference before you commit it.
    #[arg(long)]
    bless: bool,
    /// List the files of the cases, one a line, and run none.
    #[arg(long)]
    list: bool,
}

/// Runs the command: 1 if a case fails, 2 if there is none, or one cannot be read.
pub fn run(
    args: &TestPassesArgs,
    register: &[Register],
    stdout: &mut dyn Write,
    stderr: &mut dyn Write,
) -> io::Result<u8> {
    let files: Result<Vec<_>, _> = args
        .paths
        .iter()
        .map(|path| pass_case::files(path))
        .collect();
    let files = match files {
        Ok(files) => files.concat(),
        Err(error) => {
            writeln!(stderr, "error: {error}")?;
            return Ok(2);
        }
    };
    if files.is_empty() {
        writeln!(
            stderr,
            "error: there are no cases: no file *.lir has a line `; run: PASSES`"
        )?;
        return Ok(2);
    }
    if args.list {
        for file in files {
            writeln!(stdout, "{}", file.display())?;
        }
        return Ok(0);
    }
    let extensions = Extensions {
        register: register.to_vec(),
        plugins: args.load_pass_plugin.clone(),
        ..Extensions::default()
    };
    // What the cases expect may be a refusal of a plugin's pass, but not of the plugin.
    if let Err(diagnostic) = extensions.registry() {
        writeln!(stderr, "error: {diagnostic}")?;
        return Ok(2);
    }
    let bless = args.bless || std::env::var_os("BLESS").is_some_and(|value| value == "1");
    let (mut passed, mut failed) = (0, 0);
    for file in &files {
        write!(stdout, "test {} ... ", file.display())?;
        // A pass may end the process: the reader sees where it was.
        stdout.flush()?;
        match run_file(file, &extensions, bless) {
            Ok(said) => {
                passed += 1;
                writeln!(stdout, "{said}")?;
            }
            Err(why) => {
                failed += 1;
                writeln!(stdout, "FAILED\n{}", why.trim_end())?;
            }
        }
    }
    writeln!(stdout, "\n{passed} passed; {failed} failed")?;
    Ok(u8::from(failed > 0))
}

/// Runs the case of a file. Returns `ok` or `blessed`.
///
/// # Errors
///
/// If the case fails: what it expects and what was found.
fn run_file(file: &Path, extensions: &Extensions, bless: bool) -> Result<&'static str, String> {
    let text = std::fs::read_to_string(file).map_err(|error| error.to_string())?;
    let case = PassCase::parse(&text)?;
    let found = case.run(extensions)?;
    if found == text {
        return Ok("ok");
    }
    if !bless {
        return Err(case.difference(&found));
    }
    std::fs::write(file, found).map_err(|error| error.to_string())?;
    Ok("blessed")
}
