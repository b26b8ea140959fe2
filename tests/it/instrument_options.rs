//! Options that watch a link: names that are mistyped are errors with a suggestion, in each of their forms; what is shown is valid by itself.

use std::path::Path;
use std::process::{Command, Output};

use crate::harness::command::{cuweld, program, said, stderr};

const OBJECTS: [&str; 2] = [
    concat!(env!("CARGO_MANIFEST_DIR"), "/examples/rdc/a.o"),
    concat!(env!("CARGO_MANIFEST_DIR"), "/examples/rdc/b.o"),
];

fn link(folder: &Path, more: &[&str]) -> Output {
    let words = ["link", "--arch", "sm_90", "-o", "x"];
    cuweld(folder, &[&words, more, &OBJECTS].concat())
}

/// An option without its dashes, a value with a mistake, and what is said of it.
const MISTYPED: [(&str, &str, &str); 12] = [
    (
        "dump-before",
        "emitt",
        "there is no pass 'emitt'; did you mean 'emit'?",
    ),
    (
        "dump-after",
        "classify,callgraph-dcee",
        "did you mean 'callgraph-dce'?",
    ),
    ("dump-after", "alll", "did you mean 'all'?"),
    ("dump-after", "99", "has no step 99; it has 18"),
    ("stop-after", "clasify", "did you mean 'classify'?"),
    ("stop-after", "99", "has no step 99; it has 18"),
    ("skip", "classify,relocat", "did you mean 'relocate'?"),
    ("skip", "0", "has no step 0"),
    ("remarks", "place-memry", "did you mean 'place-memory'?"),
    (
        "insert",
        "strip-debg after classify",
        "did you mean 'strip-debug'?",
    ),
    (
        "insert",
        "strip-debug after classifi",
        "did you mean 'classify'?",
    ),
    (
        "pipeline",
        "executabl",
        "did you mean the predefined 'executable'?",
    ),
];

#[test]
fn mistyped_passes_and_steps_are_errors_in_every_form() {
    let folder = tempfile::tempdir().unwrap();
    let nvlink = |option: Option<String>, variable: Option<(String, &str)>| {
        let mut command = Command::new(program());
        command.args(["nvlink", "-arch=sm_90", "-o", "x"]);
        command
            .args(option)
            .args(OBJECTS)
            .current_dir(folder.path());
        command.envs(variable).output().unwrap()
    };
    for (option, value, expected) in MISTYPED {
        let variable = format!("CUWELD_{}", option.to_uppercase().replace('-', "_"));
        for output in [
            link(folder.path(), &[&format!("--{option}={value}")]),
            nvlink(Some(format!("--cuweld-{option}={value}")), None),
            nvlink(None, Some((variable, value))),
        ] {
            let said = stderr(&output);
            assert!(said.contains(expected), "{option}={value}: {said}");
            assert_eq!(output.status.code(), Some(1), "{option}={value}");
            assert!(!folder.path().join("x").exists(), "{option}={value}");
        }
    }
    // A pass that this link does not have is one of others that the variable holds for.
    let output = link(folder.path(), &["--dump-after=mercury-encode,3"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stderr(&output).starts_with("; 03-select-objects.after.lir\n"));
}

#[test]
fn dumps_with_the_messages_are_valid_alone() {
    let folder = tempfile::tempdir().unwrap();
    let dump = |form: &str| {
        let form = format!("--dump-format={form}");
        stderr(&link(folder.path(), &["--dump-after=callgraph-dce", &form]))
    };
    let json: serde_json::Value = serde_json::from_str(&dump("json")).unwrap();
    assert_eq!(json["dump"], "05-callgraph-dce.after.json");
    assert!(json["rows"].as_array().unwrap().len() > 100);
    // `//` begins a comment of DOT; `;` begins nothing there.
    let dot = dump("dot");
    let graph = dot.strip_prefix("// 05-callgraph-dce.after.dot\n").unwrap();
    assert!(graph.starts_with("digraph {") && graph.trim_end().ends_with('}'));
}

#[test]
fn counts_and_times_go_into_files() {
    let folder = tempfile::tempdir().unwrap();
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    let output = link(
        folder.path(),
        &[
            "--stats-output=counts.json",
            "--time-passes-output=times.txt",
        ],
    );
    assert!(output.status.success());
    assert_eq!(said(&output), "");
    let counts: serde_json::Value = serde_json::from_str(&read("counts.json")).unwrap();
    assert!(counts.to_string().contains("functions kept"));
    let times = read("times.txt");
    assert!(times.contains("callgraph-dce") && times.contains("peak memory: "));
    link(folder.path(), &["--stats", "--stats-output=counts.json"]);
    assert!(!read("counts.json").starts_with('['));
    let output = link(folder.path(), &["--stats-output=no/such/folder"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("cannot write 'no/such/folder'"));
}

#[test]
fn questions_take_names_of_the_source() {
    let folder = tempfile::tempdir().unwrap();
    let why = |question: &str| stderr(&link(folder.path(), &[question]));
    let live = why("--why-live=histogram");
    assert!(
        live.contains("'histogram' ('_Z9histogramPK5PixelPii') is live\n"),
        "{live}"
    );
    let registers = why("--why-regs=find_brightest");
    assert!(
        registers.starts_with("'_Z14find_brightestPK5Pixeli' needs "),
        "{registers}"
    );
    assert!(!registers.contains("no function"), "{registers}");
    assert!(why("--why-stack=histogram(const Pixel *, int *, int)").contains("_Z9histogram"));
    for (question, near) in [
        ("--why-live=histgram", "histogram"),
        (
            "--why-live=_Z9histogramPK5PixelPi",
            "_Z9histogramPK5PixelPii",
        ),
        ("--why-stack=find_brightst", "find_brightest"),
        ("--why-extract=c.o", "a.o"),
    ] {
        let said = why(question);
        assert!(
            said.contains(&format!("did you mean '{near}'?")),
            "{question}: {said}"
        );
    }
}

/// A stack that is unknown without a recursion is no recursion.
#[test]
fn a_stack_that_no_compiler_knows_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let object = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/links/resources/ewp-unknown-stack/sm_90/a.cubin"
    );
    let words = ["link", "--arch", "sm_90", "-o", "x", object];
    let asked = ["--why-stack=taken", "--remarks=propagate-resources"];
    let text = stderr(&cuweld(folder.path(), &[&words[..], &asked].concat()));
    for said in [
        "'taken' needs stack of unknown size, as its compiler says\n",
        "'taken' needs stack of unknown size: its compiler says so\n",
    ] {
        assert!(text.contains(said), "{text}");
    }
}
