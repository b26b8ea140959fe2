//! `cuweld check`: whether cubins are sound.

use crate::file_name;
use std::io;
use std::io::Write;

use cuweld_elf::check::Rule;
use cuweld_elf::check::check_image;
use cuweld_elf::check::is_mercury_image;
use cuweld_passes::checks::self_check::SelfCheckError;

/// Arguments of `cuweld check`.
#[derive(clap::Args, Debug)]
pub struct CheckArgs {
    /// Relocatable or linked cubins, by any linker or compiler.
    #[arg(required_unless_present = "rules", value_name = "FILE")]
    files: Vec<String>,
    /// List the rules.
    #[arg(long)]
    rules: bool,
}

/// Runs the command: 1 if a file is not sound, 2 if one cannot be read.
pub fn run(args: &CheckArgs, stdout: &mut dyn Write, stderr: &mut dyn Write) -> io::Result<u8> {
    if args.rules {
        for rule in Rule::ALL {
            let part = rule.part().name();
            writeln!(stdout, "{:18} {part:10} {}", rule.name(), rule.doc())?;
        }
    }
    let mut code = 0;
    for file in &args.files {
        let image = match std::fs::read(file_name::path(file)) {
            Ok(image) => image,
            Err(error) => {
                writeln!(stderr, "error: cannot read '{file}': {error}")?;
                code = 2;
                continue;
            }
        };
        match SelfCheckError::new(check_image(&image), is_mercury_image(&image)) {
            None => writeln!(stdout, "{file}: sound")?,
            Some(error) => {
                writeln!(stderr, "error: {file}: {error} (code {})", error.code())?;
                for note in error.notes() {
                    writeln!(stderr, "  {note}")?;
                }
                code = code.max(1);
            }
        }
    }
    Ok(code)
}
