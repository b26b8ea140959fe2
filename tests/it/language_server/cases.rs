//! Documents with questions: `tests/language_server`.
//!
//! A comment with a caret asks about the place above the caret: `; ^ hover`, in pipelines
//! `# ^ hover`. The file `NAME.answers` has the answers; `BLESS=1` writes it, as there is no oracle.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::client::{Client, at, uri};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/language_server");

/// A question: line and column of the place, in UTF-16 units, and what is asked.
struct Question {
    line: usize,
    column: usize,
    what: String,
}

fn documents() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in [FOLDER.to_owned(), format!("{FOLDER}/pipelines")] {
        let entries = std::fs::read_dir(folder).unwrap();
        found.extend(entries.map(|entry| entry.unwrap().path()));
    }
    let is_document = |path: &PathBuf| {
        path.extension()
            .is_some_and(|it| it == "lir" || it == "toml")
    };
    found.retain(is_document);
    found.sort();
    found
}

fn questions(text: &str) -> Vec<Question> {
    let mut found: Vec<Question> = Vec::new();
    let mut above = 0;
    for (number, line) in text.lines().enumerate() {
        let Some((before, what)) = line.split_once('^') else {
            above = number;
            continue;
        };
        if !matches!(before.trim(), ";" | "#") {
            above = number;
            continue;
        }
        found.push(Question {
            line: above,
            // The caret stands below a character: as many characters come before it.
            column: characters(text, above)
                .take(before.chars().count())
                .map(char::len_utf16)
                .sum(),
            what: what.trim().to_owned(),
        });
    }
    found
}

fn characters(text: &str, line: usize) -> impl Iterator<Item = char> {
    text.lines().nth(line).unwrap_or_default().chars()
}

/// Shows a range with what stands there.
fn range(text: &str, range: &Value) -> String {
    let number = |end: &str, what: &str| range[end][what].as_u64().unwrap() as usize;
    let (line, last) = (number("start", "line"), number("end", "line"));
    let (first, end) = (number("start", "character"), number("end", "character"));
    let units: Vec<u16> = text
        .lines()
        .nth(line)
        .unwrap_or_default()
        .encode_utf16()
        .collect();
    let shown = match line == last {
        true => String::from_utf16_lossy(units.get(first..end).unwrap_or(&[])),
        false => "…".to_owned(),
    };
    format!(
        "{}:{}-{}:{} `{shown}`",
        line + 1,
        first + 1,
        last + 1,
        end + 1
    )
}

fn finding(text: &str, finding: &Value) -> String {
    let severity = ["", "error", "warning", "information", "hint"];
    let severity = severity[finding["severity"].as_u64().unwrap() as usize];
    let code = finding["code"]
        .as_str()
        .map_or(String::new(), |code| format!("[{code}]"));
    let message = finding["message"].as_str().unwrap();
    let mut shown = format!(
        "{} {severity}{code}: {message}",
        range(text, &finding["range"])
    );
    for related in finding["relatedInformation"]
        .as_array()
        .into_iter()
        .flatten()
    {
        let (location, message) = (&related["location"], related["message"].as_str().unwrap());
        let place = location["range"]["start"]["line"].as_u64().unwrap() + 1;
        let _ = write!(shown, "\n  {}:{place}: {message}", location_name(location));
    }
    shown
}

fn location_name(location: &Value) -> String {
    let uri = location["uri"].as_str().unwrap();
    uri.rsplit('/').next().unwrap().to_owned()
}

fn location(text: &str, own: &str, location: &Value) -> String {
    match location["uri"] == own {
        true => range(text, &location["range"]),
        false => location_name(location),
    }
}

fn symbol(depth: usize, symbol: &Value) -> String {
    let name = symbol["name"].as_str().unwrap();
    let detail = symbol["detail"]
        .as_str()
        .map_or(String::new(), |it| format!(" ({it})"));
    let lines = |end: &str| symbol["range"][end]["line"].as_u64().unwrap() + 1;
    let indent = "  ".repeat(depth);
    let mut shown = format!(
        "{indent}{name}{detail} kind={} {}..{}",
        symbol["kind"],
        lines("start"),
        lines("end")
    );
    for child in symbol["children"].as_array().into_iter().flatten() {
        shown += "\n";
        shown += &self::symbol(depth + 1, child);
    }
    shown
}

