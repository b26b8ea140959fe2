//! The documentation: links and anchors of all Markdown files lead somewhere, the book's table of contents lists every page
//! once, and files that the pages name exist.

use std::collections::BTreeSet;
use std::collections::HashMap;
use std::fs;
use std::path::Component;
use std::path::Path;
use std::path::PathBuf;

use pulldown_cmark::Event;
use pulldown_cmark::Options;
use pulldown_cmark::Parser;
use pulldown_cmark::Tag;
use pulldown_cmark::TagEnd;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// What a Markdown file refers to, and what others may refer to in it.
#[derive(Default)]
struct Page {
    /// Targets of links and images, in order.
    links: Vec<String>,
    /// Anchors of headings, as mdBook and most repository browsers make them.
    anchors: BTreeSet<String>,
    /// Texts in code style.
    code: Vec<String>,
}

/// Returns the anchor of a heading without regard to earlier headings of the same text.
fn slug(heading: &str) -> String {
    let kept = heading.chars().filter_map(|c| match c {
        ' ' => Some('-'),
        '-' | '_' => Some(c),
        c if c.is_alphanumeric() => Some(c),
        _ => None,
    });
    kept.flat_map(char::to_lowercase).collect()
}

/// Returns the values of `src`, `srcset` and `href` in a piece of HTML.
fn html_links(html: &str) -> impl Iterator<Item = String> {
    ["src=\"", "srcset=\"", "href=\""]
        .into_iter()
        .flat_map(|key| {
            let values = html.split(key).skip(1);
            values.filter_map(|rest| Some(rest.split_once('"')?.0.to_owned()))
        })
}

fn read_page(text: &str) -> Page {
    let mut page = Page::default();
    let mut seen: HashMap<String, usize> = HashMap::new();
    let mut heading: Option<String> = None;
    for event in Parser::new_ext(text, Options::ENABLE_TABLES | Options::ENABLE_FOOTNOTES) {
        match event {
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                page.links.push(dest_url.into_string());
            }
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::End(TagEnd::Heading(_)) => {
                let slug = slug(&heading.take().unwrap_or_default());
                let count = seen.entry(slug.clone()).or_default();
                let suffix = if *count == 0 {
                    String::new()
                } else {
                    format!("-{count}")
                };
                page.anchors.insert(slug + &suffix);
                *count += 1;
            }
            Event::Html(html) | Event::InlineHtml(html) => page.links.extend(html_links(&html)),
            Event::Code(code) => {
                if let Some(heading) = &mut heading {
                    heading.push_str(&code);
                }
                page.code.push(code.into_string());
            }
            Event::Text(text) => {
                if let Some(heading) = &mut heading {
                    heading.push_str(&text);
                }
            }
            _ => {}
        }
    }
    page
}

/// Collects the Markdown files below `folder`, as paths from the root. Hidden folders and build outputs are passed over.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(root().join(folder)).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        let path = folder.join(&name);
        if entry.file_type().unwrap().is_dir() {
            if !name.starts_with('.') && !["target", "corpus", "artifacts"].contains(&&*name) {
                collect(&path, files);
            }
        } else if name.ends_with(".md") {
            files.push(path);
        }
    }
}

fn pages() -> HashMap<PathBuf, Page> {
    let mut files = Vec::new();
    collect(Path::new(""), &mut files);
    files.sort();
    let read = |path: PathBuf| {
        let page = read_page(&fs::read_to_string(root().join(&path)).unwrap());
        (path, page)
    };
    files.into_iter().map(read).collect()
}

/// Resolves `.` and `..`; `None` if the path leaves the root.
fn normal(path: &Path) -> Option<PathBuf> {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                if !normal.pop() {
                    return None;
                }
            }
            other => normal.push(other),
        }
    }
    Some(normal)
}

fn is_external(link: &str) -> bool {
    link.contains("://") || link.starts_with("mailto:")
}

/// Says what is wrong with a link in the file `from`, or returns `None`.
fn broken(from: &Path, link: &str, pages: &HashMap<PathBuf, Page>) -> Option<String> {
    let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
    let target = if path.is_empty() {
        from.to_owned()
    } else {
        let Some(target) = normal(&from.parent().unwrap().join(path)) else {
            return Some("leaves the repository".into());
        };
        target
    };
    if !root().join(&target).exists() {
        return Some(format!("{} does not exist", target.display()));
    }
    if from.starts_with("docs") && !target.starts_with("docs") {
        return Some("leaves the book: name the file in code style instead".into());
    }
    let is_log = |path: &Path| path.starts_with("docs/log");
    if from.starts_with("docs") && is_log(&target) && !is_log(from) {
        return Some("the log is no part of the book: name the file in code style".into());
    }
    let known = |page: &Page| page.anchors.contains(anchor);
    if !anchor.is_empty() && !pages.get(&target).is_some_and(known) {
        return Some(format!("{} has no heading #{anchor}", target.display()));
    }
    None
}

