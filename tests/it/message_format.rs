//! `--message-format=json`: what is found as an object a line, the same findings as in text.

use std::path::Path;

use crate::harness::command::{cuweld, stderr};
use serde_json::Value;

const LINKS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/links");

fn lines(text: &str) -> Vec<Value> {
    let lines = text.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect()
}

#[test]
fn findings_are_the_same_in_json() {
    let folder = Path::new(LINKS).join("shared-memory/too-much-shared-data");
    let inputs = std::fs::read_dir(folder.join("sm_90")).unwrap();
    let mut inputs: Vec<String> = inputs
        .map(|entry| format!("sm_90/{}", entry.unwrap().file_name().to_string_lossy()))
        .collect();
    inputs.sort();
    let inputs: Vec<&str> = inputs.iter().map(String::as_str).collect();
    let out = tempfile::tempdir().unwrap();
    let output = out.path().join("out.cubin");
    let output = ["-o", output.to_str().unwrap()];
    for (start, option) in [
        (["nvlink", "-arch=sm_90"], "--cuweld-message-format=json"),
        (["link", "--arch=sm_90"], "--message-format=json"),
    ] {
        let words = [&start[..], &inputs, &output].concat();
        let text = cuweld(&folder, &words);
        let json = cuweld(&folder, &[&words[..], &[option]].concat());
        assert_eq!(json.status.code(), text.status.code());
        let found = lines(&stderr(&json));
        let text = stderr(&text);
        assert!(!found.is_empty());
        for finding in &found {
            assert_eq!(finding["severity"], "error");
            assert_eq!(finding["code"], "link/shared-memory");
            let message = finding["message"].as_str().unwrap();
            assert!(text.contains(&format!(": {message}\n")), "{text}");
            for (name, meaning) in finding["names"].as_object().unwrap() {
                let note = format!("  note: '{name}' is {}\n", meaning.as_str().unwrap());
                assert!(text.contains(&note), "{note}{text}");
            }
            for (kind, label) in [("notes", "note"), ("helps", "help")] {
                for line in finding[kind].as_array().unwrap() {
                    let line = format!("  {label}: {}\n", line.as_str().unwrap());
                    assert!(text.contains(&line), "{line}{text}");
                }
            }
        }
        let errors = text.lines().filter(|line| !line.starts_with("  ")).count();
        assert_eq!(found.len(), errors, "{text}");
    }
}

/// Reports, which are texts, and deviations.
#[test]
fn reports_are_objects_too() {
    let folder = Path::new(LINKS).join("symbols/weak-templates");
    let out = tempfile::tempdir().unwrap();
    let output = out.path().join("out.cubin");
    let words = [
        "link",
        "--arch=sm_90",
        "sm_90/a.cubin",
        "-o",
        output.to_str().unwrap(),
        "--message-format=json",
        "--why-live=no-such-name",
        "--time-passes",
    ];
    let linked = cuweld(&folder, &words);
    assert!(linked.status.success(), "{}", stderr(&linked));
    let found = lines(&stderr(&linked));
    assert!(found.iter().all(|line| line["severity"] == "report"));
    let said: Vec<&str> = found
        .iter()
        .filter_map(|line| line["message"].as_str())
        .collect();
    assert!(
        said.contains(&"'no-such-name': no symbol of the link\n"),
        "{said:?}"
    );
}
