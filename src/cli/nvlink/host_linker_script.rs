//! `-ghls`: a script for the host's linker, which keeps together what finds device code at run
//! time.

use std::io;
use std::io::Write;
use std::process::Command;

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::codes::system;

use super::output::write_output;
use crate::diagnostics::Reporter;

/// What a host linker must keep together. The blank after the second entry is nvlink's.
const FATBIN_SECTIONS: &str = "SECTIONS\n{\n\
    \t.nvFatBinSegment : { *(.nvFatBinSegment) }\n\
    \t__nv_relfatbin : { *(__nv_relfatbin) } \n\
    \t.nv_fatbin : { *(.nv_fatbin) }\n}\n";

/// Prints the default script of the linker that the host compiler uses, as nvlink has it printed
/// with `ld --verbose` and those options of the compiler's own call of it that choose a script,
/// without what it says about itself.
const DEFAULT_SCRIPT: &str = r#"ld --verbose $("$CUWELD_HOST_COMPILER" -### /dev/null $CUWELD_HOST_LINK -m64 2>&1 | grep collect2 | grep -wo -e -pie -e "-z [^[:space:]]*" -e "-m [^[:space:]]*" -e -r -e -shared | tr "\n" " ") | grep -Fvx -e "$(ld -V)" | sed '1,2d;$d'"#;

/// Writes the script to a file, or to standard output. A complete one begins with the default
/// script of the host's linker for what the host compiler would link (`-r`, `-shared`, or a program).
pub fn host_linker_script(
    complete: bool,
    (host_compiler, kind): (Option<&str>, Option<&str>),
    output: Option<&str>,
    stdout: &mut dyn Write,
    reporter: &mut Reporter<'_>,
) -> io::Result<()> {
    let mut script = Vec::new();
    if complete {
        let printed = Command::new("sh")
            .args(["-c", DEFAULT_SCRIPT])
            .env("CUWELD_HOST_COMPILER", host_compiler.unwrap_or("gcc"))
            .env("CUWELD_HOST_LINK", kind.unwrap_or_default())
            .output();
        script = match printed {
            Ok(printed) if !printed.stdout.is_empty() => printed.stdout,
            failed => {
                let reason = match failed {
                    Ok(printed) => String::from_utf8_lossy(&printed.stderr).into_owned(),
                    Err(error) => error.to_string(),
                };
                return reporter.report(
                    &Diagnostic::fatal(
                        system::NO_LINKER_SCRIPT,
                        "cuweld: the host's linker prints no default script",
                    )
                    .note(format!("ld --verbose: {}", reason.trim_end()))
                    .help("use -ghls=lcs-aug, and pass the script to the host linker with -T"),
                );
            }
        };
    }
    script.extend_from_slice(FATBIN_SECTIONS.as_bytes());
    match output {
        None => stdout.write_all(&script),
        Some(output) => write_output(output, &script, false, reporter),
    }
}
