//! New projects for passes, made from the folders in `templates`.
//!
//! A template is a project by itself, whose names are replaced; those in Rust are members of the
//! workspace, so that what a user gets is built and tested with cuweld.

mod names;

use std::io;
use std::path::Path;
use std::path::PathBuf;

use thiserror::Error;

pub use names::Name;

/// A way to write a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// A crate in Rust with a driver of its own.
    Rust,
    /// A plugin in Rust.
    Plugin,
    /// A plugin in C.
    C,
    /// A program in Python.
    Python,
}

/// Where cuweld's crates come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A folder with the repository.
    Folder(PathBuf),
    /// The address of a repository for git.
    Git(String),
}

/// A file of a template: its path, and its text.
type File = (&'static str, &'static str);

macro_rules! files {
    ($folder:literal: $($path:literal from $file:literal),* $(,)?) => {
        &[$(($path, include_str!(concat!("templates/", $folder, "/", $file)))),*]
    };
}

const RUST: &[File] = files!("rust":
    "Cargo.toml" from "Cargo.toml",
    "src/main.rs" from "src/main.rs",
    "src/my_pass.rs" from "src/my_pass.rs",
    "tests/passes.rs" from "tests/passes.rs",
    "tests/passes/limit.lir" from "tests/passes/limit.lir",
    "README.md" from "README.md",
    ".gitignore" from "gitignore",
);

const PLUGIN: &[File] = files!("plugin":
    "Cargo.toml" from "Cargo.toml",
    "src/lib.rs" from "src/lib.rs",
    "tests/passes.rs" from "tests/passes.rs",
    "tests/passes/limit.lir" from "tests/passes/limit.lir",
    "README.md" from "README.md",
    ".gitignore" from "gitignore",
);

const C: &[File] = files!("c":
    "Makefile" from "Makefile",
    "my-pass.c" from "my-pass.c",
    "tests/passes/limit.lir" from "tests/passes/limit.lir",
    "README.md" from "README.md",
    ".gitignore" from "gitignore",
);

const PYTHON: &[File] = files!("python":
    "my-pass.py" from "my-pass.py",
    "tests/passes/limit.lir" from "tests/passes/limit.lir",
    "README.md" from "README.md",
);

/// How a template in Rust names the folder of the repository.
const REPOSITORY: &str = "path = \"../../../..";

/// What a manifest ends with: a template is a member of cuweld's workspace, a project is none.
const WORKSPACE: &str = "\n# A workspace of its own, wherever the folder lies.\n[workspace]\n";

/// Why no project was made.
#[derive(Debug, Error)]
pub enum Error {
    /// The folder is there already.
    #[error("'{}' is there already; nothing is changed", .0.display())]
    Exists(PathBuf),
    /// A file or folder cannot be written.
    #[error("cannot write '{}': {error}", path.display())]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
}

/// What a project is made of.
#[derive(Clone, Debug)]
pub struct Project<'a> {
    /// The name of the pass.
    pub name: &'a Name,
    /// How it is written.
    pub way: Way,
    /// Where cuweld's crates come from; ways without crates need none.
    pub source: Option<&'a Source>,
    /// The program that runs the tests: a path, or a name that the system looks for.
    pub program: &'a str,
}

impl Way {
    /// Returns `true` if projects use crates of cuweld.
    pub fn needs_source(self) -> bool {
        matches!(self, Way::Rust | Way::Plugin)
    }

    /// Returns the command that runs the tests of a project.
    pub fn test_command(self, program: &str) -> String {
        match self {
            Way::Rust | Way::Plugin => "cargo test".to_owned(),
            Way::C => "make test".to_owned(),
            Way::Python => format!("{} test-passes tests/passes", shell_word(program)),
        }
    }

    fn files(self) -> &'static [File] {
        match self {
            Way::Rust => RUST,
            Way::Plugin => PLUGIN,
            Way::C => C,
            Way::Python => PYTHON,
        }
    }
}

