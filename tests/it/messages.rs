//! Every message of `messages.txt` has a case with its trigger and the exact line: a link of `inputs/*.toml` or `links/`, or an
//! observed command line. The cases are run by `inputs.rs`, `links.rs` and the tests of the command line.

use std::collections::BTreeSet;
use std::error::Error;
use std::io::Write as _;
use std::path::Path;

use crate::harness::case::Case;

type Result<T = ()> = std::result::Result<T, Box<dyn Error>>;

/// Adds the lines of `stderr`, and of what is refused.
fn collect(table: &toml::Table, lines: &mut BTreeSet<String>) {
    let stderr = table.get("stderr").and_then(toml::Value::as_array);
    let texts = stderr.into_iter().flatten().chain(table.get("refused"));
    lines.extend(texts.filter_map(toml::Value::as_str).map(str::to_owned));
}

/// All lines that some case expects.
fn expected_lines() -> Result<BTreeSet<String>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut lines = BTreeSet::new();
    for entry in std::fs::read_dir(root.join("tests/inputs"))? {
        let path = entry?.path();
        if path
            .extension()
            .is_some_and(|extension| extension == "toml")
        {
            let table: toml::Table = toml::from_str(&std::fs::read_to_string(path)?)?;
            let links = table.get("link").and_then(toml::Value::as_array);
            for link in links
                .into_iter()
                .flatten()
                .filter_map(toml::Value::as_table)
            {
                collect(link, &mut lines);
            }
        }
    }
    for case in Case::all()? {
        lines.extend(case.stderr);
    }
    let observed = std::fs::read(root.join("src/cli/nvlink/testdata/observed.json"))?;
    let observed: serde_json::Value = serde_json::from_slice(&observed)?;
    for case in observed["cases"].as_array().into_iter().flatten() {
        let stderr = case["stderr"].as_array().into_iter().flatten();
        lines.extend(stderr.filter_map(|line| line.as_str()).map(str::to_owned));
    }
    Ok(lines)
}

/// Whether a line is of this form; `*` is any text.
fn is_of_form(line: &str, form: &str) -> bool {
    let mut parts = form.split('*');
    let Some(mut rest) = parts.next().and_then(|first| line.strip_prefix(first)) else {
        return false;
    };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else {
        return rest.is_empty();
    };
    for part in parts {
        match rest.split_once(part) {
            Some((_, behind)) => rest = behind,
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[test]
fn every_message_has_a_case() -> Result {
    let lines = expected_lines()?;
    let table = include_str!("../messages.txt").lines();
    let forms: Vec<&str> = table.filter(|line| !line.starts_with('#')).collect();
    let has_case = |form: &&&str| lines.iter().any(|line| is_of_form(line, form));
    let (with, without): (Vec<&&str>, Vec<&&str>) = forms.iter().partition(has_case);
    writeln!(
        std::io::stdout(),
        "messages: {} of {} have a case",
        with.len(),
        forms.len()
    )?;
    assert!(without.is_empty(), "no case: {without:#?}");
    assert!(with.len() > 60, "only {} messages", with.len());
    Ok(())
}