fn report(mut findings: Vec<String>) {
    findings.sort();
    assert!(findings.is_empty(), "\n{}\n", findings.join("\n"));
}

#[test]
fn links_and_anchors_exist() {
    let pages = pages();
    let mut findings = Vec::new();
    for (path, page) in pages.iter().collect::<std::collections::BTreeMap<_, _>>() {
        for link in page.links.iter().filter(|link| !is_external(link)) {
            if let Some(reason) = broken(path, link, &pages) {
                findings.push(format!("{}: {link}: {reason}", path.display()));
            }
        }
    }
    report(findings);
}

/// `docs/log` is read in the repository only.
#[test]
fn the_summary_lists_every_page_once() {
    let pages = pages();
    let summary = Path::new("docs/SUMMARY.md");
    let mut listed: Vec<PathBuf> = pages[summary]
        .links
        .iter()
        .map(|link| Path::new("docs").join(link))
        .collect();
    listed.sort();
    let mut expected: Vec<PathBuf> = pages
        .into_keys()
        .filter(|path| path.starts_with("docs") && path != summary && !path.starts_with("docs/log"))
        .collect();
    expected.sort();
    assert_eq!(listed, expected);
}

/// A text in code style that begins with a folder of the repository names a file or folder that exists, there or, as in
/// templates of projects, beside the page.
#[test]
fn files_that_pages_name_exist() {
    let mut folders: Vec<String> = fs::read_dir(root())
        .unwrap()
        .filter_map(|entry| entry.unwrap().file_name().into_string().ok())
        .filter(|name| root().join(name).is_dir() && name != "target")
        .collect();
    folders.sort();
    let is_path = |code: &&String| {
        code.split_once('/')
            .is_some_and(|(first, _)| folders.iter().any(|name| name == first))
            && code
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "/._-".contains(c))
    };
    let pages = pages();
    let mut findings = Vec::new();
    for (path, page) in pages.iter().collect::<std::collections::BTreeMap<_, _>>() {
        for code in page.code.iter().filter(is_path) {
            let beside = path.parent().unwrap().join(code);
            let exists = root().join(code).exists() || root().join(beside).exists();
            if !path.starts_with("docs/log") && !exists {
                findings.push(format!("{}: `{code}` does not exist", path.display()));
            }
        }
    }
    report(findings);
}

#[test]
fn anchors_are_those_of_mdbook() {
    let page = read_page(
        "# `cuweld opt`\n\n## The null symbol (`layout-output`)\n\n## The null symbol (`layout-output`)\n",
    );
    let expected = [
        "cuweld-opt",
        "the-null-symbol-layout-output",
        "the-null-symbol-layout-output-1",
    ];
    assert_eq!(page.anchors, expected.map(str::to_owned).into());
}

/// The page about options names each of cuweld's own, as the program lists them.
#[test]
fn every_option_of_cuweld_is_on_the_page() {
    let page = fs::read_to_string(root().join("docs/using/options.md")).unwrap();
    let program = std::process::Command::new(env!("CARGO_BIN_EXE_cuweld"))
        .args(["nvlink", "--help"])
        .output()
        .unwrap();
    let help =
        String::from_utf8(program.stdout).unwrap() + &String::from_utf8(program.stderr).unwrap();
    let options: Vec<&str> = help
        .lines()
        .filter_map(|line| line.trim_start().strip_prefix("--cuweld-"))
        .map(|rest| rest.split(['=', ' ']).next().unwrap())
        .collect();
    assert!(options.len() > 10, "{help}");
    let missing: Vec<&&str> = options
        .iter()
        .filter(|name| !page.contains(&format!("`--cuweld-{name}")))
        .collect();
    assert!(
        missing.is_empty(),
        "docs/using/options.md lacks {missing:?}"
    );
}

/// Puts a text between the two marks of a page, or with `BLESS=1` writes the page anew.
fn check_generated(path: &str, mark: &str, text: &str) {
    let file = root().join(path);
    let page = fs::read_to_string(&file).unwrap();
    let (begin, end) = (
        format!("<!-- {mark}: begin -->\n"),
        format!("<!-- {mark}: end -->"),
    );
    let (before, rest) = page.split_once(&begin).unwrap();
    let (_, after) = rest.split_once(&end).unwrap();
    let current = format!("{before}{begin}\n{text}\n{end}{after}");
    if std::env::var_os("BLESS").is_some_and(|value| value == "1") {
        fs::write(&file, current).unwrap();
    } else {
        assert!(
            page == current,
            "{path} is not current: BLESS=1 cargo test --test it book"
        );
    }
}

