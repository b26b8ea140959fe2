//! The documents that are open in the editor.

use std::cell::OnceCell;
use std::path::PathBuf;
use std::sync::Arc;

use cuweld_ir::text::outline::Outline;

use super::lines::Lines;
use super::params::Change;
use super::pipeline;
use super::pipeline::syntax::Syntax;
use super::uri::path_of;

/// An open document.
pub struct Document {
    /// Its name.
    pub uri: String,
    /// Its file, if it has one.
    pub path: Option<PathBuf>,
    /// Its version, which the editor counts.
    pub version: i32,
    /// Its text. A check may hold an older one.
    pub text: Arc<String>,
    /// Where its lines begin.
    pub lines: Lines,
    /// What is known of it.
    pub content: Content,
}

/// What a document is.
pub enum Content {
    /// A module, and where its rows are, once somebody asks.
    Lir(Box<OnceCell<Outline>>),
    /// A pipeline, and what stands where.
    Pipeline(Syntax),
    /// Neither.
    Other,
}

impl Document {
    /// Takes a document that was opened.
    pub fn new(uri: String, version: i32, text: String) -> Self {
        let mut document = Document {
            path: path_of(&uri),
            uri,
            version,
            lines: Lines::new(&text),
            text: Arc::new(text),
            content: Content::Other,
        };
        document.look();
        document
    }

    /// Takes changes, one after the other.
    pub fn change(&mut self, version: i32, changes: Vec<Change>) {
        for change in changes {
            match change.range {
                Some(range) => {
                    let start = self.lines.offset(&self.text, range.start);
                    let end = self.lines.offset(&self.text, range.end).max(start);
                    Arc::make_mut(&mut self.text).replace_range(start..end, &change.text);
                }
                None => self.text = Arc::new(change.text),
            }
            self.lines = Lines::new(&self.text);
        }
        self.version = version;
        self.look();
    }

    /// Returns where the rows of a module are; nothing for another document.
    pub fn outline(&self) -> Option<&Outline> {
        match &self.content {
            Content::Lir(outline) => Some(outline.get_or_init(|| Outline::new(&self.text))),
            _ => None,
        }
    }

    /// Finds out what the document is: by its name, or else by how it begins.
    fn look(&mut self) {
        let name = self.uri.rsplit('/').next().unwrap_or("");
        self.content = if name.ends_with(".lir") || self.text.starts_with("lir 1\n") {
            Content::Lir(Box::default())
        } else if name.ends_with(".toml") {
            let syntax = Syntax::new(&self.text);
            match pipeline::is_pipeline(self.path.as_deref(), &syntax) {
                true => Content::Pipeline(syntax),
                false => Content::Other,
            }
        } else {
            Content::Other
        };
    }
}
