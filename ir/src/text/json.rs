//! The rows of the text form as JSON, for tools that have a JSON parser at hand.
//!
//! ```json
//! {"row": "#3", "words": [".text.k", "PROGBITS"], "fields": {"align": "128"}, "object": "@0"}
//! ```
//! Every row of the text is an object, in order: its first word, the words behind it, its `key=value`
//! fields, the object block that it stands in, and the heading it stands under if the heading names a
//! section. All values are strings, spelled as in the text but for quotes. It does not parse back.

use super::quote::put;

/// Turns a text form, also one with hashes or filtered, into JSON. Linear in the size of the text.
pub fn rows_as_json(text: &str) -> String {
    let mut out = String::from("{\"rows\":[");
    let (mut object, mut heading) = (None, None);
    let mut first = true;
    for line in text.lines() {
        let words = words(line);
        let Some((&row, rest)) = words.split_first() else {
            continue;
        };
        match row {
            "object" => (object, heading) = (rest.first().copied(), None),
            "unowned" | "link-symbols" | "plan" | "end" => (object, heading) = (None, None),
            "sections" | "symbols" | "functions" | "calls" | "prototypes" => heading = None,
            "relocs" | "attributes" | "notes" => heading = rest.first().copied(),
            _ => {}
        }
        out.push_str(if first { "\n" } else { ",\n" });
        first = false;
        put_row(&mut out, row, rest);
        if let Some(object) = object.filter(|_| row != "object") {
            out.push_str(",\"object\":");
            put_string(&mut out, object);
        }
        if let Some(heading) = heading.filter(|_| !matches!(row, "relocs" | "attributes" | "notes"))
        {
            out.push_str(",\"under\":");
            put_string(&mut out, heading);
        }
        out.push('}');
    }
    out.push_str("\n]}\n");
    out
}

fn put_row(out: &mut String, row: &str, rest: &[&str]) {
    out.push_str("{\"row\":");
    put_string(out, row);
    out.push_str(",\"words\":[");
    let is_field = |word: &&&str| key(word).is_some();
    for (index, word) in rest.iter().filter(|word| !is_field(word)).enumerate() {
        if index > 0 {
            out.push(',');
        }
        put_string(out, word);
    }
    out.push_str("],\"fields\":{");
    for (index, (key, value)) in rest.iter().filter_map(|word| key(word)).enumerate() {
        if index > 0 {
            out.push(',');
        }
        put_string(out, key);
        out.push(':');
        put_string(out, value);
    }
    out.push('}');
}

/// Key and value of a field.
fn key(word: &str) -> Option<(&str, &str)> {
    let (key, value) = word.split_once('=')?;
    let named = |byte: u8| byte.is_ascii_lowercase() || byte == b'-';
    (!key.is_empty() && key.bytes().all(named)).then_some((key, value))
}

/// The words of a line: blanks in quotes and parentheses separate nothing, `;` begins a comment.
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

/// Appends a JSON string; a word in quotes loses them.
fn put_string(out: &mut String, word: &str) {
    let unquoted = word
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'))
        .filter(|rest| !rest.contains("\"") || rest.contains("\\\""));
    let text = match unquoted {
        Some(rest) => rest.replace("\\\"", "\"").replace("\\\\", "\\"),
        None => word.to_owned(),
    };
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            control if control < ' ' => put!(out, "\\u{:04x}", control as u32),
            other => out.push(other),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_objects() {
        let text = "lir 1\nmodule phase=live target=sm_90 bytes=full\n  option tool-name \"a \\\"b\\\" c\"\n\n\
                    object @0 \"dir/a b\" type=REL ; a comment\n  relocs #4:.rela\n    r0 0x20 none keep=(X addend=1)\nend\n";
        assert_eq!(
            rows_as_json(text),
            "{\"rows\":[\n\
             {\"row\":\"lir\",\"words\":[\"1\"],\"fields\":{}},\n\
             {\"row\":\"module\",\"words\":[],\"fields\":{\"phase\":\"live\",\"target\":\"sm_90\",\"bytes\":\"full\"}},\n\
             {\"row\":\"option\",\"words\":[\"tool-name\",\"a \\\"b\\\" c\"],\"fields\":{}},\n\
             {\"row\":\"object\",\"words\":[\"@0\",\"dir/a b\"],\"fields\":{\"type\":\"REL\"}},\n\
             {\"row\":\"relocs\",\"words\":[\"#4:.rela\"],\"fields\":{},\"object\":\"@0\"},\n\
             {\"row\":\"r0\",\"words\":[\"0x20\",\"none\"],\"fields\":{\"keep\":\"(X addend=1)\"},\"object\":\"@0\",\"under\":\"#4:.rela\"},\n\
             {\"row\":\"end\",\"words\":[],\"fields\":{}}\n]}\n"
        );
    }
}
