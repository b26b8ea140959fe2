//! Positions and tokens of the text form. Tokens never span lines; `;` begins a comment.

use std::borrow::Cow;
use std::ops::Range;

use super::ParseError;
use super::quote::is_plain;

/// A place in the text, for messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Position {
    pub(super) line: usize,
    pub(super) column: usize,
}

impl Position {
    /// Builds an error at this place.
    pub(super) fn error(self, message: impl Into<String>) -> ParseError {
        ParseError {
            line: self.line,
            column: self.column,
            message: message.into(),
            help: None,
        }
    }

    /// Builds an error at this place about the number of a row.
    pub(super) fn misnumbered(self, message: impl Into<String>) -> ParseError {
        ParseError {
            help: Some("`cuweld opt --renumber` numbers the rows of an edited text anew"),
            ..self.error(message)
        }
    }
}

pub(crate) type Parsed<T> = Result<T, ParseError>;

/// Reads tokens from left to right.
pub(super) struct Cursor<'t> {
    text: &'t [u8],
    at: usize,
    line: usize,
    line_start: usize,
}

impl<'t> Cursor<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Cursor {
            text: text.as_bytes(),
            at: 0,
            line: 1,
            line_start: 0,
        }
    }

    fn rest(&self) -> &'t [u8] {
        self.text.get(self.at..).unwrap_or(&[])
    }

    fn skip_blanks(&mut self) {
        let blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r');
        self.at += self.rest().iter().take_while(|byte| blank(byte)).count();
        if self.rest().first() == Some(&b';') {
            self.at += self
                .rest()
                .iter()
                .take_while(|byte| **byte != b'\n')
                .count();
        }
    }

    /// Returns the place of the next token.
    pub(super) fn position(&mut self) -> Position {
        self.skip_blanks();
        Position {
            line: self.line,
            column: self.at - self.line_start + 1,
        }
    }

    /// Goes to the first token of the next line that has one, from the end of a row or from the
    /// start; false at the end of the text.
    pub(super) fn start_row(&mut self) -> bool {
        loop {
            self.skip_blanks();
            match self.rest().first() {
                None => return false,
                Some(b'\n') => {
                    self.at += 1;
                    self.line += 1;
                    self.line_start = self.at;
                }
                Some(_) => return true,
            }
        }
    }

    /// Returns the next byte of the row; `None` at its end.
    pub(super) fn peek(&mut self) -> Option<u8> {
        self.skip_blanks();
        self.rest().first().copied().filter(|byte| *byte != b'\n')
    }

    /// Ends a row.
    pub(super) fn end_row(&mut self) -> Parsed<()> {
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(self.expected("the end of the line")),
        }
    }

    /// Builds an error that says what was expected here and what stands here.
    pub(super) fn expected(&mut self, what: &str) -> ParseError {
        let position = self.position();
        let rest = self.rest();
        let found = match rest.first() {
            None => "the end of the text".to_owned(),
            Some(b'\n') => "the end of the line".to_owned(),
            Some(_) => {
                let length = rest
                    .iter()
                    .take(32)
                    .take_while(|b| !b.is_ascii_whitespace())
                    .count();
                format!("`{}`", String::from_utf8_lossy(&rest[..length]))
            }
        };
        position.error(format!("expected {what}, found {found}"))
    }

    /// Takes these characters if they come next.
    pub(super) fn eat(&mut self, token: &str) -> bool {
        self.skip_blanks();
        let found = self.rest().starts_with(token.as_bytes());
        if found {
            self.at += token.len();
        }
        found
    }

    /// Takes these characters.
    pub(super) fn expect(&mut self, token: &str) -> Parsed<()> {
        if self.eat(token) {
            Ok(())
        } else {
            Err(self.expected(&format!("`{token}`")))
        }
    }

    fn run(&mut self, keep: impl Fn(u8) -> bool) -> &'t [u8] {
        let rest = self.rest();
        let length = rest.iter().take_while(|byte| keep(**byte)).count();
        self.at += length;
        &rest[..length]
    }

    fn ascii(bytes: &'t [u8]) -> &'t str {
        // Runs hold ASCII only.
        std::str::from_utf8(bytes).unwrap_or("")
    }

    /// Returns the next word, without taking it; empty if something else comes next.
    pub(super) fn peek_word(&mut self) -> &'t str {
        self.skip_blanks();
        let at = self.at;
        let word = self.run(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
        self.at = at;
        Self::ascii(word)
    }

    /// Takes a word.
    pub(super) fn word(&mut self, what: &str) -> Parsed<&'t str> {
        let word = self.peek_word();
        if word.is_empty() {
            return Err(self.expected(what));
        }
        self.at += word.len();
        Ok(word)
    }

    /// Takes a version, numbers with dots in between.
    pub(super) fn version(&mut self, what: &str) -> Parsed<&'t str> {
        self.skip_blanks();
        let at = self.at;
        let version = self.run(|byte| byte.is_ascii_digit() || byte == b'.');
        if version.is_empty() {
            self.at = at;
            return Err(self.expected(what));
        }
        Ok(Self::ascii(version))
    }

    /// Takes this word if it comes next.
    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        let found = self.peek_word() == word;
        if found {
            self.at += word.len();
        }
        found
    }

    /// Parses a number, decimal or with `0x`.
    pub(super) fn number(&mut self) -> Parsed<u64> {
        self.skip_blanks();
        let start = self.at;
        let rest = self.rest();
        let (radix, skip) = if rest.starts_with(b"0x") {
            (16, 2)
        } else {
            (10, 0)
        };
        self.at += skip;
        let digits = Self::ascii(self.run(|byte| char::from(byte).is_digit(radix)));
        let after = self
            .rest()
            .first()
            .is_some_and(|byte| byte.is_ascii_alphanumeric());
        match u64::from_str_radix(digits, radix) {
            Ok(value) if !after => Ok(value),
            _ => {
                self.at = start;
                Err(self.expected("a number below 2^64"))
            }
        }
    }

    /// Parses a number that fits into a narrower type.
    pub(super) fn narrow<T: TryFrom<u64>>(&mut self) -> Parsed<T> {
        let position = self.position();
        let value = self.number()?;
        T::try_from(value).map_err(|_| {
            let bits = size_of::<T>() * 8;
            position.error(format!(
                "expected a number of at most {bits} bits, found {value:#x}"
            ))
        })
    }

    /// Parses a number that may have a sign.
    pub(super) fn signed(&mut self) -> Parsed<i64> {
        let position = self.position();
        let negative = self.eat("-");
        let magnitude = self.number()?;
        let value = i128::from(magnitude) * if negative { -1 } else { 1 };
        i64::try_from(value)
            .map_err(|_| position.error("expected a signed number of at most 64 bits"))
    }

    /// Parses a name, plain or quoted.
    pub(super) fn name(&mut self) -> Parsed<Cow<'t, [u8]>> {
        self.skip_blanks();
        if self.rest().first() == Some(&b'"') {
            return self.quoted();
        }
        let name = self.run(is_plain);
        if name.is_empty() {
            Err(self.expected("a name"))
        } else {
            Ok(Cow::Borrowed(name))
        }
    }

    /// Parses a name that is UTF-8.
    pub(super) fn string(&mut self) -> Parsed<String> {
        let position = self.position();
        String::from_utf8(self.name()?.into_owned())
            .map_err(|_| position.error("expected a string in UTF-8"))
    }

    fn quoted(&mut self) -> Parsed<Cow<'t, [u8]>> {
        self.expect("\"")?;
        let plain = self.run(|byte| !matches!(byte, b'"' | b'\\' | b'\n'));
        if self.rest().first() == Some(&b'"') {
            self.at += 1;
            return Ok(Cow::Borrowed(plain));
        }
        let mut bytes = plain.to_vec();
        loop {
            let position = Position {
                line: self.line,
                column: self.at - self.line_start + 1,
            };
            match self.rest() {
                [b'"', ..] => {
                    self.at += 1;
                    return Ok(Cow::Owned(bytes));
                }
                [b'\\', b'x', high, low, ..] => {
                    let (Some(high), Some(low)) = (hex_digit(*high), hex_digit(*low)) else {
                        return Err(position.error("expected two hex digits after `\\x`"));
                    };
                    bytes.push(high << 4 | low);
                    self.at += 4;
                }
                [b'\\', escape, ..] => {
                    bytes.push(match escape {
                        b'"' | b'\\' => *escape,
                        b'n' => b'\n',
                        b't' => b'\t',
                        _ => {
                            return Err(position
                                .error("expected one of the escapes \\\" \\\\ \\n \\t \\xNN"));
                        }
                    });
                    self.at += 2;
                }
                [b'\n', ..] | [] | [b'\\'] => {
                    return Err(position.error("expected `\"`, found the end of the line"));
                }
                [byte, ..] => {
                    bytes.push(*byte);
                    self.at += 1;
                }
            }
        }
    }

    /// Parses pairs of hex digits and appends the bytes to `bytes`.
    pub(super) fn hex(&mut self, bytes: &mut Vec<u8>) -> Parsed<()> {
        let position = self.position();
        let digits = self.run(|byte| byte.is_ascii_hexdigit());
        if !digits.len().is_multiple_of(2) {
            return Err(position.error("expected an even number of hex digits"));
        }
        bytes.reserve(digits.len() / 2);
        for pair in digits.chunks_exact(2) {
            if let [high, low] = pair {
                bytes.push(hex_digit(*high).unwrap_or(0) << 4 | hex_digit(*low).unwrap_or(0));
            }
        }
        Ok(())
    }

    /// Parses an id with this prefix, and returns its number.
    pub(super) fn id(&mut self, prefix: &str) -> Parsed<u32> {
        let position = self.position();
        self.expect_id(prefix)?;
        if self.rest().first() == Some(&b'.') {
            let name = self.key();
            return Err(position.misnumbered(format!("`{prefix}{name}` has no number yet")));
        }
        self.decimal()
    }

    /// Parses an id with this prefix that is a number, or a name after a dot. Returns what stands
    /// after the prefix, and where the id stands.
    pub(super) fn id_key(&mut self, prefix: &str) -> Parsed<(&'t str, Range<usize>)> {
        let start = self.offset();
        self.expect_id(prefix)?;
        let key = self.key();
        Ok((key, start..self.at))
    }

    fn expect_id(&mut self, prefix: &str) -> Parsed<()> {
        if !self.at_id(prefix) {
            return Err(self.expected(&format!("an id such as `{prefix}0`")));
        }
        self.at += prefix.len();
        Ok(())
    }

    fn key(&mut self) -> &'t str {
        let is_dot = self.rest().first() == Some(&b'.');
        let at = self.at;
        self.at += usize::from(is_dot);
        self.run(|byte| match is_dot {
            true => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'),
            false => byte.is_ascii_digit(),
        });
        Self::ascii(self.text.get(at..self.at).unwrap_or(&[]))
    }

    /// Returns `true` if an id with this prefix comes next, by its number or by a name.
    pub(super) fn at_id(&mut self, prefix: &str) -> bool {
        self.skip_blanks();
        let rest = self.rest().strip_prefix(prefix.as_bytes());
        match rest {
            Some([b'.', name, ..]) => name.is_ascii_alphabetic() || *name == b'_',
            Some([digit, ..]) => digit.is_ascii_digit(),
            _ => false,
        }
    }

    /// Returns the offset in bytes of the next token.
    pub(super) fn offset(&mut self) -> usize {
        self.skip_blanks();
        self.at
    }

    /// Returns the offset in bytes of the end of the last token.
    pub(super) fn end(&self) -> usize {
        self.at
    }

    /// Goes to the end of the row, and returns where what is left of it ends.
    pub(super) fn skip_row(&mut self) -> usize {
        let mut end = self.at;
        while self.peek().is_some() {
            self.run(|byte| !byte.is_ascii_whitespace() && byte != b';');
            end = self.at;
        }
        end
    }

    fn decimal(&mut self) -> Parsed<u32> {
        let start = self.at;
        let digits = Self::ascii(self.run(|byte| byte.is_ascii_digit()));
        digits.parse().map_err(|_| {
            self.at = start;
            self.expected("an index below 2^32")
        })
    }

    /// Parses a range `3..5` of indices, whose end is not below its start.
    pub(super) fn range(&mut self) -> Parsed<(u32, u32)> {
        let position = self.position();
        let start = self.decimal()?;
        self.expect("..")?;
        let end = self.decimal()?;
        if end < start {
            return Err(position.error(format!("expected a range, found {start}..{end}")));
        }
        Ok((start, end))
    }

    /// Parses the beginning of the next field of a row: its place and key. `None` at the end of the
    /// row and at `)`.
    pub(super) fn field(&mut self) -> Parsed<Option<(Position, &'t str)>> {
        let position = self.position();
        match self.peek() {
            None | Some(b')') => Ok(None),
            Some(_) => Ok(Some((position, self.word("a field")?))),
        }
    }

    /// Returns the bytes of the text.
    pub(super) fn text_size(&self) -> usize {
        self.text.len()
    }
}

