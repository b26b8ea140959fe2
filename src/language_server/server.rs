//! The state of the server, and the loop that takes messages.

use std::collections::BTreeMap;
use std::io;
use std::io::BufReader;
use std::io::Read;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc;

use cuweld_diagnostics::Diagnostic;
use cuweld_passes::pipeline::Source;
use gen_lsp_types::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;

use super::checker;
use super::checker::Checked;
use super::checker::Job;
use super::document::Content;
use super::document::Document;
use super::files::Folders;
use super::finding::Finding;
use super::params;
use super::pipeline;
use super::pipeline::sources::Sources;
use super::requests;
use super::run_pass::APPLY_PASS;
use super::run_pass::Outcome;
use super::run_pass::RUN_PASS;
use super::run_pass::Run;
use super::transport;
use super::transport::Call;
use super::transport::Incoming;
use super::transport::Message;
use super::transport::Refusal;
use super::transport::Response;
use super::uri::path_of;
use super::workspace::Workspace;
use crate::extend::Extensions;

/// What the loop waits for.
enum Event {
    Incoming(Incoming),
    Checked(Checked),
    Ran(Ran),
}

/// Passes that were run.
struct Ran {
    id: Value,
    uri: String,
    /// The version of the document that they ran over.
    version: i32,
    outcome: Outcome,
    apply: bool,
}

/// Answers messages until the editor ends the session; returns the exit code. The error says why
/// there are no passes.
pub fn serve(
    input: impl Read + Send + 'static,
    output: &mut dyn Write,
    extensions: Extensions,
) -> io::Result<Result<u8, Diagnostic>> {
    let registry = match pipeline::registry::registry(&extensions) {
        Ok(registry) => registry,
        Err(diagnostic) => return Ok(Err(diagnostic)),
    };
    let (events, incoming) = mpsc::channel();
    let (jobs, waiting) = mpsc::channel();
    let sender = events.clone();
    std::thread::spawn(move || {
        let mut input = BufReader::new(input);
        loop {
            let message = transport::read(&mut input).unwrap_or(Incoming::End);
            let is_end = matches!(message, Incoming::End);
            if sender.send(Event::Incoming(message)).is_err() || is_end {
                return;
            }
        }
    });
    let sender = events.clone();
    std::thread::spawn(move || {
        checker::run(&waiting, |checked| {
            sender.send(Event::Checked(checked)).is_ok()
        });
    });
    let mut server = Server {
        output,
        extensions,
        workspace: Workspace {
            registry,
            documents: BTreeMap::new(),
            folders: Folders(std::env::current_dir().into_iter().collect()),
        },
        state: State::New,
        jobs,
        events,
        next_id: 0,
    };
    for event in incoming {
        let end = match event {
            Event::Incoming(message) => server.take(message)?,
            Event::Checked(checked) => {
                server.checked(checked)?;
                None
            }
            Event::Ran(ran) => {
                server.ran(ran)?;
                None
            }
        };
        if let Some(code) = end {
            return Ok(Ok(code));
        }
    }
    Ok(Ok(1))
}

/// How far a session is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    New,
    Running,
    ShutDown,
}

/// The state of a session.
struct Server<'o> {
    output: &'o mut dyn Write,
    extensions: Extensions,
    workspace: Workspace,
    state: State,
    jobs: mpsc::Sender<Job>,
    events: mpsc::Sender<Event>,
    next_id: i64,
}

