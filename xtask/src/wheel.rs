//! The Python package, with what it carries.

use std::error::Error;
use std::fs;
use std::path::Path;
use std::path::PathBuf;

use crate::tools::{self, QUICK, STATIC, cargo, program, root, run, static_target};

/// The library's name, which is that of NVIDIA's.
const JITLINK: &str = "libnvJitLink.so.13";

/// Builds the package in target/wheels.
pub fn build(profile: &str) -> Result<(), Box<dyn Error>> {
    let wheels = tools::target().join("wheels");
    build_in([profile; 2], &wheels, &maturin()?)
}

/// Builds the package in the profiles that steps before it have compiled its crates in, installs it in
/// an environment of its own, and runs its tests.
pub fn test(maturin: &str) -> Result<(), Box<dyn Error>> {
    let environment = tools::target().join("python");
    if environment.exists() {
        fs::remove_dir_all(&environment)?;
    }
    let wheels = environment.join("wheels");
    run(program("python3").args(["-m", "venv"]).arg(&environment))?;
    build_in([QUICK, "dev"], &wheels, maturin)?;
    let of_environment = |name: &str| environment.join("bin").join(name).display().to_string();
    let install = ["install", "-q", "--no-index", "--find-links"];
    run(program(&of_environment("pip"))
        .args(install)
        .arg(&wheels)
        .arg("cuweld"))?;
    // It checks the stubs; without a network the tests compare them with the package alone.
    if run(program(&of_environment("pip")).args(["install", "-q", "mypy"])).is_err() {
        println!("mypy could not be installed: no program is checked with the stubs.");
    }
    let tests = ["-m", "unittest", "discover", "-s", "python/tests"];
    run(program(&of_environment("python")).args(tests))
}

/// Builds the package with one profile, the program in it with another.
fn build_in(
    [of_program, profile]: [&str; 2],
    wheels: &Path,
    maturin: &str,
) -> Result<(), Box<dyn Error>> {
    let python = root().join("python");
    let scripts = python.join("cuweld.data/scripts");
    put(&linker(of_program)?, &scripts.join("cuweld"))?;
    put(&jitlink(profile)?, &python.join("cuweld/lib").join(JITLINK))?;
    let mut command = program(maturin);
    command.args(["build", "--profile", profile, "--manifest-path"]);
    command.arg(python.join("Cargo.toml"));
    // Else it ends up below the package's own folder.
    command.env("CARGO_TARGET_DIR", tools::target());
    run(command.arg("--out").arg(wheels))
}

/// Makes the shared library with the interface of libnvJitLink. Returns where it is.
pub fn jitlink(profile: &str) -> Result<PathBuf, Box<dyn Error>> {
    let package = ["build", "--profile", profile, "-p", "cuweld-nvjitlink"];
    run(cargo(&package))?;
    let built = tools::target().join(folder(profile));
    let files = ["libcuweld_nvjitlink.a", JITLINK].map(|name| built.join(name));
    run(program("nvjitlink/make-shared").args(&files))?;
    let [_, library] = files;
    Ok(library)
}

/// Builds the program: the static one, which runs on any Linux, where it can be built.
fn linker(profile: &str) -> Result<PathBuf, Box<dyn Error>> {
    let package = [
        "build",
        "--profile",
        profile,
        "-p",
        "cuweld",
        "--bin",
        "cuweld",
    ];
    let target = ["--target", STATIC];
    let built = tools::target();
    match static_target() {
        Ok(()) => {
            run(cargo(&[&package[..], &target].concat()))?;
            Ok(built.join(STATIC).join(folder(profile)).join("cuweld"))
        }
        Err(reason) => {
            println!("The program needs this system's C library: {reason}");
            run(cargo(&package))?;
            Ok(built.join(folder(profile)).join("cuweld"))
        }
    }
}

/// Returns the folder of a profile.
fn folder(profile: &str) -> &str {
    match profile {
        "dev" => "debug",
        profile => profile,
    }
}

/// Returns maturin: that on PATH, else one that is installed below target.
pub fn maturin() -> Result<String, Box<dyn Error>> {
    if program("maturin").arg("--version").output().is_ok() {
        return Ok("maturin".to_owned());
    }
    let folder = tools::target().join("maturin");
    let installed = folder.join("bin/maturin");
    if !installed.is_file() {
        run(program("python3").args(["-m", "venv"]).arg(&folder))?;
        let pip = folder.join("bin/pip").display().to_string();
        run(program(&pip).args(["install", "-q", "maturin>=1.9.4,<2"]))?;
    }
    Ok(installed.display().to_string())
}

fn put(from: &Path, to: &Path) -> Result<(), Box<dyn Error>> {
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::copy(from, to).map_err(|error| format!("{}: {error}", from.display()))?;
    Ok(())
}
