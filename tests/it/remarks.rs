//! Remarks: what passes decide and why, on both command lines, as text, as JSON and in a trace.

mod traces;

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use cuweld::extend::registry;
use serde_json::Value;

use crate::harness::command::{cuweld, program, stderr};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// The program of the README.
fn example() -> [String; 2] {
    ["a.o", "b.o"].map(|name| format!("{ROOT}/examples/rdc/{name}"))
}

/// The command line of a link for sm_90 into `folder`: ours, or nvlink's.
fn link(folder: &Path, start: &[&str], more: &[&str]) -> std::process::Output {
    let [a, b] = example();
    let words = [start, &[&a, &b, "-o", "out.cubin"], more].concat();
    cuweld(folder, &words)
}

const OURS: [&str; 2] = ["link", "--arch=sm_90"];
const NVLINKS: [&str; 2] = ["nvlink", "-arch=sm_90"];

fn json_lines(text: &str) -> Vec<Value> {
    let lines = text.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect()
}

#[test]
fn both_command_lines_show_remarks() {
    let folder = tempfile::tempdir().unwrap();
    let [a, b] = example();
    let expected = [
        format!(
            "{a}: remark: symbol-resolve: 'T1 clamp_to<float>(T1, T1, T1)' prevails over the copy in '{b}': \
             both are weak and alike, and this one comes first"
        ),
        format!(
            "{b}: remark: callgraph-dce: 'T1 clamp_to<int>(T1, T1, T1)' stays: 'apply_filter(const Pixel *, int, int)' calls it"
        ),
        format!(
            "{a}: remark: propagate-resources: 'blur(const Pixel *, Pixel *, int)' needs 28 registers, 24 of its own code: \
             'apply_filter(const Pixel *, int, int)' needs them"
        ),
        format!(
            "{b}: remark: place-memory: 'pixels_done' lies at 0x8 of .nv.global: 8 bytes, alignment 8, after 4 bytes of padding"
        ),
    ];
    let silent = link(folder.path(), &OURS, &[]);
    assert_eq!(stderr(&silent), "");
    let file = folder.path().join("out.cubin");
    let image = std::fs::read(&file).unwrap();
    let ours = stderr(&link(folder.path(), &OURS, &["--remarks"]));
    assert_eq!(std::fs::read(&file).unwrap(), image);
    for line in &expected {
        assert!(ours.lines().any(|said| said == line), "{line}\n{ours}");
    }
    assert_eq!(
        stderr(&link(folder.path(), &NVLINKS, &["--cuweld-remarks=all"])),
        ours
    );
    let [a, b] = example();
    let by_environment = Command::new(program())
        .args(NVLINKS)
        .args([&a, &b, "-o", "out.cubin"])
        .env("CUWELD_REMARKS", "all")
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert_eq!(stderr(&by_environment), ours);
    assert!(ours.lines().all(|line| line.contains("remark: ")), "{ours}");
}

#[test]
fn a_filter_names_passes_and_symbols() {
    let folder = tempfile::tempdir().unwrap();
    let said = |filter: &str| {
        let filter = format!("--remarks={filter}");
        let output = link(folder.path(), &OURS, &[&filter]);
        assert!(output.status.success(), "{}", stderr(&output));
        stderr(&output)
    };
    let of_pass = said("callgraph-dce");
    assert!(of_pass.lines().count() > 5, "{of_pass}");
    assert!(
        of_pass
            .lines()
            .all(|line| line.contains(": callgraph-dce: ")),
        "{of_pass}"
    );
    let names = [
        "_Z6invert5Pixel",
        "invert(Pixel)",
        "invert",
        "callgraph-dce,plan-relocations,invert",
    ];
    for name in names {
        let of_symbol = said(name);
        assert!(of_symbol.contains("'invert(Pixel)' goes: nothing calls it"));
        assert!(
            of_symbol
                .lines()
                .all(|line| line.contains("'invert(Pixel)'")),
            "{of_symbol}"
        );
    }
    let both = said("callgraph-dce,clamp_to");
    assert_eq!(both.lines().count(), 2, "{both}");
}

#[test]
fn a_name_of_nothing_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    for (start, option, named, message) in [
        (
            &OURS,
            "--remarks=callgraf-dce",
            "callgraf-dce",
            "; did you mean 'callgraph-dce'?",
        ),
        (
            &NVLINKS,
            "--cuweld-remarks=brightst",
            "brightst",
            "; did you mean 'brightest'?",
        ),
        (
            &OURS,
            "--remarks=emit,nothing-like-it",
            "nothing-like-it",
            "",
        ),
    ] {
        let output = link(folder.path(), start, &[option]);
        assert_eq!(output.status.code(), Some(1));
        let text = format!(
            "cuweld: remarks: no pass and no symbol of the link is named '{named}'{message}\n"
        );
        assert!(stderr(&output).ends_with(&text), "{}", stderr(&output));
        assert!(!folder.path().join("out.cubin").exists());
    }
}

