//! `--print-gc-sections` lists the sections that nothing uses, in lld's words, on both command lines.

use std::path::Path;
use std::process::Command;
use std::process::Output;

use serde_json::Value;

use crate::harness::command::{program, said};

const EXAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/rdc");

/// Links the example into a folder of its own.
fn link(words: &str, variable: Option<&str>) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(program());
    command.args(words.split(' ')).args(["a.o", "b.o", "-o"]);
    command.arg(folder.path().join("out.cubin"));
    command.current_dir(EXAMPLE);
    if let Some(value) = variable {
        command.env("CUWELD_PRINT_GC_SECTIONS", value);
    }
    command.output().unwrap()
}

fn listed(output: &Output) -> Vec<String> {
    assert!(output.status.success(), "{}", said(output));
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn both_command_lines_list_unused_sections() {
    assert!(Path::new(EXAMPLE).join("a.o").exists());
    let expected = ["removing unused section b.o:(.text._Z6invert5Pixel)"];
    let native = link("link --arch sm_90 --print-gc-sections", None);
    assert_eq!(listed(&native), expected);
    let nvlink = link("nvlink -arch=sm_90 --cuweld-print-gc-sections", None);
    assert_eq!(listed(&nvlink), expected);
    // The environment counts for the program as nvlink, as with all options of cuweld.
    assert_eq!(listed(&link("nvlink -arch=sm_90", Some("1"))), expected);
    for words in ["nvlink -arch=sm_90", "link --arch sm_90"] {
        assert_eq!(listed(&link(words, None)), [""; 0]);
    }
    // With -g all stays.
    let debug = link("link --arch sm_90 -g --print-gc-sections", None);
    assert_eq!(listed(&debug), [""; 0]);
}

/// The list has exactly the sections of the map that are unreachable or unreferenced, in its order.
#[test]
fn listed_sections_are_those_of_the_map() {
    let words = "nvlink -arch=sm_90 -kernels-used=_Z4blurPK5PixelPS_i --cuweld-print-gc-sections";
    let lines = listed(&link(words, None));
    let words = "nvlink -arch=sm_90 -kernels-used=_Z4blurPK5PixelPS_i --cuweld-map=-";
    let text = said(&link(words, None));
    let unused = text.lines().filter_map(|line| {
        let (reason, section) = line
            .trim_start()
            .split_once(' ')?
            .1
            .trim_start()
            .split_once(' ')?;
        let is_unused = ["unreachable", "unreferenced"].contains(&reason);
        is_unused.then(|| format!("removing unused section {}", section.trim_start()))
    });
    let unused: Vec<String> = unused.collect();
    assert_eq!(lines, unused);
    let of_kernel = "removing unused section a.o:(.nv.shared._Z14find_brightestPK5Pixeli)";
    assert!(lines.iter().any(|line| line == of_kernel), "{lines:?}");
    assert!(lines.len() > 5, "{lines:?}");
    assert!(text.contains(" discarded "), "{text}");
}

#[test]
fn what_is_not_known_is_said() {
    let words = "link --arch sm_90 --print-gc-sections --stop-after classify --message-format json";
    let output = link(words, None);
    assert!(output.status.success(), "{}", said(&output));
    assert!(output.stdout.is_empty());
    let messages = said(&output);
    let messages: Vec<Value> = messages
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let said = |message: &Value| message["message"].as_str().unwrap().contains("no unused");
    assert_eq!(
        messages.iter().filter(|it| said(it)).count(),
        1,
        "{messages:?}"
    );
    // A link that stops after the decision has a list and no output.
    let words = "link --arch sm_90 --print-gc-sections --stop-after callgraph-dce";
    assert_eq!(listed(&link(words, None)).len(), 1);
}
