//! Links that are given: folders with inputs and nvlink's arguments, and reproducers.

use std::path::Path;
use std::path::PathBuf;

use cuweld::internals::Replay;

use crate::tools::Failure;

/// Returns the folder and the arguments, without those of the output, of a link that is given.
pub fn open(path: &Path, root: &Path) -> Result<(PathBuf, Vec<String>), Failure> {
    if path.is_dir() {
        let folder = std::path::absolute(path).map_err(|error| error.to_string())?;
        let words = words_of(&folder)?;
        return Ok((folder, words));
    }
    let name = path.file_stem().unwrap_or_default();
    let archive = path.to_string_lossy();
    let replay = Replay::unpack(&archive, &root.join(name)).map_err(|error| error.to_string())?;
    let words = replay.nvlink_words().map_err(|error| error.to_string())?;
    std::fs::create_dir_all(replay.folder()).map_err(|error| error.to_string())?;
    Ok((replay.folder(), without_output(words)))
}

/// Returns the arguments in a folder's `args.txt`.
pub fn words_of(folder: &Path) -> Result<Vec<String>, Failure> {
    let path = folder.join("args.txt");
    let text =
        std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(without_output(text.lines().map(str::to_owned).collect()))
}

fn without_output(words: Vec<String>) -> Vec<String> {
    let mut kept = Vec::new();
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "-o" | "--output-file" => drop(words.next()),
            word if word.starts_with("-o=") || word.starts_with("--output-file=") => {}
            _ => kept.push(word),
        }
    }
    kept
}