impl Project<'_> {
    /// Writes the project into a folder, which must not be there yet.
    pub fn write(&self, folder: &Path) -> Result<(), Error> {
        let failed = |path: &Path, error| Error::Write {
            path: path.to_owned(),
            error,
        };
        if let Some(parent) = folder.parent() {
            std::fs::create_dir_all(parent).map_err(|error| failed(parent, error))?;
        }
        std::fs::create_dir(folder).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => Error::Exists(folder.to_owned()),
            _ => failed(folder, error),
        })?;
        for (path, text) in self.files() {
            let path = folder.join(path);
            let made = path.parent().map_or(Ok(()), std::fs::create_dir_all);
            made.and_then(|()| std::fs::write(&path, text))
                .map_err(|error| failed(&path, error))?;
        }
        Ok(())
    }

    /// Returns paths in the project's folder, and texts.
    fn files(&self) -> Vec<(String, Vec<u8>)> {
        let word = match self.way {
            Way::Plugin => "plugin",
            Way::Rust | Way::C | Way::Python => "pass",
        };
        let named = |text: &str| self.name.put_into(text, word);
        let mut files: Vec<_> = self
            .way
            .files()
            .iter()
            .map(|(path, text)| (named(path), self.text(path, &named(text)).into_bytes()))
            .collect();
        if self.way == Way::C {
            let header = cuweld_plugin::HEADER.as_bytes().to_vec();
            files.push(("cuweld-plugin.h".to_owned(), header));
        }
        // With the versions that cuweld is built with, cargo needs no network where they are known.
        if let (true, Some(Source::Folder(folder))) = (self.way.needs_source(), self.source)
            && let Ok(lock) = std::fs::read(folder.join("Cargo.lock"))
        {
            files.push(("Cargo.lock".to_owned(), lock));
        }
        files
    }

    /// Returns the text of a file of the template that names `self.name` already.
    fn text(&self, path: &str, text: &str) -> String {
        match (path, self.way) {
            ("Cargo.toml", _) => self.manifest(text),
            ("Makefile", _) => {
                let program = shell_word(self.program).replace('$', "$$");
                text.replace("CUWELD ?= cuweld\n", &format!("CUWELD ?= {program}\n"))
            }
            ("tests/passes.rs", Way::Plugin) => {
                text.replace("= \"cuweld\";", &format!("= {:?};", self.program))
            }
            _ => text.to_owned(),
        }
    }

    fn manifest(&self, text: &str) -> String {
        let line = |line: &str| -> String {
            let Some((before, rest)) = line.split_once(REPOSITORY) else {
                return line.to_owned();
            };
            let (inside, after) = rest.split_once('"').unwrap_or((rest, ""));
            let from = match self.source {
                Some(Source::Folder(folder)) => {
                    let path = format!("{}{inside}", folder.display());
                    format!("path = {}", toml_string(&path))
                }
                Some(Source::Git(address)) => format!("git = {}", toml_string(address)),
                None => return line.to_owned(),
            };
            format!("{before}{from}{after}")
        };
        let lines: Vec<String> = text.lines().map(line).collect();
        format!("{}\n{WORKSPACE}", lines.join("\n"))
    }
}

/// Returns a string as TOML spells it.
fn toml_string(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

/// Returns a word as a shell reads it.
fn shell_word(word: &str) -> String {
    // A word with a NUL is none that the system took.
    shlex::try_quote(word).map_or_else(|_| word.to_owned(), |word| word.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(project: &Project<'_>, path: &str) -> String {
        let files = project.files();
        let file = files.into_iter().find(|(name, _)| name == path);
        String::from_utf8(file.expect("the file is there").1).unwrap()
    }

    #[test]
    fn names_and_places_are_put_into_a_template() {
        let name = Name::parse("count-loads").unwrap();
        let mut project = Project {
            name: &name,
            way: Way::Rust,
            source: Some(&Source::Folder("/no/such \"folder".into())),
            program: "/opt/$x/cuweld",
        };
        let manifest = text(&project, "Cargo.toml");
        for line in [
            "name = \"count-loads\"",
            "cuweld = { path = '/no/such \"folder' }",
            "cuweld-ir = { path = '/no/such \"folder/ir' }",
            "[workspace]",
        ] {
            assert!(manifest.lines().any(|it| it == line), "{line}: {manifest}");
        }
        assert!(text(&project, "src/count_loads.rs").contains("struct CountLoads {"));
        for way in [Way::Rust, Way::Plugin, Way::C, Way::Python] {
            project.way = way;
            for (path, text) in project.files() {
                let text = String::from_utf8(text).unwrap();
                for old in ["my-p", "my_p", "MyP", "../.."] {
                    assert!(!path.contains(old) && !text.contains(old), "{path}: {old}");
                }
            }
        }
        let source = Source::Git("https://example.invalid/cuweld".to_owned());
        project.way = Way::Plugin;
        project.source = Some(&source);
        let line = "cuweld-plugin = { git = \"https://example.invalid/cuweld\" }\n";
        assert!(text(&project, "Cargo.toml").contains(line));
        let tests = text(&project, "tests/passes.rs");
        assert!(tests.contains("= \"/opt/$x/cuweld\";"), "{tests}");
        project.way = Way::C;
        assert!(text(&project, "Makefile").contains("CUWELD ?= '/opt/$$x/cuweld'\n"));
    }
}
