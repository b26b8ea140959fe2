//! The command line of `cuweld dlink`: outputs, targets, failures, files of options and of dependencies.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::process::Output;

use super::dlink;
use super::fixture;
use super::is_there;
use super::modules::module_ids;
use super::run;
use crate::harness::command::program;
use crate::harness::command::said;

/// Returns a folder with the two objects `a.o` and `b.o`.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a.o", "b.o"] {
        fs::copy(fixture(name), folder.path().join(name)).unwrap();
    }
    folder
}

fn read(folder: &Path, name: &str) -> Vec<u8> {
    let path = folder.join(name);
    fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Runs a link that is refused, and returns what it says. Nothing is written.
#[track_caller]
fn refused(folder: &Path, words: &[&str]) -> String {
    let before = fs::read_dir(folder).unwrap().count();
    let done = dlink(folder).args(words).output().unwrap();
    assert!(!done.status.success(), "{words:?}");
    assert_eq!(fs::read_dir(folder).unwrap().count(), before, "{words:?}");
    said(&done)
}

/// Returns the lines of errors and warnings.
fn findings(output: &Output) -> Vec<String> {
    let said = said(output);
    let lines = said
        .lines()
        .filter(|line| line.starts_with("error: ") || line.starts_with("warning: "));
    lines.map(str::to_owned).collect()
}

#[test]
fn the_name_says_what_is_written() {
    let folder = folder();
    let folder = folder.path();
    let link = |words: &[&str]| {
        run(dlink(folder)
            .args(["--arch", "sm_90", "a.o", "b.o"])
            .args(words))
    };
    let begins = |name: &str, magic: &[u8], kind: usize| {
        let bytes = read(folder, name);
        assert!(bytes.starts_with(magic), "{name}");
        // A relocatable file or an executable one.
        if magic == b"\x7fELF" {
            assert_eq!(bytes[16], kind as u8, "{name}");
        }
    };
    link(&[]);
    begins("a_dlink.o", b"\x7fELF", 1);
    link(&["-o", "link"]);
    begins("link", b"\x7fELF", 1);
    link(&["-o", "link.cubin"]);
    begins("link.cubin", b"\x7fELF", 2);
    link(&["-o", "link.fatbin"]);
    begins("link.fatbin", &[0x50, 0xed, 0x55, 0xba], 0);
    link(&["-o", "other.cubin", "--fatbin"]);
    assert!(read(folder, "other.cubin") == read(folder, "link.fatbin"));
    link(&["-o", "link.fatbin", "--host-source"]);
    begins("link.fatbin", b"/* Registers linked device code", 0);
    // A program that begins does not see half of it.
    fs::write(folder.join("link.o"), "before").unwrap();
    link(&["-o", "link.o"]);
    assert!(read(folder, "link.o") == read(folder, "a_dlink.o"));
}

#[test]
fn output_depends_on_the_inputs_alone() {
    let (one, other) = (folder(), folder());
    let words = ["--arch", "sm_90,sm_80,sm_100", "a.o", "b.o", "-o"];
    for name in ["link.o", "link.fatbin"] {
        run(dlink(one.path()).args(words).arg(name).args(["-j", "1"]));
        run(dlink(other.path())
            .env_clear()
            .envs([
                ("Z", "1"),
                ("LANG", "de_DE.UTF-8"),
                ("A", "2"),
                ("TZ", "Asia/Tokyo"),
            ])
            .args(words)
            .arg(name)
            .args(["-j", "8"]));
        assert!(read(one.path(), name) == read(other.path(), name), "{name}");
    }
}

/// Three links of which one or two fail: messages come in the order of the targets, and nothing is written.
#[test]
fn failures_are_said_in_order() {
    let folder = folder();
    let folder = folder.path();
    // `b` has code for sm_80 alone.
    run(Command::new(program())
        .args(["link", "-r", "--arch", "sm_80", "b.o", "-o", "b.cubin"])
        .current_dir(folder));
    let mismatch = |target: &str| {
        format!(
            "error: Input file 'b.cubin' arch does not match target '{target}' (target: {target})"
        )
    };
    for (targets, failing) in [
        ("sm_80,sm_90", vec!["sm_90"]),
        ("sm_90,sm_80", vec!["sm_90"]),
        ("sm_100,sm_80,sm_90", vec!["sm_100", "sm_90"]),
        ("sm_80,sm_90,sm_100", vec!["sm_90", "sm_100"]),
    ] {
        for jobs in ["1", "2", "8"] {
            for goes_on in [false, true] {
                let what = format!("{targets} {jobs} {goes_on}");
                fs::write(folder.join("link.o"), "before").unwrap();
                let words = [
                    "--arch", targets, "-j", jobs, "a.o", "b.cubin", "-o", "link.o",
                ];
                let mut command = dlink(folder);
                command.args(words).args(["--dependency-output", "link.d"]);
                command.args(goes_on.then_some("--keep-going"));
                let done = command.output().unwrap();
                assert!(!done.status.success(), "{what}");
                let errors: Vec<String> = findings(&done);
                let errors: Vec<_> = errors
                    .iter()
                    .filter(|line| line.contains("match"))
                    .collect();
                let seen = if goes_on { failing.len() } else { 1 };
                let expected: Vec<String> = failing[..seen]
                    .iter()
                    .map(|target| mismatch(target))
                    .collect();
                assert_eq!(
                    errors,
                    expected.iter().collect::<Vec<_>>(),
                    "{what}: {}",
                    said(&done)
                );
                assert!(read(folder, "link.o") == b"before", "{what}");
                assert!(!folder.join("link.d").exists(), "{what}");
            }
        }
    }
    // One GPU has no name in its messages.
    let done = dlink(folder)
        .args(["--arch", "sm_90", "a.o"])
        .output()
        .unwrap();
    assert_eq!(
        findings(&done),
        ["error: Undefined reference to '_Z5twicei' in 'a.o'"]
    );
}

#[test]
fn all_targets_are_those_of_every_input() {
    let folder = folder();
    let folder = folder.path();
    let code_of = |input: &str, target: &str, output: &str| {
        run(Command::new(program())
            .args(["link", "-r", "--arch", target, input, "-o", output])
            .current_dir(folder));
    };
    let written = |words: &[&str]| {
        run(dlink(folder).args(words).args(["--fatbin", "-o", "link"]));
        read(folder, "link")
    };
    let all = written(&["--arch", "sm_80,sm_90,sm_100", "a.o", "b.o"]);
    assert!(written(&["a.o", "b.o"]) == all);
    assert!(written(&["--arch", "all", "a.o", "b.o"]) == all);
    // Each target once, in the order of the words.
    let words = ["--arch", "sm_90,all,sm_80", "a.o", "b.o"];
    assert!(written(&words) == written(&["--arch", "sm_90,sm_80,sm_100", "a.o", "b.o"]));
    code_of("b.o", "sm_90", "b.cubin");
    assert!(written(&["a.o", "b.cubin"]) == written(&["--arch", "sm_90", "a.o", "b.cubin"]));
    // Inputs without code for a GPU do not count.
    fs::write(folder.join("none.c"), "int x;\n").unwrap();
    run(Command::new("cc")
        .args(["-c", "none.c"])
        .current_dir(folder));
    run(Command::new("ar")
        .args(["rcs", "none.a", "none.o"])
        .current_dir(folder));
    assert!(written(&["none.o", "a.o", "none.a", "b.o"]) == all);
    let none = "error: no input has code for a GPU\n";
    assert!(refused(folder, &["none.o"]).starts_with(none));
    let said = refused(folder, &["none.o", "missing.o"]);
    assert!(said.starts_with(none), "{said}");
    assert!(
        said.contains("\n  note: cannot read 'missing.o': No such file"),
        "{said}"
    );
    code_of("a.o", "sm_80", "a.cubin");
    let said = refused(folder, &["none.o", "a.cubin", "b.cubin", "-lmissing"]);
    let common = "error: there is no GPU that all inputs have code for\n";
    let has = "  note: 'a.cubin' has sm_80\n  note: 'b.cubin' has sm_90\n";
    assert!(said.starts_with(&format!("{common}{has}")), "{said}");
}

#[test]
fn module_ids_are_different_names() {
    let folder = folder();
    let folder = folder.path();
    run(dlink(folder).args(["--arch", "sm_90", "a.o", "b.o", "-o", "link.o"]));
    let ids = module_ids(&read(folder, "link.o"));
    // The second object gets the id of the first, which is as long.
    let (id, other) = (ids[0].as_bytes(), ids[1].as_bytes());
    let mut object = read(folder, "b.o");
    let places = (0..object.len()).filter(|at| object[*at..].starts_with(other));
    for at in places.collect::<Vec<_>>() {
        object[at..at + id.len()].copy_from_slice(id);
    }
    fs::write(folder.join("b.o"), object).unwrap();
    fs::remove_file(folder.join("link.o")).unwrap();
    for form in [
        &["--host", "x86_64"][..],
        &["--host", "aarch64"],
        &["--host-source"],
    ] {
        let words = [&["--arch", "sm_90", "a.o", "b.o", "-o", "link.o"], form].concat();
        let said = refused(folder, &words);
        let expected = format!(
            "error: no output: several inputs have the module id '{}'",
            ids[0]
        );
        assert!(said.contains(&expected), "{said}");
    }
    // A name that C would read as something else.
    let mut object = read(folder, "a.o");
    let places = (0..object.len()).filter(|at| object[*at..].starts_with(id));
    for at in places.collect::<Vec<_>>() {
        object[at + 9] = b')';
    }
    fs::write(folder.join("c.o"), object).unwrap();
    fs::copy(fixture("b.o"), folder.join("d.o")).unwrap();
    let words = [
        "--arch",
        "sm_90",
        "c.o",
        "d.o",
        "--host-source",
        "-o",
        "link.c",
    ];
    let said = refused(folder, &words);
    assert!(said.contains("is no name that C has"), "{said}");
    run(dlink(folder).args(&words[..4]));
    // Code alone has no ids.
    run(dlink(folder).args(["--arch", "sm_90", "a.o", "b.o", "-o", "link.cubin"]));
}

#[test]
fn combinations_are_refused() {
    let folder = folder();
    let two = ["a.o", "b.o", "--arch", "sm_80,sm_90"];
    let one = ["a.o", "b.o", "--arch", "sm_90"];
    for (link, words, message) in [
        (one, &["-r"][..], "makes nothing that is linked again"),
        (one, &["--repro", "link.tar"], "are for one link"),
        (one, &["--print-pipeline"], "are for one link"),
        (
            two,
            &["--dump-after", "all", "--dump-dir", "dump"],
            "one GPU at a time",
        ),
        (
            two,
            &["-o", "link.cubin"],
            "a cubin holds the code for one GPU",
        ),
        (one, &["--fatbin", "--host-source"], "cannot be used with"),
        (
            one,
            &["--visibility", "hidden", "--host-source"],
            "cannot be used with",
        ),
        (
            one,
            &["--visibility", "protected"],
            "invalid value 'protected'",
        ),
        (one, &["--host", "riscv64"], "invalid value 'riscv64'"),
        (one, &["--arch", "sm_1"], "no such architecture"),
        (one, &["--compress-mode", "best"], "invalid value 'best'"),
        (one, &["missing.o"], "Could not open input file 'missing.o'"),
        (
            one,
            &["-o", "missing/link.o"],
            "cannot write 'missing/link.o'",
        ),
        (one, &["--options-file", "missing"], "cannot read 'missing'"),
        (one, &["--limit", "output=16"], "error: "),
    ] {
        let said = refused(folder.path(), &[&link[..], words].concat());
        assert!(said.contains(message), "{words:?}: {said}");
    }
    run(dlink(folder.path())
        .args(one)
        .args(["--dump-after", "all", "--dump-dir", "dump"]));
}

#[test]
fn options_come_from_files() {
    let folder = folder();
    let folder = folder.path();
    run(dlink(folder).args(["--arch", "sm_90,sm_80", "a.o", "b.o", "-o", "plain.fatbin"]));
    fs::create_dir(folder.join("more")).unwrap();
    fs::copy(folder.join("b.o"), folder.join("more/b 1.o")).unwrap();
    fs::write(folder.join("targets"), "--arch sm_90,sm_80\n").unwrap();
    fs::write(
        folder.join("options"),
        "--options-file=targets\n\"more/b 1.o\" -o\nlink.fatbin",
    )
    .unwrap();
    for words in [
        &["a.o", "--options-file", "options"][..],
        &["a.o", "--options-file=options"],
        &["--options-file=targets", "a.o", "b.o", "-o", "link.fatbin"],
    ] {
        let _ = fs::remove_file(folder.join("link.fatbin"));
        run(dlink(folder).args(words));
        assert!(
            read(folder, "link.fatbin") == read(folder, "plain.fatbin"),
            "{words:?}"
        );
    }
    fs::write(folder.join("itself"), "a.o --options-file itself\n").unwrap();
    fs::write(folder.join("one"), "--options-file=other").unwrap();
    fs::write(folder.join("other"), "--options-file one").unwrap();
    fs::write(folder.join("quote"), "a.o \"b.o").unwrap();
    for (file, message) in [
        ("itself", "the options file 'itself' is read by itself"),
        ("one", "is read by itself"),
        ("quote", "'quote': "),
        ("more", "cannot read 'more'"),
    ] {
        let said = refused(folder, &["--options-file", file]);
        assert!(said.contains(message), "{said}");
    }
}

/// Names that make and ninja read in ways of their own.
const NAMES: [&str; 4] = ["a.o", "lib #1/b 2.o", "lib$x/libc.a", "plain.o"];

/// Returns a folder with inputs of such names, and the words of a link.
fn built() -> (tempfile::TempDir, String) {
    let folder = folder();
    let path = folder.path();
    for (name, from) in NAMES.iter().zip(["a.o", "b.o", "", ""]) {
        fs::create_dir_all(path.join(name).parent().unwrap()).unwrap();
        if !from.is_empty() && from != *name {
            fs::copy(path.join(from), path.join(name)).unwrap();
        }
    }
    fs::write(path.join("plain.c"), "int x;\n").unwrap();
    run(Command::new("cc").args(["-c", "plain.c"]).current_dir(path));
    // Else make knows how to make the object.
    fs::remove_file(path.join("plain.c")).unwrap();
    run(Command::new("ar")
        .args(["rcs", NAMES[2], "plain.o"])
        .current_dir(path));
    let options = "a.o 'lib #1/b 2.o' plain.o -lc '-Llib$x' --arch sm_90,sm_80 -o link.o --dependency-output link.d";
    fs::write(path.join("options"), options.replace('\'', "\"")).unwrap();
    let script = format!("{} dlink --options-file options", program().display());
    (folder, script)
}

#[test]
fn make_reads_dependencies() {
    if !is_there("make") {
        return;
    }
    let (folder, script) = built();
    let folder = folder.path();
    fs::write(
        folder.join("Makefile"),
        format!("link.o:\n\t{script}\n\techo linked >>log\n-include link.d\n"),
    )
    .unwrap();
    rebuilds(folder, || {
        run(Command::new("make")
            .current_dir(folder)
            .env_remove("MAKEFLAGS"));
    });
    // An input that is gone is the linker's to report.
    fs::remove_file(folder.join("plain.o")).unwrap();
    let done = Command::new("make")
        .current_dir(folder)
        .env_remove("MAKEFLAGS")
        .output()
        .unwrap();
    assert!(
        said(&done).contains("Could not open input file 'plain.o'"),
        "{}",
        said(&done)
    );
}

#[test]
fn ninja_reads_dependencies() {
    if !is_there("ninja") {
        return;
    }
    let (folder, script) = built();
    let folder = folder.path();
    let rule = format!(
        "rule link\n  command = {script} && echo linked >>log\n  depfile = link.d\n  deps = gcc\n"
    );
    fs::write(
        folder.join("build.ninja"),
        format!("{rule}build link.o: link\n"),
    )
    .unwrap();
    rebuilds(folder, || {
        run(Command::new("ninja").current_dir(folder));
    });
}

/// Builds, and builds again for each input that is newer.
fn rebuilds(folder: &Path, build: impl Fn()) {
    let count = || {
        String::from_utf8(read(folder, "log"))
            .unwrap()
            .lines()
            .count()
    };
    build();
    build();
    assert_eq!(count(), 1);
    for (index, name) in NAMES.iter().enumerate() {
        let file = fs::File::options()
            .append(true)
            .open(folder.join(name))
            .unwrap();
        let output = fs::metadata(folder.join("link.o"))
            .unwrap()
            .modified()
            .unwrap();
        file.set_modified(output + std::time::Duration::from_secs(1))
            .unwrap();
        build();
        assert_eq!(count(), index + 2, "{name}");
        // The output is older again than what is not changed further on.
        let past = std::time::SystemTime::now() - std::time::Duration::from_secs(60);
        file.set_modified(past).unwrap();
        build();
    }
}
