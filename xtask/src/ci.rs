//! What every change has to pass.

use std::error::Error;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};

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
    oldest_compiler()?;
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
    let header = ["run", "-q", "--profile", QUICK, "-p", "cuweld-header"];
    step(&[&header[..], &["--", "--check"]].concat())?;
    let out = std::env::temp_dir().join(format!("cuweld-ci-{}.cubin", std::process::id()));
    announce("The link of the README");
    let inputs = ["examples/rdc/a.o", "examples/rdc/b.o"];
    run(cargo(&["run", "-q", "--", "nvlink", "-arch=sm_90", "-m64"])
        .args(inputs)
        .arg("-o")
        .arg(&out))?;
    std::fs::remove_file(&out)?;

    let mut closing = Vec::new();
    let mut passed = tests(cargo(&["test", "--no-fail-fast"]), &mut closing)?;
    if let Err(reason) = static_target() {
        let line = format!("The static program was not tested: {reason}");
        println!("{line}");
        closing.push(line);
    } else {
        announce("The static program");
        // Its heap and its memory functions have their unit tests above; here the tests of this
        // machine run it, the fixtures of the committed cases not once more.
        let target = ["--target", STATIC, "-p"];
        // All that is compiled for this target alone.
        let lints = ["cuweld-sys", "--", "-D", "warnings"];
        passed &= run(cargo(&["clippy"]).args(target).args(lints)).is_ok();
        // It takes a minute less to build, and its tests no longer.
        let program = ["cuweld", "--bin", "cuweld", "--profile", QUICK];
        if run(cargo(&["build"]).args(target).args(program)).is_ok() {
            let subjects = [
                &["alone"][..],
                &["cases", "links"],
                &["cases", "conformance::seed"],
            ];
            for words in subjects {
                let mut command = cargo(&[&["test", "--test"], words].concat());
                command.env("CUWELD_TEST_BIN", static_program());
                passed &= tests(command, &mut closing)?;
            }
        } else {
            passed = false;
        }
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

/// Checks the program with the oldest compiler it is said to build with, where rustup can install
/// that. Clippy's `incompatible_msrv` has looked for newer items of the standard library before.
fn oldest_compiler() -> Result<(), Box<dyn Error>> {
    let version = env!("CARGO_PKG_RUST_VERSION");
    announce(&format!("cargo +{version} check"));
    let mut install = program("rustup");
    install.args(["toolchain", "install", version, "--profile", "minimal"]);
    if !install.output().is_ok_and(|done| done.status.success()) {
        println!("rustup cannot install Rust {version} here: it was not tried");
        return Ok(());
    }
    // Not `cargo +VERSION`: this cargo is not rustup's.
    let mut check = program("rustup");
    let words = ["run", version, "cargo", "check", "--locked", "-p", "cuweld"];
    run(check
        .args(words)
        .args(["--target-dir", "target/oldest-compiler"]))
}

/// Returns where cargo puts the static program.
fn static_program() -> PathBuf {
    target().join(STATIC).join(QUICK).join("cuweld")
}
