//! `cuweld dlink`, and nvcc in a shadow toolkit of `--device-link`: the device-link step.

mod assembly;
mod command_line;
mod host_object;
mod modules;
mod programs;
mod several_targets;
mod shadow_nvcc;

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::path::PathBuf;
use std::process::Command;
use std::process::Output;

use crate::harness::command::program;
use crate::harness::command::said;

/// Name of the stand-in for the CUDA runtime, which prints what is registered.
const RECORDER: &str = "librecord.so";

/// Returns the folder of the programs and the recorder.
fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/dlink")
}

/// Returns one of two objects of nvcc with code for sm_80, sm_90 and sm_100 (`tests/dlink/three`).
fn fixture(name: &str) -> PathBuf {
    sources().join("three").join(name)
}

/// Runs a command that has to succeed.
#[track_caller]
fn run(command: &mut Command) -> Output {
    let done = command.output();
    let done = done.unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(done.status.success(), "{command:?}:\n{}", said(&done));
    done
}

/// Returns a command of `cuweld dlink`.
fn dlink(folder: &Path) -> Command {
    let mut command = Command::new(program());
    command.current_dir(folder).arg("dlink");
    for variable in ["CUWELD_STAMP", "CUWELD_JOBS", "CUWELD_LIMIT", "MAKEFLAGS"] {
        command.env_remove(variable);
    }
    command
}

/// Makes the recorder in a folder, with a C compiler.
fn make_recorder(folder: &Path, compiler: &str) {
    run(Command::new(compiler)
        .args(["-Wall", "-Wextra", "-Werror", "-O1", "-shared", "-fPIC"])
        .args(["-o", RECORDER])
        .arg(sources().join("record.c"))
        .current_dir(folder));
}

/// What a program registered, in words, and the fatbins that it registered.
struct Recorded {
    text: String,
    fatbins: Vec<Vec<u8>>,
}

impl Recorded {
    /// Fails if another program registered something else.
    #[track_caller]
    fn compare(&self, expected: &Self, what: &str) {
        assert_eq!(self.text, expected.text, "{what}");
        assert!(self.fatbins == expected.fatbins, "{what}: other fatbins");
    }

    /// Runs a program, which is linked with the recorder.
    #[track_caller]
    fn of(command: &mut Command, folder: &Path) -> Self {
        let record = folder.join("record");
        let _ = fs::remove_dir_all(&record);
        fs::create_dir(&record).unwrap();
        let done = run(command.env("RECORD", &record));
        let fatbins =
            (0..).map_while(|index| fs::read(record.join(format!("{index}.fatbin"))).ok());
        Recorded {
            text: String::from_utf8(done.stdout).unwrap(),
            fatbins: fatbins.collect(),
        }
    }
}

/// Says what is left out.
fn say(text: &str) {
    let _ = writeln!(std::io::stdout(), "dlink: {text}");
}

/// Returns `true` if a program is there.
fn is_there(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}
