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
        if is_edited(&path) {
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
    let mut folders = path.ancestors().skip(1);
    let is_input = folders
        .next()
        .is_some_and(|folder| !folder.ends_with("expected"));
    let case = folders.next().map(|folder| folder.join("case.toml"));
    let text = case
        .and_then(|case| std::fs::read_to_string(case).ok())
        .unwrap_or_default();
    is_input
        && ["edit", "kind"]
            .iter()
            .any(|tool| text.contains(&format!("tool = \"{tool}\"")))
}
