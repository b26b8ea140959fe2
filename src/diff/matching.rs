//! Which row of one file is which row of the other.

use std::collections::BTreeMap;
use std::collections::VecDeque;

/// Rows of two tables, by index.
#[derive(Clone, Debug, Default)]
pub(super) struct Matched {
    /// Rows in both, in the order of the first table.
    pub(super) pairs: Vec<Pair>,
    /// Rows that only the first table has.
    pub(super) only_left: Vec<usize>,
    /// Rows that only the second table has.
    pub(super) only_right: Vec<usize>,
}

/// A row in both tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pair {
    /// Its index in the first table.
    pub(super) left: usize,
    /// Its index in the second table.
    pub(super) right: usize,
    /// How many rows of the same key come before it.
    pub(super) nth: usize,
}

/// Matches the k-th row of each key with the k-th.
pub(super) fn match_rows<'a, T, K: Ord>(
    left: &'a [T],
    right: &'a [T],
    key: impl Fn(&'a T) -> K,
) -> Matched {
    let mut waiting: BTreeMap<K, (usize, VecDeque<usize>)> = BTreeMap::new();
    for (index, row) in right.iter().enumerate() {
        waiting.entry(key(row)).or_default().1.push_back(index);
    }
    let mut matched = Matched::default();
    let mut taken = vec![false; right.len()];
    for (index, row) in left.iter().enumerate() {
        let found = waiting.get_mut(&key(row)).and_then(|(seen, rows)| {
            let right = rows.pop_front()?;
            *seen += 1;
            Some((right, *seen - 1))
        });
        match found {
            Some((right, nth)) => {
                matched.pairs.push(Pair {
                    left: index,
                    right,
                    nth,
                });
                if let Some(taken) = taken.get_mut(right) {
                    *taken = true;
                }
            }
            None => matched.only_left.push(index),
        }
    }
    let rest = taken.iter().enumerate();
    matched.only_right = rest
        .filter(|(_, taken)| !**taken)
        .map(|(index, _)| index)
        .collect();
    matched
}

impl Matched {
    /// Returns the first place at which the rows in both come in another order: the place, counted
    /// among these rows, and what each table has there.
    pub(super) fn first_out_of_order(&self) -> Option<(usize, usize, usize)> {
        let mut rights: Vec<usize> = self.pairs.iter().map(|pair| pair.right).collect();
        rights.sort_unstable();
        let places = self.pairs.iter().zip(rights).enumerate();
        places
            .filter(|(_, (pair, right))| pair.right != *right)
            .map(|(place, (pair, right))| (place, pair.left, right))
            .next()
    }
}

/// Returns ` #2` for the second row of a name.
pub(super) fn ordinal(nth: usize) -> String {
    match nth {
        0 => String::new(),
        nth => format!(" #{}", nth + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matched(left: &str, right: &str) -> Matched {
        let (left, right) = (left.as_bytes(), right.as_bytes());
        match_rows(left, right, |byte| *byte)
    }

    #[test]
    fn rows_match_by_name_and_occurrence() {
        let rows = matched("abac", "baad");
        let pairs = rows
            .pairs
            .iter()
            .map(|pair| (pair.left, pair.right, pair.nth));
        assert_eq!(pairs.collect::<Vec<_>>(), [(0, 1, 0), (1, 0, 0), (2, 2, 1)]);
        assert_eq!((rows.only_left, rows.only_right), (vec![3], vec![3]));
    }

    #[test]
    fn order_is_that_of_rows_in_both() {
        assert_eq!(matched("abc", "axbc").first_out_of_order(), None);
        assert_eq!(
            matched("abcd", "acbd").first_out_of_order(),
            Some((1, 1, 1))
        );
        assert_eq!(matched("xab", "ba").first_out_of_order(), Some((0, 1, 0)));
    }
}
