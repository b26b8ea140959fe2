//! Names of options and of host information: parts of names, and patterns with stars.

use std::cmp::Reverse;

use aho_corasick::AhoCorasick;
use foldhash::fast::FixedState;
use hashbrown::HashMap;
use hashbrown::HashSet;

/// Patterns for whole names. Names without a star, which is what external kernels have, are looked
/// up; of the others only those are tried whose rarest run of characters without star the name
/// contains, so that many kernels and many patterns are no product.
pub(crate) struct NamePatterns<'options> {
    names: HashSet<&'options [u8], FixedState>,
    /// Finds runs of characters in a name; `None` if there are none, or too many.
    runs: Option<AhoCorasick>,
    /// The patterns of each run.
    of_run: Vec<Vec<&'options [u8]>>,
    /// Patterns that are tried for every name.
    others: Vec<&'options [u8]>,
}

impl<'options> NamePatterns<'options> {
    pub(crate) fn new(patterns: &'options [String]) -> Self {
        let patterns = patterns.iter().map(String::as_bytes);
        let (mut with_stars, names) =
            patterns.partition::<Vec<_>, _>(|pattern| pattern.contains(&b'*'));
        with_stars.sort_unstable();
        with_stars.dedup();
        let mut counts: HashMap<&[u8], u32, FixedState> = HashMap::default();
        for pattern in &with_stars {
            for run in runs_of(pattern) {
                *counts.entry(run).or_default() += 1;
            }
        }
        let mut index: HashMap<&[u8], usize, FixedState> = HashMap::default();
        let mut runs: Vec<&[u8]> = Vec::new();
        let mut of_run: Vec<Vec<&[u8]>> = Vec::new();
        let mut others = Vec::new();
        for pattern in &with_stars {
            let rarest = runs_of(pattern).min_by_key(|run| (counts.get(run), Reverse(run.len())));
            let Some(run) = rarest else {
                others.push(*pattern);
                continue;
            };
            let place = *index.entry(run).or_insert(runs.len());
            if place == runs.len() {
                runs.push(run);
                of_run.push(Vec::new());
            }
            if let Some(patterns) = of_run.get_mut(place) {
                patterns.push(pattern);
            }
        }
        let found = (!runs.is_empty()).then(|| AhoCorasick::new(&runs).ok());
        let runs = found.flatten();
        if runs.is_none() {
            others = with_stars;
        }
        Self {
            names: names.into_iter().collect(),
            runs,
            of_run,
            others,
        }
    }

    pub(crate) fn match_name(&self, name: &[u8]) -> bool {
        let matches = |pattern: &&[u8]| pattern_matches(pattern, name);
        self.names.contains(name)
            || self.others.iter().any(matches)
            || self.runs.as_ref().is_some_and(|runs| {
                let mut found = runs.find_overlapping_iter(name);
                found.any(|run| {
                    let patterns = self.of_run.get(run.pattern().as_usize());
                    patterns.is_some_and(|patterns| patterns.iter().any(matches))
                })
            })
    }
}

/// Returns the runs of characters between the stars of a pattern.
fn runs_of(pattern: &[u8]) -> impl Iterator<Item = &[u8]> {
    pattern
        .split(|byte| *byte == b'*')
        .filter(|run| !run.is_empty())
}

/// Returns `true` if a name contains a part, in which `*` stands for any run of characters; every
/// name contains the empty one.
pub(crate) fn contains(name: &[u8], part: &[u8]) -> bool {
    let mut rest = name;
    runs_of(part).all(|run| {
        let found = rest.windows(run.len()).position(|window| window == run);
        rest = found
            .and_then(|at| rest.get(at + run.len()..))
            .unwrap_or_default();
        found.is_some()
    })
}

/// Matches a whole name against a pattern in which `*` stands for any run of characters and all
/// else for itself. Takes at most pattern times name steps: only the last star is ever retried.
pub fn pattern_matches(pattern: &[u8], name: &[u8]) -> bool {
    let (mut at_pattern, mut at_name) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    while let Some(&byte) = name.get(at_name) {
        match pattern.get(at_pattern) {
            Some(b'*') => {
                at_pattern += 1;
                retry = Some((at_pattern, at_name));
            }
            Some(&expected) if expected == byte => {
                at_pattern += 1;
                at_name += 1;
            }
            _ => {
                // Let the last star swallow one more byte.
                let Some((after_star, start)) = retry else {
                    return false;
                };
                at_pattern = after_star;
                at_name = start + 1;
                retry = Some((after_star, at_name));
            }
        }
    }
    pattern
        .get(at_pattern..)
        .is_some_and(|rest| rest.iter().all(|&byte| byte == b'*'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_match_any_run() {
        for (pattern, name, expected) in [
            ("_Z1kPi", "_Z1kPi", true),
            ("_Z1kPi", "_Z1kPii", false),
            ("_Z1k*", "_Z1k", true),
            ("__nv_static_*2k2*", "__nv_static_23__x_2k2Pi", true),
            ("*a*b", "xaybab", true),
            ("*a*b", "xaybac", false),
            ("**", "", true),
            ("", "", true),
            ("", "x", false),
            ("a?[b]", "axb", false),
            ("a?[b]", "a?[b]", true),
        ] {
            let patterns = [pattern.to_owned()];
            let matched = NamePatterns::new(&patterns).match_name(name.as_bytes());
            assert_eq!(matched, expected, "{pattern} {name}");
        }
    }

    #[test]
    fn parts_may_have_stars() {
        for (name, part, expected) in [
            ("kern2", "ern", true),
            ("kern2", "", true),
            ("kern2", "*", true),
            ("kern2", "k*2", true),
            ("kern2", "**n*", true),
            ("kern2", "n*k", false),
            ("kern2", "rn*n", false),
            ("kern2", "x", false),
        ] {
            assert_eq!(
                contains(name.as_bytes(), part.as_bytes()),
                expected,
                "{part}"
            );
        }
    }

    #[test]
    fn many_patterns_are_as_good_as_each_alone() {
        let patterns: Vec<String> = (0..300)
            .map(|index| match index % 4 {
                0 => format!("__nv_static_*{}k{index}*", 1 + index.to_string().len()),
                1 => format!("*k{index}"),
                2 => format!("plain{index}"),
                _ => format!("a*{index}*a*"),
            })
            .collect();
        let many = NamePatterns::new(&patterns);
        for index in 0..300 {
            for name in [
                format!("__nv_static_7__x_{}k{index}Pi", 1 + index.to_string().len()),
                format!("k{index}"),
                format!("plain{index}"),
                format!("a{index}b"),
                format!("a{index}ba"),
            ] {
                let alone = patterns
                    .iter()
                    .any(|pattern| pattern_matches(pattern.as_bytes(), name.as_bytes()));
                assert_eq!(many.match_name(name.as_bytes()), alone, "{name}");
            }
        }
    }

    #[test]
    fn hostile_patterns_end_soon() {
        let pattern = b"*a".repeat(2000);
        assert!(!pattern_matches(&pattern, &b"b".repeat(100_000)));
        assert!(!pattern_matches(
            &[&pattern[..], b"c"].concat(),
            &b"a".repeat(10_000)
        ));
    }
}
