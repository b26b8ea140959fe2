//! Makes `capi/include/cuweld.h` of the sources of the C interface: `cuweld-header [--check]`.
#![allow(clippy::print_stderr, reason = "a program for people at a terminal")]

use std::fs;
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let capi = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
    let capi = capi.unwrap_or(Path::new("capi"));
    let header = capi.join("include/cuweld.h");
    match made(capi) {
        Ok(made) if std::env::args().any(|word| word == "--check") => {
            if fs::read(&header).is_ok_and(|committed| committed == made.as_bytes()) {
                return ExitCode::SUCCESS;
            }
            eprintln!("capi/include/cuweld.h is not that of capi/src: cargo xtask bless capi");
        }
        Ok(made) => match fs::write(&header, made) {
            Ok(()) => return ExitCode::SUCCESS,
            Err(error) => eprintln!("cannot write {}: {error}", header.display()),
        },
        Err(error) => eprintln!("cannot make the header: {error}"),
    }
    ExitCode::FAILURE
}

/// Returns the header of the sources.
fn made(capi: &Path) -> Result<String, Box<dyn std::error::Error>> {
    let mut builder = cbindgen::Builder::new()
        .with_config(cbindgen::Config::from_file(capi.join("cbindgen.toml"))?);
    for file in ["status.rs", "linker.rs", "linked.rs"] {
        builder = builder.with_src(capi.join("src").join(file));
    }
    let mut made = Vec::new();
    builder.generate()?.write(&mut made);
    // A heading of rustdoc is none in C.
    let made = String::from_utf8(made)?.replace("// # Safety\n//\n", "// Conditions:\n");
    Ok(made)
}
