//! Splits an options file into words.

use super::error::ArgError;

/// Splits the contents of an options file at blanks. Double quotes keep blanks and are dropped, a
/// backslash keeps the next byte whatever it is, and a NUL ends the file. There are no comments.
pub fn split_words(contents: &[u8]) -> Result<Vec<Vec<u8>>, ArgError> {
    let mut words = Vec::new();
    let mut word: Option<Vec<u8>> = None;
    let mut quoted = false;
    let mut bytes = contents.iter().copied().take_while(|byte| *byte != 0);
    while let Some(byte) = bytes.next() {
        match byte {
            b' ' | b'\t' | b'\n' | b'\r' if !quoted => words.extend(word.take()),
            b'"' => {
                quoted = !quoted;
                // Two quotes with nothing between them are an empty word.
                word.get_or_insert_default();
            }
            b'\\' => {
                let kept = bytes.next().ok_or(ArgError::Stray { character: "" })?;
                word.get_or_insert_default().push(kept);
            }
            _ => word.get_or_insert_default().push(byte),
        }
    }
    if quoted {
        return Err(ArgError::Stray { character: "\"" });
    }
    words.extend(word);
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(contents: &str) -> Vec<String> {
        let words = split_words(contents.as_bytes()).expect("no stray character");
        words.iter().map(|word| String::from_utf8_lossy(word).into_owned()).collect()
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
        assert_eq!(words("c\\nd \"g\\h\" \\\"x\\\""), ["cnd", "gh", "\"x\""]);
        assert_eq!(words("\"\" -v \"\""), ["", "-v", ""]);
        assert_eq!(words("'a b'"), ["'a", "b'"]);
        assert_eq!(words("-v\0\"-w"), ["-v"]);
    }

    #[test]
    fn stray_characters_are_refused() {
        assert_eq!(split_words(b"-v \\"), Err(ArgError::Stray { character: "" }));
        assert_eq!(split_words(b"-o \"x"), Err(ArgError::Stray { character: "\"" }));
    }
}
