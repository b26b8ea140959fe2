//! Clients from PyPI, unmodified, with both libraries. They are fetched: `CUWELD_JITLINK_CLIENTS=1`,
//! which `.ci/run` sets, with NVIDIA's tools.

use std::path::Path;
use std::path::PathBuf;
use std::process::Command;

use super::library::here;
use super::library::nvidias;
use super::library::shared;

fn run(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{command:?}: {error}");
    String::from_utf8(output.stdout).unwrap()
}

/// Returns the Python of an environment with the clients and without NVIDIA's library.
fn python() -> PathBuf {
    let environment = here("../target/jitlink-clients");
    run(Command::new(here("tests/clients/install")).arg(&environment));
    environment.join("bin/python")
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
