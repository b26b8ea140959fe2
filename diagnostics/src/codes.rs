//! The table of codes, a file for each kind of finding or part of the format.

pub mod deviation;
pub mod extension;
pub mod input;
pub mod internal;
pub mod link;
pub mod mercury;
pub mod relocation;
pub mod report;
pub mod system;
pub mod unsupported;
pub mod usage;

use crate::Code;
use crate::Kind;

/// Returns all codes, sorted by kind and then by name.
pub fn all() -> Vec<Code> {
    let lists = [
        input::ALL,
        link::ALL,
        usage::ALL,
        unsupported::ALL,
        mercury::ALL,
        relocation::ALL,
        deviation::ALL,
        system::ALL,
        extension::ALL,
        internal::ALL,
        report::ALL,
    ];
    let mut codes = lists.concat();
    let place = |kind: Kind| Kind::ALL.iter().position(|one| *one == kind);
    codes.sort_by_key(|code| (place(code.kind()), code.name()));
    codes
}

/// Returns the code of a name.
pub fn find(name: &str) -> Option<Code> {
    all().into_iter().find(|code| code.name() == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_words_of_their_kind_and_stand_once() {
        let codes = all();
        for pair in codes.windows(2) {
            assert_ne!(pair[0], pair[1]);
        }
        for code in &codes {
            let words = code.name().strip_prefix(code.kind().name());
            let words = words.and_then(|rest| rest.strip_prefix('/')).unwrap_or("");
            let is_word = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
            assert!(
                !words.is_empty() && words.bytes().all(|byte| is_word(byte) || byte == b'-'),
                "{code}"
            );
            assert_eq!(find(code.name()), Some(*code));
        }
        assert_eq!(find("input/no-such-code"), None);
    }

    #[test]
    fn each_says_what_when_and_what_to_do() {
        for code in all() {
            assert!(!code.title().is_empty(), "{code}");
            for sentences in [code.when(), code.advice()] {
                assert!(sentences.ends_with('.'), "{code}: {sentences}");
                assert!(!sentences.contains("  "), "{code}: {sentences}");
            }
        }
    }
}
