//! `cuweld language-server`: what editors start.

use std::io;
use std::io::Write;

use crate::extend::Extensions;
use crate::extend::Register;
use crate::language_server::serve;

/// Arguments of `cuweld language-server`.
#[derive(clap::Args, Debug)]
pub struct LanguageServerArgs {
    /// Load passes from this library, so that pipeline files can name them. What files in the editor
    /// name is never loaded.
    #[arg(long, value_name = "LIBRARY")]
    load_pass_plugin: Vec<String>,
    /// Speak on standard input and output, which is the only way; editors may say it.
    #[arg(long)]
    stdio: bool,
}

/// Runs the command until the editor ends it.
pub fn run(
    args: &LanguageServerArgs,
    register: &[Register],
    stdout: &mut dyn Write,
    stderr: &mut dyn Write,
) -> io::Result<u8> {
    let extensions = Extensions {
        register: register.to_vec(),
        plugins: args.load_pass_plugin.clone(),
        ..Extensions::default()
    };
    match serve(io::stdin(), stdout, extensions)? {
        Ok(code) => Ok(code),
        Err(diagnostic) => {
            writeln!(stderr, "error: {diagnostic}")?;
            Ok(1)
        }
    }
}
