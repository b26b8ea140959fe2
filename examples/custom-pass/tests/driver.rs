//! The driver links as cuweld does, and has the pass.

use std::io::Write;
use std::process::{Command, Output, Stdio};

const INPUTS: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../tests/links/symbols/weak-templates/sm_90"
);

fn driver(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_custom-pass"))
        .args(arguments)
        .current_dir(INPUTS)
        .output()
        .unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn the_pass_is_one_of_the_driver() {
    let output = driver(&["passes", "check-registers"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        text.starts_with("check-registers: Refuse kernels"),
        "{text}"
    );
    assert!(text.contains("greediest function"), "{text}");
}

/// An editor that starts the driver's language server knows the pass in pipeline files.
#[test]
fn the_language_server_knows_the_pass() {
    let pipeline = "name = 'x'\\n[[pass]]\\nuse = 'check-registers'\\noptions = { limits = 4 }\\n";
    let document = format!(
        r#"{{ "uri": "file:///x.toml", "languageId": "toml", "version": 1, "text": "{pipeline}" }}"#
    );
    let messages = [
        r#""id": 1, "method": "initialize", "params": { "capabilities": {} }"#.to_owned(),
        format!(r#""method": "textDocument/didOpen", "params": {{ "textDocument": {document} }}"#),
        r#""id": 2, "method": "shutdown""#.to_owned(),
        r#""method": "exit""#.to_owned(),
    ];
    let messages = messages.map(|message| {
        let text = format!(r#"{{ "jsonrpc": "2.0", {message} }}"#);
        format!("Content-Length: {}\r\n\r\n{text}", text.len())
    });
    let mut server = Command::new(env!("CARGO_BIN_EXE_custom-pass"))
        .arg("language-server")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = server.stdin.take().unwrap();
    input.write_all(messages.concat().as_bytes()).unwrap();
    let output = server.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let message = "pass 'check-registers': there is no option 'limits'; did you mean 'limit'?";
    assert!(output.status.success() && said.contains(message), "{said}");
}

#[test]
fn a_limit_is_checked_in_the_middle_of_a_link() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.lir");
    let run = |pass: &str| {
        let passes = format!("classify,select-objects,symbol-resolve,callgraph-dce,{pass}");
        driver(&[
            "opt",
            "--remarks=check-registers",
            "a.cubin",
            "--arch=sm_90",
            "--passes",
            &passes,
            "-o",
            out.to_str().unwrap(),
        ])
    };
    let output = run("check-registers");
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(out.exists());
    let remark = "a.cubin: remark: check-registers: 'ka(float *)' needs ";
    assert!(stderr(&output).contains(remark), "{}", stderr(&output));
    let output = run("check-registers{limit=4}");
    assert!(
        stderr(&output).contains("registers, more than 4"),
        "{}",
        stderr(&output)
    );
    assert_eq!(output.status.code(), Some(255));
    let output = run("check-registers{limits=4}");
    assert!(
        stderr(&output).contains("did you mean 'limit'?"),
        "{}",
        stderr(&output)
    );
}

/// The driver's own instrument sees every pass of a link, those that write the file, too.
#[test]
fn an_instrument_watches_a_link() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.cubin");
    let link = |asked: bool| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_custom-pass"));
        command
            .args(["link", "a.cubin", "--arch=sm_90", "-o"])
            .arg(&out);
        command.current_dir(INPUTS).env_remove("SLOWEST_PASS");
        if asked {
            command.env("SLOWEST_PASS", "1");
        }
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        (stderr(&output), std::fs::read(&out).unwrap())
    };
    let (said, watched) = link(true);
    let mut parts = said.trim_end().split("; unchanged after: ");
    let slowest = parts.next().unwrap().rsplit(' ').next().unwrap();
    let unchanged: Vec<&str> = parts.next().unwrap().split(", ").collect();
    assert!(said.starts_with("slowest pass of "), "{said}");
    assert!(
        !slowest.is_empty() && unchanged.contains(&"check-link"),
        "{said}"
    );
    assert!(!unchanged.contains(&"emit"), "{said}");
    let (said, unwatched) = link(false);
    assert_eq!(said, "");
    assert!(watched == unwatched);
}

/// Returns the text form of a module after passes.
fn printed(file: &std::path::Path, passes: &str) -> String {
    let output = driver(&["opt", file.to_str().unwrap(), "--passes", passes, "-o", "-"]);
    assert!(output.status.success(), "{}", stderr(&output));
    String::from_utf8(output.stdout).unwrap()
}

/// Each file is a module, the passes to run on it, and the lines that go and come. `BLESS=1` writes these
/// anew.
#[test]
fn passes_change_modules_as_their_files_say() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests");
    let mut cases = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let file = entry.unwrap().path();
        if file.extension().is_none_or(|extension| extension != "lir") {
            continue;
        }
        let text = std::fs::read_to_string(&file).unwrap();
        let passes = text.lines().find_map(|line| line.strip_prefix("; run: "));
        let (module, expected) = text.split_once("\nend\n").unwrap();
        // What follows the module is a comment to the parser, too.
        let (before, after) = (printed(&file, ""), printed(&file, passes.unwrap()));
        let missing = |sign: &str, of: &str, from: &str| -> String {
            let lines = of
                .lines()
                .filter(|line| !from.lines().any(|other| other == *line));
            lines
                .map(|line| format!("; {sign} {}\n", line.trim()))
                .collect()
        };
        let found = missing("-", &before, &after) + &missing("+", &after, &before);
        if std::env::var_os("BLESS").is_some_and(|value| value == "1") {
            std::fs::write(&file, format!("{module}\nend\n{found}")).unwrap();
        } else {
            assert_eq!(found, expected, "{}", file.display());
        }
        cases += 1;
    }
    assert!(cases >= 2);
}
