//! Names from files: of symbols, sections, members.

use std::fmt;
use std::fmt::Write;

use serde::Serialize;
use serde::Serializer;

use cuweld_demangle::explained;

/// A name as it stands in a file. It shows as text; bytes that are none show as `\xff`, and control
/// characters are escaped, so that a name cannot steer a terminal.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Name<'data>(pub &'data [u8]);

impl Name<'_> {
    /// Returns `true` if there is no name.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the name as in the source, if it is mangled.
    pub fn demangled(&self) -> Option<String> {
        explained(self.0)
    }
}

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for chunk in self.0.utf8_chunks() {
            for character in chunk.valid().chars() {
                if character.is_control() {
                    write!(f, "{}", character.escape_default())?;
                } else {
                    f.write_char(character)?;
                }
            }
            for byte in chunk.invalid() {
                write!(f, "\\x{byte:02x}")?;
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{self}'")
    }
}

impl Serialize for Name<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match std::str::from_utf8(self.0) {
            Ok(text) => serializer.serialize_str(text),
            Err(_) => serializer.collect_str(self),
        }
    }
}

/// Bytes, which show as hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Hex<'data>(pub &'data [u8]);

impl fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl Serialize for Hex<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_steer_a_terminal() {
        assert_eq!(Name(b"_Z1kv").to_string(), "_Z1kv");
        assert_eq!(Name(b"a\x1b[2J\xff\n").to_string(), "a\\u{1b}[2J\\xff\\n");
        assert_eq!(Name("größe".as_bytes()).to_string(), "größe");
    }

    #[test]
    fn names_are_strings_in_json() {
        assert_eq!(serde_json::to_string(&Name(b"k\"1")).unwrap(), r#""k\"1""#);
        assert_eq!(
            serde_json::to_string(&Name(b"k\xfe")).unwrap(),
            r#""k\\xfe""#
        );
        assert_eq!(
            serde_json::to_string(&Hex(&[1, 0xab])).unwrap(),
            r#""01ab""#
        );
    }
}
