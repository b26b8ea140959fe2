//! Two texts as a unified diff.
//!
//! Dumps are long and change little, so what is equal at both ends is cut off first; between, the shortest
//! edit is looked for (Myers' greedy algorithm) as long as it is short, in O((lines + edits) * edits). Beyond
//! [`MOST_EDITS`] the middle is shown as replaced as a whole.

use std::fmt::Write as _;

/// Lines of context around a change.
const CONTEXT: usize = 3;

/// Longest edit that is looked for; the memory that it takes grows with its square.
const MOST_EDITS: usize = 2000;

/// One line of an edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Edit {
    Keep,
    Delete,
    Insert,
}

/// The unified diff of two texts with their names; empty if they are equal.
pub fn unified_diff(old_name: &str, old: &str, new_name: &str, new: &str) -> String {
    if old == new {
        return String::new();
    }
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let edits = edits(&old, &new);
    let mut out = format!("--- {old_name}\n+++ {new_name}\n");
    // Positions of changes among the edits, grouped into hunks whose contexts touch.
    let changes = (0..edits.len()).filter(|index| edits[*index] != Edit::Keep);
    let mut hunks: Vec<(usize, usize)> = Vec::new();
    for index in changes {
        let (from, to) = (
            index.saturating_sub(CONTEXT),
            (index + 1 + CONTEXT).min(edits.len()),
        );
        match hunks.last_mut() {
            Some(last) if from <= last.1 => last.1 = to,
            _ => hunks.push((from, to)),
        }
    }
    let (mut at, mut old_line, mut new_line) = (0, 0, 0);
    for (from, to) in hunks {
        // Between hunks lines are kept.
        (old_line, new_line) = (old_line + from - at, new_line + from - at);
        at = to;
        let hunk = &edits[from..to];
        let count = |without| hunk.iter().filter(|edit| **edit != without).count();
        let (old_count, new_count) = (count(Edit::Insert), count(Edit::Delete));
        let start = |line: usize, count: usize| line + usize::from(count > 0);
        let _ = writeln!(
            out,
            "@@ -{},{old_count} +{},{new_count} @@",
            start(old_line, old_count),
            start(new_line, new_count)
        );
        for edit in hunk {
            let (sign, line) = match edit {
                Edit::Keep => (' ', old[old_line]),
                Edit::Delete => ('-', old[old_line]),
                Edit::Insert => ('+', new[new_line]),
            };
            let _ = writeln!(out, "{sign}{line}");
            old_line += usize::from(*edit != Edit::Insert);
            new_line += usize::from(*edit != Edit::Delete);
        }
    }
    out
}

fn edits(old: &[&str], new: &[&str]) -> Vec<Edit> {
    let same = |pair: &(&&str, &&str)| pair.0 == pair.1;
    let head = old.iter().zip(new).take_while(same).count();
    let (old, new) = (&old[head..], &new[head..]);
    let tail = old
        .iter()
        .rev()
        .zip(new.iter().rev())
        .take_while(same)
        .count();
    let (old, new) = (&old[..old.len() - tail], &new[..new.len() - tail]);
    let mut edits = vec![Edit::Keep; head];
    edits.extend(shortest(old, new).unwrap_or_else(|| {
        let mut whole = vec![Edit::Delete; old.len()];
        whole.extend(vec![Edit::Insert; new.len()]);
        whole
    }));
    edits.extend(vec![Edit::Keep; tail]);
    edits
}

/// The shortest edit, if it is at most [`MOST_EDITS`] long.
fn shortest(old: &[&str], new: &[&str]) -> Option<Vec<Edit>> {
    let most = (old.len() + new.len()).min(MOST_EDITS);
    // How far each diagonal reaches in `old`, and the same as it was before each length of edit.
    let offset = most + 1;
    let mut reach = vec![0_usize; 2 * most + 3];
    let mut history: Vec<Vec<usize>> = Vec::new();
    for length in 0..=most {
        history.push(reach[offset - length..=offset + length].to_vec());
        for step in 0..=length {
            // Diagonal `down - length`, as an index.
            let diagonal = offset + 2 * step - length;
            let down = step == 0 || step < length && reach[diagonal - 1] < reach[diagonal + 1];
            let mut x = if down {
                reach[diagonal + 1]
            } else {
                reach[diagonal - 1] + 1
            };
            let Some(mut y) = (x + offset).checked_sub(diagonal) else {
                continue;
            };
            while x < old.len() && y < new.len() && old[x] == new[y] {
                (x, y) = (x + 1, y + 1);
            }
            reach[diagonal] = x;
            if x == old.len() && y == new.len() {
                return Some(backtrack(&history, offset, old.len(), new.len()));
            }
        }
    }
    None
}

fn backtrack(history: &[Vec<usize>], offset: usize, old: usize, new: usize) -> Vec<Edit> {
    let mut edits = Vec::new();
    let (mut x, mut y) = (old, new);
    for (length, row) in history.iter().enumerate().rev() {
        let diagonal = offset + x - y;
        let first = offset - length;
        let reach = |diagonal: usize| -> usize {
            diagonal
                .checked_sub(first)
                .and_then(|index| row.get(index))
                .copied()
                .unwrap_or(0)
        };
        if length == 0 {
            edits.extend(std::iter::repeat_n(Edit::Keep, x));
            break;
        }
        let down = diagonal == first
            || diagonal < offset + length && reach(diagonal - 1) < reach(diagonal + 1);
        let before = if down { diagonal + 1 } else { diagonal - 1 };
        let before_x = reach(before);
        let before_y = before_x + offset - before;
        let start = if down {
            (before_x, before_y + 1)
        } else {
            (before_x + 1, before_y)
        };
        edits.extend(std::iter::repeat_n(Edit::Keep, x.saturating_sub(start.0)));
        edits.push(if down { Edit::Insert } else { Edit::Delete });
        (x, y) = (before_x, before_y);
    }
    edits.reverse();
    edits
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

    /// An edit applied to the old text gives the new one, and keeps as much as the longest common
    /// subsequence has.
    #[test]
    fn edits_are_right_and_shortest() {
        let mut seed = 1_u32;
        let mut random = |below: usize| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 16) as usize % below
        };
        for _ in 0..500 {
            let mut text = || -> Vec<&str> {
                (0..random(12))
                    .map(|_| ["a", "b", "c"][random(3)])
                    .collect()
            };
            let (old, new) = (text(), text());
            let edits = edits(&old, &new);
            let (mut x, mut made, mut kept) = (0, Vec::new(), 0);
            for edit in &edits {
                match edit {
                    Edit::Keep => (made.push(old[x]), x += 1, kept += 1).0,
                    Edit::Delete => x += 1,
                    Edit::Insert => made.push(new[made.len()]),
                }
            }
            assert_eq!((x, &made), (old.len(), &new), "{old:?} {new:?} {edits:?}");
            let mut longest = vec![vec![0; new.len() + 1]; old.len() + 1];
            for i in (0..old.len()).rev() {
                for j in (0..new.len()).rev() {
                    longest[i][j] = match old[i] == new[j] {
                        true => longest[i + 1][j + 1] + 1,
                        false => longest[i + 1][j].max(longest[i][j + 1]),
                    };
                }
            }
            assert_eq!(kept, longest[0][0], "{old:?} {new:?} {edits:?}");
        }
    }

    #[test]
    fn long_edits_are_not_looked_for() {
        let many = |word: &str| -> String { (0..5000).map(|n| format!("{word}{n}\n")).collect() };
        let diff = unified_diff("x", &many("a"), "y", &many("b"));
        assert_eq!(diff.lines().count(), 10_003);
    }
}
