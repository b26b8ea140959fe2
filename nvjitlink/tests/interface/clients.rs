//! Clients from PyPI, unmodified, with both libraries. Opt-in, since they are fetched:
//! `CUWELD_JITLINK_CLIENTS=1`, with NVIDIA's tools.

use std::fs;
use std::path::Path;
use std::path::PathBuf;
use std::process::Command;

use super::library::here;
use super::library::nvidias;
use super::library::shared;

/// What is fetched.
const PACKAGES: [&str; 3] = [
    "cuda-bindings==13.5.0",
    "cuda-core==1.2.2",
    "numba-cuda==0.30.4",
];

fn run(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{command:?}: {error}");
    String::from_utf8(output.stdout).unwrap()
}

/// Returns the Python of an environment with the clients and without NVIDIA's library.
fn python() -> PathBuf {
    let environment = here("../target/jitlink-clients");
    let python = environment.join("bin/python");
    let done = environment.join("installed");
    if !done.is_file() {
        run(Command::new("python3")
            .args(["-m", "venv"])
            .arg(&environment));
        let mut install = Command::new(&python);
        run(install.args(["-m", "pip", "install", "-q"]).args(PACKAGES));
        fs::write(done, PACKAGES.join("\n")).unwrap();
    }
    python
}

#[test]
fn clients_get_from_both_what_is_the_same() {
    if std::env::var_os("CUWELD_JITLINK_CLIENTS").is_none() {
        return;
    }
    let nvidias = nvidias().expect("NVIDIA's tools: tests/tools/oracle");
    let python = python();
    for script in ["core_linker.py", "numba_linker.py"] {
        let said = |library: &Path| {
            let mut client = Command::new(&python);
            client.arg(here("tests/clients").join(script));
            client.current_dir(here("tests/inputs"));
            client.env("LD_PRELOAD", library);
            // libcudart is there.
            client.env("LD_LIBRARY_PATH", nvidias.parent().unwrap());
            client.env("CUWELD_NVJITLINK", &nvidias);
            client.env("CUWELD_TOOLKIT", "13.0.88");
            client.env("CUWELD_STAMP", "nvjitlink");
            run(&mut client)
        };
        let expected = said(&nvidias);
        assert!(expected.lines().count() >= 7, "{expected}");
        assert_eq!(said(shared()), expected, "{script}");
    }
}
