//! A C program that links, with the shared library and with the static one.

use std::fs;
use std::path::Path;
use std::path::PathBuf;
use std::process::Command;
use std::process::Output;

use cuweld::Kind;
use cuweld::Linker;
use cuweld::Target;
use cuweld::Toolkit;

/// Returns a file of the repository.
fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name)
}

/// Compiles the example with a library of this build, in a folder that both lie in.
fn compile(folder: &Path, ending: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let built = test
        .parent()
        .unwrap()
        .join(format!("libcuweld_capi{ending}"));
    let library = match ending {
        ".so" => folder.join("libcuweld.so.0"),
        _ => folder.join("libcuweld.a"),
    };
    fs::copy(&built, &library).unwrap_or_else(|error| panic!("{}: {error}", built.display()));
    let program = folder.join("link");
    let mut command = Command::new("cc");
    command
        .args(["-Wall", "-Wextra", "-Werror", "-O1", "-o"])
        .arg(&program);
    command.arg("-I").arg(file("capi/include"));
    command.arg(file("examples/link-c/link.c")).arg(library);
    command.args(["-lpthread", "-ldl", "-lm", "-lgcc_s"]);
    assert!(command.status().unwrap().success());
    program
}

/// Runs the program on objects of the example.
fn link(program: &Path, words: &[&str], variable: Option<&str>) -> Output {
    let folder = program.parent().unwrap();
    let mut command = Command::new(program);
    command.env("LD_LIBRARY_PATH", folder).args(words);
    command.envs(variable.map(|name| (name, "1")));
    command.current_dir(file("examples/rdc")).output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[test]
fn c_programs_link() {
    let expected = Linker::new(Target::parse("sm_90").unwrap())
        .toolkit(Toolkit::by_version("13.0.88").unwrap())
        .add(
            fs::read(file("examples/rdc/a.o")).unwrap(),
            Kind::Any,
            "a.o",
        )
        .and_then(|linker| {
            linker.add(
                fs::read(file("examples/rdc/b.o")).unwrap(),
                Kind::Any,
                "b.o",
            )
        })
        .unwrap()
        .link()
        .unwrap();
    for ending in [".so", ".a"] {
        let folder = tempfile::tempdir().unwrap();
        let program = compile(folder.path(), ending);
        let cubin = folder.path().join("out.cubin");
        let output = cubin.to_str().unwrap();
        let linked = link(&program, &["sm_90", output, "a.o", "b.o"], None);
        let text = said(&linked);
        assert!(linked.status.success(), "{text}");
        assert!(fs::read(&cubin).unwrap() == expected.cubin);
        assert!(text.contains("2 inputs of 29976 bytes"), "{text}");
        assert!(text.contains("some passes"), "{text}");

        let mapped = said(&link(
            &program,
            &["sm_90", output, "a.o", "b.o"],
            Some("MAP"),
        ));
        assert!(
            mapped.contains("\n{\"sections\":[{\"number\":0,"),
            "{mapped}"
        );
        assert!(mapped.contains("\"input\":{\"name\":\"b.o\","), "{mapped}");

        let lacks = link(&program, &["sm_90", output, "a.o"], None);
        let text = said(&lacks);
        assert!(
            text.starts_with("error 6: Undefined reference to"),
            "{text}"
        );
        assert!(text.contains("\nlink/undefined: "), "{text}");
        assert_eq!(lacks.status.code(), Some(1));

        let wrong = [
            (["sm_1", "a.o"], None, "'sm_1' is no architecture"),
            (
                ["sm_90", "a.cu"],
                None,
                "error 4: 'a.cu' is not anything that is linked",
            ),
            (
                ["sm_90", "b.o"],
                Some("CANCEL"),
                "error 7: the link was cancelled",
            ),
        ];
        for ([arch, input], variable, expected) in wrong {
            let refused = link(&program, &[arch, output, input], variable);
            assert!(said(&refused).starts_with(expected), "{}", said(&refused));
            assert_ne!(refused.status.code(), Some(0));
        }
    }
}

/// What C sees is what the header declares.
#[test]
fn the_header_has_what_the_library_exports() {
    let test = std::env::current_exe().unwrap();
    let library = test.parent().unwrap().join("libcuweld_capi.so");
    let mut command = Command::new("nm");
    command.args(["-D", "--defined-only", "-j"]).arg(library);
    let exported = String::from_utf8(command.output().unwrap().stdout).unwrap();
    let mut exported: Vec<&str> = exported.lines().collect();
    let header = fs::read_to_string(file("capi/include/cuweld.h")).unwrap();
    let declared = header
        .lines()
        .filter(|line| line.ends_with(");") && !line.starts_with("typedef"));
    let mut declared: Vec<&str> = declared
        .filter_map(|line| line.split('(').next()?.rsplit([' ', '*']).next())
        .collect();
    declared.sort_unstable();
    exported.sort_unstable();
    assert_eq!(exported, declared);
    assert!(declared.len() > 10);
}