/// What takes no part is said before the passes.
#[test]
fn inputs_that_take_no_part_have_remarks() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("empty.o"), "").unwrap();
    std::fs::write(folder.path().join("text.txt"), "text ".repeat(100)).unwrap();
    let lines = "empty.o: remark: discover: 'empty.o' is ignored: it is empty\n\
                 text.txt: remark: discover: 'text.txt' is ignored: it is neither an archive nor an ELF file\n";
    for option in ["--remarks=all", "--remarks=discover"] {
        let output = link(folder.path(), &OURS, &["empty.o", "text.txt", option]);
        assert!(output.status.success(), "{}", stderr(&output));
        assert!(stderr(&output).starts_with(lines), "{}", stderr(&output));
        let others = stderr(&output).lines().count() - 2;
        assert_eq!(others == 0, option == "--remarks=discover");
    }
    let of_symbol = link(folder.path(), &OURS, &["empty.o", "--remarks=invert"]);
    assert!(!stderr(&of_symbol).contains("discover"));
}

/// As messages, and in a file; the same remarks whatever the threads.
#[test]
fn remarks_are_json_lines() {
    let folder = tempfile::tempdir().unwrap();
    let messages = link(
        folder.path(),
        &OURS,
        &["--remarks=all", "--message-format=json", "-j1"],
    );
    let found = json_lines(&stderr(&messages));
    for (start, options) in [
        (&OURS, ["--remarks-output=r.jsonl", "-j8"]),
        (
            &NVLINKS,
            ["--cuweld-remarks-output=r.jsonl", "--cuweld-jobs=3"],
        ),
    ] {
        let output = link(folder.path(), start, &options);
        assert_eq!(stderr(&output), "");
        let text = std::fs::read_to_string(folder.path().join("r.jsonl")).unwrap();
        assert!(json_lines(&text) == found);
    }
    let of_kind = |kind: &str| {
        let found = found.iter().find(|remark| remark["kind"] == kind);
        found.unwrap_or_else(|| panic!("no {kind}"))
    };
    let prevails = of_kind("prevails");
    assert_eq!(prevails["severity"], "remark");
    assert_eq!(prevails["pass"], "symbol-resolve");
    assert_eq!(prevails["subject"]["type"], "symbol");
    assert_eq!(prevails["subject"]["name"], "_Z8clamp_toIfET_S0_S0_S0_");
    assert_eq!(
        prevails["subject"]["demangled"],
        "T1 clamp_to<float>(T1, T1, T1)"
    );
    assert_eq!(prevails["arguments"]["outcome"], "yields-to-first");
    let registers = of_kind("registers");
    assert_eq!(registers["arguments"]["registers"], 28);
    assert_eq!(registers["arguments"]["own"], 24);
    assert_eq!(
        registers["arguments"]["callee"]["name"],
        "_Z12apply_filterPK5Pixelii"
    );
    let kept = of_kind("kept");
    assert_eq!(kept["subject"]["type"], "relocation");
    assert!(kept["subject"]["place"][1].is_u64());
    let filtered = link(
        folder.path(),
        &OURS,
        &["--remarks=callgraph-dce", "--remarks-output=r.jsonl"],
    );
    assert!(filtered.status.success());
    let text = std::fs::read_to_string(folder.path().join("r.jsonl")).unwrap();
    assert!(
        json_lines(&text)
            .iter()
            .all(|remark| remark["pass"] == "callgraph-dce")
    );
    let unwritten = link(folder.path(), &OURS, &["--remarks-output=none/r.jsonl"]);
    assert!(stderr(&unwritten).contains("cannot write 'none/r.jsonl'"));
}

