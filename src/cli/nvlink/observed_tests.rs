//! Our command line against what nvlink 13.0.88 was seen to do (`testdata/observed.json`).

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use super::command_line::Command;
use super::command_line::read_command_line;
use crate::cli::nvlink::environment::Surroundings;
use crate::diagnostics::Reporter;
use crate::diagnostics::Style;

const OBSERVED: &str = include_str!("testdata/observed.json");

#[derive(serde::Deserialize)]
struct Observed {
    files: BTreeMap<String, String>,
    cases: Vec<Case>,
}

#[derive(serde::Deserialize)]
struct Case {
    arguments: Vec<String>,
    exit: u8,
    stderr: Vec<String>,
    /// The record in the output, if there was one.
    object: Option<String>,
    tool: Option<String>,
    options: Option<String>,
}

struct Outcome {
    command: Option<Command>,
    stderr: String,
    exit: u8,
}

fn run(case: &Case, files: &BTreeMap<String, String>) -> Outcome {
    let arguments: Vec<&[u8]> = case.arguments.iter().map(String::as_bytes).collect();
    let mut read_file = |path: &Path| {
        if path == Path::new("d") {
            return Err(io::Error::from(io::ErrorKind::IsADirectory));
        }
        path.to_str()
            .and_then(|name| files.get(name))
            .map(|text| text.clone().into_bytes())
            .ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
    };
    // Explanations are ours; nvlink has none.
    let environment = |name: &str| (name == "CUWELD_EXPLAIN").then(|| b"off".to_vec());
    let mut stderr = Vec::new();
    let mut reporter = Reporter::new(&mut stderr, Style::Nvlink);
    let surroundings = Surroundings {
        environment: &environment,
        shadowed: None,
    };
    let command = read_command_line(&arguments, surroundings, &mut read_file, &mut reporter)
        .expect("a Vec takes everything");
    let exit = reporter.exit_code();
    Outcome {
        command,
        stderr: String::from_utf8(stderr).expect("messages are text"),
        exit,
    }
}

#[test]
fn agrees_with_nvlink() {
    let observed: Observed = serde_json::from_str(OBSERVED).expect("the data is well-formed");
    let mut failures = Vec::new();
    let mut records = 0;
    let mut messages = 0;
    for case in &observed.cases {
        let outcome = run(case, &observed.files);
        let command = case.arguments.join(" ");
        if outcome
            .stderr
            .lines()
            .ne(case.stderr.iter().map(String::as_str))
        {
            failures.push(format!(
                "{command}\n  {:?}\n  {:?}",
                outcome.stderr, case.stderr
            ));
        }
        if outcome.exit != case.exit {
            failures.push(format!(
                "{command}\n  exit {}, not {}",
                outcome.exit, case.exit
            ));
        }
        messages += usize::from(!case.stderr.is_empty());
        if let (Some(object), Some(tool), Some(options)) = (&case.object, &case.tool, &case.options)
        {
            records += 1;
            match outcome.command {
                Some(Command::Link(args)) => {
                    let ours = (
                        args.link.record.output_name,
                        args.tool_name,
                        args.link.record.options,
                    );
                    let theirs = (object.clone().into(), tool.clone(), options.clone().into());
                    if ours != theirs {
                        failures.push(format!("{command}\n  {ours:?}\n  {theirs:?}"));
                    }
                }
                other => failures.push(format!("{command}\n  no link but {other:?}")),
            }
        }
    }
    assert!(
        failures.is_empty(),
        "{} differ:\n{}",
        failures.len(),
        failures.join("\n")
    );
    assert!(
        records >= 50 && messages >= 100,
        "{records} records, {messages} with messages"
    );
}

fn command(arguments: &[&str]) -> Option<Command> {
    let case = Case {
        arguments: arguments.iter().map(ToString::to_string).collect(),
        exit: 0,
        stderr: Vec::new(),
        object: None,
        tool: None,
        options: None,
    };
    run(&case, &BTreeMap::new()).command
}

#[test]
fn help_comes_before_version() {
    assert!(matches!(command(&["-V", "-h"]), Some(Command::Help)));
    assert!(matches!(
        command(&["-V", "-lto"]),
        Some(Command::Version(_))
    ));
}

#[test]
fn host_linker_scripts_need_no_target() {
    assert!(matches!(
        command(&["-ghls=lcs-aug", "-o", "x"]),
        Some(Command::HostLinkerScript { complete: false, output: Some(output), .. }) if output == "x"
    ));
    assert!(matches!(
        command(&["-ghls"]),
        Some(Command::HostLinkerScript {
            complete: true,
            output: None,
            kind: None,
            ..
        })
    ));
    // The host compiler is asked how it links the same; -shared comes before -r.
    for (options, asked) in [(&["-r"][..], "-r"), (&["-r", "-shared"], "-shared")] {
        assert!(matches!(
            command(&[&["-ghls=lcs-abs"], options].concat()),
            Some(Command::HostLinkerScript { kind: Some(kind), .. }) if kind == asked
        ));
    }
}

#[test]
fn own_options_are_not_recorded() {
    let arguments = [
        "-arch=sm_90",
        "-g",
        "d/a.o",
        "-o",
        "x",
        "--cuweld-stamp=nvlink-13.0.88",
        "--cuweld-strict",
    ];
    let Some(Command::Link(args)) = command(&arguments) else {
        panic!("a link");
    };
    assert_eq!(args.link.record.options, b"a.o -o x -g  -arch sm_90 ");
    assert!(args.link.record.stamp_nvlink);
    assert!(args.controls.strict);
}

#[test]
fn virtual_targets_are_refused_later() {
    let Some(Command::Link(args)) = command(&["-arch=compute_90a", "a.o"]) else {
        panic!("a link");
    };
    assert_eq!(args.target.to_string(), "sm_90a");
    assert_eq!(args.unsupported, ["-arch=compute_*"]);
}
