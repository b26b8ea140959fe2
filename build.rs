//! How the program is linked: at a fixed address, without `libgcc_s.so`, and with the functions of every link side by side. Most of the time
//! and memory of a small link is the start of the process (docs/contributing/benchmarks.md).

use std::env;
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

/// Functions that every link calls, one a line: the beginning of a mangled name. `tests/tools/start-functions` makes it.
const START: &str = "src/start-functions.txt";

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed={START}");
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|found| found == value);
    if !is("CARGO_CFG_TARGET_OS", "linux") {
        return;
    }
    let is_gnu = is("CARGO_CFG_TARGET_ENV", "gnu");
    if is_gnu {
        println!("cargo:rustc-link-arg-bin=cuweld=-no-pie");
    }
    let Some(folder) = env::var_os("OUT_DIR").and_then(|folder| folder.into_string().ok()) else {
        return;
    };
    // The library's archive takes its place by a linker script of its name, in a folder that is searched first.
    let path = Path::new(&folder).join("libgcc_s.so");
    if is_gnu && has_archive() && std::fs::write(path, "INPUT(-lgcc_eh -lgcc)\n").is_ok() {
        println!("cargo:rustc-link-arg-bin=cuweld=-L{folder}");
    }
    let path = Path::new(&folder).join("start.ld");
    if is("PROFILE", "release")
        && !chooses_linker()
        && let Ok(names) = std::fs::read_to_string(START)
        && std::fs::write(&path, script(&names)).is_ok()
    {
        println!("cargo:rustc-link-arg-bin=cuweld=-Wl,-T,{folder}/start.ld");
    }
}

/// A linker script that adds to the usual one: the functions have a section of their own in front of all others. Names that
/// nothing has, as another compiler may give others, do no harm.
fn script(names: &str) -> String {
    let mut script = "SECTIONS { .text.start : {\n".to_owned();
    for name in names.lines() {
        script += &format!("*(.text.{name}* .text.unlikely.{name}*)\n");
    }
    script + "} } INSERT BEFORE .text;\n"
}

/// Whether the user chose a linker, which may not know such scripts.
fn chooses_linker() -> bool {
    env::var("CARGO_ENCODED_RUSTFLAGS").is_ok_and(|flags| flags.contains("fuse-ld"))
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
