//! Every file that ptxas and nvlink wrote into `tests/links` is sound.

mod link_cases;

use std::path::Path;

use cuweld_elf::check::Rule;
use cuweld_elf::check::check_image;
use link_cases::cubins;

#[test]
fn fixtures_are_sound() {
    let (mut seen, mut unreadable, mut broken) = (0, 0, Vec::new());
    for (path, image) in cubins() {
        let findings = check_image(&image);
        // Some cases link what is no device ELF at all.
        if findings
            .iter()
            .any(|finding| finding.rule == Rule::Structure)
        {
            unreadable += 1;
            continue;
        }
        if is_edited(&path) || is_mended(&path) {
            continue;
        }
        seen += 1;
        for finding in findings {
            broken.push(format!("{}: {finding}", path.display()));
        }
    }
    assert!(
        seen > 400 && unreadable <= 6,
        "{seen} and {unreadable} files"
    );
    assert!(
        broken.is_empty(),
        "{} findings:\n{}",
        broken.len(),
        broken.join("\n")
    );
}

/// Returns `true` if a file is an input of a case that changes bytes of objects on purpose.
fn is_edited(path: &Path) -> bool {
    let text = description(path);
    !is_output(path)
        && ["edit", "kind"]
            .iter()
            .any(|tool| text.contains(&format!("tool = \"{tool}\"")))
}

/// Returns `true` if a file is what nvlink makes where a deviation of ours mends it.
fn is_mended(path: &Path) -> bool {
    is_output(path) && description(path).contains("strict = true")
}

fn is_output(path: &Path) -> bool {
    path.parent()
        .is_some_and(|folder| folder.ends_with("expected"))
}

/// Returns the text of the case of which a file is an input or the output.
fn description(path: &Path) -> String {
    let case = path
        .ancestors()
        .nth(2)
        .map(|folder| folder.join("case.toml"));
    case.and_then(|case| std::fs::read_to_string(case).ok())
        .unwrap_or_default()
}
