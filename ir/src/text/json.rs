//! The rows of the text form as JSON, for tools that have a JSON parser at hand.
//!
//! ```json
//! {"row": "#3", "words": [".text.k", "PROGBITS"], "fields": {"align": "128"}, "object": "@0"}
//! ```
//! Every row of the text is an object, in order: its first word, the words after it, its
//! `key=value` fields, the object block that it stands in, and the heading it stands under if the
//! heading names a section. All values are strings, spelled as in the text but for quotes. It does
//! not parse back.

use serde::Serialize;
use serde::Serializer;

/// A row of the text.
#[derive(Serialize)]
struct Row<'t> {
    row: String,
    words: Vec<String>,
    #[serde(serialize_with = "in_order")]
    fields: Vec<(&'t str, String)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    object: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    under: Option<String>,
}

/// Writes fields as an object, in the order of the text.
fn in_order<S: Serializer>(fields: &[(&str, String)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(fields.iter().map(|(key, value)| (key, value)))
}

/// Turns a text form, also one with hashes or filtered, into JSON, a row a line. Linear in the size
/// of the text.
pub fn rows_as_json(text: &str) -> String {
    let (mut object, mut heading) = (None, None);
    let mut rows = Vec::new();
    for line in text.lines() {
        let words = words(line);
        let Some((&row, rest)) = words.split_first() else {
            continue;
        };
        match row {
            "object" => (object, heading) = (rest.first().copied(), None),
            "unowned" | "link-symbols" | "plan" | "findings" | "end" => {
                (object, heading) = (None, None)
            }
            "sections" | "symbols" | "functions" | "calls" | "prototypes" => heading = None,
            "relocs" | "attributes" | "notes" => heading = rest.first().copied(),
            _ => {}
        }
        let is_heading = matches!(row, "relocs" | "attributes" | "notes");
        let row = Row {
            row: unquoted(row),
            words: rest
                .iter()
                .filter(|word| key(word).is_none())
                .map(|word| unquoted(word))
                .collect(),
            fields: rest
                .iter()
                .filter_map(|word| key(word))
                .map(|(key, value)| (key, unquoted(value)))
                .collect(),
            object: object.filter(|_| row != "object").map(unquoted),
            under: heading.filter(|_| !is_heading).map(unquoted),
        };
        // Nothing but texts, which can be written.
        rows.push(serde_json::to_string(&row).unwrap_or_default());
    }
    format!("{{\"rows\":[\n{}\n]}}\n", rows.join(",\n"))
}

/// Splits a field into its key and its value.
fn key(word: &str) -> Option<(&str, &str)> {
    let (key, value) = word.split_once('=')?;
    let named = |byte: u8| byte.is_ascii_lowercase() || byte == b'-';
    (!key.is_empty() && key.bytes().all(named)).then_some((key, value))
}

/// Returns the words of a line: blanks in quotes and parentheses separate nothing, `;` begins a
/// comment.
fn words(line: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let (mut start, mut quoted, mut depth) = (None, false, 0_u32);
    let mut escaped = false;
    let mut end = line.len();
    for (at, byte) in line.bytes().enumerate() {
        if quoted {
            quoted = escaped || byte != b'"';
            escaped = !escaped && byte == b'\\';
            continue;
        }
        match byte {
            b' ' | b'\t' | b'\r' if depth == 0 => {
                if let Some(start) = start.take() {
                    words.extend(line.get(start..at));
                }
                continue;
            }
            b';' if depth == 0 => {
                end = at;
                break;
            }
            b'"' => quoted = true,
            b'(' => depth += 1,
            b')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        start.get_or_insert(at);
    }
    if let Some(start) = start {
        words.extend(line.get(start..end));
    }
    words
}

/// Returns a word of the text without its quotes.
fn unquoted(word: &str) -> String {
    let inner = word
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'))
        .filter(|rest| !rest.contains('"') || rest.contains("\\\""));
    match inner {
        Some(inner) => inner.replace("\\\"", "\"").replace("\\\\", "\\"),
        None => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_objects() {
        let text = "lir 1\nmodule phase=live toolkit=13.0.88 target=sm_90 bytes=full\n  option tool-name \"a \\\"b\\\" c\"\n\n\
                    object @0 \"dir/a b\" type=REL ; a comment\n  relocs #4:.rela\n    r0 0x20 none keep=(X addend=1)\nend\n";
        assert_eq!(
            rows_as_json(text),
            "{\"rows\":[\n\
             {\"row\":\"lir\",\"words\":[\"1\"],\"fields\":{}},\n\
             {\"row\":\"module\",\"words\":[],\"fields\":{\"phase\":\"live\",\"toolkit\":\"13.0.88\",\"target\":\"sm_90\",\"bytes\":\"full\"}},\n\
             {\"row\":\"option\",\"words\":[\"tool-name\",\"a \\\"b\\\" c\"],\"fields\":{}},\n\
             {\"row\":\"object\",\"words\":[\"@0\",\"dir/a b\"],\"fields\":{\"type\":\"REL\"}},\n\
             {\"row\":\"relocs\",\"words\":[\"#4:.rela\"],\"fields\":{},\"object\":\"@0\"},\n\
             {\"row\":\"r0\",\"words\":[\"0x20\",\"none\"],\"fields\":{\"keep\":\"(X addend=1)\"},\"object\":\"@0\",\"under\":\"#4:.rela\"},\n\
             {\"row\":\"end\",\"words\":[],\"fields\":{}}\n]}\n"
        );
    }
}
