//! Differences of two texts, line by line.

use crate::watch::unified_diff;

/// Returns the lines that go (`-`) and come (`+`), by the longest common subsequence; a line that
/// took the place of another follows it. Takes time and memory in the product of both lengths.
pub fn changes(before: &str, after: &str) -> String {
    let (before, after): (Vec<&str>, Vec<&str>) =
        (before.lines().collect(), after.lines().collect());
    // length[i][j]: the longest one of what follows line i and line j.
    let mut length = vec![vec![0; after.len() + 1]; before.len() + 1];
    for i in (0..before.len()).rev() {
        for j in (0..after.len()).rev() {
            length[i][j] = if before[i] == after[j] {
                length[i + 1][j + 1] + 1
            } else {
                length[i + 1][j].max(length[i][j + 1])
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut found = String::new();
    while i < before.len() || j < after.len() {
        // What changes up to the next line that stays.
        let (mut old, mut new) = (Vec::new(), Vec::new());
        while i < before.len() || j < after.len() {
            if i < before.len() && before.get(i) == after.get(j) {
                break;
            }
            if j == after.len() || i < before.len() && length[i + 1][j] >= length[i][j + 1] {
                old.push(before[i].trim());
                i += 1;
            } else {
                new.push(after[j].trim());
                j += 1;
            }
        }
        let old = old.into_iter().map(|line| ('-', line));
        let new = new.into_iter().map(|line| ('+', line));
        let lines: Vec<_> = if old.len() == new.len() {
            old.zip(new).flat_map(|(old, new)| [old, new]).collect()
        } else {
            old.chain(new).collect()
        };
        for (sign, line) in lines.into_iter().filter(|(_, line)| !line.is_empty()) {
            found.push_str(&format!("{sign} {line}\n"));
        }
        (i, j) = (i + 1, j + 1);
    }
    found
}

/// Returns what is `expected` and what was `found` as a unified diff; empty if they are equal.
pub fn difference(expected: &str, found: &str) -> String {
    unified_diff("expected", expected, "found", found)
}
