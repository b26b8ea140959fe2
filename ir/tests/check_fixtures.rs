//! Every file that ptxas and nvlink wrote into `tests/links` is sound.

mod link_cases;

use cuweld_ir::check::Finding;
use cuweld_ir::check::Rule;
use cuweld_ir::check::check_image;
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
        seen += 1;
        // Their objects say of themselves what they are not.
        let says_sass = path
            .parent()
            .is_some_and(|folder| folder.ends_with("sass-only-with-view/sm_110"));
        let unsound = |finding: &Finding| !(says_sass && finding.rule == Rule::Kind);
        for finding in findings.into_iter().filter(unsound) {
            broken.push(format!("{}: {finding}", path.display()));
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
