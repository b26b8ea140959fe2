//! Finds what a mistyped option was meant to be.

use super::options;
use super::options::OptionSpec;
use super::options::ValueKind;

/// Names further away than this are no suggestion.
const MAX_DISTANCE: usize = 2;
/// Longer texts are no typing mistake; bounds the work.
const MAX_LENGTH: usize = 64;

/// A help line for an unknown option; `name` is the text after its first dash.
pub fn for_unknown(name: &str) -> Option<String> {
    let bare = name.strip_prefix('-').unwrap_or(name);
    if bare.is_empty() || bare.len() > MAX_LENGTH {
        return None;
    }
    if options::find_long(bare.as_bytes()).is_some() {
        return Some(format!("long options take two dashes: --{bare}"));
    }
    if options::find_short(bare.as_bytes()).is_some() {
        return Some(format!("this option takes one dash: -{bare}"));
    }
    let glued = options::all().find(|option| {
        // `-ofile`: a one-letter option with its value directly behind it.
        option.short.len() == 1
            && !matches!(option.kind, ValueKind::Flag)
            && bare.starts_with(option.short)
            && !name.starts_with('-')
    });
    let nearest = options::all()
        .filter(|option| option.section != options::Section::Hidden)
        .flat_map(spellings)
        .map(|(spelling, text)| (distance(bare, spelling), text))
        .filter(|(distance, text)| *distance <= MAX_DISTANCE && *distance < text.len() / 2)
        .min_by_key(|(distance, _)| *distance);
    match (nearest, glued) {
        (Some((_, text)), _) => Some(format!("did you mean {text}?")),
        (None, Some(option)) => Some(format!(
            "-{} takes its value after a blank or '='",
            option.short
        )),
        (None, None) => None,
    }
}

/// A help line for a value that `option` does not know.
pub fn for_value(value: &str, option: &str) -> Option<String> {
    let spec = options::find_long(option.as_bytes())?;
    let choices = match spec.kind {
        ValueKind::Choice(choices) | ValueKind::OptionalChoice(choices, _) => choices,
        _ => return None,
    };
    let prefix = choices
        .prefixes
        .iter()
        .find(|prefix| value.starts_with(**prefix))
        .or_else(|| choices.prefixes.first())?;
    let values: Vec<String> = choices
        .names
        .iter()
        .map(|name| format!("{prefix}{name}"))
        .collect();
    Some(format!("known values: {}", values.join(", ")))
}

fn spellings(option: &'static OptionSpec) -> impl Iterator<Item = (&'static str, String)> {
    [("--", option.long), ("-", option.short)]
        .into_iter()
        .filter(|(_, name)| !name.is_empty())
        .map(|(dashes, name)| (name, format!("{dashes}{name}")))
}

/// Number of insertions, deletions and replacements that make `a` of `b`.
fn distance(a: &str, b: &str) -> usize {
    let b = b.as_bytes();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (line, byte) in a.bytes().enumerate() {
        let mut diagonal = line;
        let mut left = line + 1;
        if let Some(first) = row.first_mut() {
            *first = left;
        }
        for (cell, other) in row.iter_mut().skip(1).zip(b) {
            let above = *cell;
            let best = (diagonal + usize::from(byte != *other))
                .min(above + 1)
                .min(left + 1);
            diagonal = above;
            left = best;
            *cell = best;
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_counts_edits() {
        assert_eq!(distance("arch", "arch"), 0);
        assert_eq!(distance("arhc", "arch"), 2);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("kitten", "sitting"), 3);
    }

    #[test]
    fn unknown_options_are_explained() {
        assert_eq!(
            for_unknown("debug").as_deref(),
            Some("long options take two dashes: --debug")
        );
        assert_eq!(
            for_unknown("-g").as_deref(),
            Some("this option takes one dash: -g")
        );
        assert_eq!(for_unknown("-ach").as_deref(), Some("did you mean --arch?"));
        assert_eq!(
            for_unknown("oo.cubin").as_deref(),
            Some("-o takes its value after a blank or '='")
        );
        assert_eq!(for_unknown("-completely-else"), None);
        assert_eq!(for_unknown(""), None);
    }

    #[test]
    fn values_are_listed_in_the_family_that_was_typed() {
        let help = for_value("compute_70", "arch").expect("arch has choices");
        assert!(help.starts_with("known values: compute_75, "), "{help}");
        assert_eq!(for_value("x", "maxrregcount"), None);
    }
}
