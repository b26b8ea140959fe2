//! `cuweld opt`: objects written again, passes alone, and what is refused.

use std::path::Path;
use std::process::{Command, Output};

use crate::harness::case::{Case, Expect};
use crate::harness::command::{cuweld, said, stderr};
use crate::harness::link::{Expected, Linker, compare};
use crate::harness::oracle;
use cuweld::extend::registry;
use cuweld_passes::pipeline::{Embedded, PipelineSource};

fn opt(folder: &Path, arguments: &[&str]) -> Output {
    cuweld(folder, &[&["opt"], arguments].concat())
}

/// Objects written again, by way of text or not, have our layout of the file and no other difference. They link to the same bytes,
/// with us and, where it is installed, with nvlink.
#[test]
fn objects_written_again_link_to_the_same_bytes() {
    let nvlink = oracle::tools().map(|tools| Linker::nvlink(tools.join("nvlink")));
    let mut linked = 0;
    for case in Case::all().unwrap() {
        for arch in &case.arch {
            let files = case.files(arch);
            let cubins = files.iter().all(|file| {
                file.extension()
                    .is_some_and(|extension| extension == "cubin")
            });
            if case.expect != Expect::Identical || !cubins {
                continue;
            }
            // The same paths in another folder, as names of inputs are part of some outputs.
            let folder = tempfile::tempdir().unwrap();
            for file in &files {
                let again = folder.path().join(file.strip_prefix(&case.folder).unwrap());
                std::fs::create_dir_all(again.parent().unwrap()).unwrap();
                let (file, again) = (file.to_str().unwrap(), again.to_str().unwrap());
                for (from, to) in [(file, "a.lir"), ("a.lir", again), (file, "direct.cubin")] {
                    let arguments = [from, "--arch", arch, "--passes", "", "-o", to];
                    let output = opt(folder.path(), &arguments);
                    assert!(output.status.success(), "{file}: {}", stderr(&output));
                }
                let direct = std::fs::read(folder.path().join("direct.cubin")).unwrap();
                assert!(direct == std::fs::read(again).unwrap(), "{file}");
                let output = Command::new(env!("CARGO_BIN_EXE_cuweld"))
                    .args(["diff", "--ignore-layout", file, again])
                    .output()
                    .unwrap();
                assert!(
                    output.status.success() && output.stdout.is_empty(),
                    "{file}"
                );
            }
            let expected = Expected {
                exit: Some(0),
                lines: None,
                output: Some(std::fs::read(case.expected_output(arch)).unwrap()),
            };
            let ours = Linker::ours().strict(case.strict);
            for linker in [&ours].into_iter().chain(&nvlink) {
                let linked_again = linker.link(folder.path(), &case.arguments(arch)).unwrap();
                if let Err(report) = compare(&linked_again, &expected) {
                    panic!("{}: {report}", case.name);
                }
            }
            linked += 1;
        }
    }
    assert!(linked >= 30, "{linked}");
}

#[test]
fn the_grammar_for_editors_knows_every_phase_and_row() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |name: &str| std::fs::read_to_string(root.join(name)).unwrap();
    let grammar = read("editors/vscode/syntaxes/lir.tmLanguage.json");
    let value: serde_json::Value = serde_json::from_str(&grammar).unwrap();
    assert_eq!(value["scopeName"], "source.lir");
    for phase in cuweld_ir::Phase::ALL {
        assert!(grammar.contains(phase.name()), "{}", phase.name());
    }
    // The words that rows of the grammar in the docs begin with.
    let page = read("docs/framework/lir.md");
    let rows = page
        .split("## Grammar")
        .nth(1)
        .unwrap()
        .split("```")
        .nth(1)
        .unwrap();
    let heading = value["repository"]["heading"]["match"].as_str().unwrap();
    let is_row = |word: &&str| {
        word.len() > 2
            && word
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte == b'-')
    };
    for line in rows.lines() {
        let quoted = line.split('"').nth(1).filter(|word| is_row(word));
        if let Some(word) = quoted.filter(|_| line.contains("= \"") || line.contains("{ \"")) {
            assert!(heading.contains(word), "{word}: {line}");
        }
    }
}

