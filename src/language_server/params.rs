//! What editors send, as far as it is needed. The protocol's own types have every field that there is, and reading them
//! would make up a twentieth of the program.

use gen_lsp_types::Position;
use gen_lsp_types::Range;
use serde::Deserialize;

/// What the server needs of what the editor says of itself.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Initialize {
    /// The folder of the work.
    pub root_uri: Option<String>,
    /// The folders of the work, if there are several.
    pub workspace_folders: Option<Vec<Named>>,
}

/// Something with a name, which is a URI.
#[derive(Deserialize)]
pub struct Named {
    /// The name.
    pub uri: String,
}

/// A document, and nothing else.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InDocument {
    /// The document.
    pub text_document: Named,
}

/// A place in a document.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AtPlace {
    /// The document.
    pub text_document: Named,
    /// The place.
    pub position: Position,
    /// What is asked of references.
    #[serde(default)]
    pub context: Context,
}

/// More that a request says.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Context {
    /// Whether references are listed with the definition.
    pub include_declaration: bool,
    /// The kinds of code actions that are wanted.
    pub only: Option<Vec<String>>,
}

/// A request for code actions.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ForActions {
    /// The document.
    pub text_document: Named,
    /// Which are wanted.
    #[serde(default)]
    pub context: Context,
}

/// A document that is opened.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Opened {
    /// The document.
    pub text_document: Text,
}

/// A document with its text.
#[derive(Deserialize)]
pub struct Text {
    /// Its name.
    pub uri: String,
    /// Its version.
    pub version: i32,
    /// Its text.
    pub text: String,
}

/// A document that has changed.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Changed {
    /// The document.
    pub text_document: Version,
    /// What has changed, one after the other.
    pub content_changes: Vec<Change>,
}

/// A version of a document.
#[derive(Deserialize)]
pub struct Version {
    /// Its name.
    pub uri: String,
    /// Its version.
    pub version: i32,
}

/// A change of a text.
#[derive(Deserialize)]
pub struct Change {
    /// What is replaced; without it the whole text.
    pub range: Option<Range>,
    /// What stands there now.
    pub text: String,
}

/// A command that is to be run.
#[derive(Deserialize)]
pub struct Command {
    /// The command.
    pub command: String,
    /// Its arguments.
    #[serde(default)]
    pub arguments: Vec<serde_json::Value>,
}