fn hex_digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).map(|digit| digit as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_two_forms_and_limits() {
        assert_eq!(Cursor::new(" 0x1F ").number(), Ok(31));
        assert_eq!(Cursor::new("18446744073709551615").number(), Ok(u64::MAX));
        assert_eq!(Cursor::new("-0x8000000000000000").signed(), Ok(i64::MIN));
        for bad in ["", "0x", "x1", "18446744073709551616", "12ab", "-1"] {
            assert!(Cursor::new(bad).number().is_err(), "{bad}");
        }
        assert!(Cursor::new("0x8000000000000000").signed().is_err());
        assert_eq!(Cursor::new("255").narrow::<u8>(), Ok(255));
        let error = Cursor::new("  256").narrow::<u8>().unwrap_err();
        assert_eq!((error.line, error.column), (1, 3));
    }

    #[test]
    fn names_are_plain_or_quoted() {
        let name = |text: &str| Cursor::new(text).name().map(Cow::into_owned);
        assert_eq!(name(".text.f$1 x"), Ok(b".text.f$1".to_vec()));
        assert_eq!(
            name(r#""a \"\\\n\t\x00\xff""#),
            Ok(b"a \"\\\n\t\0\xff".to_vec())
        );
        for bad in [
            "",
            "\"a",
            "\"a\\",
            "\"\\q\"",
            "\"\\xg0\"",
            "\"\\x0",
            "(",
            "\"a\nb\"",
        ] {
            assert!(name(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn rows_skip_comments_and_count_lines() {
        let mut cursor = Cursor::new("; note\n\n  one ; rest\ntwo");
        assert!(cursor.start_row());
        assert_eq!(cursor.position(), Position { line: 3, column: 3 });
        assert_eq!(cursor.word("a word"), Ok("one"));
        assert_eq!(cursor.end_row(), Ok(()));
        assert!(cursor.start_row());
        assert_eq!(
            cursor.end_row().unwrap_err().message,
            "expected the end of the line, found `two`"
        );
        assert!(cursor.eat_word("two"));
        assert!(!cursor.start_row());
    }
}