/// `cuweld passes` knows every pass and pipeline, with the options of passes.
#[test]
fn passes_and_pipelines_are_described() {
    let folder = tempfile::tempdir().unwrap();
    let passes = |words: &[&str]| {
        let done = cuweld(folder.path(), &[&["passes"], words].concat());
        (done.status.success(), said(&done))
    };
    let (_, all) = passes(&[]);
    for info in registry().iter() {
        assert!(all.contains(&format!("{:22} {}\n", info.name, info.summary)));
        let (known, text) = passes(&[info.name]);
        assert!(known && text.contains(&format!("requires: {}\n", info.requires.name())));
        for option in info.options {
            let row = format!(
                "{} = {}\n    {}: {}\n",
                option.name, option.default, option.ty, option.doc
            );
            assert!(text.contains(&row), "{text}");
        }
    }
    for name in Embedded.names() {
        let summary = Embedded.pipeline(&name).unwrap().unwrap().summary;
        assert!(all.contains(&format!("{name:22} {summary}\n")));
        let (known, text) = passes(&[&name]);
        assert!(known && text.starts_with(&format!("{name}: {summary}\n\n")));
    }
    let (known, text) = passes(&["clasify"]);
    assert!(
        !known && text.contains("did you mean 'classify'?"),
        "{text}"
    );
}

/// The passes of every predefined pipeline, printed for a link, are what `--passes` takes; and without a name those of the target.
#[test]
fn printed_pipelines_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let print = |target: &[&str], pipeline: &[&str]| {
        // No input is read.
        let words = [
            &["link", "none.cubin", "--print-pipeline"],
            target,
            pipeline,
        ]
        .concat();
        let done = cuweld(folder.path(), &words);
        match done.status.success() {
            true => Ok(String::from_utf8(done.stdout).unwrap()),
            false => Err(stderr(&done)),
        }
    };
    let mut printed = std::collections::BTreeSet::new();
    for arch in ["--arch=sm_90", "--arch=sm_100"] {
        for options in [&[][..], &["-r"], &["-g"], &["-r", "-g"]] {
            let target = [&[arch], options].concat();
            let holds = |fact: &str| match fact {
                "relocatable" => options.contains(&"-r"),
                "mercury" => arch == "--arch=sm_100",
                fact => panic!("{fact}"),
            };
            let mut standard = 0;
            for name in Embedded.names() {
                let parsed = Embedded.pipeline(&name).unwrap().unwrap();
                let mut conditions = parsed.when.iter();
                let fits = conditions.all(|when| holds(&when.fact) != when.negated);
                let text = match print(&target, &["--pipeline", &name]) {
                    Ok(text) => text,
                    // Some are for other links, and say so.
                    Err(said) => {
                        assert!(!fits && said.contains(&format!("pipeline '{name}' is ")));
                        continue;
                    }
                };
                assert!(fits, "{name}");
                let passes = text.trim_end();
                assert!(!passes.contains(['@', '[']), "{name}: {passes}");
                assert_eq!(
                    print(&target, &["--passes", passes]).unwrap(),
                    text,
                    "{name}"
                );
                standard += usize::from(print(&target, &[]).unwrap() == text);
                printed.insert(name);
            }
            assert!(standard > 0, "{target:?}");
        }
    }
    assert_eq!(printed.len(), Embedded.names().len());
}

