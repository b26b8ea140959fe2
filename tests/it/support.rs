//! The lists of cases in `docs/SUPPORT.md` are those of `tests/links`; `BLESS=1` writes them anew.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use crate::harness::case::{Case, Expect, Topic};

const BEGIN: &str = "<!-- cases: begin; generated from tests/links, `BLESS=1 cargo test --test it support` writes them anew -->\n";
const END: &str = "<!-- cases: end -->\n";

/// Targets in ascending order, `a` variants after their base; as many as fit a table cell.
fn targets(case: &Case) -> String {
    let mut archs = case.arch.clone();
    archs.sort_by_key(|arch| {
        let digits = arch.trim_start_matches("sm_");
        let number = digits.trim_end_matches(char::is_alphabetic);
        (number.parse().unwrap_or(u32::MAX), digits.len())
    });
    archs.join(" ")
}

fn lists(cases: &[Case]) -> String {
    let mut text = String::new();
    let mut links: BTreeMap<&str, [usize; 3]> = BTreeMap::new();
    for case in cases {
        for arch in &case.arch {
            links.entry(arch).or_default()[case.expect as usize] += 1;
        }
    }
    text.push_str(
        "| target | links identical | errors with nvlink's messages | deviations |\n|---|---|---|---|\n",
    );
    for (arch, [identical, errors, deviations]) in links {
        let _ = writeln!(text, "| {arch} | {identical} | {errors} | {deviations} |");
    }
    for topic in Topic::ALL {
        let mut rows = cases.iter().filter(|case| case.topic == topic).peekable();
        if rows.peek().is_none() {
            continue;
        }
        let _ = writeln!(
            text,
            "\n### {}\n\n| rule | outcome | targets | case |\n|---|---|---|---|",
            topic.title()
        );
        for case in rows {
            let outcome = match (case.expect, &case.deviation) {
                (Expect::Identical, _) if case.strict => "identical with `--cuweld-strict`".into(),
                (Expect::Identical, _) => "identical".into(),
                (Expect::Error, _) => format!("error, {}", case.exit),
                (Expect::Deviation, id) => {
                    format!("[{0}](deviations.md)", id.as_deref().unwrap_or_default())
                }
            };
            let _ = writeln!(
                text,
                "| {} | {outcome} | {} | `{}` |",
                case.summary.replace('|', "\\|"),
                targets(case),
                case.name
            );
        }
    }
    text
}

#[test]
fn the_committed_lists_are_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/SUPPORT.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(BEGIN).unwrap();
    let (_, after) = rest.split_once(END).unwrap();
    let current = format!(
        "{before}{BEGIN}\n{}\n{END}{after}",
        lists(&Case::all().unwrap())
    );
    if std::env::var_os("BLESS").is_some_and(|value| value == "1") {
        std::fs::write(&path, current).unwrap();
    } else {
        assert!(
            page == current,
            "docs/SUPPORT.md is not current: BLESS=1 cargo test --test it support"
        );
    }
}
