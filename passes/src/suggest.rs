//! Finds what a mistyped name was meant to be.

/// Longer names are no typing mistake; bounds the work.
const MAX_LENGTH: usize = 64;

/// The candidate that is nearest to `name`, if one is near enough to be what was meant. Of equally
/// near ones, the first.
pub(crate) fn nearest<'c>(
    name: &str,
    candidates: impl IntoIterator<Item = &'c str>,
) -> Option<&'c str> {
    // A third of the letters may be wrong: more, and unrelated short names would match.
    let allowed = (name.chars().count() / 3).clamp(1, 4);
    candidates
        .into_iter()
        .filter_map(|candidate| Some((distance(name, candidate)?, candidate)))
        .filter(|(distance, candidate)| *distance <= allowed && *distance < candidate.len())
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Edits that turn `a` into `b`: insert, delete, replace a letter, swap two neighbours.
fn distance(a: &str, b: &str) -> Option<usize> {
    if a.len() > MAX_LENGTH || b.len() > MAX_LENGTH {
        return None;
    }
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    // Three rows of the usual table: the one being made and the two before it.
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, &x) in a.iter().enumerate() {
        let mut row = Vec::with_capacity(b.len() + 1);
        let mut left = i + 1;
        row.push(left);
        for (j, &y) in b.iter().enumerate() {
            let mut best = (left + 1)
                .min(last[j + 1] + 1)
                .min(last[j] + usize::from(x != y));
            if i > 0 && j > 0 && x == b[j - 1] && a[i - 1] == y {
                best = best.min(before[j - 1] + 1);
            }
            left = best;
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last.last().copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 4] = ["classify", "callgraph-dce", "emit", "relocate"];

    #[test]
    fn mistyped_names_are_found() {
        assert_eq!(nearest("clasify", NAMES), Some("classify"));
        assert_eq!(nearest("callgrahp-dce", NAMES), Some("callgraph-dce"));
        assert_eq!(nearest("emti", NAMES), Some("emit"));
        assert_eq!(nearest("relocates", NAMES), Some("relocate"));
    }

    #[test]
    fn other_names_are_not() {
        assert_eq!(nearest("inline", NAMES), None);
        assert_eq!(nearest("", NAMES), None);
        assert_eq!(nearest("e", NAMES), None);
        assert_eq!(nearest(&"emit".repeat(1000), NAMES), None);
    }

    #[test]
    fn neighbours_swapped_count_once() {
        assert_eq!(distance("ab", "ba"), Some(1));
        assert_eq!(distance("abc", ""), Some(3));
        assert_eq!(distance("kitten", "sitting"), Some(3));
    }
}