#[test]
fn a_link_in_parts_is_the_link() {
    let folder = tempfile::tempdir().unwrap();
    let inputs =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/links/symbols/weak-templates/sm_90");
    let input = inputs.join("a.cubin");
    let input = input.to_str().unwrap();
    let run = |arguments: &[&str]| {
        let output = opt(folder.path(), arguments);
        assert!(output.status.success(), "{}", stderr(&output));
    };
    run(&[input, "--arch=sm_90", "-o", "whole.cubin"]);
    // By name of a pass, by reference to the inputs, and as passes of their own.
    run(&[
        input,
        "--arch=sm_90",
        "--stop-after=place-memory",
        "-o",
        "1.lir",
    ]);
    run(&[
        "1.lir",
        "--start-after=place-memory",
        "--stop-after=relocate",
        "--dump-bytes=ref",
        "-o",
        "2.lir",
    ]);
    run(&["2.lir", "--passes=emit", "-o", "parts.cubin"]);
    let read = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
    assert!(read("whole.cubin") == read("parts.cubin"));
    assert!(read("2.lir").len() < read("1.lir").len());
    // A file is known by what it begins with, too.
    std::fs::copy(folder.path().join("1.lir"), folder.path().join("text")).unwrap();
    run(&["text", "--start-after=8", "-o", "again.cubin"]);
    assert!(read("whole.cubin") == read("again.cubin"));
}

#[test]
fn an_edited_text_is_numbered_anew() {
    let folder = tempfile::tempdir().unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("ir/tests/renumber");
    let file = std::fs::read_to_string(root.join("named-rows.lir")).unwrap();
    let (edited, expected) = file.split_once("; ---- becomes\n").unwrap();
    std::fs::write(folder.path().join("edited.lir"), edited).unwrap();
    // A row without its number is an error that says what helps.
    let output = opt(folder.path(), &["edited.lir", "--passes=", "-o", "out.lir"]);
    let said = stderr(&output);
    assert!(
        said.contains("line 10, column 5: `#.data` has no number yet"),
        "{said}"
    );
    assert!(said.contains("help: `cuweld opt --renumber`"), "{said}");
    let output = opt(
        folder.path(),
        &["--renumber", "edited.lir", "--passes=", "-o", "out.lir"],
    );
    assert!(output.status.success(), "{}", stderr(&output));
    let found = std::fs::read_to_string(folder.path().join("out.lir")).unwrap();
    assert_eq!(found, expected);
    // Passes take it, too; this one changes nothing.
    let pass = "--passes=exec{command=['true']}";
    let words = ["--renumber", "edited.lir", pass, "-o", "-"];
    let output = opt(folder.path(), &words);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("owns #0..4 %0..2 fn0..1 r0..1\n"), "{text}");
    std::fs::write(
        folder.path().join("gone.lir"),
        edited.replace("%.id build_id", "%.other build_id"),
    )
    .unwrap();
    let output = opt(
        folder.path(),
        &["--renumber", "gone.lir", "--passes=", "-o", "out.lir"],
    );
    let said = stderr(&output);
    assert!(
        said.contains("`%.id` is not defined: no row has this id"),
        "{said}"
    );
}

