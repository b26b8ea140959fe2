//! `cuweld language-server`: an editor's questions, over the protocol.

mod cases;
mod client;

use std::path::Path;

use serde_json::{Value, json};

use self::client::{Client, at, uri};

const SOUND: &str = "lir 1
module phase=lowered toolkit=13.0.88 target=sm_90 bytes=full

object @0 a.cubin type=REL flags=0x6005a04 state=candidate
  owns #0..1
  sections
    #0 .debug_é PROGBITS align=1 bytes=x\"00\"
end
";

/// Shows the lines in which two texts differ.
fn difference(expected: &str, found: &str) -> String {
    let mut shown = String::new();
    let found_lines: Vec<&str> = found.lines().collect();
    let expected_lines: Vec<&str> = expected.lines().collect();
    for line in expected_lines
        .iter()
        .filter(|line| !found_lines.contains(line))
    {
        shown += &format!("- {line}\n");
    }
    for line in found_lines
        .iter()
        .filter(|line| !expected_lines.contains(line))
    {
        shown += &format!("+ {line}\n");
    }
    shown
}

/// A module whose name of a section is not ASCII, which has to be quoted.
fn sound() -> String {
    SOUND.replace(".debug_é", "\".debug_é𝄞\"")
}

#[test]
fn a_session_has_a_beginning_and_an_end() {
    let folder = tempfile::tempdir().unwrap();
    let mut client = Client::start(folder.path());
    let hover = at("file:///a.lir", 0, 0);
    assert_eq!(
        client
            .request("textDocument/hover", hover.clone())
            .unwrap_err()
            .0,
        -32002
    );
    // Before that nothing is listened to.
    client.notify("textDocument/didOpen", json!({}));
    let capabilities =
        json!({ "processId": 1, "capabilities": { "a": [1, {}] }, "workspaceFolders": null });
    let result = client.request("initialize", capabilities.clone()).unwrap();
    assert_eq!(result["capabilities"]["textDocumentSync"]["change"], 2);
    assert_eq!(result["capabilities"]["hoverProvider"], true);
    assert_eq!(
        client.request("initialize", capabilities).unwrap_err().0,
        -32600
    );
    assert_eq!(
        client.request("textDocument/hover", hover).unwrap(),
        Value::Null
    );
    assert_eq!(
        client
            .request("textDocument/hover", json!({ "x": 1 }))
            .unwrap_err()
            .0,
        -32602
    );
    assert_eq!(
        client
            .request("textDocument/nothing", json!({}))
            .unwrap_err()
            .0,
        -32601
    );
    assert_eq!(
        client.request("shutdown", Value::Null).unwrap(),
        Value::Null
    );
    assert_eq!(
        client.request("shutdown", Value::Null).unwrap_err().0,
        -32600
    );
    assert_eq!(client.exit().code(), Some(0));

    assert_eq!(Client::begin(folder.path()).exit().code(), Some(1));
    assert_eq!(Client::begin(folder.path()).close().code(), Some(1));
}

#[test]
fn malformed_messages_are_answered_and_passed() {
    let folder = tempfile::tempdir().unwrap();
    let mut client = Client::begin(folder.path());
    let cases: [(&[u8], i64); 6] = [
        (b"Content-Length: 1\r\n\r\n{", -32700),
        (b"nonsense\r\n", -32700),
        (b"Content-Length: -1\r\n\r\n", -32700),
        (b"Content-Length: 2\r\n\r\n[]", -32600),
        (b"Content-Length: 18\r\n\r\n{\"jsonrpc\": \"2.0\"1", -32700),
        (
            b"Content-Length: 38\r\n\r\n{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"x\"} ",
            -32600,
        ),
    ];
    for (bytes, code) in cases {
        client.send_bytes(bytes);
        loop {
            let message = client.next();
            assert_eq!(message["id"], Value::Null, "{message}");
            if message["error"]["code"] == code {
                break;
            }
            // What is left of a broken header is one, too.
            assert_eq!(message["error"]["code"], -32700, "{message}");
        }
    }
    // What is left of the header without a length.
    client.send_bytes(b"\r\n");
    // Answers to nothing, and notifications with anything.
    client.send(&json!({ "jsonrpc": "2.0", "id": 77, "result": null }));
    client.send(&json!({ "jsonrpc": "2.0", "id": 77, "error": { "code": 1, "message": "" } }));
    client.notify("textDocument/didOpen", json!([1, 2]));
    client.notify(
        "textDocument/didChange",
        json!({ "textDocument": {}, "contentChanges": 1 }),
    );
    client.notify("$/setTrace", json!({ "value": "off" }));
    assert!(client.end().success());
}

