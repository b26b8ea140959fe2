//! Running a reproducer again.

use std::fs::File;
use std::io;
use std::path::Path;
use std::path::PathBuf;
use std::process::Command;
use std::process::Output;

use thiserror::Error;

use super::DESCRIPTION;
use super::Description;
use super::FILES;
use super::FORMAT;
use crate::replay_root;

/// A reproducer that has been unpacked.
#[derive(Debug)]
pub struct Replay {
    /// What it says of its link.
    pub description: Description,
    /// The folder that stands for the root of the file system.
    root: PathBuf,
}

/// Why a reproducer cannot be run.
#[derive(Debug, Error)]
pub enum ReplayError {
    /// The archive cannot be read or unpacked.
    #[error("cannot unpack '{path}': {error}")]
    Archive {
        /// The archive.
        path: String,
        /// What the system says.
        error: io::Error,
    },
    /// It is none of ours, or of another version.
    #[error("'{path}' is no reproducer of this version: {what}")]
    Format {
        /// The archive.
        path: String,
        /// What is wrong.
        what: String,
    },
    /// The link is one that nvlink cannot do.
    #[error("only links can be replayed with another linker")]
    NoLink,
    /// The program cannot be run.
    #[error("cannot run '{program}': {error}")]
    Run {
        /// The program.
        program: String,
        /// What the system says.
        error: io::Error,
    },
}

impl Replay {
    /// Unpacks a reproducer into a folder.
    pub fn unpack(archive: &str, folder: &Path) -> Result<Self, ReplayError> {
        let failed = |error| ReplayError::Archive {
            path: archive.to_owned(),
            error,
        };
        let file = File::open(archive).map_err(failed)?;
        std::fs::create_dir_all(folder).map_err(failed)?;
        // Entries that would leave the folder are not unpacked.
        tar::Archive::new(io::BufReader::new(file))
            .unpack(folder)
            .map_err(failed)?;
        let wrong = |what: String| ReplayError::Format {
            path: archive.to_owned(),
            what,
        };
        let text = std::fs::read_to_string(folder.join(DESCRIPTION))
            .map_err(|_| wrong(format!("it has no {DESCRIPTION}")))?;
        let description: Description =
            serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
        if description.format != FORMAT {
            let what = format!("its form is {}, not {FORMAT}", description.format);
            return Err(wrong(what));
        }
        let folder = std::fs::canonicalize(folder).map_err(failed)?;
        Ok(Replay {
            description,
            root: folder.join(FILES),
        })
    }

    /// Returns the folder that the link runs in.
    pub fn folder(&self) -> PathBuf {
        self.root
            .join(self.description.folder.trim_start_matches('/'))
    }

    /// Runs it with this program: cuweld, or with `nvlink` a linker with nvlink's command line.
    pub fn run(&self, program: &Path, nvlink: bool) -> Result<Output, ReplayError> {
        let words = match nvlink {
            true => self.nvlink_words()?,
            false => self.moved_words(&self.description.arguments),
        };
        let failed = |error| ReplayError::Run {
            program: program.display().to_string(),
            error,
        };
        let folder = self.folder();
        std::fs::create_dir_all(&folder).map_err(failed)?;
        let mut command = Command::new(program);
        command.args(words).current_dir(folder);
        for (name, _) in std::env::vars_os() {
            let known = name.to_string_lossy();
            if known.starts_with("CUWELD_") || known == "LIBRARY_PATH" {
                command.env_remove(name);
            }
        }
        for (name, value) in &self.description.environment {
            if name != "CUWELD_REPRO" && name != replay_root::VARIABLE {
                let parts: Vec<String> = value.split(':').map(|part| self.moved(part)).collect();
                command.env(name, parts.join(":"));
            }
        }
        command.env(replay_root::VARIABLE, &self.root);
        command.output().map_err(failed)
    }

    /// Returns the arguments for nvlink, or a linker with its command line.
    pub fn nvlink_words(&self) -> Result<Vec<String>, ReplayError> {
        let words = self.description.nvlink_arguments.as_ref();
        words
            .map(|words| self.moved_words(words))
            .ok_or(ReplayError::NoLink)
    }

    fn moved_words(&self, words: &[String]) -> Vec<String> {
        words.iter().map(|word| self.moved(word)).collect()
    }

    /// Returns an argument whose absolute path, if it has one, is moved into the folder: `/x`,
    /// `--option=/x`, `-L/x`.
    fn moved(&self, word: &str) -> String {
        let at = match word.find('/') {
            Some(0) => 0,
            Some(2) if word.starts_with('-') => 2,
            Some(at) if word.get(..at).is_some_and(|start| start.ends_with('=')) => at,
            _ => return word.to_owned(),
        };
        let (option, path) = word.split_at(at);
        format!("{option}{}{path}", self.root.display())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absolute_paths_are_moved() {
        let replay = Replay {
            description: Description::default(),
            root: PathBuf::from("/r/files"),
        };
        for (word, moved) in [
            ("/a/b", "/r/files/a/b"),
            ("-L/a", "-L/r/files/a"),
            ("--output=/a", "--output=/r/files/a"),
            ("a/b", "a/b"),
            ("../b", "../b"),
            ("-arch=sm_90", "-arch=sm_90"),
            ("-la/b", "-la/b"),
        ] {
            assert_eq!(replay.moved(word), moved);
        }
    }
}
