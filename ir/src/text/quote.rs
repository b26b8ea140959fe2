//! Names, quoted strings and hex bytes.

/// Appends formatted text to a `String`, which cannot fail.
macro_rules! put {
    ($out:expr, $($format:tt)*) => {{
        use std::fmt::Write as _;
        let _ = write!($out, $($format)*);
    }};
}
pub(super) use put;

/// Returns `true` if a byte may stand in a name that is not quoted.
pub(super) fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'$' | b'@' | b'?')
}

/// Appends a name, quoted only if it needs to be.
pub(super) fn put_name(out: &mut String, name: &[u8]) {
    if !name.is_empty() && name.iter().all(|byte| is_plain(*byte)) {
        out.extend(name.iter().map(|byte| char::from(*byte)));
    } else {
        put_quoted(out, name);
    }
}

/// Appends a quoted string. Bytes that are not printable ASCII are escaped.
pub(super) fn put_quoted(out: &mut String, bytes: &[u8]) {
    out.push('"');
    for byte in bytes {
        match byte {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\t' => out.push_str("\\t"),
            0x20..=0x7e => out.push(char::from(*byte)),
            _ => {
                out.push_str("\\x");
                put_hex(out, &[*byte]);
            }
        }
    }
    out.push('"');
}

/// Appends bytes as hex digits.
pub(super) fn put_hex(out: &mut String, bytes: &[u8]) {
    let digit = |value: u8| char::from_digit(value.into(), 16).unwrap_or('0');
    out.reserve(bytes.len() * 2);
    for byte in bytes {
        out.push(digit(byte >> 4));
        out.push(digit(byte & 15));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(bytes: &[u8]) -> String {
        let mut out = String::new();
        put_name(&mut out, bytes);
        out
    }

    #[test]
    fn only_names_that_need_quotes_have_them() {
        assert_eq!(name(b"_Z3foov"), "_Z3foov");
        assert_eq!(name(b".nv.constant3.f$?@1"), ".nv.constant3.f$?@1");
        assert_eq!(name(b""), "\"\"");
        assert_eq!(name(b"a b"), "\"a b\"");
        assert_eq!(name(b"\"\\\n\t\0\xff;"), "\"\\\"\\\\\\n\\t\\x00\\xff;\"");
    }
}