#[test]
fn the_table_of_relocation_types_is_current() {
    use cuweld_elf::target::relocs::BankField;
    use cuweld_elf::target::relocs::RELOC_TYPES;
    use cuweld_elf::target::relocs::RelocClass;
    let mut table = "| type | name | class | bits | of value >> | bank | slot | plain |\n|---|---|---|---|--:|---|---|---|\n".to_owned();
    for (number, row) in RELOC_TYPES.iter().enumerate() {
        let class = match row.class {
            RelocClass::None => "none",
            RelocClass::Applied => "applied",
            RelocClass::Driver => "driver",
            RelocClass::FunctionDescriptor => "function descriptor",
            RelocClass::Clear => "clear",
            RelocClass::Yield | RelocClass::YieldPredicate => "yield",
            RelocClass::Slot => "slot",
            RelocClass::PcRelative => "PC-relative",
        };
        let (bits, shift) = row.field.map_or_else(Default::default, |field| {
            (
                format!("{}:{}", field.bit + field.width - 1, field.bit),
                field.shift.to_string(),
            )
        });
        let bank = match row.bank {
            BankField::None => String::new(),
            BankField::At(bit) => format!("{}:{bit}", bit + 4),
            BankField::Split => "26, 45:42".to_owned(),
        };
        let slot = if row.makes_slot { "yes" } else { "" };
        let plain = row
            .plain
            .map_or_else(String::new, |plain| format!("{plain:02x}"));
        table += &format!(
            "| {number:02x} | {} | {class} | {bits} | {shift} | {bank} | {slot} | {plain} |\n",
            row.name
        );
    }
    check_generated("docs/formats/relocations.md", "relocation types", &table);
}

#[test]
fn the_table_of_attribute_codes_is_current() {
    use cuweld_elf::target::attributes::attribute_name;
    use cuweld_elf::target::attributes::holds_places;
    use cuweld_elf::target::attributes::reference_words;
    let mut table = "| code | name | payload |\n|---|---|---|\n".to_owned();
    for code in 0..=u8::MAX {
        let Some(name) = attribute_name(code) else {
            continue;
        };
        let payload = match reference_words(code, usize::MAX) {
            _ if holds_places(code) => "places",
            0 => "",
            1 => "one symbol",
            _ => "symbols",
        };
        table += &format!("| {code:02x} | {name} | {payload} |\n");
    }
    check_generated("docs/formats/attributes.md", "attribute codes", &table);
}

/// Runs the commands of the `console` blocks of pages one after another in one folder, and compares what they print.
#[cfg(unix)]
#[test]
fn commands_print_what_the_pages_say() {
    assert!(commands_of("docs/framework/overview.md") >= 6);
    assert!(commands_of("docs/using/remarks.md") >= 2);
}

/// Runs the commands of a page, and returns how many there are.
#[cfg(unix)]
fn commands_of(page: &str) -> usize {
    let page = fs::read_to_string(root().join(page)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(root().join("examples"), folder.path().join("examples")).unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_cuweld"));
    std::os::unix::fs::symlink(program, folder.path().join("cuweld")).unwrap();
    let path = std::env::join_paths(std::iter::once(folder.path().to_owned()).chain(
        std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()),
    ));
    let path = path.unwrap();
    let mut count = 0;
    for block in page.split("```console\n").skip(1) {
        let block = block.split("```").next().unwrap();
        let mut printed = String::new();
        for command in block.lines().filter_map(|line| line.strip_prefix("$ ")) {
            let output = std::process::Command::new("sh")
                .args(["-c", command])
                .current_dir(folder.path())
                .env("PATH", &path)
                .output()
                .unwrap();
            printed += &format!("$ {command}\n{}", String::from_utf8_lossy(&output.stdout));
            count += 1;
        }
        assert_eq!(printed, block);
    }
    count
}

#[test]
fn pages_name_the_version_of_rust() {
    for page in ["README.md", "CONTRIBUTING.md", "docs/using/install.md"] {
        let text = fs::read_to_string(root().join(page)).unwrap();
        let expected = concat!("Rust ", env!("CARGO_PKG_RUST_VERSION"), " or later");
        assert!(text.contains(expected), "{page} does not say '{expected}'");
    }
}
