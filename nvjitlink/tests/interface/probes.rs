//! Probes: links of `tests/probes.txt`, with what NVIDIA's library answers in `probes.expected`,
//! and where ours answers something else, in `probes.differences` with the reason.
//!
//! A probe runs in a process of its own: NVIDIA's library ends some. With NVIDIA's tools its answers
//! are compared, too, and `BLESS=1` writes them down.

use std::collections::BTreeMap;
use std::ffi::c_int;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::path::PathBuf;

use sha2::Digest;
use sha2::Sha256;

use super::child::ask;
use super::library::Interface;
use super::library::here;
use super::library::nvidias;
use super::library::shared;

/// A link of the list.
#[derive(Default)]
pub struct Probe {
    options: Vec<String>,
    /// The words after `add` or `file`.
    adds: Vec<(bool, String)>,
    get: Option<String>,
}

impl Probe {
    /// Returns `true` if it takes NVIDIA's compilers.
    fn compiles(&self) -> bool {
        let has = |text: &str| self.adds.iter().any(|(_, add)| add.contains(text));
        let is_lto = self.options.iter().any(|option| option == "-lto");
        has("|a.ptx") || has("|text:.version") || is_lto
    }
}

pub fn all() -> BTreeMap<String, Probe> {
    let text = fs::read_to_string(here("tests/probes.txt")).unwrap();
    let mut probes: Vec<(String, Probe)> = Vec::new();
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("probe ") {
            probes.push((name.to_owned(), Probe::default()));
            continue;
        }
        let (word, rest) = line
            .trim_start()
            .split_once(' ')
            .unwrap_or((line.trim(), ""));
        let (_, probe) = probes.last_mut().unwrap();
        match word {
            "option" => probe.options.push(rest.to_owned()),
            "add" => probe.adds.push((true, rest.to_owned())),
            "file" => probe.adds.push((false, rest.to_owned())),
            "get" => probe.get = Some(rest.to_owned()),
            _ => panic!("{line}"),
        }
    }
    probes.into_iter().collect()
}

/// Reads answers: a line each, those that begin with `#` say why they differ.
fn answers(name: &str) -> BTreeMap<String, String> {
    let text = fs::read_to_string(here(name)).unwrap_or_default();
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let answers = lines.filter_map(|line| line.split_once(" => "));
    answers
        .map(|(name, answer)| (name.to_owned(), answer.to_owned()))
        .collect()
}

fn kind(word: &str) -> c_int {
    let kinds = [
        ("none", 0),
        ("cubin", 1),
        ("ptx", 2),
        ("ltoir", 3),
        ("fatbin", 4),
        ("object", 5),
        ("library", 6),
        ("index", 7),
        ("any", 10),
    ];
    let known = kinds.iter().find(|(name, _)| *name == word);
    known.map_or_else(|| word.parse().unwrap(), |(_, kind)| *kind)
}

/// Returns the bytes of an input: a file, of which a part may be cut off or replaced, or a text.
fn data(word: &str) -> Option<Vec<u8>> {
    if word == "null" {
        return None;
    }
    if let Some(text) = word.strip_prefix("text:") {
        return Some(text.replace("\\0", "\0").into_bytes());
    }
    let end = word.find(['+', '[', '{']).unwrap_or(word.len());
    let mut bytes = fs::read(here("tests/inputs").join(&word[..end])).unwrap();
    let mut rest = &word[end..];
    if let Some(after) = rest.strip_prefix("+NUL") {
        bytes.push(0);
        rest = after;
    }
    if let Some(length) = rest.strip_prefix("[..") {
        bytes.truncate(length.trim_end_matches(']').parse().unwrap());
    } else if let Some(change) = rest.strip_prefix('{') {
        let (from, to) = change.trim_end_matches('}').split_once('>').unwrap();
        bytes = String::from_utf8(bytes).unwrap().replace(from, to).into();
    }
    Some(bytes)
}

