//! Pipelines by name: those of cuweld, documents as they are in the editor, and files.

use std::path::Path;
use std::path::PathBuf;

use cuweld_passes::pipeline::Embedded;
use cuweld_passes::pipeline::PipelineSource;
use cuweld_passes::pipeline::Source;

use crate::language_server::files::read_text;

/// The files that are open in the editor.
pub trait OpenFiles {
    /// Returns the text of a file as it is in the editor, if it is open.
    fn text_of(&self, path: &Path) -> Option<String>;
}

/// Finds pipelines as a link does, but takes open documents as they are, and reads no more than
/// files.
pub struct Sources<'d> {
    pub open: &'d dyn OpenFiles,
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
        let open = self.open.text_of(&path);
        let text = open.or_else(|| read_text(&path))?;
        let name = path.to_string_lossy().into_owned();
        Some(Source { name, text })
    }

    fn names(&self) -> Vec<String> {
        Embedded.names()
    }
}
