//! Pipelines by name: those of cuweld, documents as they are in the editor, and files.

use std::collections::BTreeMap;
use std::path::Path;
use std::path::PathBuf;

use cuweld_passes::pipeline::Embedded;
use cuweld_passes::pipeline::PipelineSource;
use cuweld_passes::pipeline::Source;

use crate::language_server::document::Document;
use crate::language_server::files::read_text;

/// Finds pipelines as a link does, but takes open documents as they are, and reads no more than
/// files.
pub struct Sources<'d> {
    /// Open documents by their names.
    pub documents: &'d BTreeMap<String, Document>,
}

impl Sources<'_> {
    /// Returns the file of an included pipeline; those of cuweld have none.
    pub fn path(&self, name: &str, within: &Path) -> Option<PathBuf> {
        let is_embedded = Embedded.find(name, None).is_some();
        let path = within.parent().unwrap_or(Path::new("")).join(name);
        (!is_embedded).then_some(path)
    }
}

impl PipelineSource for Sources<'_> {
    fn find(&self, name: &str, within: Option<&Source>) -> Option<Source> {
        if let Some(source) = Embedded.find(name, within) {
            return Some(source);
        }
        let within = within.map_or(Path::new(""), |source| Path::new(&source.name));
        let path = self.path(name, within)?;
        let mut open = self.documents.values();
        let open = open.find(|document| document.path.as_ref() == Some(&path));
        let text = match open {
            Some(document) => document.text.to_string(),
            None => read_text(&path)?,
        };
        let name = path.to_string_lossy().into_owned();
        Some(Source { name, text })
    }

    fn names(&self) -> Vec<String> {
        Embedded.names()
    }
}