/// Ids are those of the text form, and a link that goes on from there has the remarks of the passes
/// after it.
#[test]
fn a_resumed_link_has_the_remarks_of_later_passes() {
    let folder = tempfile::tempdir().unwrap();
    let [a, b] = example();
    let whole = link(folder.path(), &OURS, &["--remarks-output=whole.jsonl"]);
    assert!(whole.status.success());
    let half = [
        "opt",
        &a,
        &b,
        "--arch=sm_90",
        "--stop-after=callgraph-dce",
        "-o",
        "half.lir",
        "--remarks-output=first.jsonl",
    ];
    assert!(cuweld(folder.path(), &half).status.success());
    let rest = [
        "opt",
        "half.lir",
        "--start-after=callgraph-dce",
        "-o",
        "out.cubin",
        "--remarks-output=rest.jsonl",
    ];
    assert!(cuweld(folder.path(), &rest).status.success());
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    assert!(read("first.jsonl").lines().count() > 5);
    assert!(read("rest.jsonl").lines().count() > 5);
    assert_eq!(
        read("first.jsonl") + &read("rest.jsonl"),
        read("whole.jsonl")
    );
    let text = read("half.lir");
    for remark in json_lines(&read("first.jsonl")) {
        let subject = &remark["subject"];
        let (id, name) = (&subject["id"], &subject["name"]);
        let (id, name) = (id.as_str().unwrap(), name.as_str().unwrap());
        let is_row = |line: &str| {
            let mut words = line.split_whitespace().skip_while(|word| *word == "object");
            words.next() == Some(id) && line.contains(name)
        };
        assert!(text.lines().any(is_row), "{remark}");
    }
}

/// The cubins of every link case, with the target of the first folder that has some.
fn inputs_of_cases() -> Vec<(String, Vec<String>)> {
    let read = |folder: &Path| {
        let entries = std::fs::read_dir(folder).unwrap();
        let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        paths
    };
    let mut cases = Vec::new();
    for topic in read(&Path::new(ROOT).join("tests/links")) {
        for case in read(&topic).into_iter().filter(|case| case.is_dir()) {
            let targets = read(&case).into_iter().filter(|folder| folder.is_dir());
            let cubins = targets.map(|folder| {
                let files = read(&folder).into_iter();
                let files = files.filter(|file| file.extension().is_some_and(|is| is == "cubin"));
                let files: Vec<String> = files.map(|file| file.display().to_string()).collect();
                let target = folder.file_name().unwrap().to_str().unwrap().to_owned();
                (target, files)
            });
            let is_target = |(target, files): &(String, Vec<String>)| {
                target.starts_with("sm_") && !files.is_empty()
            };
            cases.extend(cubins.into_iter().find(is_target));
        }
    }
    cases
}

