//! Every file that ptxas and nvlink wrote into `tests/links` is sound.

use std::path::Path;

use cuweld_ir::check::Rule;
use cuweld_ir::check::check_image;

#[test]
fn fixtures_are_sound() {
    let links = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/links");
    let (mut seen, mut unreadable, mut broken) = (0, 0, Vec::new());
    for case in std::fs::read_dir(links).unwrap() {
        for sub in std::fs::read_dir(case.unwrap().path())
            .into_iter()
            .flatten()
        {
            for file in std::fs::read_dir(sub.unwrap().path()).into_iter().flatten() {
                let path = file.unwrap().path();
                let image = std::fs::read(&path).unwrap_or_default();
                if path.extension().is_none_or(|ending| ending != "cubin") {
                    continue;
                }
                let findings = check_image(&image);
                // Some cases link what is no device ELF at all.
                if findings
                    .iter()
                    .any(|finding| finding.rule == Rule::Structure)
                {
                    unreadable += 1;
                    continue;
                }
                seen += 1;
                for finding in findings {
                    broken.push(format!("{}: {finding}", path.display()));
                }
            }
        }
    }
    assert!(
        seen > 400 && unreadable <= 4,
        "{seen} and {unreadable} files"
    );
    assert!(
        broken.is_empty(),
        "{} findings:\n{}",
        broken.len(),
        broken.join("\n")
    );
}
