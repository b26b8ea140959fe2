//! What holds for a link while a reproducer of it runs: where its files lie, and that nothing of a
//! stranger's runs.
//!
//! `cuweld replay` says it in two variables. Without `--trust` the link runs no program and loads no
//! library that the reproducer names or brings; that it writes nothing outside the folder is seen to
//! by the system (`src/repro/confine.rs`).

use std::io;
use std::path::Path;
use std::path::PathBuf;

/// The variable that tells a link which folder stands for the root of the file system.
pub(crate) const VARIABLE: &str = "CUWELD_REPLAY_ROOT";

/// The variable that tells a link that whoever replays it trusts the reproducer.
pub(crate) const TRUSTED: &str = "CUWELD_REPLAY_TRUSTED";

/// Returns the path of a file that a pipeline names: while a reproducer runs, the file of that path
/// in its folder, if there is one.
pub(crate) fn replayed(path: &Path) -> PathBuf {
    let root = root().filter(|_| path.is_absolute());
    let moved = root.map(|root| root.join(path.strip_prefix("/").unwrap_or(path)));
    moved
        .filter(|moved| moved.is_file())
        .unwrap_or_else(|| path.to_owned())
}

/// Checks that a program or library may be run that the command line or a pipeline names.
///
/// # Errors
///
/// While a reproducer runs that is not trusted.
pub(crate) fn may_run() -> io::Result<()> {
    match untrusted_root() {
        Some(_) => Err(refusal()),
        None => Ok(()),
    }
}

/// Checks that a program or library may be run that was found at this path.
///
/// # Errors
///
/// While a reproducer runs that is not trusted and brings the file.
pub(crate) fn may_run_file(path: &Path) -> io::Result<()> {
    let is_brought = |root: PathBuf| path.canonicalize().is_ok_and(|path| path.starts_with(root));
    match untrusted_root().is_some_and(is_brought) {
        true => Err(refusal()),
        false => Ok(()),
    }
}

fn root() -> Option<PathBuf> {
    std::env::var_os(VARIABLE).map(PathBuf::from)
}

fn untrusted_root() -> Option<PathBuf> {
    root().filter(|_| std::env::var_os(TRUSTED).is_none())
}

fn refusal() -> io::Error {
    io::Error::other("`cuweld replay` runs nothing of a reproducer without `--trust`")
}
