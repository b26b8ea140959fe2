//! What is open, and what questions about it are answered from.

use std::collections::BTreeMap;
use std::path::Path;
use std::path::PathBuf;

use cuweld_passes::registry::Registry;

use super::document::Content;
use super::document::Document;
use super::files::Folders;
use super::params::AtPlace;
use super::pipeline::features::Pipeline;
use super::pipeline::sources::OpenFiles;
use super::pipeline::sources::Sources;

/// A document with the byte that a request is about.
pub type At<'s> = (&'s Document, usize);

/// The documents of a session, with the passes and the folders that they can name.
pub struct Workspace {
    /// The passes that pipelines can name.
    pub registry: Registry,
    /// Open documents by their names.
    pub documents: BTreeMap<String, Document>,
    /// Where files are looked for that documents name.
    pub folders: Folders,
}

impl Workspace {
    /// Returns the document and the byte that a request is about.
    pub fn at(&self, place: &AtPlace) -> Option<At<'_>> {
        let document = self.documents.get(&place.text_document.uri)?;
        Some((
            document,
            document.lines.offset(&document.text, place.position),
        ))
    }

    /// Returns a document as a pipeline file, if it is one.
    pub fn pipeline<'s>(&'s self, document: &'s Document) -> Option<Pipeline<'s>> {
        let Content::Pipeline(syntax) = &document.content else {
            return None;
        };
        Some(Pipeline {
            text: &document.text,
            path: document.path.as_deref().unwrap_or(Path::new("")),
            syntax,
            registry: &self.registry,
            sources: Sources {
                open: &self.documents,
            },
            folders: &self.folders,
        })
    }

    /// Returns where files are looked for that a document names: as a link in the folder of the work
    /// finds them, then beside the document.
    pub fn folders_of(&self, document: &Document) -> Folders {
        let mut folders = self.folders.clone();
        let own = document.path.as_ref().and_then(|path| path.parent());
        folders.0.extend(own.map(PathBuf::from));
        folders
    }
}

impl OpenFiles for BTreeMap<String, Document> {
    fn text_of(&self, path: &Path) -> Option<String> {
        let document = self
            .values()
            .find(|document| document.path.as_deref() == Some(path));
        document.map(|document| document.text.to_string())
    }
}
