//! Documents that are pipeline files.

mod check;
pub mod features;
pub mod registry;
pub mod sources;
pub mod syntax;
mod texts;

use std::path::Path;

use self::syntax::Syntax;

pub use check::check;

/// Returns `true` if a TOML file is a pipeline: it has steps, or lies in a folder of pipelines.
pub fn is_pipeline(path: Option<&Path>, syntax: &Syntax) -> bool {
    let folder = path.and_then(Path::parent).and_then(Path::file_name);
    folder.is_some_and(|name| name == "pipelines")
        || syntax.items().any(|item| item.is_at(&["pass"]))
}
