//! The `cuweld` program.

use std::io::Write;
use std::os::unix::ffi::OsStringExt;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<Vec<u8>> = std::env::args_os()
        .map(std::ffi::OsString::into_vec)
        .collect();
    let mut stdout = std::io::stdout().lock();
    let mut stderr = std::io::BufWriter::new(std::io::stderr().lock());
    // Drivers call us by nvlink's name; on that path nothing of clap is set up.
    let by_name = arguments
        .first()
        .is_some_and(|name| name.ends_with(b"nvlink"));
    let by_command = arguments.get(1).is_some_and(|word| word == b"nvlink");
    let result = if by_name || by_command {
        let words = arguments
            .get(if by_name { 1 } else { 2 }..)
            .unwrap_or_default();
        let environment = |name: &str| std::env::var_os(name).map(std::ffi::OsString::into_vec);
        cuweld::cli::nvlink::run(words, &environment, &mut stdout, &mut stderr)
    } else {
        let words: Vec<String> = arguments
            .iter()
            .map(|word| String::from_utf8_lossy(word).into_owned())
            .collect();
        cuweld::cli::native::run(&words, &mut stdout, &mut stderr)
    };
    let flushed = stderr.flush().and_then(|()| stdout.flush());
    match (result, flushed) {
        (Ok(code), Ok(())) => ExitCode::from(code),
        // Whoever read our messages is gone; there is nobody to tell.
        _ => ExitCode::from(1),
    }
}
