//! What every change has to pass.

use std::error::Error;
use std::io::{self, BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::thread::{self, JoinHandle};

use crate::tools::{QUICK, STATIC, cargo, program, run, static_target, target};
use crate::wheel;

/// Lines of test programs that are shown once more at the end.
const CLOSING: [&str; 5] = [
    "     Running",
    "   Doc-tests",
    "test result:",
    "conformance: ran 0",
    "The static program",
];

/// Runs all steps. Format, lints and documentation end it where they fail; tests run to their end.
pub fn run_all() -> Result<(), Box<dyn Error>> {
    step(&["fmt", "--all", "--check"])?;
    // A crate is compiled by one thread for most of its time. So what is built in a folder of its
    // own is built meanwhile.
    let oldest_compiler = oldest_compiler()?;
    step(&[
        "clippy",
        "--workspace",
        "--all-targets",
        "--",
        "-D",
        "warnings",
    ])?;
    let without_c = ["--no-default-features", "--features", "ruzstd", "--lib"];
    step(
        &[
            &["clippy", "-p", "cuweld"],
            &without_c[..],
            &["--", "-D", "warnings"],
        ]
        .concat(),
    )?;
    announce("cargo doc --workspace --no-deps");
    run(cargo(&["doc", "--workspace", "--no-deps"]).env("RUSTDOCFLAGS", "-D warnings"))?;
    // tests/it/book.rs checks links and the table of contents; this shows that the book can be
    // built, where that costs seconds.
    announce("mdbook build docs");
    let mut version = program("mdbook");
    match version.arg("--version").output() {
        Ok(_) => run(program("mdbook").args(["build", "docs"]))?,
        Err(_) => println!("there is no mdbook: cargo install mdbook"),
    }
    if let Some(check) = oldest_compiler {
        check.finish()?;
    }
    let header = ["run", "-q", "--profile", QUICK, "-p", "cuweld-header"];
    step(&[&header[..], &["--", "--check"]].concat())?;
    let out = std::env::temp_dir().join(format!("cuweld-ci-{}.cubin", std::process::id()));
    let static_build = build_static()?;
    announce("The link of the README");
    let inputs = ["examples/rdc/a.o", "examples/rdc/b.o"];
    run(cargo(&["run", "-q", "--", "nvlink", "-arch=sm_90", "-m64"])
        .args(inputs)
        .arg("-o")
        .arg(&out))?;
    std::fs::remove_file(&out)?;

    let mut closing = Vec::new();
    let mut passed = tests(cargo(&["test", "--no-fail-fast"]), &mut closing)?;
    match static_build {
        Err(reason) => {
            let line = format!("The static program was not tested: {reason}");
            println!("{line}");
            closing.push(line);
        }
        Ok(build) => passed &= build.finish().is_ok() && test_static(&mut closing)?,
    }
    announce("The Python package");
    match wheel::maturin() {
        Ok(maturin) => {
            let tested = wheel::test(&maturin);
            passed &= tested.is_ok();
            tested.unwrap_or_else(|error| println!("{error}"));
        }
        Err(reason) => {
            let line = format!("The Python package was not tested: {reason}");
            println!("{line}");
            closing.push(line);
        }
    }
    announce("Results");
    for line in closing {
        println!("{line}");
    }
    match passed {
        true => {
            println!("CI passed");
            Ok(())
        }
        false => Err("CI failed".into()),
    }
}

/// Starts to build the static program. Returns why that cannot be built here.
fn build_static() -> Result<Result<Background, String>, Box<dyn Error>> {
    if let Err(reason) = static_target() {
        return Ok(Err(reason.to_string()));
    }
    // It takes a minute less to build in this profile, and its tests no longer.
    let words = [
        "build",
        "--profile",
        QUICK,
        "--target",
        STATIC,
        "-p",
        "cuweld",
        "--bin",
        "cuweld",
    ];
    Ok(Ok(Background::start("The static program", cargo(&words))?))
}

/// Tests the static program. Its heap and its memory functions have their unit tests; here the tests of
/// this machine run it, and the links that show what another heap does. Returns whether they passed.
fn test_static(closing: &mut Vec<String>) -> Result<bool, Box<dyn Error>> {
    let lints = [
        "clippy",
        "--target",
        STATIC,
        "-p",
        "cuweld-sys",
        "--",
        "-D",
        "warnings",
    ];
    // All that is compiled for this target alone.
    let mut passed = run(cargo(&lints)).is_ok();
    // A quarter of the generated programs: the program for tests has linked all of them.
    let subjects = [
        &["alone"][..],
        &["cases", "links"],
        &["cases", "conformance::seed/1"],
    ];
    for words in subjects {
        let mut command = cargo(&[&["test", "--test"], words].concat());
        command.env("CUWELD_TEST_BIN", static_program());
        passed &= tests(command, closing)?;
    }
    Ok(passed)
}

/// A step that runs beside others. What it writes is shown at its end.
struct Background {
    name: String,
    child: JoinHandle<io::Result<Output>>,
}

impl Background {
    fn start(name: impl Into<String>, mut command: Command) -> Result<Self, Box<dyn Error>> {
        let name = name.into();
        let child = thread::Builder::new().spawn(move || command.stdin(Stdio::null()).output())?;
        Ok(Self { name, child })
    }

    /// Waits for its end.
    fn finish(self) -> Result<(), Box<dyn Error>> {
        announce(&self.name);
        let output = self.child.join().map_err(|_| "its thread ended")??;
        print!("{}", String::from_utf8_lossy(&output.stdout));
        print!("{}", String::from_utf8_lossy(&output.stderr));
        match output.status.success() {
            true => Ok(()),
            false => Err(format!("{}: {}", self.name, output.status).into()),
        }
    }
}

fn announce(step: &str) {
    println!("\n=== {step}");
}

fn step(words: &[&str]) -> Result<(), Box<dyn Error>> {
    announce(&format!("cargo {}", words.join(" ")));
    run(cargo(words))
}

/// Runs tests, shows what they write, and keeps their closing lines. Returns whether they passed.
fn tests(mut command: Command, closing: &mut Vec<String>) -> Result<bool, Box<dyn Error>> {
    let words: Vec<_> = command
        .get_args()
        .map(|word| word.to_string_lossy())
        .collect();
    announce(&format!("cargo {}", words.join(" ")));
    // cargo names the test programs on the one stream, and they write to the other.
    let (reader, writer) = std::io::pipe()?;
    let streams = command.stdout(writer.try_clone()?).stderr(writer);
    let mut child = streams.stdin(Stdio::null()).spawn()?;
    // It holds the ends that write, without which the reader does not see the end.
    drop(command);
    for line in BufReader::new(reader).split(b'\n') {
        let line = String::from_utf8_lossy(&line?).into_owned();
        println!("{line}");
        if CLOSING.iter().any(|beginning| line.starts_with(beginning)) {
            closing.push(line);
        }
    }
    Ok(child.wait()?.success())
}

/// Starts to check the program with the oldest compiler it is said to build with, where rustup can
/// install that. Clippy's `incompatible_msrv` has looked for newer items of the standard library.
fn oldest_compiler() -> Result<Option<Background>, Box<dyn Error>> {
    let version = env!("CARGO_PKG_RUST_VERSION");
    let name = format!("cargo +{version} check");
    let mut install = program("rustup");
    install.args(["toolchain", "install", version, "--profile", "minimal"]);
    if !install.output().is_ok_and(|done| done.status.success()) {
        announce(&name);
        println!("rustup cannot install Rust {version} here: it was not tried");
        return Ok(None);
    }
    // Not `cargo +VERSION`: this cargo is not rustup's.
    let mut check = program("rustup");
    check.args(["run", version, "cargo", "check", "--locked", "-p", "cuweld"]);
    check.args(["--target-dir", "target/oldest-compiler"]);
    Background::start(name, check).map(Some)
}

/// Returns where cargo puts the static program.
fn static_program() -> PathBuf {
    target().join(STATIC).join(QUICK).join("cuweld")
}
