//! Programs that tasks run, all of them in the root of the repository.

use std::borrow::BorrowMut;
use std::error::Error;
use std::path::Path;
use std::path::PathBuf;
use std::process::Command;

/// The static program: another C library, start and heap.
pub const STATIC: &str = "x86_64-unknown-linux-musl";

/// The profile without optimisation.
pub const QUICK: &str = "quick";

/// Returns the root of the repository.
pub fn root() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here)
}

/// Returns the folder that cargo builds in.
pub fn target() -> PathBuf {
    let folder = std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into());
    root().join(folder)
}

/// Prepares a program, by name or by its path in the repository.
pub fn program(name: &str) -> Command {
    let mut command = Command::new(name);
    if name.contains('/') {
        command = Command::new(root().join(name));
    }
    command.current_dir(root());
    command
}

/// Prepares the cargo that runs this task.
pub fn cargo(words: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root()).args(words);
    command
}

/// Prepares cargo with NVIDIA's tools on PATH, which are installed first where they are not.
pub fn with_oracle(words: &[&str]) -> Command {
    let mut command = program("bash");
    let lines =
        "set -e; lines=\"$(tests/tools/oracle)\"; eval \"$lines\"; exec \"${CARGO:-cargo}\" \"$@\"";
    command.args(["-c", lines, "bash"]).args(words);
    command
}

/// Runs a command to its end.
pub fn run(mut command: impl BorrowMut<Command>) -> Result<(), Box<dyn Error>> {
    let command = command.borrow_mut();
    let status = command
        .status()
        .map_err(|error| format!("{command:?}: {error}"))?;
    match status.success() {
        true => Ok(()),
        false => Err(format!("{command:?}: {status}").into()),
    }
}

/// Checks that the static program can be built here; rustup adds the target.
pub fn static_target() -> Result<(), String> {
    let has = |mut command: Command| command.output().is_ok_and(|done| done.status.success());
    let mut compiler = program("musl-gcc");
    compiler.arg("--version");
    let mut target = program("rustup");
    target.args(["target", "add", STATIC]);
    match (has(compiler), has(target)) {
        (true, true) => Ok(()),
        (false, _) => Err("there is no musl-gcc".into()),
        (true, false) => Err(format!("there is no target {STATIC}")),
    }
}
