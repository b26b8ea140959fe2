//! `cuweld new-pass`: what it makes builds, passes its test, and fails it once the pass is broken.
//!
//! Projects in Rust are built if `CUWELD_NEW_PASS=rust` asks for them, as they build cuweld. Their templates are members
//! of the workspace, so that every run builds those; a test compares both.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::harness::command::{cuweld, program, said};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// Makes the project `count-loads` in a folder.
fn make(folder: &Path, way: &str) -> PathBuf {
    let output = cuweld(folder, &["new-pass", "count-loads", way, "--cuweld", ROOT]);
    assert!(output.status.success(), "{}", said(&output));
    let project = folder.join("count-loads");
    let text = said(&output);
    assert!(
        text.starts_with("'count-loads' has the pass 'count-loads'"),
        "{text}"
    );
    project
}

/// Runs the command that `new-pass` names.
fn test(project: &Path, command: &[&str]) -> Output {
    let (name, arguments) = command.split_first().unwrap();
    Command::new(name)
        .args(arguments)
        .current_dir(project)
        .env("CUWELD", program())
        .env_remove("BLESS")
        .output()
        .unwrap()
}

/// Checks that the test of a project passes, that it fails once `old` is `new` in a file, and that it can be blessed.
fn check(project: &Path, command: &[&str], (file, old, new): (&str, &str, &str)) {
    let output = test(project, command);
    assert!(output.status.success(), "{}", said(&output));
    let file = project.join(file);
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains(old), "{text}");
    std::fs::write(&file, text.replace(old, new)).unwrap();
    let output = test(project, command);
    assert!(!output.status.success(), "{}", said(&output));
    let difference = "-; warning: 'large' needs 40 registers, more than 32";
    assert!(said(&output).contains(difference), "{}", said(&output));
}

fn is_there(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok()
}

#[test]
fn a_project_in_c_passes_its_test() {
    if !is_there("make") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let project = make(folder.path(), "--c");
    check(
        &project,
        &["make", "test"],
        ("count-loads.c", "<= limit", "> limit"),
    );
    let output = test(&project, &["make", "test", "BLESS=1"]);
    assert!(output.status.success(), "{}", said(&output));
    let case = std::fs::read_to_string(project.join("tests/passes/limit.lir")).unwrap();
    assert!(
        case.ends_with("end\n; warning: 'small' needs 24 registers, more than 32\n"),
        "{case}"
    );
    assert!(test(&project, &["make", "test"]).status.success());
}

#[test]
fn a_project_in_python_passes_its_test() {
    if !is_there("python3") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let project = make(folder.path(), "--python");
    let program = program().display().to_string();
    let command = [&*program, "test-passes", "tests/passes"];
    check(
        &project,
        &command,
        ("count-loads.py", "> args.limit", "< args.limit"),
    );
}

/// Builds cuweld into a folder of its own, which it keeps for the next time; without a network.
#[test]
fn projects_in_rust_pass_their_tests() {
    if std::env::var_os("CUWELD_NEW_PASS").is_none_or(|value| value != "rust") {
        return;
    }
    let target = format!("--target-dir={ROOT}/target/new-pass");
    for (way, change) in [
        (
            "--rust",
            ("src/count_loads.rs", "> self.limit", "< self.limit"),
        ),
        ("--plugin", ("src/lib.rs", "> limit", "< limit")),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let project = make(folder.path(), way);
        check(&project, &["cargo", "test", "--offline", &target], change);
    }
}

/// Returns the files of a folder and those in it, by their paths in it.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(files(&path)),
            false => found.push(path),
        }
    }
    found.sort();
    found
}

/// What is built and tested as a member of the workspace is what users get.
#[test]
fn a_project_in_rust_is_its_template() {
    for (way, template, name) in [
        ("--rust", "rust", "my-pass"),
        ("--plugin", "plugin", "my-plugin"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().join("made");
        let output = cuweld(
            folder.path(),
            &["new-pass", name, way, "--cuweld", ROOT, "--dir=made"],
        );
        assert!(output.status.success(), "{}", said(&output));
        let template = Path::new(ROOT)
            .join("src/new_pass/templates")
            .join(template);
        let mut compared = 0;
        for file in files(&project) {
            let inside = file.strip_prefix(&project).unwrap();
            let made = std::fs::read_to_string(&file).unwrap();
            let original = match inside.to_str().unwrap() {
                "Cargo.lock" => Path::new(ROOT).join(inside),
                ".gitignore" => template.join("gitignore"),
                _ => template.join(inside),
            };
            let original = std::fs::read_to_string(original).unwrap();
            let original = match inside.to_str().unwrap() {
                "Cargo.toml" => {
                    let own =
                        "\n# A workspace of its own, wherever the folder lies.\n[workspace]\n";
                    original.replace("\"../../../..", &format!("\"{ROOT}")) + own
                }
                "tests/passes.rs" => {
                    let program = format!("= {:?};", program().canonicalize().unwrap());
                    original.replace("= \"cuweld\";", &program)
                }
                _ => original,
            };
            assert_eq!(made, original, "{}", inside.display());
            compared += 1;
        }
        assert_eq!(compared, files(&template).len() + 1);
    }
}

#[test]
fn nothing_is_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |words: &[&str], expected: &str| {
        let output = cuweld(folder.path(), &[&["new-pass"], words].concat());
        assert!(!output.status.success());
        assert!(said(&output).contains(expected), "{}", said(&output));
    };
    std::fs::create_dir(folder.path().join("there")).unwrap();
    std::fs::write(folder.path().join("file"), "mine").unwrap();
    refused(
        &["there", "--c"],
        "'there' is there already; nothing is changed",
    );
    refused(&["a", "--c", "--dir=file"], "'file' is there already");
    refused(&["a", "--c", "--dir=file/a"], "cannot write 'file'");
    refused(&["../a", "--c"], "'../a': a pass has a name of at most 64");
    refused(&["match", "--rust"], "the name means something else");
    refused(&["classify", "--c"], "'classify' is a pass of cuweld");
    refused(&["a"], "--rust");
    refused(&["a", "--c", "--python"], "cannot be used with");
    refused(
        &["a", "--rust", "--cuweld=there"],
        "'there' is not the source of cuweld",
    );
    refused(&["a", "--rust", "--cuweld=gone"], "cannot open 'gone'");
    assert_eq!(
        std::fs::read_to_string(folder.path().join("file")).unwrap(),
        "mine"
    );
    let names = std::fs::read_dir(folder.path()).unwrap();
    assert_eq!(names.count(), 2);
    assert_eq!(
        std::fs::read_dir(folder.path().join("there"))
            .unwrap()
            .count(),
        0
    );
}
