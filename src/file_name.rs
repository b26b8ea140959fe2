//! Names of files as texts: a byte that is no part of UTF-8 stands as a character of its own.
//!
//! Names come from command lines and archives, go into messages, and lead back to files. As texts
//! they can be cut, joined and compared like all others; [`path`] and [`bytes`] give back what they
//! were made of, byte for byte. The characters are of a private area. A name that itself has one of
//! them in UTF-8 has its bytes spelled one by one, so that no two names become the same text.

use std::borrow::Cow;
use std::convert::Infallible;
use std::ffi::OsStr;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;
use std::path::PathBuf;

/// The character of the byte 0; those of the bytes from 0x80 on are used.
const FIRST: u32 = 0x10_fe00;

/// The first byte in UTF-8 of each of these characters; hardly any name has it.
const LEAD: u8 = 0xf4;

/// Makes a text of a name. In names that are UTF-8 nothing changes.
pub(crate) fn text(name: &[u8]) -> String {
    if !name.contains(&LEAD)
        && let Ok(text) = std::str::from_utf8(name)
    {
        return text.to_owned();
    }
    let mut text = String::with_capacity(name.len());
    for chunk in name.utf8_chunks() {
        for character in chunk.valid().chars() {
            match byte_of(character) {
                None => text.push(character),
                Some(_) => spell(character.encode_utf8(&mut [0; 4]).as_bytes(), &mut text),
            }
        }
        spell(chunk.invalid(), &mut text);
    }
    text
}

/// Returns the bytes of the name that a text was made of.
pub(crate) fn bytes(text: &str) -> Cow<'_, [u8]> {
    let has_byte = || text.chars().any(|character| byte_of(character).is_some());
    if !text.as_bytes().contains(&LEAD) || !has_byte() {
        return Cow::Borrowed(text.as_bytes());
    }
    let mut name = Vec::with_capacity(text.len());
    for character in text.chars() {
        match byte_of(character) {
            Some(byte) => name.push(byte),
            None => name.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    Cow::Owned(name)
}

/// Returns the path of the name that a text was made of.
pub(crate) fn path(text: &str) -> Cow<'_, Path> {
    match bytes(text) {
        Cow::Borrowed(name) => Cow::Borrowed(Path::new(OsStr::from_bytes(name))),
        Cow::Owned(name) => Cow::Owned(PathBuf::from(OsString::from_vec(name))),
    }
}

/// Makes a text of a path.
pub(crate) fn of_path(path: &Path) -> String {
    text(path.as_os_str().as_bytes())
}

/// Parses an argument that is a path.
pub(crate) fn parse(text: &str) -> Result<PathBuf, Infallible> {
    Ok(path(text).into_owned())
}

/// Appends the characters of bytes that are no part of UTF-8, or are to look so.
fn spell(bytes: &[u8], text: &mut String) {
    let characters = bytes.iter().map(|byte| FIRST + u32::from(*byte));
    text.extend(characters.filter_map(char::from_u32));
}

/// Returns the byte that a character stands for.
fn byte_of(character: char) -> Option<u8> {
    let byte = u32::from(character).checked_sub(FIRST)?;
    u8::try_from(byte).ok().filter(|byte| !byte.is_ascii())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_give_back_their_names() {
        let own = '\u{10fe80}'.to_string();
        let names: [&[u8]; 7] = [
            b"a.o",
            b"",
            "ä/ö.o".as_bytes(),
            b"a\xff.o",
            b"\xc3(\xf4\x8f\xbf",
            own.as_bytes(),
            b"\xed\xa0\x80",
        ];
        for name in names {
            let text = text(name);
            assert_eq!(*bytes(&text), *name);
            assert_eq!(path(&text).as_os_str().as_bytes(), name);
        }
        assert_eq!(text("ä.o".as_bytes()), "ä.o");
    }

    #[test]
    fn no_two_names_have_the_same_text() {
        let own = '\u{10feff}'.to_string();
        assert_ne!(text(own.as_bytes()), text(b"\xff"));
        assert_eq!(text(b"\xff"), own);
    }
}