impl Server<'_> {
    /// Takes a message. Returns the exit code if the session is over.
    fn take(&mut self, message: Incoming) -> io::Result<Option<u8>> {
        match message {
            Incoming::End => return Ok(Some(1)),
            Incoming::NoJson(why) => self.fail(&Value::Null, ErrorCodes::ParseError, why)?,
            Incoming::NoMessage(why) => self.fail(&Value::Null, ErrorCodes::InvalidRequest, why)?,
            Incoming::Message(message) => {
                let Message {
                    id, method, params, ..
                } = message;
                let params = params.as_deref();
                match id {
                    // The answer to a request of ours: there is nothing to do.
                    Some(_) if method.is_empty() => {}
                    Some(id) => self.request(&method, &id, params)?,
                    None if method == "exit" => {
                        return Ok(Some(u8::from(self.state != State::ShutDown)));
                    }
                    None => self.notified(&method, params)?,
                }
            }
        }
        Ok(None)
    }

    fn request(&mut self, method: &str, id: &Value, params: Params<'_>) -> io::Result<()> {
        match (self.state, method) {
            (State::New, "initialize") => return self.initialize(id, params),
            (State::New, _) => {
                let why = "the session has not begun: 'initialize' comes first";
                return self.fail(id, ErrorCodes::ServerNotInitialized, why);
            }
            (State::ShutDown, _) | (_, "initialize") => {
                let why = format!("'{method}' does not come at this time");
                return self.fail(id, ErrorCodes::InvalidRequest, why);
            }
            _ => {}
        }
        match method {
            "shutdown" => {
                self.state = State::ShutDown;
                self.answer(id, ())
            }
            "textDocument/hover" => self.answered(id, params, requests::hover),
            "textDocument/definition" => self.answered(id, params, requests::definition),
            "textDocument/references" => self.answered(id, params, requests::references),
            "textDocument/documentSymbol" => self.answered(id, params, requests::symbols),
            "textDocument/foldingRange" => self.answered(id, params, requests::folds),
            "textDocument/completion" => self.answered(id, params, requests::complete),
            "textDocument/codeLens" => self.answered(id, params, requests::lenses),
            "textDocument/codeAction" => self.answered(id, params, requests::actions),
            "workspace/executeCommand" => self.execute(id, params),
            _ => self.fail(
                id,
                ErrorCodes::MethodNotFound,
                format!("no method '{method}'"),
            ),
        }
    }

    fn initialize(&mut self, id: &Value, params: Params<'_>) -> io::Result<()> {
        let given: params::Initialize = match read(params) {
            Ok(given) => given,
            Err(error) => return self.fail(id, ErrorCodes::InvalidParams, error.to_string()),
        };
        let folders = given.workspace_folders.unwrap_or_default().into_iter();
        let roots = given
            .root_uri
            .into_iter()
            .chain(folders.map(|folder| folder.uri));
        let mut found: Vec<PathBuf> = Vec::new();
        for root in roots
            .filter_map(|uri| path_of(&uri))
            .chain(self.workspace.folders.0.drain(..))
        {
            if !found.contains(&root) {
                found.push(root);
            }
        }
        self.workspace.folders = Folders(found);
        self.state = State::Running;
        self.answer(id, requests::capabilities())
    }

    fn notified(&mut self, method: &str, params: Params<'_>) -> io::Result<()> {
        if self.state != State::Running {
            return Ok(());
        }
        match method {
            "textDocument/didOpen" => {
                let Ok(opened) = read::<params::Opened>(params) else {
                    return Ok(());
                };
                let item = opened.text_document;
                let document = Document::new(item.uri.clone(), item.version, item.text);
                self.workspace.documents.insert(item.uri.clone(), document);
                self.check(&item.uri)
            }
            "textDocument/didChange" => {
                let Ok(changed) = read::<params::Changed>(params) else {
                    return Ok(());
                };
                let uri = changed.text_document.uri;
                if let Some(document) = self.workspace.documents.get_mut(&uri) {
                    document.change(changed.text_document.version, changed.content_changes);
                }
                self.check(&uri)
            }
            "textDocument/didClose" => {
                let Ok(closed) = read::<params::InDocument>(params) else {
                    return Ok(());
                };
                let uri = closed.text_document.uri;
                match self.workspace.documents.remove(&uri) {
                    Some(_) => self.publish(uri, None, Vec::new()),
                    None => Ok(()),
                }
            }
            // Others need no answer.
            _ => Ok(()),
        }
    }

    /// Checks the document with this name: a module in its own thread, a pipeline here, together with
    /// others that may include it.
    fn check(&mut self, uri: &str) -> io::Result<()> {
        let Some(document) = self.workspace.documents.get(uri) else {
            return Ok(());
        };
        match &document.content {
            Content::Lir(_) => {
                let job = Job {
                    uri: uri.to_owned(),
                    version: document.version,
                    text: Arc::clone(&document.text),
                    folders: self.workspace.folders_of(document),
                };
                // Without the thread nothing is checked; it ends with the server.
                let _ = self.jobs.send(job);
                Ok(())
            }
            Content::Pipeline(_) => {
                let all: Vec<String> = self.workspace.documents.keys().cloned().collect();
                all.iter().try_for_each(|uri| self.check_pipeline(uri))
            }
            Content::Other => self.publish(uri.to_owned(), Some(document.version), Vec::new()),
        }
    }

    fn check_pipeline(&mut self, uri: &str) -> io::Result<()> {
        let Some(document) = self.workspace.documents.get(uri) else {
            return Ok(());
        };
        if !matches!(document.content, Content::Pipeline(_)) {
            return Ok(());
        }
        let name = document
            .path
            .as_ref()
            .map(|path| path.to_string_lossy().into_owned());
        let text = Source {
            name: name.unwrap_or_else(|| uri.to_owned()),
            text: document.text.to_string(),
        };
        let sources = Sources {
            open: &self.workspace.documents,
        };
        let findings = pipeline::check(text, &self.workspace.registry, &sources);
        let version = document.version;
        self.publish_findings(uri, version, findings)
    }

    fn checked(&mut self, checked: Checked) -> io::Result<()> {
        let Checked {
            uri,
            version,
            findings,
        } = checked;
        let is_newest = |document: &Document| document.version == version;
        match self.workspace.documents.get(&uri).is_some_and(is_newest) {
            true => self.publish_findings(&uri, version, findings),
            false => Ok(()),
        }
    }

    fn publish_findings(
        &mut self,
        uri: &str,
        version: i32,
        findings: Vec<Finding>,
    ) -> io::Result<()> {
        let Some(document) = self.workspace.documents.get(uri) else {
            return Ok(());
        };
        let findings = findings.into_iter();
        let diagnostics = findings
            .map(|it| it.diagnostic(&document.text, &document.lines))
            .collect();
        self.publish(uri.to_owned(), Some(version), diagnostics)
    }

    fn publish(
        &mut self,
        uri: String,
        version: Option<i32>,
        diagnostics: Vec<gen_lsp_types::Diagnostic>,
    ) -> io::Result<()> {
        let params = PublishDiagnosticsParams {
            uri: Uri(uri),
            version,
            diagnostics,
        };
        self.notify("textDocument/publishDiagnostics", params)
    }

    /// Runs passes in a thread of their own, which answers.
    fn execute(&mut self, id: &Value, params: Params<'_>) -> io::Result<()> {
        let given = match read::<params::Command>(params) {
            Ok(given) => given,
            Err(error) => return self.fail(id, ErrorCodes::InvalidParams, error.to_string()),
        };
        let arguments = given.arguments;
        let apply = match given.command.as_str() {
            RUN_PASS => false,
            APPLY_PASS => true,
            other => {
                return self.fail(
                    id,
                    ErrorCodes::InvalidParams,
                    format!("no command '{other}'"),
                );
            }
        };
        let (uri, passes) = match arguments.as_slice() {
            [Value::String(uri), Value::String(passes)] => (uri.clone(), passes.clone()),
            _ => {
                let why = "the arguments are the URI of a document and the passes to run";
                return self.fail(id, ErrorCodes::InvalidParams, why);
            }
        };
        let document = self.workspace.documents.get(&uri);
        let Some(document) = document.filter(|it| matches!(it.content, Content::Lir(_))) else {
            let why = format!("'{uri}' is no open module");
            return self.fail(id, ErrorCodes::InvalidParams, why);
        };
        let name = uri.rsplit('/').next().unwrap_or("module").to_owned();
        let run = Run {
            name,
            text: document.text.to_string(),
            passes,
            folders: self.workspace.folders_of(document),
            extensions: self.extensions.clone(),
        };
        let (events, version, id) = (self.events.clone(), document.version, id.clone());
        std::thread::spawn(move || {
            let outcome = run.run();
            let ran = Ran {
                id,
                uri,
                version,
                outcome,
                apply,
            };
            // The server may have ended.
            let _ = events.send(Event::Ran(ran));
        });
        Ok(())
    }

    /// Answers with what passes made.
    fn ran(&mut self, ran: Ran) -> io::Result<()> {
        let Outcome { text, mut messages } = ran.outcome;
        let result = serde_json::json!({ "text": text, "messages": messages });
        self.answer(&ran.id, result)?;
        if !ran.apply {
            return Ok(());
        }
        let kind = match text {
            Some(_) => MessageType::Info,
            None => MessageType::Error,
        };
        let document = self.workspace.documents.get(&ran.uri);
        let same = document.filter(|document| document.version == ran.version);
        match (same, text) {
            (Some(document), Some(text)) => {
                let edit = requests::replacement(document, text);
                let label = Some("run passes".to_owned());
                let params = ApplyWorkspaceEditParams {
                    label,
                    edit,
                    metadata: None,
                };
                self.ask("workspace/applyEdit", params)?;
            }
            (None, Some(_)) => messages += "the document has changed since the passes began",
            (_, None) => {}
        }
        if messages.is_empty() {
            return Ok(());
        }
        let params = ShowMessageParams {
            kind,
            message: messages,
        };
        self.notify("window/showMessage", params)
    }

    fn answered<P: DeserializeOwned, R: Serialize>(
        &mut self,
        id: &Value,
        params: Params<'_>,
        answer: impl FnOnce(&Workspace, P) -> R,
    ) -> io::Result<()> {
        match read(params) {
            Ok(params) => {
                let result = answer(&self.workspace, params);
                self.answer(id, result)
            }
            Err(error) => self.fail(id, ErrorCodes::InvalidParams, error.to_string()),
        }
    }

    fn answer(&mut self, id: &Value, result: impl Serialize) -> io::Result<()> {
        transport::write(self.output, &Response::new(id, result))
    }

    fn fail(&mut self, id: &Value, code: ErrorCodes, why: impl AsRef<str>) -> io::Result<()> {
        transport::write(self.output, &Refusal::new(id, code.into(), why.as_ref()))
    }

    fn notify(&mut self, method: &'static str, params: impl Serialize) -> io::Result<()> {
        transport::write(self.output, &Call::new(None, method, params))
    }

    fn ask(&mut self, method: &'static str, params: impl Serialize) -> io::Result<()> {
        self.next_id += 1;
        transport::write(self.output, &Call::new(Some(self.next_id), method, params))
    }
}

/// Arguments of a message, not yet read.
type Params<'p> = Option<&'p RawValue>;

/// Reads arguments.
fn read<P: DeserializeOwned>(params: Params<'_>) -> serde_json::Result<P> {
    serde_json::from_str(params.map_or("null", RawValue::get))
}
