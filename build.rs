//! How the program is linked: at a fixed address and without `libgcc_s.so`. Most of the time of a small link is the start of the process,
//! and a third of that was relocating the program and loading this library (docs/BENCHMARKS.md).

use std::env;
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|found| found == value);
    if !is("CARGO_CFG_TARGET_OS", "linux") || !is("CARGO_CFG_TARGET_ENV", "gnu") {
        return;
    }
    println!("cargo:rustc-link-arg-bin=cuweld=-no-pie");
    // The library's archive takes its place by a linker script of its name, in a folder that is searched first.
    let script = || {
        let folder = env::var_os("OUT_DIR")?;
        has_archive().then_some(())?;
        let path = Path::new(&folder).join("libgcc_s.so");
        std::fs::write(path, "INPUT(-lgcc_eh -lgcc)\n").ok()?;
        folder.into_string().ok()
    };
    if let Some(folder) = script() {
        println!("cargo:rustc-link-arg-bin=cuweld=-L{folder}");
    }
}

/// Whether the C compiler that links knows where `libgcc_eh.a` is.
fn has_archive() -> bool {
    let linker = env::var_os("RUSTC_LINKER").unwrap_or_else(|| OsString::from("cc"));
    let asked = Command::new(linker)
        .arg("-print-file-name=libgcc_eh.a")
        .output();
    // A name without a folder is what was asked for again.
    asked.is_ok_and(|output| {
        String::from_utf8(output.stdout).is_ok_and(|path| Path::new(path.trim()).is_absolute())
    })
}
