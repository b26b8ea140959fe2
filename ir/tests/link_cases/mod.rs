//! The cubins of the link cases, inputs and outputs.

use std::path::Path;
use std::path::PathBuf;

/// The case with objects of compilers whose Mercury is of another form, which is not read.
const OLDER_MERCURY: &str = "mercury-toolkit-12-8";

/// Returns the path and contents of every cubin in `tests/links`, in the order of paths, but for
/// Mercury of another form.
pub fn cubins() -> impl Iterator<Item = (PathBuf, Vec<u8>)> {
    let links = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/links");
    let topics = entries(&links).into_iter();
    let cases = topics.flat_map(|topic| entries(&topic));
    let cases = cases.filter(|case| !case.ends_with(OLDER_MERCURY));
    let folders = cases.flat_map(|case| entries(&case));
    let files = folders.flat_map(|folder| entries(&folder));
    let cubins = files.filter(|path| path.extension().is_some_and(|ending| ending == "cubin"));
    cubins.map(|path| {
        let image = std::fs::read(&path).unwrap();
        (path, image)
    })
}

/// Returns the entries of a folder; none if it is a file.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}