/// Does what a probe says. Times are left out.
pub fn answer(interface: &Interface, probe: &Probe) -> String {
    let options: Vec<&str> = probe.options.iter().map(String::as_str).collect();
    let (mut link, created) = interface.create(&options);
    let mut said = format!("create {created}");
    let mut goes_on = created == 0;
    for (is_data, words) in &probe.adds {
        let code = if *is_data {
            let words: Vec<&str> = words.split('|').collect();
            let name = Some(words[2]).filter(|name| *name != "-");
            link.add(kind(words[0]), data(words[1]).as_deref(), name)
        } else {
            let (word, path) = words.split_once(' ').unwrap();
            let path = match path {
                "-" => None,
                path if path.starts_with('/') => Some(PathBuf::from(path)),
                path => Some(Path::new("tests/inputs").join(path)),
            };
            link.add_file(kind(word), path.as_deref())
        };
        let _ = write!(said, ", add {code}");
        goes_on &= code == 0;
        if !goes_on {
            break;
        }
    }
    if goes_on {
        let _ = write!(said, ", complete {}", link.complete());
        let what = probe.get.as_deref().unwrap_or("LinkedCubin");
        match link.get(what) {
            Ok(bytes) => {
                let hash = Sha256::digest(&bytes);
                let hash: String = hash[..8].iter().map(|byte| format!("{byte:02x}")).collect();
                let _ = write!(said, ", get {} bytes {hash}", bytes.len());
            }
            Err(code) => {
                let _ = write!(said, ", get {code}");
            }
        }
    }
    for what in ["ErrorLog", "InfoLog"] {
        let log = link.log(what);
        let timed = |line: &&str| line.starts_with("nvJitLink") || line.contains("Compile time");
        let lines = log.lines().map(|line| match timed(&line) {
            true => line.trim_end_matches(|c: char| c.is_ascii_digit() || " .ms".contains(c)),
            false => line,
        });
        let lines: Vec<&str> = lines.collect();
        if !lines.is_empty() {
            let _ = write!(said, ", {what} {lines:?}");
        }
    }
    let _ = write!(said, ", destroy {}", link.destroy());
    said
}

/// The toolkit whose library is probed.
const TOOLKIT: &str = "13.0.88";

#[test]
fn each_link_is_answered_as_nvidias_library_does() {
    let expected_file = "tests/probes.expected";
    let has_tools = nvidias().is_some_and(|file| file.is_file());
    let asked: Vec<(String, String)> = match nvidias().filter(|_| has_tools) {
        Some(library) => all()
            .keys()
            .map(|name| (name.clone(), ask("probe", name, &library, TOOLKIT)))
            .collect(),
        None => Vec::new(),
    };
    if std::env::var_os("BLESS").is_some() {
        assert!(has_tools, "BLESS takes NVIDIA's tools: tests/tools/oracle");
        let lines = asked
            .iter()
            .map(|(name, said)| format!("{name} => {said}\n"));
        fs::write(here(expected_file), lines.collect::<String>()).unwrap();
    }
    let (expected, differences) = (answers(expected_file), answers("tests/probes.differences"));
    let mut wrong = Vec::new();
    for (name, said) in &asked {
        if expected.get(name) != Some(said) {
            wrong.push(format!("NVIDIA's library, {name}: {said}"));
        }
    }
    for (name, probe) in all() {
        if probe.compiles() && !has_tools {
            continue;
        }
        let said = ask("probe", &name, shared(), TOOLKIT);
        let theirs = expected
            .get(&name)
            .unwrap_or_else(|| panic!("no answer to {name}"));
        let right = differences.get(&name).unwrap_or(theirs);
        if said != *right {
            wrong.push(format!("{name}\n  is: {said}\n  not {right}"));
        } else if differences.get(&name) == Some(theirs) {
            wrong.push(format!("{name}: it is no difference"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// With PTX and without `ptxas`, NVIDIA's library does the link: its answers are those to expect, also
/// where ours differ.
#[test]
fn nvidias_library_compiles_where_there_is_no_ptxas() {
    if !nvidias().is_some_and(|file| file.is_file()) {
        return;
    }
    let expected = answers("tests/probes.expected");
    let mut compared = 0;
    for (name, probe) in all().iter().filter(|(_, probe)| probe.compiles()) {
        // An input before the PTX may have been refused by ours already.
        let said = ask("probe without ptxas", name, shared(), TOOLKIT);
        assert_eq!(Some(&said), expected.get(name), "{name}");
        compared += usize::from(probe.adds.len() > 1);
    }
    assert!(compared > 0);
}
