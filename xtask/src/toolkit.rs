//! A new version of NVIDIA's toolkit: installed, drafted as one that cuweld knows, and compared with.

use std::error::Error;
use std::path::Path;
use std::process::Command;

use crate::links;
use crate::tools::{program, root, run};

/// The file with the known versions.
const RELEASES: &str = "elf/src/toolkit/releases.rs";

/// Links that show what differs.
const SEEDS: &str = "0..600";

/// Installs a version, adds it to those that cuweld knows unless it is one, and links random programs
/// with its linker and with cuweld.
pub fn add(version: &str, seeds: Option<&str>) -> Result<(), Box<dyn Error>> {
    let tools = installed(version)?;
    let said = output(Command::new(Path::new(&tools).join("nvlink")).arg("--version"))?;
    let build = build_in(&said).ok_or("nvlink --version does not say the number of its build")?;
    let file = root().join(RELEASES);
    let text = std::fs::read_to_string(&file)?;
    match draft(&text, version, &build)? {
        None => println!("{version} is known already"),
        Some(drafted) => {
            std::fs::write(&file, drafted)?;
            println!("{version} is in {RELEASES} now: build {build}");
        }
    }
    let before = version_before(&text, version);
    if let Some(before) = &before {
        let help = |tools: &str| output(Command::new(format!("{tools}/nvlink")).arg("--help"));
        println!("nvlink --help, against that of {before}:");
        for line in lines_apart(&help(&installed(before)?)?, &help(&tools)?) {
            println!("  {line}");
        }
    }
    println!(
        "Links that differ, by what differs first (MISMATCH), follow; each is kept with its sources in target/language."
    );
    run(links("language")
        .env("CUWELD_LANGUAGE", seeds.unwrap_or(SEEDS))
        .env(crate::TOOLKIT, version))
}

/// Installs a version's tools; returns their folder.
fn installed(version: &str) -> Result<String, Box<dyn Error>> {
    let said = output(program("tests/tools/toolkit").arg(version))?;
    let folder = said.lines().last().unwrap_or_default();
    Ok(folder.to_owned())
}

/// Returns what a command prints.
fn output(command: &mut Command) -> Result<String, Box<dyn Error>> {
    let done = command
        .output()
        .map_err(|error| format!("{command:?}: {error}"))?;
    if !done.status.success() {
        let said = String::from_utf8_lossy(&done.stderr);
        return Err(format!("{command:?}: {}\n{said}", done.status).into());
    }
    Ok(String::from_utf8(done.stdout)?)
}

/// Returns the number of the build in what `nvlink --version` prints: `compiler.39125733_0`.
fn build_in(said: &str) -> Option<String> {
    let (_, rest) = said.split_once("compiler.")?;
    let (build, _) = rest.split_once('_')?;
    Some(build.to_owned())
}

/// Returns the table of versions with one more; `None` if it has that version.
fn draft(text: &str, version: &str, build: &str) -> Result<Option<String>, Box<dyn Error>> {
    let parts: Vec<&str> = version.split('.').collect();
    let &["13", minor, patch] = parts.as_slice() else {
        return Err(format!("'{version}' is no version of CUDA 13, such as 13.5.37").into());
    };
    let name = format!("V13_{minor}_{patch}");
    if text.contains(&format!("{name} = ")) || version == "13.0.88" {
        return Ok(None);
    }
    let row = format!(
        "    /// CUDA 13.{minor}, in version {patch}.\n    {name} = (13, {minor}, {patch}), compiler {build};\n}}\n"
    );
    // Oldest first, by minor release and patch.
    let own = (minor.parse::<u32>()?, patch.parse::<u32>()?);
    let number_in = |line: &str| -> Option<(u32, u32)> {
        let name = line.trim().strip_prefix("&V13_")?.strip_suffix(',')?;
        let (minor, patch) = name.split_once('_')?;
        Some((minor.parse().ok()?, patch.parse().ok()?))
    };
    let mut drafted = String::new();
    let (mut in_table, mut in_list, mut listed) = (false, false, false);
    for line in text.lines() {
        in_table |= line == "versions! {";
        in_list |= line.contains("ALL: &[&Toolkit] = &[");
        if in_table && line == "}" {
            drafted.push_str(&row);
            in_table = false;
            continue;
        }
        let is_later = number_in(line).is_some_and(|number| number > own);
        if in_list && !listed && (is_later || line == "];") {
            drafted.push_str(&format!("    &{name},\n"));
            listed = true;
        }
        drafted.push_str(line);
        drafted.push('\n');
    }
    match listed {
        true => Ok(Some(drafted)),
        false => Err(format!("{RELEASES} has no list of versions").into()),
    }
}

