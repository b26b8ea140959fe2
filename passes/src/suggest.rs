//! Finds what a mistyped name was meant to be.

use strsim::osa_distance;

/// Longer names are no typing mistake; bounds the work.
const MAX_LENGTH: usize = 64;

/// Returns the candidate that is nearest to `name`, if one is near enough to be what was meant. Of
/// equally near ones, the first.
pub fn nearest<'c>(name: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    // A third of the letters may be wrong: more, and unrelated short names would match.
    let allowed = (name.chars().count() / 3).clamp(1, 4);
    candidates
        .into_iter()
        .filter(|candidate| name.len().max(candidate.len()) <= MAX_LENGTH)
        .map(|candidate| (osa_distance(name, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= allowed && *distance < candidate.len())
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
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
}
