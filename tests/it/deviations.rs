//! Deviations that are reported: the link succeeds, the note is there, and strict mode is silent.

use crate::harness::case::Case;
use crate::harness::link::Linker;

/// Every case that needs strict mode to be nvlink's must say its deviation without it.
#[test]
fn a_link_that_deviates_says_so() -> Result<(), Box<dyn std::error::Error>> {
    let cases: Vec<Case> = Case::all()?
        .into_iter()
        .filter(|case| case.strict)
        .collect();
    assert!(!cases.is_empty());
    for case in cases {
        for arch in &case.arch {
            let default = Linker::ours_explaining().link(&case.folder, &case.arguments(arch))?;
            assert_eq!(default.exit, Some(0), "{}", default.stderr);
            assert!(
                default.stderr.contains("note: deviation D"),
                "{}: {}",
                case.name,
                default.stderr
            );
            // Strict mode may end the link, where nvlink does or where its rule is not known.
            if case.exit == 0 {
                let expected = std::fs::read(case.expected_output(arch))?;
                let output = default.output.as_deref();
                assert_ne!(output, Some(&expected[..]), "{}", case.name);
            }
            let strict = Linker::ours_explaining()
                .strict(true)
                .link(&case.folder, &case.arguments(arch))?;
            assert!(!strict.stderr.contains("deviation"), "{}", strict.stderr);
        }
    }
    Ok(())
}
