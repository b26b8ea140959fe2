//! Two long texts as a unified diff, the same on every machine.
//!
//! Lines that are once in both texts are anchors, as in a patience diff; what lies between two
//! anchors is divided further. A short stretch without anchors has the shortest edit, a long one is
//! replaced as a whole. So the time is n log n in lines, and no clock decides where the search ends.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::ops::Range;

use similar::Algorithm;
use similar::ChangeTag;
use similar::DiffOp;
use similar::capture_diff_slices;

/// Lines of context around a change.
const CONTEXT: usize = 3;

/// The shortest edit of a stretch is looked for if the product of its lines is at most this.
const SHORT: usize = 1 << 16;

/// Returns the hunks of the unified diff of two texts; empty if they are equal.
pub fn anchored_diff(old: &str, new: &str) -> String {
    if old == new {
        return String::new();
    }
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    hunks(&lines(&old, &new))
}

/// A line, and which text has it.
type Line<'t> = (ChangeTag, &'t str);

/// Returns the lines of both texts in one sequence.
fn lines<'t>(old: &[&'t str], new: &[&'t str]) -> Vec<Line<'t>> {
    let mut lines = Vec::with_capacity(new.len());
    // Stretches that are still to be compared, the first one last.
    let mut work = vec![(0..old.len(), 0..new.len())];
    while let Some((mut of_old, mut of_new)) = work.pop() {
        let text = |text: &[&'t str], at: usize| text.get(at).copied();
        let is_same = |left: usize, right: usize| text(old, left) == text(new, right);
        while !of_old.is_empty() && !of_new.is_empty() && is_same(of_old.start, of_new.start) {
            lines.extend(text(old, of_old.start).map(|line| (ChangeTag::Equal, line)));
            (of_old.start, of_new.start) = (of_old.start + 1, of_new.start + 1);
        }
        let (mut end, mut new_end) = (of_old.end, of_new.end);
        while end > of_old.start && new_end > of_new.start && is_same(end - 1, new_end - 1) {
            (end, new_end) = (end - 1, new_end - 1);
        }
        if end < of_old.end {
            // Lines at the end are compared again, as a prefix.
            work.push((end..of_old.end, new_end..of_new.end));
            (of_old.end, of_new.end) = (end, new_end);
        }
        let anchors = match of_old.is_empty() || of_new.is_empty() {
            true => Vec::new(),
            false => anchors(old, new, &of_old, &of_new),
        };
        if anchors.is_empty() {
            between(old, new, (of_old, of_new), &mut lines);
            continue;
        }
        // Each stretch but the first begins with an anchor.
        let starts = [(of_old.start, of_new.start)]
            .into_iter()
            .chain(anchors.clone());
        let ends = anchors.into_iter().chain([(of_old.end, of_new.end)]);
        let stretches: Vec<_> = starts.zip(ends).collect();
        for ((old_start, new_start), (old_end, new_end)) in stretches.into_iter().rev() {
            work.push((old_start..old_end, new_start..new_end));
        }
    }
    lines
}

/// Adds the lines of a stretch without anchors.
fn between<'t>(
    old: &[&'t str],
    new: &[&'t str],
    (of_old, of_new): (Range<usize>, Range<usize>),
    lines: &mut Vec<Line<'t>>,
) {
    let old = old.get(of_old).unwrap_or_default();
    let new = new.get(of_new).unwrap_or_default();
    let ops = match old.len().saturating_mul(new.len()) <= SHORT {
        true => capture_diff_slices(Algorithm::Myers, old, new),
        false => vec![DiffOp::Replace {
            old_index: 0,
            old_len: old.len(),
            new_index: 0,
            new_len: new.len(),
        }],
    };
    for op in ops {
        let changes = op.iter_changes(old, new);
        lines.extend(changes.map(|change| (change.tag(), change.value())));
    }
}

/// Returns the places of lines that are once in both stretches, as many as are in one order in both.
fn anchors(
    old: &[&str],
    new: &[&str],
    of_old: &Range<usize>,
    of_new: &Range<usize>,
) -> Vec<(usize, usize)> {
    // By line: where it is in each text, `None` if it is there several times.
    type Places = [(usize, Option<usize>); 2];
    let mut known: HashMap<&str, Places> = HashMap::new();
    for (side, (text, range)) in [(old, of_old), (new, of_new)].into_iter().enumerate() {
        for at in range.clone() {
            if let Some(line) = text.get(at) {
                let place = &mut known.entry(line).or_default()[side];
                *place = (place.0 + 1, Some(at).filter(|_| place.0 == 0));
            }
        }
    }
    let places = of_old.clone().filter_map(|at| {
        let [(_, in_old), (_, in_new)] = known.get(old.get(at)?)?;
        Some(((*in_old)?, (*in_new)?))
    });
    longest_increasing(places.collect())
}

/// Returns the longest part of pairs, which are in order of their first numbers, in which the second
/// ones are in order too.
fn longest_increasing(pairs: Vec<(usize, usize)>) -> Vec<(usize, usize)> {
    // For each length, the pair that ends such a part with the smallest number.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    let second = |index: &usize| pairs.get(*index).map_or(0, |pair| pair.1);
    for index in 0..pairs.len() {
        let length = ends.partition_point(|end| second(end) < second(&index));
        before.push(
            length
                .checked_sub(1)
                .and_then(|last| ends.get(last).copied()),
        );
        match ends.get_mut(length) {
            Some(end) => *end = index,
            None => ends.push(index),
        }
    }
    let last = ends.last().copied();
    let chain = std::iter::successors(last, |index| before.get(*index).copied().flatten());
    let mut longest: Vec<_> = chain
        .filter_map(|index| pairs.get(index).copied())
        .collect();
    longest.reverse();
    longest
}

/// Writes the changed lines with their context.
fn hunks(lines: &[Line<'_>]) -> String {
    let mut out = String::new();
    let is_changed = |line: &Line<'_>| line.0 != ChangeTag::Equal;
    let (mut at, mut numbers) = (0, [0, 0]);
    let count = |lines: &[Line<'_>], other: ChangeTag| {
        lines.iter().filter(|(tag, _)| *tag != other).count()
    };
    while let Some(rest) = lines.get(at..)
        && let Some(next) = rest.iter().position(is_changed)
    {
        let start = at + next.saturating_sub(CONTEXT);
        // A hunk ends where more lines than two contexts are the same.
        let (mut end, mut same) = (at + next, 0);
        for (offset, line) in lines.iter().enumerate().skip(at + next) {
            same = if is_changed(line) { 0 } else { same + 1 };
            if same > 2 * CONTEXT {
                break;
            }
            if same == 0 {
                end = offset + 1;
            }
        }
        let end = (end + CONTEXT).min(lines.len());
        let skipped = lines.get(at..start).unwrap_or_default();
        let hunk = lines.get(start..end).unwrap_or_default();
        let counts = [ChangeTag::Insert, ChangeTag::Delete].map(|other| count(hunk, other));
        let [old, new] = std::array::from_fn(|side| numbers[side] + skipped.len());
        let first = |before: usize, count: usize| before + usize::from(count != 0);
        let _ = writeln!(
            out,
            "@@ -{},{} +{},{} @@",
            first(old, counts[0]),
            counts[0],
            first(new, counts[1]),
            counts[1]
        );
        for (tag, line) in hunk {
            let _ = writeln!(out, "{tag}{line}");
        }
        numbers = [old + counts[0], new + counts[1]];
        at = end;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::unified_diff;
    use proptest::prelude::*;

    /// Applies a diff to the text that it was made of.
    fn patched(old: &str, diff: &str) -> String {
        let old: Vec<&str> = old.lines().collect();
        let (mut at, mut new) = (0, Vec::new());
        for line in diff.lines() {
            if let Some(place) = line.strip_prefix("@@ -") {
                let (place, rest) = place.split_once(',').unwrap();
                let count: usize = rest.split_once(' ').unwrap().0.parse().unwrap();
                let place = place.parse::<usize>().unwrap() - usize::from(count != 0);
                new.extend(&old[at..place]);
                at = place;
                continue;
            }
            let (tag, text) = line.split_at(1);
            if tag != "+" {
                assert_eq!(old[at], text);
                at += 1;
            }
            if tag != "-" {
                new.push(text);
            }
        }
        new.extend(&old[at..]);
        new.iter().map(|line| format!("{line}\n")).collect()
    }

    #[test]
    fn a_change_has_context() {
        let old = "a\nb\nc\nd\ne\nf\ng\nh\n";
        let new = "a\nb\nc\nd\nE\nf\ng\nh\ni\n";
        let expected = "@@ -2,7 +2,8 @@\n b\n c\n d\n-e\n+E\n f\n g\n h\n+i\n";
        assert_eq!(anchored_diff(old, new), expected);
        assert_eq!(anchored_diff(old, old), "");
        assert_eq!(anchored_diff("", "a\n"), "@@ -0,0 +1,1 @@\n+a\n");
        assert_eq!(
            unified_diff("x", old, "y", new),
            format!("--- x\n+++ y\n{expected}")
        );
    }

    #[test]
    fn long_texts_take_no_time() {
        let many = |word: &str| -> String {
            let line = |n: usize| match n.is_multiple_of(3) {
                true => format!("{word}{n}\n"),
                false => format!("{n}\n"),
            };
            (0..100_000).map(line).collect()
        };
        let (old, new) = (many("a"), many("b"));
        let diff = anchored_diff(&old, &new);
        assert_eq!(patched(&old, &diff), new);
        let changed = diff.lines().filter(|line| line.starts_with('+')).count();
        assert_eq!(changed, 33_334);
        // Without a common line both are replaced as a whole.
        let other: String = (0..2000).map(|n| format!("x{n}\n")).collect();
        assert_eq!(patched(&other, &anchored_diff(&other, &new)), new);
    }

    proptest! {
        #[test]
        fn a_diff_gives_back_the_text(old in "[a-d\n]{0,60}", new in "[a-d\n]{0,60}") {
            let text = |text: &str| -> String { text.lines().map(|line| format!("{line}\n")).collect() };
            let (old, new) = (text(&old), text(&new));
            prop_assert_eq!(patched(&old, &anchored_diff(&old, &new)), new);
        }
    }
}