#[test]
fn changes_are_taken_whole_and_in_part() {
    let folder = tempfile::tempdir().unwrap();
    let mut client = Client::begin(folder.path());
    let own = uri(&folder.path().join("a.lir"));
    assert_eq!(client.open(&own, &sound()), Vec::<Value>::new());
    // After two characters of three UTF-16 units: `align=1` becomes `align=13`, then `align=3`.
    let place = |line: usize, start: usize, end: usize| json!({ "start": { "line": line, "character": start }, "end": { "line": line, "character": end } });
    let digit = "    #0 \".debug_é𝄞\" PROGBITS align="
        .encode_utf16()
        .count();
    let changes = json!([
        { "range": place(6, digit + 1, digit + 1), "text": "3" },
        { "range": place(6, digit, digit + 1), "text": "" },
    ]);
    let found = client.change(&own, 2, changes);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0]["code"], "section-align");
    assert_eq!(
        found[0]["range"]["start"],
        json!({ "line": 6, "character": 4 })
    );
    // Places after these characters are right, too.
    let hover = client
        .request("textDocument/hover", at(&own, 6, digit - 2))
        .unwrap();
    let expected = "`align` of a row `section`: `sh_addralign` in bytes.";
    assert_eq!(hover["contents"]["value"], expected);
    assert_eq!(hover["range"], place(6, digit - 6, digit - 1));

    let found = client.change(&own, 3, json!([{ "text": sound() }]));
    assert_eq!(found, Vec::<Value>::new());
    let broken = sound().replace("PROGBITS", "PROGBIT");
    let found = client.change(&own, 4, json!([{ "text": broken }]));
    assert_eq!(found.len(), 1);
    let message = found[0]["message"].as_str().unwrap();
    assert!(message.starts_with("expected a section type"), "{message}");
    let start = "    #0 \".debug_é𝄞\" ".encode_utf16().count();
    assert_eq!(found[0]["range"], place(6, start, start + 7));
    // Beyond the end of the text.
    let end = json!([{ "range": place(900, 7, 9), "text": "; é" }, { "range": place(0, 900, 5), "text": "" }]);
    client.change(&own, 5, end);

    let closed = json!({ "textDocument": { "uri": own } });
    client.notify("textDocument/didClose", closed);
    let params = client.wait_for("textDocument/publishDiagnostics", |it| {
        it.get("version").is_none()
    });
    assert_eq!(params["diagnostics"], json!([]));
    assert!(client.end().success());
}

#[test]
fn only_the_newest_version_is_checked() {
    let folder = tempfile::tempdir().unwrap();
    let mut client = Client::begin(folder.path());
    let own = uri(&folder.path().join("a.lir"));
    let item = json!({ "uri": own, "languageId": "lir", "version": 1, "text": "lir 1\n" });
    client.notify("textDocument/didOpen", json!({ "textDocument": item }));
    for version in 2..20 {
        let document = json!({ "uri": own, "version": version });
        let change = json!([{ "text": format!("lir {version}\n") }]);
        client.notify(
            "textDocument/didChange",
            json!({ "textDocument": document, "contentChanges": change }),
        );
    }
    let found = client.change(&own, 20, json!([{ "text": sound() }]));
    assert_eq!(found, Vec::<Value>::new());
    let versions = client
        .said
        .iter()
        .filter(|message| message["method"] == "textDocument/publishDiagnostics");
    // Those that came before a quiet moment.
    assert!(versions.count() < 10);
    assert!(client.end().success());
}

#[test]
fn passes_run_when_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let mut client = Client::begin(folder.path());
    let own = uri(&folder.path().join("a b.lir")).replace(' ', "%20");
    client.open(&own, &sound());
    let run =
        |command: &str, arguments: Value| json!({ "command": command, "arguments": arguments });
    let execute = "workspace/executeCommand";

    let answer = client
        .request(execute, run("cuweld.runPass", json!([own, "classify"])))
        .unwrap();
    assert_eq!(answer["messages"], "");
    let text = answer["text"].as_str().unwrap();
    assert!(
        text.contains("phase=classified") && text.contains("kind=debug"),
        "{text}"
    );

    let answer = client
        .request(execute, run("cuweld.applyPass", json!([own, "classify"])))
        .unwrap();
    let edit = client.wait_for("workspace/applyEdit", |_| true);
    let edit = &edit["edit"]["changes"][&own][0];
    assert_eq!(edit["newText"], answer["text"]);
    assert_eq!(edit["range"]["end"], json!({ "line": 8, "character": 0 }));

    let answer = client
        .request(execute, run("cuweld.applyPass", json!([own, "clasify"])))
        .unwrap();
    assert_eq!(answer["text"], Value::Null);
    let shown = client.wait_for("window/showMessage", |_| true);
    let message = shown["message"].as_str().unwrap();
    assert!(
        message.contains("unknown pass 'clasify'; did you mean 'classify'?"),
        "{message}"
    );

    for (command, arguments) in [
        ("cuweld.runPass", json!([own])),
        ("cuweld.runPass", json!(["file:///none.lir", "classify"])),
        ("cuweld.else", json!([own, "classify"])),
    ] {
        assert_eq!(
            client
                .request(execute, run(command, arguments))
                .unwrap_err()
                .0,
            -32602
        );
    }
    assert!(client.end().success());
}

