//! The output file appears whole or not at all.

use std::fs::File;
use std::io;
use std::io::Write;
use std::path::Path;
use std::path::PathBuf;

use cuweld_ir::elf::WriteError;
use thiserror::Error;

/// Why an output file was not written.
#[derive(Debug, Error)]
pub enum OutputError {
    /// The system refused.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// A plan that no pass could have made.
    #[error("internal error: {0}")]
    Plan(WriteError),
    /// The link was stopped before the file was planned.
    #[error("internal error: there is no plan")]
    NoPlan,
}

/// Writes a file beside its final place and renames it into place. A place that is no regular file
/// (a device, a pipe) is written directly.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> io::Result<()> {
    write_atomically_with(path, None, |file| file.write_all(bytes))
}

/// As [`write_atomically`], for a file whose bytes come bit by bit and whose size may be known.
pub fn write_atomically_with<E: From<io::Error>>(
    path: &Path,
    size: Option<u64>,
    write: impl FnOnce(&mut File) -> Result<(), E>,
) -> Result<(), E> {
    let found = std::fs::symlink_metadata(path);
    if found.as_ref().is_ok_and(|metadata| !metadata.is_file()) {
        return write(&mut File::create(path)?);
    }
    let (mut file, unfinished) = Unfinished::create(path)?;
    if let Some(size) = size {
        file.set_len(size)?;
    }
    write(&mut file)?;
    if found.is_err() || !exchange(&unfinished.path, path) {
        std::fs::rename(&unfinished.path, path)?;
        unfinished.forget();
    }
    Ok(())
}

/// A file beside the output, which is removed with the value.
struct Unfinished {
    path: PathBuf,
}

impl Unfinished {
    /// A new file with the permissions that the user's umask leaves.
    fn create(output: &Path) -> io::Result<(File, Self)> {
        let process = std::process::id();
        let mut number = 0u32;
        loop {
            let path = output.with_file_name(format!(".cuweld-{process}-{number}"));
            match File::create_new(&path) {
                Ok(file) => return Ok((file, Unfinished { path })),
                // Left behind by a process that was killed, or made by another thread.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
                Err(error) => return Err(error),
            }
        }
    }

    /// It is the output now.
    fn forget(mut self) {
        self.path = PathBuf::new();
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if !self.path.as_os_str().is_empty() {
            // What cannot be removed is a file too many, and no reason to fail.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Lets two files change places, so that the old output can be removed as a file of its own. A rename over it has the same outcome,
/// but ext4 then writes the new file to the disk before it returns. `false` where the file system cannot do so.
#[cfg(target_os = "linux")]
fn exchange(one: &Path, other: &Path) -> bool {
    use rustix::fs::CWD;
    use rustix::fs::RenameFlags;
    rustix::fs::renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE).is_ok()
}

#[cfg(not(target_os = "linux"))]
fn exchange(_one: &Path, _other: &Path) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::write_atomically;

    #[test]
    fn the_file_appears_whole_and_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.cubin");
        write_atomically(&path, b"one").unwrap();
        write_atomically(&path, b"two").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"two");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        assert!(write_atomically(&folder.path().join("none/out"), b"x").is_err());
    }
}