#[test]
fn refusals_say_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    let module = "lir 1\nmodule phase=live toolkit=13.0.88 target=sm_90 bytes=full\nend\n";
    write("live.lir", module);
    write("hash.lir", &module.replace("bytes=full", "bytes=hash"));
    write("cut.lir", "lir 1\nmodule phase=live");
    write(
        "broken.lir",
        &module.replace("end", "merged-info none\nmerged-info none\nend"),
    );
    write("a.cubin", "no object");
    for (arguments, expected) in [
        (
            &["live.lir", "-o", "out.lir"][..],
            "the module is already 'live'",
        ),
        (
            &["live.lir", "--passes=", "-o", "out.cubin"],
            "a module of several objects is no cubin before it is 'emitted'",
        ),
        (
            &["live.lir", "--passes=", "--arch=sm_80", "-o", "out.lir"],
            "'live.lir' is a module for sm_90, not for sm_80",
        ),
        (
            &["live.lir", "--start-after=classify", "-o", "out.lir"],
            "the module is 'live', but after step 2 of the pipeline it would be 'classified'",
        ),
        (
            &["live.lir", "--start-after=clasify", "-o", "out.lir"],
            "did you mean 'classify'?",
        ),
        (
            &["live.lir", "a.cubin", "-o", "out.lir"],
            "it takes no other input",
        ),
        (
            &["hash.lir", "--passes=", "-o", "out.lir"],
            "this dump holds hashes in place of bytes",
        ),
        (
            &["cut.lir", "--passes=", "-o", "out.lir"],
            "'cut.lir': line 2",
        ),
        (
            &["broken.lir", "--passes=", "-o", "out.lir"],
            "merged-info: merged list 1: it belongs to no function",
        ),
        (&["a.cubin", "-o", "out.lir"], "add --arch"),
        (&["none.lir", "-o", "out.lir"], "cannot read 'none.lir'"),
        (
            &["live.lir", "--passes=", "-o", "none/out.lir"],
            "cannot write 'none/out.lir'",
        ),
        (
            &[
                "live.lir",
                "--passes=",
                "--dump-bytes=some",
                "-o",
                "out.lir",
            ],
            "expected ref, full or hash",
        ),
    ] {
        let output = opt(folder.path(), arguments);
        let message = stderr(&output);
        assert!(!output.status.success(), "{arguments:?}");
        assert!(message.contains(expected), "{arguments:?}: {message}");
    }
    assert!(!folder.path().join("out.lir").exists());
}

/// A link writes the module as text where the output's name asks for that, and `-` is the standard input and output.
#[test]
fn modules_go_through_pipes() {
    const INPUT: &str = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/links/symbols/weak-templates/sm_90/a.cubin"
    );
    let folder = tempfile::tempdir().unwrap();
    let read = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
    let link = |words: &[&str]| {
        let done = cuweld(
            folder.path(),
            &[&["link", INPUT, "--arch=sm_90"], words].concat(),
        );
        assert!(done.status.success(), "{}", said(&done));
    };
    link(&["-o", "out.cubin"]);
    link(&["-o", "out.lir"]);
    let text = String::from_utf8(read("out.lir")).unwrap();
    assert!(
        text.starts_with("lir 1\nmodule phase=emitted "),
        "{}",
        &text[..60]
    );
    link(&["--stop-after", "callgraph-dce", "-o", "live.lir"]);
    let live = std::fs::File::open(folder.path().join("live.lir")).unwrap();
    let done = Command::new(env!("CARGO_BIN_EXE_cuweld"))
        .args(["opt", "-", "-o", "-", "--start-after", "callgraph-dce"])
        .current_dir(folder.path())
        .stdin(live)
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", stderr(&done));
    std::fs::write(folder.path().join("emitted.lir"), done.stdout).unwrap();
    let done = opt(
        folder.path(),
        &["emitted.lir", "--passes", "", "-o", "out2.cubin"],
    );
    assert!(done.status.success(), "{}", said(&done));
    assert_eq!(read("out2.cubin"), read("out.cubin"));
}

