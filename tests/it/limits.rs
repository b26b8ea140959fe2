//! Limits of what a link may take: an error names the limit, and there is no output.

use std::path::Path;
use std::process::Command;

use crate::harness::command::{cuweld, said};

const LINKS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/links");

/// A folder with an object, and a fatbin that packs one.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let copy = |from: &str, to: &str| {
        std::fs::copy(Path::new(LINKS).join(from), folder.path().join(to)).unwrap();
    };
    copy("symbols/weak-templates/sm_90/a.cubin", "a.cubin");
    copy("inputs/fatbin/sm_90/a.fatbin", "packed.fatbin");
    folder
}

/// Asserts that a link fails and says this, and that it works without the limit.
fn is_limited(words: &[&str], limit: &str, message: &str) {
    let folder = folder();
    let output = folder.path().join("out.cubin");
    let link = [words, &["-o", "out.cubin"]].concat();
    let option = match words[0] {
        "nvlink" => format!("--cuweld-limit={limit}"),
        _ => format!("--limit={limit}"),
    };
    let limited = cuweld(folder.path(), &[&link[..], &[&option]].concat());
    let text = said(&limited);
    assert_eq!(limited.status.code(), Some(1), "{text}");
    assert!(text.contains(message), "{text}");
    let name = limit.split_once('=').unwrap().0;
    assert!(text.contains(&format!("--cuweld-limit={name}=N")), "{text}");
    assert!(!output.exists());
    // The environment says it, too; the command line has the last word.
    let run = |words: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cuweld"));
        command.args(words).env("CUWELD_LIMIT", limit);
        command.current_dir(folder.path()).output().unwrap()
    };
    assert_eq!(said(&run(&link)), text);
    let none = option.replace(limit, &format!("{name}=none"));
    let free = run(&[&link[..], &[&none]].concat());
    assert!(free.status.success(), "{}", said(&free));
    assert!(output.exists());
}

#[test]
fn unpacked_bytes_are_limited() {
    let message = "bytes that inputs unpack to are more than the 1024 of the limit 'unpacked' (at 'packed.fatbin')";
    is_limited(
        &["nvlink", "-arch=sm_90", "-r", "packed.fatbin"],
        "unpacked=1K",
        message,
    );
    is_limited(
        &["link", "--arch=sm_90", "-r", "packed.fatbin"],
        "unpacked=1K",
        message,
    );
}

#[test]
fn the_output_is_limited() {
    let message = "bytes of output are more than the 2048 of the limit 'output'";
    is_limited(&["nvlink", "-arch=sm_90", "a.cubin"], "output=2K", message);
    is_limited(&["link", "--arch=sm_90", "a.cubin"], "output=2K", message);
}

#[test]
fn lookups_of_libraries_are_limited() {
    let message =
        "8 files to look for (libraries times folders) are more than the 7 of the limit 'lookups'";
    let libraries = ["-La", "-Lb", "-lx", "-ly"];
    for link in [["nvlink", "-arch=sm_90"], ["link", "--arch=sm_90"]] {
        let words = [&link[..], &["a.cubin"], &libraries].concat();
        is_limited(&words, "lookups=7", message);
    }
}

/// Runs a link in a shell that limits it first.
#[cfg(target_os = "linux")]
fn run_in_shell(folder: &Path, limit: &str, inputs: usize) -> (Option<i32>, String) {
    let program = env!("CARGO_BIN_EXE_cuweld");
    let inputs = "a.cubin ".repeat(inputs);
    let script = format!("ulimit {limit}; '{program}' nvlink -arch=sm_90 -r {inputs} -o out.cubin");
    let mut command = Command::new("bash");
    let output = command.args(["-c", &script]).current_dir(folder).output();
    let output = output.unwrap();
    (output.status.code(), said(&output))
}

/// Limits that the system sets: the link ends with a message, its own exit code, and nothing left behind.
#[cfg(target_os = "linux")]
#[test]
fn limits_of_the_system_end_with_a_message() {
    let folder = folder();
    for (limit, inputs, message) in [
        (
            "-d 2000",
            400,
            "cuweld: error: out of memory: the system has no ",
        ),
        ("-f 1", 1, "File too large"),
    ] {
        let (code, text) = run_in_shell(folder.path(), limit, inputs);
        assert_eq!(code, Some(1), "{limit}: {text}");
        assert!(text.contains(message), "{limit}: {text}");
        let left = std::fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(left, 2, "{limit}");
    }
    let (code, text) = run_in_shell(folder.path(), "-f 1000", 1);
    assert_eq!(code, Some(0), "{text}");
    // Many files are open at once if they may be; these define one name again and again.
    for _ in 0..20 {
        let (code, text) = run_in_shell(folder.path(), "-n 10", 400);
        assert_eq!(code, Some(1), "{text}");
        assert!(!text.contains("open"), "{text}");
        assert!(text.contains("Multiple definition"), "{text}");
    }
}

#[test]
fn wrong_limits_are_refused() {
    let folder = folder();
    for limit in ["size=1", "output=x", "output"] {
        let option = format!("--cuweld-limit={limit}");
        let words = ["nvlink", "-arch=sm_90", "a.cubin", "-o", "o", &option];
        let refused = said(&cuweld(folder.path(), &words));
        assert!(
            refused.contains(&format!("the limit '{limit}': ")),
            "{refused}"
        );
        assert!(refused.contains("unpacked=N, output=N"), "{refused}");
    }
}

/// Options files that never end, and pipelines that double with each file.
#[test]
fn options_and_pipelines_are_limited() {
    let folder = folder();
    let words = ["nvlink", "-arch=sm_90", "--options-file", "/dev/zero"];
    let refused = said(&cuweld(folder.path(), &words));
    let expected = "Could not open options file '/dev/zero'\n  help: it has more than 64 MiB";
    assert!(refused.contains(expected), "{refused}");
    for level in 0..20 {
        let next = level + 1;
        let text = match level {
            19 => "name = 'p19'\n[[pass]]\nuse = 'classify'\n".to_owned(),
            _ => format!(
                "name = 'p{level}'\n[[pass]]\ninclude = 'p{next}.toml'\n[[pass]]\ninclude = 'p{next}.toml'\n"
            ),
        };
        std::fs::write(folder.path().join(format!("p{level}.toml")), text).unwrap();
    }
    let words = [
        "link",
        "--arch=sm_90",
        "a.cubin",
        "-o",
        "o",
        "--pipeline=p0.toml",
    ];
    let refused = said(&cuweld(folder.path(), &words));
    assert!(refused.contains("more than 10000 steps"), "{refused}");
}
