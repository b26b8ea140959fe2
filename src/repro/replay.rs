//! Running a reproducer again.

use std::fs::File;
use std::io;
use std::path::Component;
use std::path::Path;
use std::path::PathBuf;
use std::process::Command;
use std::process::Output;

use thiserror::Error;

use super::DESCRIPTION;
use super::Description;
use super::FILES;
use super::FORMAT;
use super::confine::confined;
use super::record::is_known;
use super::record::normal;
use crate::replay_root;

/// The commands that write reproducers.
const COMMANDS: [&str; 3] = ["nvlink", "link", "opt"];

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
    /// It is none of a link.
    #[error("a reproducer is of {}, not of '{command}'", COMMANDS.join(", "))]
    Command {
        /// The command.
        command: String,
    },
    /// It names a place outside its folder, and is not trusted.
    #[error("'{word}' leaves the folder of the reproducer, which only `--trust` allows")]
    Outside {
        /// The argument, or the value of a variable.
        word: String,
    },
    /// The system cannot keep the link in the folder.
    #[error(
        "this system cannot keep a link in its folder, and only `--trust` runs it without: {0}"
    )]
    Confine(#[from] landlock::RulesetError),
    /// The program cannot be run.
    #[error("cannot run '{program}': {error}")]
    Run {
        /// The program.
        program: String,
        /// What the system says.
        error: io::Error,
    },
}

/// Options that name a file to write.
const OUTPUTS: [&str; 4] = [
    "-o",
    "--output",
    "--output-file",
    "--register-link-binaries",
];

/// Returns the files that a command writes.
fn outputs(words: &[String]) -> impl Iterator<Item = &str> {
    let follows = words.windows(2).filter_map(|pair| match pair {
        [option, path] if OUTPUTS.contains(&option.as_str()) => Some(path.as_str()),
        _ => None,
    });
    let joined = words.iter().filter_map(|word| {
        let (option, path) = word.split_once('=')?;
        OUTPUTS.contains(&option).then_some(path)
    });
    follows.chain(joined)
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
        unpack_files(file, folder).map_err(failed)?;
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
        let command = description.arguments.first();
        if !command.is_some_and(|command| COMMANDS.contains(&command.as_str())) {
            let command = command.cloned().unwrap_or_default();
            return Err(ReplayError::Command { command });
        }
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

    /// Runs it with this program: cuweld, or with `nvlink` a linker with nvlink's command line. If
    /// it is not trusted, nothing that it brings or names is run, and it changes nothing outside
    /// its folder.
    ///
    /// # Errors
    ///
    /// If the program cannot be run, or the link not be kept in its folder.
    pub fn run(
        &self,
        program: &Path,
        nvlink: bool,
        is_trusted: bool,
    ) -> Result<Output, ReplayError> {
        let words = match nvlink {
            true => self.nvlink_words()?,
            false => self.moved_words(&self.description.arguments),
        };
        let variables = self.variables();
        let folder = self.folder();
        if !is_trusted {
            let values = variables.iter().flat_map(|(_, value)| value.split(':'));
            let mut places = words.iter().map(String::as_str).chain(values);
            let folder_itself = folder.to_string_lossy();
            if let Some(word) = places
                .find(|word| self.leaves(word))
                .or_else(|| self.leaves(&folder_itself).then_some(&*folder_itself))
            {
                let word = word.to_owned();
                return Err(ReplayError::Outside { word });
            }
        }
        let failed = |error| ReplayError::Run {
            program: program.display().to_string(),
            error,
        };
        std::fs::create_dir_all(&folder).map_err(failed)?;
        // They were there when it was recorded.
        for parent in outputs(&words).filter_map(|path| Path::new(path).parent()) {
            std::fs::create_dir_all(folder.join(parent)).map_err(failed)?;
        }
        let mut command = Command::new(program);
        command.args(words).current_dir(folder);
        for (name, _) in std::env::vars_os() {
            if is_known(&name.to_string_lossy()) {
                command.env_remove(name);
            }
        }
        command
            .envs(variables)
            .env(replay_root::VARIABLE, &self.root);
        if is_trusted {
            command.env(replay_root::TRUSTED, "1");
            return command.output().map_err(failed);
        }
        // The only folders that it may write to: its own, and one for temporary files.
        let temporary = tempfile::tempdir().map_err(failed)?;
        command.env("TMPDIR", temporary.path());
        let folders = [self.root.as_path(), temporary.path()];
        confined(&folders, || command.output())?.map_err(failed)
    }

    /// Returns the variables of the run, with their paths moved into the folder: none but those that
    /// matter to a link.
    fn variables(&self) -> Vec<(&str, String)> {
        let ours = [
            "CUWELD_REPRO",
            "CUWELD_MAP",
            "CUWELD_REPORT",
            replay_root::VARIABLE,
            replay_root::TRUSTED,
        ];
        let variables = self.description.environment.iter();
        variables
            .filter(|(name, _)| is_known(name) && !ours.contains(&name.as_str()))
            .map(|(name, value)| {
                let parts: Vec<String> = value.split(':').map(|part| self.moved(part)).collect();
                (name.as_str(), parts.join(":"))
            })
            .collect()
    }

    /// Returns `true` if a word whose absolute paths are moved names a path outside the folder by
    /// `..`.
    fn leaves(&self, word: &str) -> bool {
        let folder = self.folder();
        let parts = word.split(['=', ',', '{', '\'', '"']);
        parts
            .chain(word.get(2..))
            .any(|part| part.contains("..") && !normal(&folder.join(part)).starts_with(&self.root))
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

/// Unpacks the description and the files of an archive into a folder.
///
/// # Errors
///
/// Those of the system; an error if there is anything else than files in the archive, or one that
/// lies elsewhere. Reproducers have no links.
fn unpack_files(archive: File, folder: &Path) -> io::Result<()> {
    let mut archive = tar::Archive::new(io::BufReader::new(archive));
    for entry in archive.entries()? {
        let mut entry = entry?;
        let path = entry.path()?.into_owned();
        let is_file = entry.header().entry_type() == tar::EntryType::Regular;
        let is_inside = path
            .components()
            .all(|part| matches!(part, Component::Normal(_)));
        let is_ours = path.starts_with(FILES) || path == Path::new(DESCRIPTION);
        // False for what would lie elsewhere because of links that are in the folder.
        if !(is_file && is_inside && is_ours && entry.unpack_in(folder)?) {
            let name = path.display();
            let what = format!("'{name}' is no file of a reproducer");
            return Err(io::Error::other(what));
        }
    }
    Ok(())
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
