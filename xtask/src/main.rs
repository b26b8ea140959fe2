//! The project's tasks, one command each: `cargo xtask` lists them.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program for people at a terminal"
)]

mod capi;
mod ci;
mod fuzz;
mod metrics;
mod toolkit;
mod tools;
mod wheel;

use std::error::Error;
use std::process::{Command, ExitCode};

use tools::{cargo, program, run, with_oracle};

const USAGE: &str = "\
usage: cargo xtask TASK [ARGUMENTS]

    ci                          what every change has to pass: format, lints, documentation, tests, the static program
    bless links [WORD...]       inputs and expectations of link cases, by NVIDIA's tools (tests/tools/bless has more options)
    bless passes [WORD]         what pass cases expect: read the difference before you commit it
    bless jitlink               what NVIDIA's libnvJitLink answers to the probes of nvjitlink/tests
    bless docs                  generated pages, the texts of `cuweld inspect`, counts of allocations
    bless capi                  capi/include/cuweld.h, the header of the C interface
    capi [PREFIX]               the C library, its header and a file for pkg-config, below target/capi
    jitlink                     target/release/libnvJitLink.so.13, to be loaded in place of NVIDIA's
    jitlink compare VERSION [PROGRAMS]   links of all cases, and of so many generated programs for each target, 500, by it and NVIDIA's of a version
    wheel [PROFILE]             target/wheels: the Python package with the program and libnvJitLink.so.13; release, or dist to ship
    wheel --test                builds it from what the tests are made of, installs it below target/python, and tests it
    bench [ARGUMENTS]           the benchmark with target/release/cuweld (docs/contributing/benchmarks.md)
    oracle [--nvshmem]          installs NVIDIA's tools and prints lines for the shell: eval \"$(cargo xtask oracle)\"
    conformance SEEDS           the conformance engine: 0..20000, or 57,300..320
    conformance --mercury [LINKS [FIRST]]   programs for sm_100 and up until each way has so many links, 500
    conformance --shrink SEED   cuts the link of a seed that differs down to a case for tests/links
    language SEEDS              links of programs from the language: 0..20000, or 57,300..320
    declarations [LINKS]        pairs of declarations of one name: 0..3000 if left out, all, or \"sm_90 -r function-* kernel-weak\"
    schedule SEEDS              code of random kernels that is made anew for sm_100 and later, by us and by nvlink: 0..2000
    schedule FILE...            the same of the kernels of objects
    operands FILE...            registers of the instructions in cubins, fatbins, host objects and archives: our tables against nvdisasm -plr
    sanitize [LINKS]            the thread sanitizer on 8 threads with so many links each, 1000, and on links of several threads (needs nightly with rust-src)
    metrics                     lines, unsafe code, circles of modules, longest and most branched functions, size of the program
    metrics --build             the same, after the first build in an empty folder: how long it takes
    semver REVISION             what changed for users of the library since then, by cargo-semver-checks, which is installed first
    fuzz HOURS [TARGET...]      fuzz targets with coverage and sanitizers, all together for so long (needs cargo-fuzz)
    toolkit add 13.6.20 [SEEDS] installs a version, adds it to those that cuweld knows, and links with both
    conformance|language SEEDS --toolkit 13.5.37   against the linker of another toolkit, with objects of it and of 13.0.88
";

/// The variable that names the toolkit whose linker is compared with.
const TOOLKIT: &str = "CUWELD_ORACLE_TOOLKIT";

