//! Where dumps of the IR go.

use std::io;
use std::path::Path;

use cuweld_passes::instrument::DumpSink;

/// Puts dumps into files of a folder, or collects them as text.
pub struct DumpTo {
    folder: Option<String>,
    text: String,
}

impl DumpTo {
    /// Creates a sink for a folder, which is created; without one dumps are collected.
    pub fn new(folder: Option<String>) -> Self {
        DumpTo {
            folder,
            text: String::new(),
        }
    }

    /// Returns the collected dumps.
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// Returns a dump with its name in it, in a form that tools for dumps of its kind take: a comment,
/// or the first member of a JSON object.
fn named(name: &str, text: &str) -> String {
    match (name.rsplit('.').next(), text.strip_prefix('{')) {
        (Some("json"), Some(members)) => format!("{{\"dump\":\"{name}\",{members}"),
        (Some("dot"), _) => format!("// {name}\n{text}"),
        _ => format!("; {name}\n{text}"),
    }
}

impl DumpSink for DumpTo {
    fn write(&mut self, name: &str, text: &str) -> io::Result<()> {
        match &self.folder {
            Some(folder) => {
                std::fs::create_dir_all(folder)?;
                std::fs::write(Path::new(folder).join(name), text)
            }
            None => {
                self.text.push_str(&named(name, text));
                Ok(())
            }
        }
    }
}