/// The remarks of the link cases are of kinds that their passes declare, and all kinds of the passes
/// that every link needs occur.
#[test]
fn kinds_are_declared_and_occur() {
    let registry = registry();
    let declared: BTreeSet<(String, String)> = registry
        .iter()
        .flat_map(|info| {
            let kinds = info.remarks.iter();
            kinds.map(|remark| (info.name.to_owned(), remark.name.to_owned()))
        })
        .collect();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("r.jsonl");
    let mut seen = BTreeSet::new();
    for (target, inputs) in inputs_of_cases() {
        let arch = format!("--arch={target}");
        let mut words = vec!["link", &arch, "-o", "out.cubin", "--remarks-output=r.jsonl"];
        words.extend(inputs.iter().map(String::as_str));
        // Some of these cases do not link, or are wrong links without their options.
        cuweld(folder.path(), &words);
        let Ok(text) = std::fs::read_to_string(&file) else {
            continue;
        };
        std::fs::remove_file(&file).unwrap();
        for remark in json_lines(&text) {
            let of = |key: &str| remark[key].as_str().unwrap().to_owned();
            seen.insert((of("pass"), of("kind")));
            assert!(!of("message").is_empty());
        }
    }
    seen.remove(&("discover".to_owned(), "ignored".to_owned()));
    let undeclared: Vec<_> = seen.difference(&declared).collect();
    assert!(undeclared.is_empty(), "{undeclared:?}");
    // Pass cases show the others.
    let shown = |(pass, kind): &&(String, String)| {
        let by_cases = [
            ("callgraph-dce", "all-live"),
            ("constant-bank-dedup", "merged"),
            ("constant-bank-dedup", "pool"),
            ("select-objects", "host-unknown"),
        ];
        let info = registry.get(pass).unwrap().info;
        !by_cases.contains(&(pass.as_str(), kind.as_str())) && !info.is_optional()
    };
    let missing: Vec<_> = declared.difference(&seen).filter(shown).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// What shows a link at work is on both command lines, and in the environment.
#[test]
fn every_instrument_is_an_option_of_nvlinks_command_line() {
    let folder = tempfile::tempdir().unwrap();
    let help = |words: &[&str]| {
        let output = cuweld(folder.path(), words);
        String::from_utf8(output.stdout).unwrap()
    };
    let nvlinks = help(&["nvlink", "--help"]);
    let ours = help(&["link", "--help"]);
    for option in [
        "bisect-limit",
        "dump-after",
        "dump-before",
        "dump-bytes",
        "dump-changed",
        "dump-dir",
        "dump-filter",
        "dump-format",
        "exec-on-change",
        "explain",
        "insert",
        "load-pass-plugin",
        "message-format",
        "passes",
        "pipeline",
        "print-pipeline",
        "remarks",
        "remarks-output",
        "repro",
        "skip",
        "stats",
        "stop-after",
        "time-passes",
        "trace",
        "verify-each",
        "why-extract",
        "why-live",
        "why-regs",
        "why-stack",
    ] {
        assert!(ours.contains(&format!("--{option}")), "{option}");
        assert!(nvlinks.contains(&format!("--cuweld-{option}")), "{option}");
    }
    let said = |variable: &str, value: &str| {
        let [a, b] = example();
        let output = Command::new(program())
            .args(NVLINKS)
            .args([&a, &b, "-o", "out.cubin"])
            .env(variable, value)
            .current_dir(folder.path())
            .output()
            .unwrap();
        let stdout = String::from_utf8(output.stdout).unwrap();
        stdout + &String::from_utf8(output.stderr).unwrap()
    };
    for (variable, value, expected) in [
        (
            "CUWELD_WHY_LIVE",
            "_Z6invert5Pixel",
            "'_Z6invert5Pixel' is not live",
        ),
        ("CUWELD_WHY_EXTRACT", "a.o", "a.o' takes part: "),
        (
            "CUWELD_WHY_STACK",
            "_Z4blurPK5PixelPS_i",
            "needs 48 bytes of stack",
        ),
        (
            "CUWELD_WHY_REGS",
            "_Z4blurPK5PixelPS_i",
            "needs 28 registers",
        ),
        ("CUWELD_STATS", "json", "\"pass\":\"callgraph-dce\""),
        (
            "CUWELD_PRINT_PIPELINE",
            "1",
            "symbol-resolve,callgraph-dce,",
        ),
        ("CUWELD_BISECT_LIMIT", "0", ""),
        ("CUWELD_DUMP_CHANGED", "diff", "+++ callgraph-dce"),
        ("CUWELD_EXEC_ON_CHANGE", "echo changed #", "changed\n"),
        ("CUWELD_REMARKS", "callgraph-dce", "remark: callgraph-dce: "),
    ] {
        let text = said(variable, value);
        assert!(text.contains(expected), "{variable}: {text}");
    }
    let text = said("CUWELD_SKIP", "callgraph-dce");
    assert!(text.contains("it is skipped"), "{text}");
    assert_eq!(said("CUWELD_TRACE", "chrome:env.json"), "");
    assert!(folder.path().join("env.json").exists());
    let dump = [
        "--cuweld-dump-after=callgraph-dce",
        "--cuweld-dump-format=dot",
        "--cuweld-dump-filter=blur",
    ];
    let dot = stderr(&link(folder.path(), &NVLINKS, &dump));
    assert!(dot.contains("digraph {"), "{dot}");
}

/// Passes of others make remarks: by comments of the text that they give back.
#[test]
fn programs_make_remarks() {
    let folder = tempfile::tempdir().unwrap();
    let script = "2i ; remark: %0 is the first symbol\\n; remark: nothing else";
    let exec =
        format!("--insert=exec{{command=['sed','{script}'],requires=classified}} after classify");
    let output = link(folder.path(), &OURS, &[&exec, "--remarks=exec"]);
    let [a, _] = example();
    let expected = format!(
        "{a}: remark: exec: 'luminance(const Pixel &)' is the first symbol\nremark: exec: nothing else\n"
    );
    assert_eq!(stderr(&output), expected);
    let silent = link(folder.path(), &OURS, &[&exec]);
    assert_eq!(stderr(&silent), "");
}

/// Remarks are events of `tracing`, with ids as fields.
#[test]
fn the_log_has_remarks_that_it_asks_for() {
    let folder = tempfile::tempdir().unwrap();
    let log = |filter: &str| {
        let [a, b] = example();
        let output = Command::new(program())
            .args(OURS)
            .args([&a, &b, "-o", "out.cubin"])
            .env("CUWELD_LOG", filter)
            .current_dir(folder.path())
            .output()
            .unwrap();
        stderr(&output)
    };
    let remarks = log("cuweld_passes::remark=trace");
    let is_remark = |line: &str| line.contains("TRACE cuweld_passes::remark: ");
    assert!(remarks.lines().all(is_remark), "{remarks}");
    assert!(
        remarks.contains("pass=\"callgraph-dce\" kind=\"live\" object=0 link_symbol=0 "),
        "{remarks}"
    );
    assert!(!log("info").lines().any(is_remark));
}
