//! What `cuweld inspect`, `cuweld size` and `cuweld diff` write: every folder of `tests/inspect` is a command with the
//! text expected of it. No other tool says the same, so `BLESS=1` writes the texts anew: read the change.

use std::error::Error;
use std::path::Path;
use std::process::Command;

/// `case.toml`.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    /// What the case is about.
    summary: String,
    /// Arguments; paths count from the repository's root.
    args: Vec<String>,
    /// Exit code.
    exit: i32,
}

#[test]
fn commands_write_what_is_expected() -> Result<(), Box<dyn Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let bless = std::env::var_os("BLESS").is_some_and(|value| value == "1");
    let mut folders = Vec::new();
    for entry in std::fs::read_dir(root.join("tests/inspect"))? {
        folders.push(entry?.path());
    }
    folders.sort();
    assert!(folders.len() >= 8, "cases are missing: {folders:?}");
    let mut failures = Vec::new();
    for folder in folders {
        let case: Case = toml::from_str(&std::fs::read_to_string(folder.join("case.toml"))?)?;
        let output = Command::new(env!("CARGO_BIN_EXE_cuweld"))
            .args(&case.args)
            .current_dir(root)
            .output()?;
        let found = [
            ("expected.txt", String::from_utf8(output.stdout)?),
            ("expected.err", String::from_utf8(output.stderr)?),
        ];
        let name = folder
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if output.status.code() != Some(case.exit) {
            failures.push(format!(
                "{name}: exit {:?}, not {}",
                output.status.code(),
                case.exit
            ));
        }
        for (file, text) in found {
            let path = folder.join(file);
            if bless && text.is_empty() {
                let _ = std::fs::remove_file(&path);
            } else if bless {
                std::fs::write(&path, &text)?;
            }
            let expected = std::fs::read_to_string(&path).unwrap_or_default();
            if text != expected {
                let place = text.lines().zip(expected.lines()).position(|(a, b)| a != b);
                let line = place.unwrap_or(text.lines().count().min(expected.lines().count()));
                let show = |text: &str| text.lines().nth(line).unwrap_or("(end)").to_owned();
                failures.push(format!(
                    "{name} ({}): {file} line {}:\n  expected {}\n  found    {}",
                    case.summary,
                    line + 1,
                    show(&expected),
                    show(&text)
                ));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    Ok(())
}
