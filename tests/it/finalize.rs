//! The finalizer on our command line: options that contradict each other, traces, copies for another SM, the SASS view, names of outputs.

use std::path::{Path, PathBuf};
use std::process::Command;

use cuweld_elf::check::check_image;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/links")
        .join(name)
}

/// Runs the program in a folder: whether it succeeded, and the lines that it wrote.
fn run(folder: &Path, debug: bool, words: &[&str]) -> (bool, Vec<String>) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cuweld"));
    command
        .args(words)
        .current_dir(folder)
        .env_remove("CAN_FINALIZE_DEBUG");
    if debug {
        command.env("CAN_FINALIZE_DEBUG", "1");
    }
    let done = command.output().unwrap();
    let text = String::from_utf8_lossy(&done.stderr).into_owned();
    (
        done.status.success(),
        text.lines().map(str::to_owned).collect(),
    )
}

fn objects(case: &str, arch: &str) -> [String; 2] {
    ["a", "b"].map(|name| {
        fixture(case)
            .join(arch)
            .join(format!("{name}.cubin"))
            .display()
            .to_string()
    })
}

#[test]
fn contradictions_and_code_generation_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let [a, b] = objects("shared-memory/shared-static", "sm_100");
    for (arch, options, expected) in [
        (
            "sm_100",
            &["--cap-merc", "--binary-kind", "sass"][..],
            "conflicting options provided for finalizer: --cap-merc and",
        ),
        (
            "sm_90",
            &["--cap-merc"],
            "conflicting options provided for finalizer: Mercury, and a target below sm_100",
        ),
        (
            "sm_100",
            &["--out-sass"],
            "conflicting options provided for finalizer: --out-sass without --self-check",
        ),
        (
            "sm_100",
            &["--fastpath-off", "--opportunistic-finalization-lvl", "3"],
            "conflicting options provided for finalizer: --fastpath-off",
        ),
        (
            "sm_100",
            &["--opportunistic-finalization-lvl", "5"],
            "conflicting options provided for finalizer",
        ),
        (
            "sm_100",
            &["--binary-kind", "mercury"],
            "cuweld: unsupported: --binary-kind mercury",
        ),
        (
            "sm_100",
            &["--asatentrypatch"],
            "cuweld: unsupported: --compile-as-at-entry-patch",
        ),
        (
            "sm_100",
            &["--opt-level", "1"],
            "cuweld: unsupported: --opt-level",
        ),
        (
            "sm_100",
            &["--generate-line-info"],
            "cuweld: unsupported: --generate-line-info",
        ),
        (
            "sm_100",
            &["--trap-into-debugger"],
            "cuweld: unsupported: --trap-into-debugger",
        ),
    ] {
        for command in [
            &["link", &a, &b, "--arch", arch][..],
            &["finalize", &a, "--arch", arch],
        ] {
            let words = [command, options].concat();
            let (succeeded, lines) = run(folder.path(), false, &words);
            assert!(
                !succeeded && lines[0].contains(expected),
                "{words:?}: {lines:?}"
            );
        }
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// A fatbin of one device ELF.
fn fatbin(sm: u32, image: &[u8]) -> Vec<u8> {
    let mut member = [0; 64];
    member[..4].copy_from_slice(&[2, 0, 1, 1]);
    member[4] = 64;
    member[8..16].copy_from_slice(&(image.len() as u64).to_le_bytes());
    member[28..32].copy_from_slice(&sm.to_le_bytes());
    member[40] = 0x11;
    let size = (member.len() + image.len()) as u64;
    let head = [0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0];
    [&head[..], &size.to_le_bytes(), &member, image].concat()
}

#[test]
fn links_are_traced_and_checked() {
    let folder = tempfile::tempdir().unwrap();
    let [a, cubin] = objects("mercury/mercury-targets", "sm_120");
    let b = folder.path().join("b.fatbin");
    std::fs::write(&b, fatbin(120, &std::fs::read(cubin).unwrap())).unwrap();
    let b = b.display().to_string();
    let words = [
        "link",
        &a,
        &b,
        "--arch",
        "sm_121",
        "--edbg",
        "1",
        "--self-check",
    ];
    let (succeeded, lines) = run(folder.path(), true, &words);
    assert!(succeeded, "{lines:?}");
    let mut expected = [&a, &b]
        .map(|name| format!("can_finalize: '{name}': sm_120 for sm_121: 0"))
        .to_vec();
    for (name, mode, flags, entry) in [
        (&*a, "Pre", "0 | 1", "input cubin"),
        (&b, "Pre", "0 | 1", "fatbin member"),
        ("in-memory-ELF-image", "Post", "1 | 1", "post-link"),
    ] {
        expected.extend([
            format!("FNLZR: Input ELF: {name}"),
            format!("FNLZR: {mode}-Link Mode"),
            format!("FNLZR: Flags [ {flags} ]"),
            format!("FNLZR: Entry point: {entry}"),
            format!("FNLZR: Starting {name}"),
            format!("FNLZR: Ending {name}"),
        ]);
    }
    assert_eq!(lines, expected);
    let image = std::fs::read(folder.path().join("capmerc.cubin")).unwrap();
    assert_eq!(check_image(&image), []);
}

#[test]
fn code_is_copied_for_another_sm_if_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let [a, b] = objects("shared-memory/shared-static", "sm_100");
    let words = ["link", &a, &b, "--arch", "sm_103", "-o", "x.cubin"];
    let (succeeded, lines) = run(folder.path(), false, &words);
    assert!(!succeeded);
    assert_eq!(
        lines[0],
        "error: cuweld: unsupported: code of sm_100 for sm_103 needs NVIDIA's finalizer"
    );
    let words = [&words[..], &["--opportunistic-finalization-lvl", "2"]].concat();
    let (succeeded, lines) = run(folder.path(), false, &words);
    assert!(succeeded, "{lines:?}");
    let said = "info: each of 2 files keeps its code of sm_100, which NVIDIA's finalizer would compile for sm_103: it runs there as it is";
    assert_eq!(lines[0], said);
    let image = std::fs::read(folder.path().join("x.cubin")).unwrap();
    assert_eq!((image[49], check_image(&image)), (103, vec![]));
}

