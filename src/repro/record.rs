//! Writing a reproducer.

use crate::file_name;
use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Component;
use std::path::Path;
use std::path::PathBuf;

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::codes::system;

use super::DESCRIPTION;
use super::Description;
use super::FILES;
use super::FORMAT;
use crate::controls::Controls;
use crate::diagnostics::Reporter;
use crate::input::InputArena;

/// Collects what a reproducer of this run needs.
#[derive(Clone, Debug, Default)]
pub struct Recorder {
    description: Description,
    files: Vec<String>,
}

impl Recorder {
    /// Creates a recorder of a run with these arguments, without the program's name.
    pub fn new(arguments: Vec<String>) -> Self {
        Recorder {
            description: Description {
                format: FORMAT,
                cuweld: env!("CARGO_PKG_VERSION").to_owned(),
                arguments,
                ..Description::default()
            },
            files: Vec::new(),
        }
    }

    /// Notes the arguments of the same link for nvlink.
    pub fn nvlink_arguments(&mut self, arguments: Vec<String>) {
        self.description.nvlink_arguments = Some(arguments);
    }

    /// Notes a file that the run read, beside those that the arena knows.
    pub fn file(&mut self, path: &str) {
        self.files.push(path.to_owned());
    }

    /// Writes the archive. Files that cannot be read any more are left out.
    fn write(
        &self,
        archive: &Path,
        controls: &Controls,
        inputs: &InputArena,
        exit: u8,
    ) -> io::Result<()> {
        let mut description = self.description.clone();
        description.exit = exit;
        description.environment = environment();
        description.folder = std::env::current_dir()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        description.pipeline = controls.selection.asked().cloned().unwrap_or_default();
        let folder = Path::new(&description.folder);
        let opened = inputs.opened();
        let files: BTreeSet<PathBuf> = opened
            .iter()
            .chain(&self.files)
            .map(|name| file_name::path(name).into_owned())
            .chain(controls.files())
            .map(|path| normal(&folder.join(path)))
            .collect();
        let mut out = tar::Builder::new(io::BufWriter::new(File::create(archive)?));
        let text = serde_json::to_string_pretty(&description)?;
        append(&mut out, Path::new(DESCRIPTION), text.as_bytes(), PLAIN)?;
        for path in files {
            let Ok(bytes) = std::fs::read(&path) else {
                continue;
            };
            let inside = path.strip_prefix("/").unwrap_or(&path);
            append(
                &mut out,
                &Path::new(FILES).join(inside),
                &bytes,
                mode(&path),
            )?;
        }
        use io::Write;
        out.into_inner()?.flush()
    }
}

/// Returns `true` if a variable matters to a run; no other one is taken from a reproducer.
pub(super) fn is_known(name: &str) -> bool {
    name.starts_with("CUWELD_") || name == "LIBRARY_PATH"
}

/// Returns the variables that matter to a run, by name.
fn environment() -> Vec<(String, String)> {
    let mut environment: Vec<(String, String)> = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .filter(|(name, _)| is_known(name))
        .collect();
    environment.sort();
    environment
}

/// Writes the reproducer that was asked for; after an internal error, one in the folder for
/// temporary files, and says so. Most runs need no recorder.
pub fn finish(
    recorder: impl FnOnce() -> Recorder,
    controls: &Controls,
    inputs: &InputArena,
    reporter: &mut Reporter<'_>,
) -> io::Result<()> {
    let asked = controls.repro.as_deref();
    let path = match asked {
        Some(path) => PathBuf::from(path),
        None if reporter.internal_error => unguessed_path()?,
        None => return Ok(()),
    };
    let name = path.display().to_string();
    let _span = tracing::info_span!("reproducer").entered();
    match recorder().write(&path, controls, inputs, reporter.exit_code()) {
        Err(error) => {
            let message = format!("cannot write reproducer '{name}': {error}");
            reporter.report(&Diagnostic::fatal(system::CANNOT_WRITE, message))
        }
        Ok(()) if asked.is_some() => Ok(()),
        Ok(()) => reporter.text(&format!(
            "note: this is a bug in cuweld; '{name}' holds all that is needed to see it again\n  \
             help: `cuweld replay {name}` runs it; it contains the inputs of the link\n"
        )),
    }
}

/// Makes an empty file in the folder for temporary files, whose name nobody can know before.
fn unguessed_path() -> io::Result<PathBuf> {
    let file = tempfile::Builder::new()
        .prefix("cuweld-repro-")
        .suffix(".tar")
        .tempfile()?;
    Ok(file.into_temp_path().keep()?)
}

/// The mode of a file that is no program.
const PLAIN: u32 = 0o644;

/// Returns the mode that a file has in the archive: programs stay programs.
fn mode(path: &Path) -> u32 {
    let is_program =
        std::fs::metadata(path).is_ok_and(|data| data.permissions().mode() & 0o100 != 0);
    if is_program { 0o755 } else { PLAIN }
}

fn append<W: io::Write>(
    out: &mut tar::Builder<W>,
    name: &Path,
    bytes: &[u8],
    mode: u32,
) -> io::Result<()> {
    let mut header = tar::Header::new_gnu();
    header.set_size(bytes.len() as u64);
    header.set_mode(mode);
    // No time and no owner: equal links give equal archives.
    header.set_mtime(0);
    out.append_data(&mut header, name, bytes)
}

/// Returns a path without `.` and `..`, as far as names say; links are not followed.
pub(super) fn normal(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_made_normal() {
        assert_eq!(normal(Path::new("/a/./b/../c")), Path::new("/a/c"));
        assert_eq!(normal(Path::new("/../a")), Path::new("/a"));
    }
}