/// Returns the last known version before one.
fn version_before(text: &str, version: &str) -> Option<String> {
    let numbers = |version: &str| -> Vec<u32> {
        version
            .split('.')
            .filter_map(|part| part.parse().ok())
            .collect()
    };
    let known = text.lines().filter_map(|line| {
        let (name, rest) = line.trim().split_once(" = (")?;
        name.starts_with("V13_").then_some(())?;
        let (numbers, _) = rest.split_once(')')?;
        Some(numbers.replace(", ", "."))
    });
    let mut known: Vec<String> = known.chain(["13.0.88".to_owned()]).collect();
    known.retain(|known| numbers(known) < numbers(version));
    known.into_iter().max_by_key(|known| numbers(known))
}

/// Returns the lines that only one of two texts has, with `-` and `+`.
fn lines_apart(before: &str, after: &str) -> Vec<String> {
    let missing = |from: &str, other: &str, sign: char| {
        let lines = from
            .lines()
            .filter(|line| !other.lines().any(|other| other == *line));
        lines
            .map(|line| format!("{sign}{line}"))
            .collect::<Vec<_>>()
    };
    let mut lines = missing(before, after, '-');
    lines.extend(missing(after, before, '+'));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "versions! {\n    /// CUDA 13.1.\n    V13_1_80 = (13, 1, 80), compiler 1;\n    /// CUDA 13.5.\n    V13_5_37 = (13, 5, 37), compiler 2;\n}\n\npub(super) const ALL: &[&Toolkit] = &[\n    &super::V13_0,\n    &V13_1_80,\n    &V13_5_37,\n];\n";

    #[test]
    fn a_version_gets_a_row_and_its_place_in_the_list() {
        let drafted = |version, build| {
            let table = draft(TABLE, version, build).expect("a table");
            table.expect("a new version")
        };
        let later = drafted("13.6.20", "77");
        assert!(
            later.contains("    V13_6_20 = (13, 6, 20), compiler 77;\n}\n"),
            "{later}"
        );
        assert!(
            later.ends_with("    &V13_5_37,\n    &V13_6_20,\n];\n"),
            "{later}"
        );
        let between = drafted("13.1.115", "78");
        assert!(
            between.contains("    &V13_1_80,\n    &V13_1_115,\n    &V13_5_37,\n"),
            "{between}"
        );
        assert_eq!(draft(TABLE, "13.5.37", "2").expect("a table"), None);
        assert!(draft(TABLE, "14.0.1", "2").is_err());
    }

    #[test]
    fn the_version_before_is_the_nearest_known_one() {
        assert_eq!(version_before(TABLE, "13.6.20").as_deref(), Some("13.5.37"));
        assert_eq!(
            version_before(TABLE, "13.1.115").as_deref(),
            Some("13.1.80")
        );
        assert_eq!(version_before(TABLE, "13.1.80").as_deref(), Some("13.0.88"));
    }

    #[test]
    fn what_the_linker_says_is_read() {
        let said = "release 13.5, V13.5.37\nBuild cuda_13.5.r13.5/compiler.39125733_0\n";
        assert_eq!(build_in(said).as_deref(), Some("39125733"));
        assert_eq!(lines_apart("a\nb\n", "a\nc\n"), ["-b", "+c"]);
    }
}
