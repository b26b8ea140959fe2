//! `cuweld explain`: what a code of a finding means, when it comes, and what to do.

use std::io;
use std::io::Write;

use clap::Args;
use cuweld_diagnostics::Code;
use cuweld_diagnostics::Kind;
use cuweld_diagnostics::codes;
use cuweld_passes::suggest::nearest;

/// Options of `cuweld explain`.
#[derive(Args)]
pub struct ExplainArgs {
    /// Explain this code, such as link/undefined; without it, list all.
    code: Option<String>,
}

/// Runs the command.
pub fn run(args: &ExplainArgs, stdout: &mut dyn Write, stderr: &mut dyn Write) -> io::Result<u8> {
    let Some(name) = &args.code else {
        list(stdout)?;
        return Ok(0);
    };
    match codes::find(name) {
        Some(code) => {
            explain(code, stdout)?;
            Ok(0)
        }
        None => {
            let meant =
                meant(name).map_or(String::new(), |code| format!("; did you mean '{code}'?"));
            writeln!(stderr, "error: no code '{name}'{meant}")?;
            Ok(1)
        }
    }
}

/// Writes every code, a line each.
fn list(stdout: &mut dyn Write) -> io::Result<()> {
    let codes = codes::all();
    let width = codes
        .iter()
        .map(|code| code.name().len())
        .max()
        .unwrap_or(0);
    for (index, kind) in Kind::ALL.iter().enumerate() {
        if index > 0 {
            writeln!(stdout)?;
        }
        writeln!(stdout, "{}: {}", kind.name(), kind.doc())?;
        for code in codes.iter().filter(|code| code.kind() == *kind) {
            writeln!(stdout, "  {:width$}  {}", code.name(), code.title())?;
        }
    }
    Ok(())
}

fn explain(code: Code, stdout: &mut dyn Write) -> io::Result<()> {
    writeln!(stdout, "{code}: {}\n", code.title())?;
    writeln!(stdout, "When: {}", code.when())?;
    writeln!(stdout, "What to do: {}\n", code.advice())?;
    writeln!(stdout, "{}", code.kind().doc())
}

/// Returns the code that a mistyped name was meant to be, with its kind or without.
fn meant(name: &str) -> Option<Code> {
    let codes = codes::all();
    let ends_so = |code: &&Code| {
        code.name()
            .split_once('/')
            .is_some_and(|(_, end)| end == name)
    };
    let near = || nearest(name, codes.iter().map(|code| code.name()));
    let found = codes.iter().find(ends_so).copied();
    found.or_else(|| codes::find(near()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(code: Option<&str>) -> (u8, String, String) {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let args = ExplainArgs {
            code: code.map(str::to_owned),
        };
        let exit = run(&args, &mut out, &mut err).unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (exit, text(out), text(err))
    }

    #[test]
    fn a_code_is_explained() {
        let (exit, out, err) = said(Some("link/undefined"));
        assert_eq!((exit, &*err), (0, ""));
        assert!(out.starts_with("link/undefined: a reference to what no object defines\n\nWhen: "));
        assert!(
            out.contains("\nWhat to do: Add the object or library"),
            "{out}"
        );
    }

    #[test]
    fn mistyped_codes_get_a_suggestion() {
        for (typed, meant) in [
            ("link/undefned", "link/undefined"),
            ("undefined", "link/undefined"),
            (
                "unsupported/mercury-two-veiws",
                "unsupported/mercury-two-views",
            ),
        ] {
            let expected = format!("error: no code '{typed}'; did you mean '{meant}'?\n");
            assert_eq!(said(Some(typed)), (1, String::new(), expected));
        }
        assert_eq!(said(Some("x")).2, "error: no code 'x'\n");
    }

    #[test]
    fn without_a_code_all_are_listed() {
        let (_, out, _) = said(None);
        for code in codes::all() {
            assert!(out.contains(&format!("  {code} ")), "{code}");
        }
    }

    /// Checks that the committed list is current; with `BLESS=1`, writes the file.
    #[test]
    fn the_committed_list_of_findings_is_current() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/using/findings.md");
        let text = cuweld_diagnostics::book::page();
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(path, &text).unwrap();
        }
        let committed = std::fs::read_to_string(path).unwrap_or_default();
        assert!(
            committed == text,
            "run it again with BLESS=1 to write {path} anew"
        );
    }

    /// Checks that each code is used, so that none is explained in vain.
    #[test]
    fn each_code_is_used() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut used = String::new();
        let mut folders = vec![
            root.join("src"),
            root.join("passes/src"),
            root.join("python/src"),
            root.join("diagnostics/src"),
        ];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|end| end == "rs") {
                    used += &std::fs::read_to_string(path).unwrap();
                }
            }
        }
        let tables = root.join("diagnostics/src/codes");
        for entry in std::fs::read_dir(tables).unwrap() {
            let path = entry.unwrap().path();
            let module = path.file_stem().unwrap().to_string_lossy().into_owned();
            let table = std::fs::read_to_string(&path).unwrap();
            let constants = table.lines().filter_map(|line| {
                let (name, rest) = line.trim_start().split_once(" \"")?;
                let is_constant = name
                    .bytes()
                    .all(|c| c.is_ascii_uppercase() || matches!(c, b'_' | b'0'..=b'9'));
                (is_constant && rest.ends_with("\":")).then_some(name)
            });
            for name in constants {
                assert!(
                    used.contains(&format!("{module}::{name}")),
                    "{module}::{name}"
                );
            }
        }
    }
}
