//! Names of new passes.

use std::fmt;

use thiserror::Error;

/// The most letters of a name.
const LONGEST: usize = 64;

/// Words that cannot be the name of a crate or of a module beside the template's own.
const RESERVED: [&str; 57] = [
    "abstract",
    "alloc",
    "as",
    "async",
    "await",
    "become",
    "box",
    "break",
    "const",
    "continue",
    "core",
    "crate",
    "cuweld",
    "do",
    "dyn",
    "else",
    "enum",
    "extern",
    "false",
    "final",
    "fn",
    "for",
    "gen",
    "if",
    "impl",
    "in",
    "let",
    "lib",
    "loop",
    "macro",
    "main",
    "match",
    "mod",
    "move",
    "mut",
    "override",
    "priv",
    "proc-macro",
    "pub",
    "ref",
    "return",
    "self",
    "serde",
    "static",
    "std",
    "struct",
    "super",
    "test",
    "trait",
    "true",
    "try",
    "type",
    "typeof",
    "unsafe",
    "use",
    "where",
    "while",
];

/// The name of a pass: lower-case letters, digits and single `-` between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name(String);

/// Why a text is no name of a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum NameError {
    /// It has other letters, or too many.
    #[error(
        "a pass has a name of at most {LONGEST} lower-case letters, digits and '-' between them, such as count-loads"
    )]
    Form,
    /// It means something else.
    #[error("the name means something else to Rust or cuweld")]
    Reserved,
}

impl Name {
    /// Reads a name.
    pub fn parse(text: &str) -> Result<Self, NameError> {
        let is_word = |word: &str| {
            let mut letters = word.bytes();
            !word.is_empty() && letters.all(|it| it.is_ascii_lowercase() || it.is_ascii_digit())
        };
        let begins_well = text
            .bytes()
            .next()
            .is_some_and(|it| it.is_ascii_lowercase());
        if text.len() > LONGEST || !begins_well || !text.split('-').all(is_word) {
            return Err(NameError::Form);
        }
        if RESERVED.contains(&text) || text.starts_with("cuweld-") {
            return Err(NameError::Reserved);
        }
        Ok(Name(text.to_owned()))
    }

    /// Returns the name as an identifier, such as `count_loads`.
    fn identifier(&self) -> String {
        self.0.replace('-', "_")
    }

    /// Returns the name as that of a type, such as `CountLoads`.
    fn type_name(&self) -> String {
        let words = self.0.split('-').map(|word| {
            let (first, rest) = word.split_at(1);
            first.to_ascii_uppercase() + rest
        });
        words.collect()
    }

    /// Puts the name in the place of that of a template, `my-pass` or another `word` in its place.
    pub(super) fn put_into(&self, text: &str, word: &str) -> String {
        text.replace(&format!("my-{word}"), &self.0)
            .replace(&format!("my_{word}"), &self.identifier())
            .replace("MyPass", &self.type_name())
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_a_form() {
        for name in ["a", "count-loads", "fold-x2", "pass"] {
            assert_eq!(Name::parse(name).map(|it| it.0).as_deref(), Ok(name));
        }
        for name in [
            "", "-a", "a-", "a--b", "2a", "A", "a_b", "a/b", "../a", "a b", "é",
        ] {
            assert_eq!(Name::parse(name), Err(NameError::Form), "{name}");
        }
        assert_eq!(Name::parse(&"a".repeat(65)), Err(NameError::Form));
        for name in ["match", "std", "cuweld", "cuweld-ir"] {
            assert_eq!(Name::parse(name), Err(NameError::Reserved), "{name}");
        }
        let name = Name::parse("my-pass-2").unwrap();
        let text = name.put_into("my-pass my_pass MyPass my-plugin", "pass");
        assert_eq!(text, "my-pass-2 my_pass_2 MyPass2 my-plugin");
    }
}