fn ask(client: &mut Client, uri: &str, text: &str, question: &Question) -> String {
    let place = at(uri, question.line, question.column);
    let document = json!({ "textDocument": { "uri": uri } });
    let list = |value: Value| value.as_array().cloned().unwrap_or_default();
    match question.what.as_str() {
        "hover" => {
            let answer = client.request("textDocument/hover", place).unwrap();
            match answer.is_null() {
                true => "nothing".to_owned(),
                false => {
                    let value = answer["contents"]["value"].as_str().unwrap();
                    format!("{}\n{}", range(text, &answer["range"]), value.trim_end())
                }
            }
        }
        "definition" => {
            let answer = client.request("textDocument/definition", place).unwrap();
            match answer.is_null() {
                true => "nothing".to_owned(),
                false => location(text, uri, &answer),
            }
        }
        "references" | "references without definition" => {
            let mut params = place;
            params["context"] = json!({ "includeDeclaration": question.what == "references" });
            let answer = list(client.request("textDocument/references", params).unwrap());
            let shown: Vec<String> = answer.iter().map(|it| location(text, uri, it)).collect();
            shown.join("\n")
        }
        "complete" => {
            let answer = list(client.request("textDocument/completion", place).unwrap());
            let shown: Vec<String> = answer
                .iter()
                .map(|it| {
                    let edit = &it["textEdit"];
                    let insert = edit["newText"].as_str().unwrap();
                    format!(
                        "{} -> {insert} at {}",
                        it["label"].as_str().unwrap(),
                        range(text, &edit["range"])
                    )
                })
                .collect();
            match shown.len() {
                0 => "nothing".to_owned(),
                1..12 => shown.join("\n"),
                count => format!("{}\n… {count} in all", shown[..10].join("\n")),
            }
        }
        "symbols" => {
            let answer = list(
                client
                    .request("textDocument/documentSymbol", document)
                    .unwrap(),
            );
            let shown: Vec<String> = answer.iter().map(|it| symbol(0, it)).collect();
            shown.join("\n")
        }
        "folds" => {
            let answer = list(
                client
                    .request("textDocument/foldingRange", document)
                    .unwrap(),
            );
            let line = |it: &Value, end: &str| it[end].as_u64().unwrap() + 1;
            let fold = |it: &Value| format!("{}..{}", line(it, "startLine"), line(it, "endLine"));
            let shown: Vec<String> = answer.iter().map(fold).collect();
            shown.join(" ")
        }
        "lenses" => {
            let answer = list(client.request("textDocument/codeLens", document).unwrap());
            let lens = |it: &Value| {
                format!(
                    "{} {}",
                    it["range"]["start"]["line"].as_u64().unwrap() + 1,
                    it["command"]["title"].as_str().unwrap()
                )
            };
            answer.iter().map(lens).collect::<Vec<_>>().join("\n")
        }
        "actions" => {
            let mut params = document;
            let start = json!({ "line": question.line, "character": question.column });
            params["range"] = json!({ "start": start, "end": start });
            params["context"] = json!({ "diagnostics": [] });
            let answer = list(client.request("textDocument/codeAction", params).unwrap());
            let titles = answer
                .iter()
                .map(|it| it["title"].as_str().unwrap().to_owned());
            titles.collect::<Vec<_>>().join("\n")
        }
        other => match other.strip_prefix("run ") {
            Some(passes) => run(client, uri, text, passes),
            None => panic!("no question '{other}'"),
        },
    }
}

/// Runs passes and shows the lines that differ, or what is said.
fn run(client: &mut Client, uri: &str, text: &str, passes: &str) -> String {
    let params = json!({ "command": "cuweld.runPass", "arguments": [uri, passes] });
    let answer = client.request("workspace/executeCommand", params).unwrap();
    let mut shown = answer["messages"].as_str().unwrap().trim_end().to_owned();
    if let Some(after) = answer["text"].as_str() {
        let rows = |text: &str| -> Vec<String> {
            let rows = text.lines().map(|line| line.trim().to_owned());
            rows.filter(|row| !row.is_empty() && !row.starts_with(';'))
                .collect()
        };
        let (before, after) = (rows(text), rows(after));
        for row in before.iter().filter(|row| !after.contains(row)) {
            let _ = write!(shown, "\n- {row}");
        }
        for row in after.iter().filter(|row| !before.contains(row)) {
            let _ = write!(shown, "\n+ {row}");
        }
    }
    shown.trim().to_owned()
}

#[test]
fn documents_are_answered() {
    let mut client = Client::begin(Path::new(FOLDER));
    let mut wrong = Vec::new();
    let mut asked = 0;
    for path in documents() {
        let text = std::fs::read_to_string(&path).unwrap();
        let own = uri(&path);
        let findings = client.open(&own, &text);
        let mut shown = String::new();
        for it in &findings {
            let _ = writeln!(shown, "{}", finding(&text, it));
        }
        for question in questions(&text) {
            let answer = ask(&mut client, &own, &text, &question);
            let (line, column) = (question.line + 1, question.column + 1);
            let _ = write!(shown, "\n=== {line}:{column} {}\n{answer}\n", question.what);
            asked += 1;
        }
        let answers = path.with_extension(format!(
            "{}.answers",
            path.extension().unwrap().to_str().unwrap()
        ));
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(&answers, &shown).unwrap();
        }
        let expected = std::fs::read_to_string(&answers).unwrap_or_default();
        if expected != shown {
            wrong.push(format!(
                "{}:\n{}",
                path.display(),
                super::difference(&expected, &shown)
            ));
        }
        client.notify(
            "textDocument/didClose",
            json!({ "textDocument": { "uri": own } }),
        );
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(asked > 40, "{asked}");
    assert!(client.end().success());
}