#[test]
fn the_sass_view_alone() {
    let folder = tempfile::tempdir().unwrap();
    let [a, b] = objects("shared-memory/shared-static", "sm_100");
    let words = [
        "link",
        &a,
        &b,
        "--arch",
        "sm_100",
        "--self-check",
        "--out-sass",
    ];
    let (succeeded, lines) = run(folder.path(), false, &words);
    assert!(succeeded, "{lines:?}");
    let sass = folder.path().join("sass.cubin");
    let image = std::fs::read(&sass).unwrap();
    assert_eq!((image[48], check_image(&image)), (4, vec![]));
    // It gets no Mercury again.
    let words = ["finalize", "sass.cubin", "--arch", "sm_100", "--cap-merc"];
    let (succeeded, lines) = run(folder.path(), false, &words);
    assert!(!succeeded);
    assert_eq!(
        lines[0],
        "error: Cannot target sm_100 when input 'sass.cubin' is SASS"
    );
    std::fs::write(&sass, &image[..1000]).unwrap();
    let (_, lines) = run(folder.path(), false, &words);
    assert_eq!(lines[0], "error: Invalid elf provided for mercury uplift.");
}

#[test]
fn outputs_without_a_name() {
    let folder = tempfile::tempdir().unwrap();
    for (arch, name) in [("sm_90", "cubin"), ("sm_100", "capmerc.cubin")] {
        let [a, b] = objects("shared-memory/shared-static", arch);
        let (succeeded, lines) = run(folder.path(), false, &["link", &a, &b, "--arch", arch]);
        assert!(succeeded && folder.path().join(name).exists(), "{lines:?}");
    }
}

/// One message counts the functions that keep their code; options of nvlink silence it.
#[test]
fn kept_code_is_told_once() {
    let folder = tempfile::tempdir().unwrap();
    let input = fixture("mercury/mercury-debugger-barriers-taken-out/sm_100/r.cubin");
    let input = input.display().to_string();
    let said = |option: &str| {
        let words = ["nvlink", "-arch=sm_100", &input, "-o", "x.cubin", option];
        let (succeeded, lines) = run(folder.path(), false, &words);
        assert!(succeeded, "{lines:?}");
        lines
    };
    let kept = |name: &str| {
        format!(
            "nvlink info    : kernel '{name}' keeps its code, which NVIDIA's finalizer would compile without the debugger's barriers: \
             it has a memory barrier where it ends"
        )
    };
    let one = "nvlink info    : each of 2 kernels keeps its code, which NVIDIA's finalizer would compile without the debugger's barriers";
    assert_eq!(said("--cuweld-explain=off"), [one]);
    let all = said("--cuweld-explain=all");
    let first: Vec<&String> = all.iter().filter(|line| !line.starts_with(' ')).collect();
    assert_eq!(first, [&kept("_Z4callPi"), &kept("_Z5storePi")]);
    assert!(said("-w").is_empty());
    assert!(said("-disable-infos").is_empty());
}