/// A target that the objects are not for, or that there is not, is refused at every phase.
#[test]
fn targets_that_do_not_fit_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let root = env!("CARGO_MANIFEST_DIR");
    let cubin = format!("{root}/tests/links/symbols/weak-templates/sm_90/a.cubin");
    let edited = |passes: &str, target: &str| {
        let output = opt(folder.path(), &[&cubin, "--passes", passes, "-o", "a.lir"]);
        assert!(output.status.success(), "{}", stderr(&output));
        let path = folder.path().join("a.lir");
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(path, text.replacen("target=sm_90", target, 1)).unwrap();
    };
    let unfit = "arch does not match target 'sm_80'";
    for (passes, target, arguments, expected) in [
        (
            "check-objects",
            "target=sm_80",
            &["--start-after=check-objects"][..],
            unfit,
        ),
        (
            "check-objects,classify",
            "target=sm_80",
            &["--start-after=classify"],
            unfit,
        ),
        (
            "classify",
            "target=sm_80",
            &["--passes=select-objects"],
            unfit,
        ),
        ("", "target=sm_80", &[], unfit),
        ("", "target=sm_80", &["--passes=classify"], unfit),
        (
            "classify",
            "target=sm_81",
            &["--passes=select-objects"],
            "target=sm_81 is none",
        ),
        (
            "classify",
            "target=sm_90",
            &["--arch=sm_80"],
            "is a module for sm_90, not for sm_80",
        ),
    ] {
        edited(passes, target);
        let output = opt(
            folder.path(),
            &[&["a.lir", "-o", "b.lir"], arguments].concat(),
        );
        assert_eq!(output.status.code(), Some(1), "{target} {arguments:?}");
        let said = stderr(&output);
        assert!(said.contains(expected), "{target} {arguments:?}: {said}");
        assert!(!folder.path().join("b.lir").exists());
    }
    let arguments = [&*cubin, "--arch=sm_80", "--passes=classify", "-o", "b.lir"];
    assert!(stderr(&opt(folder.path(), &arguments)).contains(unfit));
}

#[test]
fn the_target_is_that_of_the_inputs() {
    let folder = tempfile::tempdir().unwrap();
    let root = env!("CARGO_MANIFEST_DIR");
    let objects = ["a.o", "b.o"].map(|name| format!("{root}/examples/rdc/{name}"));
    let [a, b] = objects.each_ref().map(String::as_str);
    let output = opt(folder.path(), &[a, b, "-o", "out.cubin"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let found = std::fs::read(folder.path().join("out.cubin")).unwrap();
    cuweld(
        folder.path(),
        &["link", "--arch=sm_90", a, b, "-o", "link.cubin"],
    );
    assert!(found == std::fs::read(folder.path().join("link.cubin")).unwrap());
    let other = format!("{root}/tests/links/data/constant-banks-report/sm_80/a.cubin");
    let output = opt(folder.path(), &[a, &other, "-o", "x.lir"]);
    let said = stderr(&output);
    assert!(
        said.starts_with("error: the architecture to link for is not given\n"),
        "{said}"
    );
    assert!(said.contains("has code for sm_90\n") && said.contains("has code for sm_80\n"));
}

/// Dumps name host objects and members of archives by the file that holds them.
#[test]
fn dumps_of_host_objects_and_archives_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let root = env!("CARGO_MANIFEST_DIR");
    let objects = ["a.o", "b.o"].map(|name| format!("{root}/examples/rdc/{name}"));
    let archived = Command::new("ar")
        .args(["rc", "l.a"])
        .args(&objects)
        .current_dir(folder.path())
        .status();
    assert!(archived.unwrap().success());
    let [a, b] = objects.each_ref().map(String::as_str);
    for inputs in [&[a, b][..], &["l.a"]] {
        let words = [
            "link",
            "--arch=sm_90",
            "--dump-after=callgraph-dce",
            "--dump-dir=dumps",
        ];
        let output = cuweld(folder.path(), &[&words[..], &["-o", "x"], inputs].concat());
        assert!(output.status.success(), "{}", stderr(&output));
        let text = "dumps/05-callgraph-dce.after.lir";
        let output = opt(
            folder.path(),
            &[text, "--start-after=callgraph-dce", "-o", "y"],
        );
        assert!(output.status.success(), "{}", stderr(&output));
        let read = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
        assert!(read("x") == read("y"));
        std::fs::remove_file(folder.path().join("y")).unwrap();
    }
    std::fs::write(folder.path().join("l.a"), "!<arch>\n").unwrap();
    let text = "dumps/05-callgraph-dce.after.lir";
    let output = opt(
        folder.path(),
        &[text, "--start-after=callgraph-dce", "-o", "y"],
    );
    assert!(
        stderr(&output).contains("is not at hand"),
        "{}",
        stderr(&output)
    );
}
