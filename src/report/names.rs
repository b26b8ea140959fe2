//! Texts of a report: each once, and none too long.

use std::collections::BTreeMap;

use crate::inspect::Name;

/// All names of functions together have about this many bytes at most.
const ALL_NAMES: usize = 2_000_000;

/// Bounds of the longest text of a name.
const SHORTEST: usize = 80;
const LONGEST: usize = 1000;

/// Returns how many characters each of `count` names may have.
pub(super) fn longest(count: usize) -> usize {
    (ALL_NAMES / count.max(1)).clamp(SHORTEST, LONGEST)
}

/// Returns a name with at most `longest` characters; the middle of a longer one is left out.
pub(super) fn shortened(name: String, longest: usize) -> String {
    let count = name.chars().count();
    if count <= longest {
        return name;
    }
    let head = longest * 2 / 3;
    let tail = longest.saturating_sub(head + 1);
    let first = name.chars().take(head);
    let last = name.chars().skip(count - tail);
    first.chain(['…']).chain(last).collect()
}

/// Returns the name of a variable as in the source. What compilers call `$___ZZ1fvE1x__12` is `f()::x`.
pub(super) fn variable(name: &[u8]) -> String {
    let inner = || {
        let inner = name.strip_prefix(b"$__")?;
        let end = inner.windows(2).rposition(|pair| pair == b"__")?;
        let (inner, number) = inner.split_at_checked(end)?;
        let is_number = number.get(2..)?.iter().all(u8::is_ascii_digit);
        Name(inner).demangled().filter(|_| is_number)
    };
    let name = Name(name);
    let source = inner().or_else(|| name.demangled());
    source.unwrap_or_else(|| name.to_string())
}

/// Texts by number.
#[derive(Debug, Default)]
pub(super) struct Labels {
    texts: Vec<String>,
    known: BTreeMap<String, u32>,
}

impl Labels {
    /// Returns the number of a text.
    pub(super) fn number(&mut self, text: String, longest: usize) -> u32 {
        if let Some(number) = self.known.get(&text) {
            return *number;
        }
        let number = u32::try_from(self.texts.len()).unwrap_or(u32::MAX);
        self.texts.push(shortened(text.clone(), longest));
        self.known.insert(text, number);
        number
    }

    /// Returns the texts in order of their numbers.
    pub(super) fn texts(self) -> Vec<String> {
        self.texts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_lose_their_middle() {
        assert_eq!(shortened("abc".to_owned(), 3), "abc");
        assert_eq!(shortened("abcdefghij".to_owned(), 7), "abcd…ij");
        assert_eq!(shortened("ääääääääää".to_owned(), 7).chars().count(), 7);
        assert_eq!(longest(10), LONGEST);
        assert_eq!(longest(10_000), 200);
        assert_eq!(longest(1_000_000), SHORTEST);
    }

    #[test]
    fn variables_of_functions_have_names() {
        let name = b"$___ZZ14find_brightestPK5PixeliE4best__138";
        assert_eq!(variable(name), "find_brightest(const Pixel *, int)::best");
        assert_eq!(variable(b"_ZN1a1bE"), "a::b");
        for name in ["$___ZZ1fvE1x", "$____", "$__x__1", "plain"] {
            assert_eq!(variable(name.as_bytes()), name);
        }
    }

    #[test]
    fn texts_have_one_number() {
        let mut labels = Labels::default();
        let numbers = ["a", "bcd", "a"].map(|text| labels.number(text.to_owned(), 2));
        assert_eq!(numbers, [0, 1, 0]);
        assert_eq!(labels.texts(), ["a", "b…"]);
    }
}