/// What a document says is not run when it is opened; a pass that the user runs may be a program.
#[test]
fn nothing_of_a_document_runs_unasked() {
    let folder = tempfile::tempdir().unwrap();
    let mut client = Client::begin(folder.path());
    let touched = folder.path().join("touched");
    let command = format!("command = ['touch', '{}']", touched.display());
    let pipeline = format!("name = 'x'\n[[pass]]\nuse = 'exec'\noptions = {{ {command} }}\n");
    let own = uri(&folder.path().join("x.toml"));
    assert_eq!(client.open(&own, &pipeline), Vec::<Value>::new());
    client
        .request("textDocument/hover", at(&own, 2, 8))
        .unwrap();
    let lir = uri(&folder.path().join("x.lir"));
    let directive = format!("; run: exec{{{command}}}\n{}", sound());
    client.open(&lir, &directive);
    client
        .request("textDocument/hover", at(&lir, 3, 0))
        .unwrap();
    assert!(!touched.exists());

    let passes = format!("exec{{{command}}}");
    let params = json!({ "command": "cuweld.runPass", "arguments": [lir, passes] });
    let answer = client.request("workspace/executeCommand", params).unwrap();
    assert_eq!(answer["messages"], "");
    assert!(touched.exists());
    assert!(client.end().success());
}

/// Names of files in a stranger's document are not read if they are no files: that would never end.
#[test]
fn devices_and_pipes_are_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let mut client = Client::begin(folder.path());
    let own = uri(&folder.path().join("x.toml"));
    let text = "name = 'x'\n[[pass]]\nuse = 'order-functions'\noptions = { file = '/dev/zero' }\n[[pass]]\ninclude = '/dev/zero'\n";
    let found = client.open(&own, text);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0]["message"], "unknown pipeline '/dev/zero'");
    let digest = "0".repeat(64);
    let lir = sound().replace("state=", &format!("image=sha256:{digest} size=1 state="));
    let lir = lir.replace("a.cubin", "\"/dev/zero\"");
    let found = client.open(&uri(&folder.path().join("x.lir")), &lir);
    // The text is not wrong: the input is not there.
    assert_eq!(found[0]["severity"], 3, "{found:?}");
    assert!(client.end().success());
}

/// A pipeline that includes another one is checked against that one as it is in the editor.
#[test]
fn open_pipelines_include_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let mut client = Client::begin(folder.path());
    let [outer, inner] = ["outer.toml", "inner.toml"].map(|name| uri(&folder.path().join(name)));
    let including = "name = 'outer'\n[[pass]]\ninclude = 'inner.toml'\n";
    let found = client.open(&outer, including);
    assert_eq!(found[0]["message"], "unknown pipeline 'inner.toml'");
    let included = "name = 'inner'\n[[pass]]\nuse = 'clasify'\n";
    client.open(&inner, included);
    let found = client.wait_for("textDocument/publishDiagnostics", |it| {
        it["uri"] == outer && it["diagnostics"][0]["message"] != "unknown pipeline 'inner.toml'"
    });
    let finding = &found["diagnostics"][0];
    assert_eq!(
        finding["message"],
        "unknown pass 'clasify'; did you mean 'classify'?"
    );
    assert_eq!(finding["range"]["start"]["line"], 2);
    let elsewhere = &finding["relatedInformation"][0]["location"];
    assert_eq!(elsewhere["uri"], inner);
    assert_eq!(
        elsewhere["range"]["start"],
        json!({ "line": 2, "character": 6 })
    );

    let mended = json!([{ "text": included.replace("clasify", "classify") }]);
    assert_eq!(client.change(&inner, 2, mended), Vec::<Value>::new());
    let found = client.wait_for("textDocument/publishDiagnostics", |it| {
        it["uri"] == outer && it["diagnostics"] == json!([])
    });
    assert_eq!(found["version"], 1);
    assert!(client.end().success());
}

/// Every pipeline of cuweld and every module of the tests is without a finding; other TOML files are
/// not looked at.
#[test]
fn what_is_right_has_no_finding() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut client = Client::begin(root);
    let mut count = 0;
    for folder in ["pipelines", "ir/tests/fixtures"] {
        for entry in std::fs::read_dir(root.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if !path
                .extension()
                .is_some_and(|it| it == "toml" || it == "lir")
            {
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            let found = client.open(&uri(&path), &text);
            assert_eq!(found, Vec::<Value>::new(), "{}", path.display());
            count += 1;
        }
    }
    assert!(count > 8, "{count}");
    let manifest = std::fs::read_to_string(root.join("Cargo.toml")).unwrap();
    assert_eq!(
        client.open(&uri(&root.join("Cargo.toml")), &manifest),
        Vec::<Value>::new()
    );
    assert!(client.end().success());
}
