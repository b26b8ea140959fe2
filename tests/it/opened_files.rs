//! A plain link opens its inputs and its output, and nothing else; it starts no program and speaks to
//! nobody. `docs/using/files.md` says what else other links look up.

use std::path::Path;
use std::process::Command;

const LINKS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/links");

/// Files of the loader and of Rust's library, which every program opens.
const OF_THE_SYSTEM: [&str; 5] = [
    "/etc/ld.so.",
    "/lib/",
    "/lib64/",
    "/usr/lib/",
    "/proc/self/",
];

/// The calls of a program that name files, start programs or speak to others, as `strace` writes them.
fn calls(folder: &Path, arguments: &[&str]) -> Vec<String> {
    let log = folder.join("calls");
    let done = Command::new("strace")
        .args(["-f", "-qq", "-e", "trace=%file,%network,fork,vfork,clone"])
        // Names are whole: without it a longer path than 32 bytes ends in dots.
        .args(["-s", "4096", "-e", "signal=none", "-o"])
        .arg(&log)
        .arg(env!("CARGO_BIN_EXE_cuweld"))
        .args(arguments)
        .current_dir(folder)
        // What the loader looks up because of it is not cuweld's.
        .env_remove("LD_LIBRARY_PATH")
        .output()
        .expect("strace is needed for this test: install it, as .ci/run does");
    assert!(
        done.status.success(),
        "{}",
        String::from_utf8_lossy(&done.stderr)
    );
    let text = std::fs::read_to_string(&log).unwrap();
    std::fs::remove_file(&log).unwrap();
    let lines = text.lines();
    lines
        .map(|line| line.split_once(' ').map_or(line, |(_, call)| call.trim()))
        .map(str::to_owned)
        .collect()
}

/// Returns the files that a program names, without those of the system, in order; fails for any
/// other call.
fn named(folder: &Path, arguments: &[&str]) -> Vec<String> {
    let mut named = Vec::new();
    for call in calls(folder, arguments) {
        if call.starts_with("execve(") {
            let start = format!("cuweld\", \"{}\"", arguments[0]);
            assert!(call.contains(&start), "{call}");
            continue;
        }
        if call.starts_with("getcwd(") {
            continue;
        }
        let call_of_file = call.split_once('(').unwrap_or_default();
        assert!(
            matches!(
                call_of_file.0,
                "access"
                    | "open"
                    | "openat"
                    | "newfstatat"
                    | "fstat"
                    | "stat"
                    | "statx"
                    | "lstat"
                    | "readlink"
                    | "linkat"
            ),
            "{call}"
        );
        // Names that are no files of this folder are of files that are open.
        for name in call.split('"').skip(1).step_by(2) {
            let is_ours = !OF_THE_SYSTEM.iter().any(|start| name.starts_with(start));
            if is_ours && !name.is_empty() && !named.iter().any(|known| known == name) {
                named.push(name.to_owned());
            }
        }
    }
    named
}

#[test]
fn a_plain_link_opens_its_inputs_and_its_output() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a.cubin", "b.cubin"] {
        let input = Path::new(LINKS)
            .join("symbols/weak-templates/sm_90")
            .join(name);
        std::fs::copy(input, folder.path().join(name)).unwrap();
    }
    // `.` is where the output appears, which has no name before.
    let link = [
        "nvlink",
        "-arch=sm_90",
        "a.cubin",
        "b.cubin",
        "-o",
        "out.cubin",
    ];
    let files = ["a.cubin", "b.cubin", "out.cubin", "."];
    assert_eq!(named(folder.path(), &link), files);
    std::fs::remove_file(folder.path().join("out.cubin")).unwrap();
    // Of libraries, what `-L` says is looked at.
    std::fs::create_dir(folder.path().join("lib")).unwrap();
    let library = [&link[..], &["-Llib", "-lmissing"]].concat();
    let places = named(folder.path(), &library);
    assert!(
        places
            .iter()
            .all(|place| files.contains(&place.as_str()) || place.starts_with("lib/")),
        "{places:?}"
    );
}

/// Nor does the whole device-link step start a compiler or write anything on its way: an action of a build system with these
/// inputs and this output says all.
#[test]
fn a_device_link_opens_its_inputs_and_its_output() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a.o", "b.o"] {
        let input = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/rdc");
        std::fs::copy(input.join(name), folder.path().join(name)).unwrap();
    }
    std::fs::write(folder.path().join("words"), "a.o b.o -o device.o").unwrap();
    let link = ["dlink", "--options-file=words"];
    let files = ["words", "a.o", "b.o", "device.o", "."];
    let named = named(folder.path(), &link);
    // How many threads this process may have, which the output does not depend on.
    let is_about_threads = |name: &str| name.starts_with("/sys/fs/cgroup/");
    assert!(
        named
            .iter()
            .all(|name| files.contains(&name.as_str()) || is_about_threads(name)),
        "{named:?}"
    );
    assert!(folder.path().join("device.o").exists());
}

/// `--print-search-dirs` says what is looked for where, and opens nothing.
#[test]
fn places_are_printed() {
    let folder = tempfile::tempdir().unwrap();
    let native = [
        "link",
        "--arch=sm_90",
        "a.cubin",
        "-La",
        "-Lb",
        "--print-search-dirs",
    ];
    let nvlink = [
        "nvlink",
        "-arch=sm_90",
        "a.cubin",
        "-o",
        "o",
        "-La",
        "-Lb",
        "--cuweld-print-search-dirs",
    ];
    for words in [&native[..], &nvlink] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cuweld"));
        command.args(words).current_dir(folder.path());
        command
            .env("CUDA_HOME", folder.path())
            .env("PATH", "/none")
            .env_remove("LIBRARY_PATH");
        let run = |command: &mut Command| {
            let output = command.output().unwrap();
            assert!(output.status.success(), "{output:?}");
            String::from_utf8(output.stdout).unwrap()
        };
        let home = folder.path().display();
        assert_eq!(
            run(&mut command),
            format!(
                "libraries: a:b\nptxas: not found; looked at $CUDA_HOME/bin ('{home}/bin/ptxas'), $PATH\n\
                 libnvJitLink: libnvJitLink.so.13, which the loader looks for\n"
            )
        );
        command.env("CUWELD_PTXAS", "/bin/true");
        let said = run(&mut command);
        assert!(said.contains("\nptxas: /bin/true\n"), "{said}");
    }
}
