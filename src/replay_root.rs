//! Where the files of a link lie while a reproducer of it runs.

use std::path::Path;
use std::path::PathBuf;

/// The variable that tells a link which folder stands for the root of the file system.
pub(crate) const VARIABLE: &str = "CUWELD_REPLAY_ROOT";

/// Returns the path of a file that a pipeline names: while a reproducer runs, the file of that path
/// in its folder, if there is one.
pub(crate) fn replayed(path: &Path) -> PathBuf {
    let root = std::env::var_os(VARIABLE).filter(|_| path.is_absolute());
    let moved = root.map(|root| Path::new(&root).join(path.strip_prefix("/").unwrap_or(path)));
    moved
        .filter(|moved| moved.is_file())
        .unwrap_or_else(|| path.to_owned())
}
