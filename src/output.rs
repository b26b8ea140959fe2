//! The output file appears whole or not at all.

use std::fs::File;
use std::io;
use std::io::Write;
use std::path::Path;

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
    if std::fs::symlink_metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
        return write(&mut File::create(path)?);
    }
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut file = tempfile::Builder::new()
        .prefix(".cuweld-")
        .tempfile_in(folder)?;
    if let Some(size) = size {
        file.as_file().set_len(size)?;
    }
    write(file.as_file_mut())?;
    set_default_mode(file.as_file())?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// Temporary files are private; a linker's output is as readable as the user's umask says.
fn set_default_mode(file: &File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(std::fs::Permissions::from_mode(0o644))
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
