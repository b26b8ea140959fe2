//! Watching a run: dumps of changes, filters, JSON, DOT, traces, times, counts; bisection, checks, skipping.

use std::path::Path;
use std::process::Command;

use crate::harness::command::{cuweld, stderr};

const INPUT: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/tests/links/symbols/weak-templates/sm_90/a.cubin"
);

/// An `exec` pass that makes every register count 99, at step 2 of a link.
const RAISE: &str = "classify,exec{command=['sed','s/registers=[0-9]*/registers=99/'],bytes=ref,requires=classified},\
    exec{command=['cat'],bytes=ref},select-objects";

/// Runs `opt` on the input and returns what it says.
fn opt(folder: &Path, arguments: &[&str]) -> String {
    let base = ["opt", INPUT, "--arch=sm_90", "-o", "out.lir"];
    let output = cuweld(folder, &[&base[..], arguments].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    stderr(&output)
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn dumps_of_changes() {
    let folder = tempfile::tempdir().unwrap();
    let dumps = folder.path().join("dumps");
    opt(
        folder.path(),
        &["--passes", RAISE, "--dump-changed=diff", "--dump-dir=dumps"],
    );
    assert_eq!(
        names(&dumps),
        ["01-classify.diff", "02-exec.diff", "04-select-objects.diff"]
    );
    let diff = std::fs::read_to_string(dumps.join("02-exec.diff")).unwrap();
    assert!(diff.starts_with("--- before\n+++ exec\n@@ "), "{diff}");
    let added: Vec<&str> = diff
        .lines()
        .filter(|line| line.starts_with('+'))
        .skip(1)
        .collect();
    assert!(
        !added.is_empty() && added.iter().all(|line| line.contains("registers=99")),
        "{diff}"
    );
    std::fs::remove_dir_all(&dumps).unwrap();
    opt(
        folder.path(),
        &["--passes", RAISE, "--dump-changed", "--dump-dir=dumps"],
    );
    assert_eq!(
        names(&dumps),
        [
            "01-classify.after.lir",
            "02-exec.after.lir",
            "04-select-objects.after.lir"
        ]
    );
}

#[test]
fn dumps_in_other_forms() {
    let folder = tempfile::tempdir().unwrap();
    let json = opt(
        folder.path(),
        &[
            "--stop-after=classify",
            "--dump-after=classify",
            "--dump-format=json",
        ],
    );
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(value["dump"], "02-classify.after.json");
    let rows = value["rows"].as_array().unwrap();
    assert!(
        rows.iter()
            .any(|row| row["fields"]["kind"] == "text" && row["object"] == "@0")
    );
    let dot = opt(
        folder.path(),
        &["--dump-after=callgraph-dce", "--dump-format=dot"],
    );
    assert!(
        dot.contains("digraph {") && dot.contains("peripheries=2"),
        "{dot}"
    );
    let filter = [
        "--stop-after=classify",
        "--dump-after=all",
        "--dump-filter=no-such-name",
    ];
    let filtered = opt(folder.path(), &filter);
    let whole = opt(
        folder.path(),
        &[
            "--stop-after=classify",
            "--dump-after=all",
            "--dump-bytes=hash",
        ],
    );
    assert!(filtered.contains("module phase=classified") && filtered.len() < whole.len());
}

#[test]
fn times_counts_and_traces() {
    let folder = tempfile::tempdir().unwrap();
    let said = opt(
        folder.path(),
        &["--time-passes", "--stats", "--trace=chrome:t.json"],
    );
    for expected in [
        "cpu ms  pass",
        "    emit\n",
        "peak memory: ",
        "02-classify\n",
        "  functions\n",
    ] {
        assert!(said.contains(expected), "{expected}: {said}");
    }
    // The tree: the run, and below it each pass with two times.
    let of_pass = said
        .lines()
        .find(|line| line.ends_with("    classify"))
        .unwrap();
    let columns: Vec<&str> = of_pass.split_whitespace().collect();
    let is_time = |column: usize| columns[column].parse::<f64>().is_ok();
    assert!(
        is_time(0) && columns[1].ends_with('%') && is_time(2),
        "{said}"
    );
    let trace = std::fs::read_to_string(folder.path().join("t.json")).unwrap();
    let trace: serde_json::Value = serde_json::from_str(&trace).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    let of = |name: &str| events.iter().find(|event| event["name"] == name).unwrap();
    assert_eq!(of("classify")["ph"], "X");
    assert!(of("classify")["args"]["functions"].as_u64().unwrap() > 0);
    let (run, pass) = (of("executable"), of("emit"));
    let end =
        |event: &serde_json::Value| event["ts"].as_f64().unwrap() + event["dur"].as_f64().unwrap();
    assert!(end(run) >= end(pass) && run["ts"].as_f64() <= of("classify")["ts"].as_f64());
    let json = opt(folder.path(), &["--stats=json"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json[0]["pass"], "check-objects");
}

#[test]
fn passes_can_be_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let registers = |more: &[&str]| {
        let said = opt(folder.path(), &[&["--passes", RAISE], more].concat());
        let text = std::fs::read_to_string(folder.path().join("out.lir")).unwrap();
        (text.contains("registers=99"), said)
    };
    assert_eq!(registers(&[]), (true, String::new()));
    assert_eq!(registers(&["--skip=exec"]), (false, String::new()));
    assert_eq!(registers(&["--skip=3"]), (true, String::new()));
    let lines = "bisect: 1: step 2 'exec': run\nbisect: 2: step 3 'exec': not run\n";
    assert_eq!(registers(&["--bisect-limit=1"]), (true, lines.to_owned()));
    assert!(!registers(&["--bisect-limit=0"]).0);
    let output = cuweld(
        folder.path(),
        &[
            "opt",
            INPUT,
            "--arch=sm_90",
            "--skip=classify",
            "-o",
            "out.lir",
        ],
    );
    assert!(
        stderr(&output).contains("'classify', which establishes it, is left out: it is skipped"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn steps_are_inserted() {
    let folder = tempfile::tempdir().unwrap();
    let steps = |words: &[&str]| {
        let base = ["link", INPUT, "--arch=sm_90", "--print-pipeline"];
        let output = cuweld(folder.path(), &[&base[..], words].concat());
        assert!(output.status.success(), "{}", stderr(&output));
        String::from_utf8(output.stdout).unwrap()
    };
    let exec = "exec{command=['true'],requires=live} after callgraph-dce";
    let expected = "callgraph-dce,strip-debug,merge-metadata,";
    for words in [
        &["--insert", exec, "--insert", "strip-debug replace exec"][..],
        &[
            "--pipeline=executable",
            "--insert=strip-debug after callgraph-dce",
        ],
        &[
            "--passes=@executable",
            "--insert=strip-debug after callgraph-dce",
        ],
    ] {
        let found = steps(words);
        assert!(found.contains(expected), "{words:?}: {found}");
        assert!(found.ends_with("emit\n"), "{words:?}: {found}");
    }
    let link = [
        "nvlink",
        "-arch=sm_90",
        INPUT,
        "--cuweld-insert=strip-debug after emit",
    ];
    let output = cuweld(folder.path(), &[&link[..], &["-o", "out.cubin"]].concat());
    let said = stderr(&output);
    assert!(
        said.contains("pass 'strip-debug' (step 19) has to run before phase 'merged'"),
        "{said}"
    );
}

#[test]
fn a_command_runs_after_every_change() {
    let folder = tempfile::tempdir().unwrap();
    let command = "echo $CUWELD_STEP $CUWELD_PASS >> log; test -f";
    opt(
        folder.path(),
        &["--passes", RAISE, "--exec-on-change", command],
    );
    let log = std::fs::read_to_string(folder.path().join("log")).unwrap();
    assert_eq!(log, "1 classify\n2 exec\n4 select-objects\n");
    let check = "! grep -q registers=99";
    let arguments = [
        "opt",
        INPUT,
        "--arch=sm_90",
        "-o",
        "o.lir",
        "--passes",
        RAISE,
        "--exec-on-change",
        check,
    ];
    let output = cuweld(folder.path(), &arguments);
    assert!(!output.status.success());
    assert!(
        stderr(&output).contains("after pass 'exec' (step 2): '! grep -q registers=99' failed"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn bisection_finds_the_pass() {
    let folder = tempfile::tempdir().unwrap();
    let rest = include_str!("../../pipelines/executable.toml")
        .split_once("use = \"classify\"")
        .unwrap()
        .1;
    let exec = |script: &str| {
        format!(
            "[[pass]]\nuse = 'exec'\noptions = {{ command = ['sed', '{script}'], bytes = 'ref', requires = 'classified' }}\n"
        )
    };
    let pipeline = format!(
        "name = 'p'\n[[pass]]\nuse = 'check-objects'\n[[pass]]\nuse = 'classify'\n{}{}{}{rest}",
        exec("s/none/none/"),
        exec("/REGCOUNT/s/[0-9]*$/77/"),
        exec("s/nothing/nothing/"),
    );
    std::fs::write(folder.path().join("p.toml"), pipeline).unwrap();
    let bisect = |more: &[&str]| {
        let base = [
            "bisect",
            INPUT,
            "--arch=sm_90",
            "--pipeline=p.toml",
            "--ignore-host-info",
        ];
        let output = cuweld(folder.path(), &[&base[..], more].concat());
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        (output.status.code(), said + &stderr(&output))
    };
    // A record REGCOUNT 77 as bytes of the output: format 4, code 0x2f, size 8, symbol, 77.
    let command = "! grep -qaP '\\x04\\x2f\\x08\\x00....\\x4d\\x00\\x00\\x00'";
    let (code, said) = bisect(&["--command", command]);
    assert!(
        said.starts_with(
            "step 4 'exec' is the first after which the check fails\n--bisect-limit=2 "
        ),
        "{said}"
    );
    assert_eq!(code, Some(0));
    let (code, said) = bisect(&["--on=module", "--command", "! grep -q 'REGCOUNT.* 77$'"]);
    assert!(said.starts_with("step 4 'exec' is the first"), "{said}");
    assert_eq!(code, Some(0));
    let (code, said) = bisect(&["--command", "true"]);
    assert!(said.contains("there is nothing to find"), "{said}");
    assert_eq!(code, Some(255));
    let (_, said) = bisect(&["--command", "false"]);
    assert!(said.contains("without any optional pass already"), "{said}");
}

/// Spans and counts on standard error, as far as the filter lets them through.
#[test]
fn the_log_follows_its_filter() {
    let folder = tempfile::tempdir().unwrap();
    let log = |filter: &str| {
        let output = Command::new(env!("CARGO_BIN_EXE_cuweld"))
            .args(["link", INPUT, "--arch=sm_90", "-o", "out.cubin"])
            .env("CUWELD_LOG", filter)
            .current_dir(folder.path())
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        stderr(&output)
    };
    assert_eq!(log(""), "");
    assert_eq!(log("off"), "");
    let passes = log("info");
    for expected in [
        "discover",
        "lower",
        "pipeline{",
        "pass{name=\"classify\"",
        "time.busy",
    ] {
        assert!(passes.contains(expected), "{expected}: {passes}");
    }
    assert!(!passes.contains("counter="), "{passes}");
    let counts = log("cuweld_passes=debug");
    assert!(counts.contains("counter=\"functions\""), "{counts}");
    assert!(!counts.contains("discover"), "{counts}");
    assert!(log("cuweld=nonsense=3").contains("warning: CUWELD_LOG: "));
}

#[test]
fn what_commands_print_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    let command = "echo $CUWELD_STEP $CUWELD_PASS #";
    let said = opt(
        folder.path(),
        &["--passes", RAISE, "--exec-on-change", command],
    );
    assert_eq!(said, "1 classify\n2 exec\n4 select-objects\n");
}

/// `--why-stack` and `--why-regs`: the calls that make up what kernels need.
#[test]
fn remarks_say_what_needs_are_made_up_of() {
    let folder = tempfile::tempdir().unwrap();
    let remarks = |file: &str, questions: &[&str]| {
        let file = format!(
            "{}/tests/passes/propagate-resources/{file}.lir",
            env!("CARGO_MANIFEST_DIR")
        );
        let passes = "--passes=propagate-resources,place-memory";
        let words = [&["opt", &file, passes, "-o", "out.lir"], questions].concat();
        stderr(&cuweld(folder.path(), &words))
    };
    let recursion = remarks("recursion-of-two", &["--why-stack=k,kk", "--why-regs=k"]);
    let answers = "'k' needs stack of unknown size\n       8 bytes, 'k' in 'a.cubin'\n  these call one another, as often as they like:\n\
                   \x20     24 bytes, 'even' in 'a.cubin'\n      16 bytes, 'odd' in 'a.cubin'\n\
                   'kk': no symbol of the link\n\
                   'k' needs 24 registers\n       8 registers, 'k' in 'a.cubin'\n      16 registers, 'odd' in 'a.cubin'\n\
                   \x20     24 registers, 'even' in 'a.cubin'\n";
    assert!(recursion.ends_with(answers), "{recursion}");
    let two = remarks("two-kernels", &["--why-stack=k1", "--why-regs=k1"]);
    let answers = "'k1' needs 32 bytes of stack\n       0 bytes, 'k1' in 'a.cubin'\n      32 bytes, 'f' in 'a.cubin'\n\
                   'k1' needs 30 registers\n      10 registers, 'k1' in 'a.cubin'\n      30 registers, 'f' in 'a.cubin'\n";
    assert!(two.ends_with(answers), "{two}");
    let indirect = remarks("indirect-call", &["--why-stack=k"]);
    assert!(
        indirect.contains("  by address, any function of the type:\n       0 bytes, 'f'"),
        "{indirect}"
    );
}

/// `--why-live` and `--why-extract`, on modules of `tests/passes` and a link.
#[test]
fn remarks_say_why() {
    let folder = tempfile::tempdir().unwrap();
    let remarks = |file: &str, passes: &str, question: &str| {
        let file = format!("{}/tests/passes/{file}.lir", env!("CARGO_MANIFEST_DIR"));
        let words = ["opt", &file, "--passes", passes, question, "-o", "out.lir"];
        stderr(&cuweld(folder.path(), &words))
    };
    let named = "callgraph-dce/named-kernels";
    assert_eq!(
        remarks(named, "callgraph-dce", "--why-live=f,k1,dead,kk2"),
        "'f' is live\n  defined in 'a.cubin'\n  kernel 'k2' in 'a.cubin': -kernels-used names it\n  calls 'f' in 'a.cubin'\n\
         'k1' is not live\n  defined in 'a.cubin'\n  a kernel that -kernels-used does not name\n\
         'dead' is not live\n  defined in 'a.cubin'\n  no kernel that stays reaches it, and its address is not taken\n\
         'kk2': no symbol of the link; did you mean 'k2'?\n"
    );
    let taken = remarks(
        "callgraph-dce/address-taken",
        "callgraph-dce",
        "--why-live=taken",
    );
    assert!(taken.contains("address is taken in 'a.cubin'"), "{taken}");
    let weak = remarks(
        "symbol-resolve/fewer-registers",
        "symbol-resolve,callgraph-dce",
        "--why-live=f",
    );
    assert!(
        weak.contains("the weak copy in 'a.cubin' is not taken, but that in 'b.cubin': it needs more registers"),
        "{weak}"
    );
    let library = "select-objects/system-library";
    assert_eq!(
        remarks(
            library,
            "select-objects",
            "--why-extract=early.o,needed.o,a.cubin,no.o"
        ),
        "'libcudadevrt.a:early.o' takes no part: when it is its turn, no function is undefined that the driver does not provide\n\
         'libcudadevrt.a:needed.o' takes part: when it is its turn, 'cudaLaunchDevice' is undefined, which 'a.cubin' needs\n\
         'a.cubin' takes part: objects and members of libraries do, all but those of the device runtime\n\
         'no.o': no object of the link\n"
    );
    assert_eq!(
        remarks(library, "select-objects", "--why-live=f"),
        "'f': the run ended before this was decided\n"
    );
    let inputs = ["a", "b"].map(|name| INPUT.replace("a.cubin", &format!("{name}.cubin")));
    let link = [
        "link",
        &inputs[0],
        &inputs[1],
        "--arch=sm_90",
        "-o",
        "out.cubin",
    ];
    let done = cuweld(
        folder.path(),
        &[&link[..], &["--why-live=_Z5heavyIfET_PKS0_i"]].concat(),
    );
    let said = stderr(&done);
    assert!(said.contains("weak copy in '"), "{said}");
    // Stopped before there is a file.
    let stopped = cuweld(
        folder.path(),
        &[&link[..], &["--stop-after=classify"]].concat(),
    );
    assert!(
        stderr(&stopped).contains("nothing is written"),
        "{}",
        stderr(&stopped)
    );
}
