//! An editor, as the language server sees one.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::command::program;

/// How long an answer may take, on a machine that is busy.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server that was started, and what it has said.
pub struct Client {
    server: Child,
    input: Option<ChildStdin>,
    messages: Receiver<Value>,
    /// Notifications and requests of the server that nobody has asked for yet.
    pub said: Vec<Value>,
    last_id: i64,
}

impl Drop for Client {
    fn drop(&mut self) {
        // A test that failed leaves no server running.
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

impl Client {
    /// Starts a server in a folder.
    pub fn start(folder: &Path) -> Self {
        Self::start_program(&program(), folder)
    }

    fn start_program(program: &Path, folder: &Path) -> Self {
        let mut server = Command::new(program)
            .arg("language-server")
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(server.stdout.take().unwrap());
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            while let Some(message) = read(&mut output) {
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        Client {
            input: server.stdin.take(),
            server,
            messages,
            said: Vec::new(),
            last_id: 0,
        }
    }

    /// Starts a server and begins a session whose folder is `folder`.
    pub fn begin(folder: &Path) -> Self {
        let mut client = Self::start(folder);
        let params = json!({ "processId": null, "rootUri": uri(folder), "capabilities": {} });
        let result = client.request("initialize", params).unwrap();
        assert_eq!(result["serverInfo"]["name"], "cuweld");
        client.notify("initialized", json!({}));
        client
    }

    /// Sends bytes.
    pub fn send_bytes(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().unwrap();
        input.write_all(bytes).unwrap();
        input.flush().unwrap();
    }

    /// Sends a message.
    pub fn send(&mut self, message: &Value) {
        let text = message.to_string();
        let header = format!("Content-Length: {}\r\n\r\n", text.len());
        self.send_bytes((header + &text).as_bytes());
    }

    pub fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Sends a request and waits for its answer: the result, or the code and message of an error.
    pub fn request(&mut self, method: &str, params: Value) -> Result<Value, (i64, String)> {
        self.last_id += 1;
        let id = self.last_id;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        loop {
            let message = self.next();
            if message["id"] == id && message.get("method").is_none() {
                return result(&message);
            }
            self.said.push(message);
        }
    }

    /// Waits for the next message.
    pub fn next(&mut self) -> Value {
        self.messages.recv_timeout(PATIENCE).unwrap()
    }

    /// Waits for a message of the server with this method, and returns its parameters.
    pub fn wait_for(&mut self, method: &str, matches: impl Fn(&Value) -> bool) -> Value {
        let is_it = |message: &Value| message["method"] == method && matches(&message["params"]);
        loop {
            if let Some(at) = self.said.iter().position(is_it) {
                return self.said.remove(at)["params"].clone();
            }
            let message = self.next();
            self.said.push(message);
        }
    }

    /// Opens a document and returns what the server finds in it.
    pub fn open(&mut self, uri: &str, text: &str) -> Vec<Value> {
        let item = json!({ "uri": uri, "languageId": "x", "version": 1, "text": text });
        self.notify("textDocument/didOpen", json!({ "textDocument": item }));
        self.findings(uri, 1)
    }

    /// Changes a document and returns what the server finds in its new version.
    pub fn change(&mut self, uri: &str, version: i64, changes: Value) -> Vec<Value> {
        let document = json!({ "uri": uri, "version": version });
        let params = json!({ "textDocument": document, "contentChanges": changes });
        self.notify("textDocument/didChange", params);
        self.findings(uri, version)
    }

    fn findings(&mut self, uri: &str, version: i64) -> Vec<Value> {
        let found = self.wait_for("textDocument/publishDiagnostics", |params| {
            params["uri"] == uri && params["version"] == version
        });
        found["diagnostics"].as_array().unwrap().clone()
    }

    /// Ends the session as the protocol asks, and returns how the server ended.
    pub fn end(mut self) -> ExitStatus {
        self.request("shutdown", Value::Null).unwrap();
        self.exit()
    }

    /// Tells the server to exit.
    pub fn exit(mut self) -> ExitStatus {
        self.send(&json!({ "jsonrpc": "2.0", "method": "exit" }));
        self.server.wait().unwrap()
    }

    /// Closes the server's input.
    pub fn close(mut self) -> ExitStatus {
        self.input = None;
        self.server.wait().unwrap()
    }
}

fn result(message: &Value) -> Result<Value, (i64, String)> {
    match message.get("error") {
        Some(error) => {
            let text = error["message"].as_str().unwrap().to_owned();
            Err((error["code"].as_i64().unwrap(), text))
        }
        None => Ok(message["result"].clone()),
    }
}

/// Reads a message; nothing at the end.
fn read(input: &mut impl BufRead) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if input.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim().split_once(": ") {
            Some(("Content-Length", value)) => length = value.parse().unwrap(),
            Some(_) => {}
            None => break,
        }
    }
    let mut bytes = vec![0; length];
    input.read_exact(&mut bytes).ok()?;
    Some(serde_json::from_slice(&bytes).unwrap())
}

/// Returns the URI of a path without odd characters.
pub fn uri(path: &Path) -> String {
    format!("file://{}", path.to_str().unwrap())
}

/// The place of a document.
pub fn at(uri: &str, line: usize, character: usize) -> Value {
    let position = json!({ "line": line, "character": character });
    json!({ "textDocument": { "uri": uri }, "position": position })
}
