//! Finds what a mistyped option was meant to be.

use cuweld_passes::suggest::nearest;

use super::options;
use super::options::ValueKind;

/// Returns a help line for an unknown option; `name` is the text after its first dash.
pub fn for_unknown(name: &str) -> Option<String> {
    let bare = name.strip_prefix('-').unwrap_or(name);
    if options::find_long(bare.as_bytes()).is_some() {
        return Some(format!("long options take two dashes: --{bare}"));
    }
    if options::find_short(bare.as_bytes()).is_some() {
        return Some(format!("this option takes one dash: -{bare}"));
    }
    let glued = options::all().find(|option| {
        // `-ofile`: a one-letter option with its value directly after it.
        option.short.len() == 1
            && !matches!(option.kind, ValueKind::Flag)
            && bare.starts_with(option.short)
            && !name.starts_with('-')
    });
    let listed = options::all().filter(|option| option.section != options::Section::Hidden);
    let spellings = listed.flat_map(|option| [("--", option.long), ("-", option.short)]);
    let spellings: Vec<_> = spellings.collect();
    let near = nearest(bare, spellings.iter().map(|(_, name)| *name));
    let near = spellings.iter().find(|(_, name)| Some(*name) == near);
    match (near, glued) {
        (Some((dashes, name)), _) => Some(format!("did you mean {dashes}{name}?")),
        (None, Some(option)) => Some(format!(
            "-{} takes its value after a blank or '='",
            option.short
        )),
        (None, None) => None,
    }
}

/// Returns a help line for a value that `option` does not know.
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

#[cfg(test)]
mod tests {
    use super::*;

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
