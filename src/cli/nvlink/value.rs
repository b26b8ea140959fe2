//! Values of options: what is stored, and how texts become it.

use super::error::ArgError;
use super::options::OptionSpec;
use super::options::ValueKind;
use crate::file_name;

/// The value of an option that was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// It was given.
    Flag,
    /// A text.
    Text(Vec<u8>),
    /// A number.
    Number(i32),
    /// A truth value.
    Boolean(bool),
    /// Texts.
    List(Vec<Vec<u8>>),
}

/// Converts the text of a value to what `option` takes.
pub fn convert(option: &OptionSpec, text: &[u8]) -> Result<Value, ArgError> {
    let undefined = || ArgError::UndefinedValue {
        value: file_name::text(text),
        option: option.long,
    };
    match option.kind {
        ValueKind::Flag => Ok(Value::Flag),
        ValueKind::Text => Ok(Value::Text(text.to_vec())),
        ValueKind::Choice(choices) | ValueKind::OptionalChoice(choices, _) => {
            if choices.allow(text) {
                Ok(Value::Text(text.to_vec()))
            } else {
                Err(undefined())
            }
        }
        ValueKind::Number(allowed) => {
            let number = parse_number(text)?;
            match allowed {
                Some(allowed) if !allowed.contains(&number) => Err(undefined()),
                _ => Ok(Value::Number(number)),
            }
        }
        ValueKind::Boolean => match text {
            b"true" => Ok(Value::Boolean(true)),
            b"false" => Ok(Value::Boolean(false)),
            _ => Err(ArgError::NotABoolean {
                value: file_name::text(text),
            }),
        },
        ValueKind::List | ValueKind::OptionsFiles => Ok(Value::List(split_list(text)?)),
    }
}

/// Parses a number as C's `strtol` with base 0 does: blanks, a sign, then decimal, `0x` or octal
/// digits. The empty text is 0. A prefix beyond 32 bits is out of range, whatever follows it.
fn parse_number(text: &[u8]) -> Result<i32, ArgError> {
    let not_a_number = || ArgError::NotANumber {
        value: file_name::text(text),
    };
    if text.is_empty() {
        return Ok(0);
    }
    let blanks = text.iter().take_while(|byte| is_c_space(**byte)).count();
    let rest = text.get(blanks..).unwrap_or_default();
    let (negative, rest) = match rest.split_first() {
        Some((b'-', rest)) => (true, rest),
        Some((b'+', rest)) => (false, rest),
        _ => (false, rest),
    };
    let (radix, digits) = match rest {
        [b'0', b'x' | b'X', digits @ ..] if digits.first().is_some_and(u8::is_ascii_hexdigit) => {
            (16, digits)
        }
        [b'0', ..] => (8, rest),
        _ => (10, rest),
    };
    let mut magnitude: i64 = 0;
    let mut count = 0_usize;
    for digit in digits
        .iter()
        .map_while(|byte| char::from(*byte).to_digit(radix))
    {
        magnitude = magnitude
            .saturating_mul(i64::from(radix))
            .saturating_add(i64::from(digit));
        count += 1;
    }
    if count == 0 {
        return Err(not_a_number());
    }
    let number = if negative { -magnitude } else { magnitude };
    let number = i32::try_from(number).map_err(|_| ArgError::OutOfRange {
        value: file_name::text(text),
    })?;
    if count == digits.len() {
        Ok(number)
    } else {
        Err(not_a_number())
    }
}

/// Splits a list at commas outside double quotes, drops the quotes, trims each element, and drops
/// empty ones. Inside quotes `\"` is no end, and stays as it is written.
fn split_list(text: &[u8]) -> Result<Vec<Vec<u8>>, ArgError> {
    let mut elements = Vec::new();
    let mut element = Vec::new();
    let mut quoted = false;
    let mut previous = 0_u8;
    for &byte in text {
        match byte {
            b'"' if quoted && previous == b'\\' => element.push(byte),
            b'"' => quoted = !quoted,
            b',' if !quoted => finish_element(&mut elements, &mut element),
            _ => element.push(byte),
        }
        previous = byte;
    }
    if quoted {
        return Err(ArgError::Stray { character: "\"" });
    }
    finish_element(&mut elements, &mut element);
    Ok(elements)
}

fn finish_element(elements: &mut Vec<Vec<u8>>, element: &mut Vec<u8>) {
    let start = element.iter().take_while(|byte| is_c_space(**byte)).count();
    let end = element.len()
        - element
            .iter()
            .rev()
            .take_while(|byte| is_c_space(**byte))
            .count();
    if let Some(trimmed) = element
        .get(start..end)
        .filter(|trimmed| !trimmed.is_empty())
    {
        elements.push(trimmed.to_vec());
    }
    element.clear();
}

/// Does the same as C's `isspace`.
fn is_c_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | 0x0b | 0x0c | b'\r')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> Result<i32, String> {
        parse_number(text.as_bytes()).map_err(|error| error.to_string())
    }

    #[test]
    fn numbers_parse_as_strtol_does() {
        for (text, expected) in [
            ("", 0),
            ("0", 0),
            (" 16", 16),
            ("0x20", 32),
            ("0X1f", 31),
            ("020", 16),
            ("-1", -1),
            ("+7", 7),
            ("-0x10", -16),
            ("2147483647", i32::MAX),
            ("-2147483648", i32::MIN),
        ] {
            assert_eq!(number(text), Ok(expected), "{text:?}");
        }
        for text in [
            "abc", "16 ", "08", "0x", "1.5", "-", "  ", "\"16\"", "1,2", "64x",
        ] {
            assert_eq!(number(text), Err(format!("'{text}': expected a number")));
        }
        for text in [
            "2147483648",
            "-2147483649",
            "0x80000000",
            "99999999999999999999",
            "2147483648x",
        ] {
            assert_eq!(
                number(text),
                Err(format!("32-bit integer value ({text}) out of range"))
            );
        }
    }

    fn list(text: &str) -> Option<Vec<String>> {
        let elements = split_list(text.as_bytes()).ok()?;
        Some(
            elements
                .iter()
                .map(|element| file_name::text(element))
                .collect(),
        )
    }

    #[test]
    fn lists_split_at_commas_outside_quotes() {
        let cases: [(&str, &[&str]); 12] = [
            ("a,b", &["a", "b"]),
            ("", &[]),
            (",a,,b,", &["a", "b"]),
            ("\"p,q\"", &["p,q"]),
            ("a\"b\"c", &["abc"]),
            ("p\\,q", &["p\\", "q"]),
            ("\"p\\\"q\"", &["p\\\"q"]),
            (" x , y  z ", &["x", "y  z"]),
            ("\" x \"", &["x"]),
            ("\" \",b", &["b"]),
            ("'p,q'", &["'p", "q'"]),
            ("a \"b\" c", &["a b c"]),
        ];
        for (text, expected) in cases {
            assert_eq!(
                list(text).as_deref(),
                Some(&expected.iter().map(ToString::to_string).collect::<Vec<_>>()[..]),
                "{text:?}"
            );
        }
        for text in ["a\"b", "p\\\"q", "\"p\\\\\"", "\"a\\\\\"b", "\\\"a\\\""] {
            assert_eq!(list(text), None, "{text:?}");
        }
    }
}
