//! The rules of nvlink in `elf/src/behaviours`: each has a case that shows it and code that cites it, what the code cites is
//! a rule, and nothing rests on notes that are not in the repository. `docs/formats/behaviours.md` lists them; `BLESS=1`
//! writes it anew.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::path::PathBuf;

use cuweld_elf::behaviours;
use cuweld_elf::behaviours::Behaviour;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Collects the files below `folder` whose names end in one of `endings`, as paths from the root.
fn collect(folder: &str, endings: &[&str], files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(root().join(folder)).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        let path = format!("{folder}/{name}");
        if entry.file_type().unwrap().is_dir() {
            if !name.starts_with('.') && (name != "target" || path.contains("/src/")) {
                collect(&path, endings, files);
            }
        } else if endings.iter().any(|ending| name.ends_with(ending)) {
            files.push(PathBuf::from(path));
        }
    }
}

fn files(folders: &[&str], endings: &[&str]) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for folder in folders {
        collect(folder, endings, &mut files);
    }
    files.sort();
    files
}

fn read(path: &Path) -> String {
    fs::read_to_string(root().join(path)).unwrap()
}

/// Returns the names in brackets in a line, `[some-rule]`, that are no links.
fn cited(line: &str) -> impl Iterator<Item = &str> {
    line.split('[').skip(1).filter_map(|rest| {
        let (name, behind) = rest.split_once(']')?;
        let is_name = name.contains('-')
            && name
                .chars()
                .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
        (is_name && !behind.starts_with('(')).then_some(name)
    })
}

/// Returns the place of a case, as a path from the root: `links/<topic>/<name>`, or
/// `passes/<pass>/<rest>.lir` for the name `<pass>-<rest>`.
fn case(name: &str) -> Option<String> {
    let folders = |of: &str| -> Vec<String> {
        let folders = fs::read_dir(root().join(of)).unwrap();
        let names = folders.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.collect()
    };
    let links = folders("tests/links").into_iter();
    let link = links
        .map(|topic| format!("tests/links/{topic}/{name}"))
        .find(|path| root().join(path).join("case.toml").exists());
    let pass = || {
        let passes = folders("tests/passes").into_iter();
        let mut files = passes.filter_map(|pass| {
            let rest = name.strip_prefix(&pass)?.strip_prefix('-')?;
            Some(format!("tests/passes/{pass}/{rest}.lir"))
        });
        files.find(|path| root().join(path).exists())
    };
    let toolkit = || {
        let path = format!("tests/toolkits/{name}");
        root()
            .join(&path)
            .join("case.toml")
            .exists()
            .then_some(path)
    };
    link.or_else(toolkit).or_else(pass)
}

/// Returns the names of behaviours that comments of the code cite, with the first place of each.
fn citations() -> BTreeMap<String, String> {
    let mut citations = BTreeMap::new();
    for path in files(&["src", "ir/src", "elf/src", "passes/src"], &[".rs"]) {
        for (line, number) in read(&path).lines().zip(1..) {
            let Some((_, comment)) = line.split_once("//") else {
                continue;
            };
            for name in cited(comment) {
                let place = format!("{}:{number}", path.display());
                citations.entry(name.to_owned()).or_insert(place);
            }
        }
    }
    citations
}

fn report(findings: Vec<String>) {
    assert!(findings.is_empty(), "\n{}\n", findings.join("\n"));
}

#[test]
fn names_are_unique_and_plain() {
    let mut names = BTreeSet::new();
    for rule in behaviours::all() {
        assert_eq!(cited(&format!("[{}]", rule.name)).next(), Some(rule.name));
        assert!(names.insert(rule.name), "{} twice", rule.name);
        assert!(rule.doc.ends_with('.'), "{}: no sentence", rule.name);
        assert!(rule.until.is_none_or(|until| rule.since < until));
    }
}

#[test]
fn each_has_cases_that_exist() {
    let missing = |rule: &'static Behaviour| {
        let cases = rule.cases.iter().filter(|name| case(name).is_none());
        cases.map(|name| format!("{}: there is no case {name}", rule.name))
    };
    report(behaviours::all().flat_map(missing).collect());
}

