//! Splits an options file into arguments.

use super::error::ArgError;

/// Splits the contents of an options file at blanks. Double quotes keep blanks, a backslash keeps
/// the next byte whatever it is, and a NUL ends the file. There are no comments.
///
/// A quote leaves the argument even where a backslash kept it from quoting, unless a backslash
/// remains before it: `\"x\"` is `x`, and `\\\"` is `\"`.
pub fn split_words(contents: &[u8]) -> Result<Vec<Vec<u8>>, ArgError> {
    let mut words = Vec::new();
    let mut word: Option<Vec<u8>> = None;
    let mut quoted = false;
    let mut bytes = contents.iter().copied().take_while(|byte| *byte != 0);
    while let Some(byte) = bytes.next() {
        let kept = match byte {
            b' ' | b'\t' | b'\n' | b'\r' if !quoted => {
                words.extend(word.take().map(|word| without_quotes(&word)));
                continue;
            }
            b'"' => {
                quoted = !quoted;
                byte
            }
            b'\\' => bytes.next().ok_or(ArgError::Stray { character: "" })?,
            _ => byte,
        };
        word.get_or_insert_default().push(kept);
    }
    if quoted {
        return Err(ArgError::Stray { character: "\"" });
    }
    words.extend(word.map(|word| without_quotes(&word)));
    Ok(words)
}

fn without_quotes(word: &[u8]) -> Vec<u8> {
    let mut previous = 0;
    word.iter()
        .copied()
        .filter(|&byte| std::mem::replace(&mut previous, byte) == b'\\' || byte != b'"')
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(contents: &str) -> Vec<String> {
        let words = split_words(contents.as_bytes()).expect("no stray character");
        words
            .iter()
            .map(|word| String::from_utf8_lossy(word).into_owned())
            .collect()
    }

    #[test]
    fn words_end_at_blanks_but_not_at_form_feeds() {
        assert_eq!(words("\n\t-v\r\n-w\x0c-g\x0b"), ["-v", "-w\x0c-g\x0b"]);
        assert_eq!(words(""), [""; 0]);
    }

    #[test]
    fn quotes_and_backslashes_keep_bytes() {
        assert_eq!(words("a\"b c\"d"), ["ab cd"]);
        assert_eq!(words("a\\ b"), ["a b"]);
        assert_eq!(words("c\\nd \"g\\h\" \\\"x\\\""), ["cnd", "gh", "x"]);
        assert_eq!(words("\"\" -v \"\""), ["", "-v", ""]);
        assert_eq!(words("'a b'"), ["'a", "b'"]);
        assert_eq!(words("-v\0\"-w"), ["-v"]);
    }

    #[test]
    fn quotes_stay_behind_a_backslash_that_stays() {
        for (contents, expected) in [
            (r#"a\\\"b"#, r#"a\"b"#),
            (r#"a\"b"#, "ab"),
            (r#""a\\" -v"#, r#"a\" -v"#),
            (r#"a\\"b c""#, r#"a\"b c"#),
            (r#""\\\\\"""#, r#"\\""#),
            (r#""\" x""#, " x"),
            (r#"\" \""#, " "),
        ] {
            assert_eq!(words(contents).join(" "), expected, "{contents}");
        }
        assert!(split_words(br#"\\""#).is_err());
        assert!(split_words(br#""\\"b""#).is_err());
    }

    #[test]
    fn stray_characters_are_refused() {
        assert_eq!(
            split_words(b"-v \\"),
            Err(ArgError::Stray { character: "" })
        );
        assert_eq!(
            split_words(b"-o \"x"),
            Err(ArgError::Stray { character: "\"" })
        );
    }
}
