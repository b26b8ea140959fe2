//! Two texts as a unified diff.

use std::fmt::Write as _;
use std::ops::Range;
use std::time::Duration;

use similar::TextDiff;

/// Lines of context around a change.
const CONTEXT: usize = 3;

/// How long the shortest edit is looked for; texts that have next to nothing in common would take
/// minutes.
const LIMIT: Duration = Duration::from_secs(1);

/// Returns the unified diff of two texts with their names; empty if they are equal.
pub fn unified_diff(old_name: &str, old: &str, new_name: &str, new: &str) -> String {
    if old == new {
        return String::new();
    }
    let diff = TextDiff::configure().timeout(LIMIT).diff_lines(old, new);
    let mut out = format!("--- {old_name}\n+++ {new_name}\n");
    for hunk in diff.grouped_ops(CONTEXT) {
        let (Some(first), Some(last)) = (hunk.first(), hunk.last()) else {
            continue;
        };
        let (old_start, old_count) = lines(first.old_range().start..last.old_range().end);
        let (new_start, new_count) = lines(first.new_range().start..last.new_range().end);
        let _ = writeln!(
            out,
            "@@ -{old_start},{old_count} +{new_start},{new_count} @@"
        );
        for change in hunk.iter().flat_map(|op| diff.iter_changes(op)) {
            let _ = write!(out, "{}{}", change.tag(), change.value());
        }
    }
    out
}

/// Returns the number of the first line, counted from 1 if there is one, and how many there are.
fn lines(range: Range<usize>) -> (usize, usize) {
    (range.start + usize::from(!range.is_empty()), range.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_has_context() {
        let old = "a\nb\nc\nd\ne\nf\ng\nh\n";
        let new = "a\nb\nc\nd\nE\nf\ng\nh\ni\n";
        assert_eq!(
            unified_diff("x", old, "y", new),
            "--- x\n+++ y\n@@ -2,7 +2,8 @@\n b\n c\n d\n-e\n+E\n f\n g\n h\n+i\n"
        );
        assert_eq!(unified_diff("x", old, "y", old), "");
        assert_eq!(
            unified_diff("x", "", "y", "a\n"),
            "--- x\n+++ y\n@@ -0,0 +1,1 @@\n+a\n"
        );
    }

    #[test]
    fn texts_without_a_common_line_differ_as_a_whole() {
        let many = |word: &str| -> String { (0..5000).map(|n| format!("{word}{n}\n")).collect() };
        let diff = unified_diff("x", &many("a"), "y", &many("b"));
        assert_eq!(diff.lines().count(), 10_003);
    }
}