#[test]
fn each_is_cited_and_what_is_cited_exists() {
    let citations = citations();
    let names: BTreeSet<&str> = behaviours::all().map(|rule| rule.name).collect();
    let uncited = names.iter().filter(|name| !citations.contains_key(**name));
    let mut findings: Vec<String> = uncited
        .map(|name| format!("{name}: no code cites it"))
        .collect();
    let unknown = citations
        .iter()
        .filter(|(name, _)| !names.contains(&name[..]));
    findings.extend(unknown.map(|(name, place)| format!("{place}: there is no rule [{name}]")));
    report(findings);
}

/// "Measured" alone says nothing that a name would not say better, and the notes to which these names refer are
/// not in the repository.
#[test]
fn nothing_rests_on_notes_elsewhere() {
    let folders = [
        "src",
        "ir",
        "elf",
        "passes",
        "diagnostics",
        "demangle",
        "plugin",
        "docs",
        "tests",
        "examples",
    ];
    // Put together so that this file has none of them.
    let notes =
        ["merge", "nvinfo", "relocs", "inputs", "nvjitlink"].map(|name| format!("`{name}.md"));
    let measured = ["(", ": ", ", "].map(|before| format!("{before}measured"));
    let others = [
        "`mercury.md` section",
        "`corpus.md",
        "(specification:",
        "specification: FN",
        "quirk Q0",
    ]
    .map(str::to_owned);
    let mut findings = Vec::new();
    for path in files(&folders, &[".rs", ".md", ".toml", ".py", ".lir"]) {
        if path.ends_with("tests/it/behaviours.rs") {
            continue;
        }
        for (line, number) in read(&path).lines().zip(1..) {
            let is_code = path.extension().is_some_and(|it| it == "rs");
            let text = match is_code {
                true => line.split_once("//").map_or("", |(_, comment)| comment),
                false => line,
            };
            let is_found = |words: &[String]| words.iter().any(|word| text.contains(word));
            let anonymous = is_code && is_found(&measured) || text.contains("(measured)");
            if anonymous || is_found(&notes) || is_found(&others) {
                findings.push(format!("{}:{number}: {}", path.display(), line.trim()));
            }
        }
    }
    report(findings);
}

/// Which toolkits have a rule, as far as they are known.
fn toolkits(rule: &Behaviour) -> String {
    let since = match rule.since_patch {
        0 => rule.since.to_string(),
        patch => format!("{}.{patch}", rule.since),
    };
    match rule.until {
        None => format!("from {since} on"),
        Some(until) => format!("from {since} on, before {until}"),
    }
}

fn page() -> String {
    let mut out = String::from(
        "# Rules of nvlink by name\n\n\
         Generated from `elf/src/behaviours`; do not edit. `BLESS=1 cargo test --test it behaviours` writes it anew.\n\n\
         These are rules that no standard explains: each has a name, which comments of the code cite in brackets, the\n\
         toolkits that it holds for, and cases that show it (`tests/README.md`). [Linking rules](device-elf.md) and\n\
         [Mercury](mercury.md) say what they are part of. 13.0 is the first toolkit that was looked at; that a rule ends\n\
         is said where a later one is known to have another.\n",
    );
    for subject in behaviours::SUBJECTS {
        let _ = write!(out, "\n## {}\n\n{}\n", subject.title, subject.doc);
        for rule in subject.behaviours {
            let cases = rule.cases.iter().filter_map(|name| case(name));
            let cases: Vec<String> = cases.map(|path| format!("`{path}`")).collect();
            let _ = write!(
                out,
                "\n### {}\n\n{}\n\nToolkits: {}. Shown by {}.\n",
                rule.name,
                rule.doc,
                toolkits(rule),
                cases.join(", ")
            );
        }
    }
    out
}

#[test]
fn the_list_is_current() {
    let path = root().join("docs/formats/behaviours.md");
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, page()).unwrap();
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == page(),
        "docs/formats/behaviours.md: BLESS=1 cargo test --test it behaviours"
    );
}