/// The profile of cargo that the README builds with.
const RELEASE: &str = "release";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match task(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn task(words: &[&str]) -> Result<(), Box<dyn Error>> {
    match words {
        ["ci"] => ci::run_all(),
        ["bless", "links", words @ ..] => run(program("tests/tools/bless").args(words)),
        ["bless", "passes", word @ ..] if word.len() < 2 => {
            let filter = format!("passes::{}", word.concat());
            bless(&["--test", "cases", &filter])
        }
        ["bless", "jitlink"] => {
            let words = ["test", "-p", "cuweld-nvjitlink", "--test", "interface"];
            run(with_oracle(&words).env("BLESS", "1"))
        }
        ["bless", "docs"] => {
            bless(&["-p", "cuweld", "--lib", "passes_doc"])?;
            bless(&["-p", "cuweld", "--test", "it", "support"])?;
            bless(&["-p", "cuweld", "--test", "it", "behaviours"])?;
            bless(&["-p", "cuweld", "--test", "it", "inspect"])?;
            bless(&["-p", "cuweld-benches", "--test", "allocations"])
        }
        ["bless", "capi"] => run(cargo(&[
            "run",
            "-q",
            "--profile",
            "quick",
            "-p",
            "cuweld-header",
        ])),
        ["capi"] => capi::install(None),
        ["capi", prefix] => capi::install(Some(prefix)),
        ["jitlink"] => {
            println!("{}", wheel::jitlink(RELEASE)?.display());
            Ok(())
        }
        ["jitlink", "compare", version] => compare_libraries(version, "500"),
        ["jitlink", "compare", version, programs] => compare_libraries(version, programs),
        ["wheel"] => wheel::build(RELEASE),
        ["wheel", "--test"] => wheel::test(&wheel::maturin()?),
        ["wheel", profile] => wheel::build(profile),
        ["bench", words @ ..] => {
            run(cargo(&["build", "--release", "--bin", "cuweld"]))?;
            if words.contains(&"--in-process") {
                wheel::jitlink(RELEASE)?;
            }
            let bench = ["run", "--release", "-p", "cuweld-benches", "--"];
            run(with_oracle(&[&bench[..], words].concat()))
        }
        ["oracle", words @ ..] => run(program("tests/tools/oracle").args(words)),
        ["conformance", "--shrink", seed] => engine("CUWELD_SHRINK", seed, "0"),
        ["conformance", "--mercury", rest @ ..] if rest.len() < 3 => engine(
            "CUWELD_MERCURY",
            rest.first().unwrap_or(&"500"),
            rest.get(1).unwrap_or(&"0"),
        ),
        ["conformance", seeds] => engine("CUWELD_LINKS", seeds, "0"),
        ["language", seeds] => run(links("language").env("CUWELD_LANGUAGE", seeds)),
        ["declarations"] => declarations("0..3000"),
        ["declarations", links] => declarations(links),
        ["conformance", seeds, "--toolkit", version] => {
            run(program("tests/tools/toolkit").arg(version))?;
            run(links("engine")
                .env("CUWELD_LINKS", seeds)
                .env(TOOLKIT, version))
        }
        ["language", seeds, "--toolkit", version] => {
            run(program("tests/tools/toolkit").arg(version))?;
            run(links("language")
                .env("CUWELD_LANGUAGE", seeds)
                .env(TOOLKIT, version))
        }
        ["operands", files @ ..] if !files.is_empty() => {
            run(links("operands").env("CUWELD_OPERANDS", files.join("\n")))
        }
        ["schedule", words @ ..] if !words.is_empty() => {
            run(links("schedule").env("CUWELD_SCHEDULE", words.join("\n")))
        }
        ["sanitize"] => sanitize("1000"),
        ["sanitize", links] => sanitize(links),
        ["metrics"] => metrics::of_sources(),
        ["metrics", "--build"] => {
            metrics::of_build()?;
            metrics::of_sources()
        }
        ["semver", revision] => semver(revision),
        ["fuzz", hours, targets @ ..] => fuzz::fuzz(hours, targets),
        ["toolkit", "add", version] => toolkit::add(version, None),
        ["toolkit", "add", version, seeds] => toolkit::add(version, Some(seeds)),
        _ => Err(USAGE.into()),
    }
}

/// Runs the tests of links by several threads with all that they run compiled for the thread
/// sanitizer.
fn sanitize(links: &str) -> Result<(), Box<dyn Error>> {
    let subjects = [
        ["cuweld-nvjitlink", "interface", "threads::"],
        ["cuweld", "it", "linker::"],
    ];
    for [package, test, subject] in subjects {
        let mut command = program("rustup");
        command.args(["run", "nightly", "cargo", "test", "-Zbuild-std"]);
        command.args(["--target", "x86_64-unknown-linux-gnu", "-p", package]);
        command.args(["--test", test, "--", subject]);
        command.env("CARGO_TARGET_DIR", tools::target().join("sanitize"));
        command.env("RUSTFLAGS", "-Zsanitizer=thread");
        run(command.env("CUWELD_LINKS_OF_A_THREAD", links))?;
    }
    Ok(())
}

/// Links by libnvJitLink of a version, which is installed from PyPI, and by ours.
fn compare_libraries(version: &str, programs: &str) -> Result<(), Box<dyn Error>> {
    let folder = tools::target().join(format!("nvjitlink-{version}"));
    let library = folder.join("nvidia/cu13/lib/libnvJitLink.so.13");
    if !library.is_file() {
        let mut pip = program("python3");
        pip.args(["-m", "pip", "install", "-q", "--no-deps", "--target"]);
        pip.arg(&folder);
        run(pip.arg(format!("nvidia-nvjitlink=={version}")))?;
    }
    // Code of an older compiler stays as it is from sm_100 on (deviation D12): objects are those of
    // the version's own compiler, where it has one.
    let compilers = program("tests/tools/toolkit").arg(version).output()?;
    let compilers = match compilers.status.success() {
        true => String::from_utf8(compilers.stdout)?,
        false => String::new(),
    };
    let words = ["test", "--release", "-p", "cuweld-nvjitlink", "--test"];
    let names = ["interface", "nvidias_library", "--", "--nocapture"];
    let mut test = with_oracle(&[&words[..], &names].concat());
    test.env("NVJITLINK_ORACLE", std::path::absolute(library)?);
    test.env("CUWELD_JITLINK_PROGRAMS", programs);
    test.env("CUWELD_JITLINK_COMPILERS", compilers.trim());
    run(test.env("CUWELD_JITLINK_CASES", version))
}

/// Checks that the library's interface changed no more than its version says.
fn semver(revision: &str) -> Result<(), Box<dyn Error>> {
    let name = "cargo-semver-checks";
    let is_there = cargo(&["semver-checks", "--version"]).output();
    if !is_there.is_ok_and(|done| done.status.success()) {
        run(cargo(&["install", "--locked", "--quiet", name]))?;
    }
    let check = ["semver-checks", "-p", "cuweld", "--baseline-rev", revision];
    run(cargo(&check))
}

/// Runs tests that write their expectations anew.
fn bless(words: &[&str]) -> Result<(), Box<dyn Error>> {
    run(cargo(&["test"]).args(words).env("BLESS", "1"))
}

/// Runs the conformance engine with what a variable asks of it.
fn engine(variable: &str, value: &str, first: &str) -> Result<(), Box<dyn Error>> {
    run(links("engine")
        .env(variable, value)
        .env("CUWELD_MERCURY_FIRST", first))
}

/// Links pairs of declarations of one name.
fn declarations(asked: &str) -> Result<(), Box<dyn Error>> {
    run(links("declarations").env("CUWELD_DECLARATIONS", asked))
}

/// Prepares a subject of tests that links by seeds.
fn links(subject: &str) -> Command {
    with_oracle(&["test", "--release", "--test", "cases", subject])
}
