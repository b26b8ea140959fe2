//! Which file a name means, and which contents of it were mapped, as far as the file system tells.

use std::fs::Metadata;
use std::time::SystemTime;

/// What makes two names the same file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FileIdentity {
    /// Device and inode: links and other spellings of a path are the same file.
    Inode {
        /// Device number.
        device: u64,
        /// Inode number on that device.
        inode: u64,
    },
    /// A name, where there is nothing better: inputs given as bytes.
    Name(String),
}

impl FileIdentity {
    /// Returns the identity that the system gives a file; `None` where it gives none.
    #[cfg(unix)]
    pub(super) fn of(metadata: &Metadata) -> Option<Self> {
        use std::os::unix::fs::MetadataExt;
        Some(FileIdentity::Inode {
            device: metadata.dev(),
            inode: metadata.ino(),
        })
    }

    #[cfg(not(unix))]
    pub(super) fn of(_metadata: &Metadata) -> Option<Self> {
        None
    }
}

/// What changes with the contents of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FileStamp {
    /// Which file it is; `None` where the system does not say.
    identity: Option<FileIdentity>,
    /// In bytes.
    size: u64,
    /// When it was written last; `None` where the file system does not say.
    modified: Option<SystemTime>,
}

impl FileStamp {
    /// Takes the stamp of a file that is open.
    pub(super) fn of(metadata: &Metadata) -> Self {
        FileStamp {
            identity: FileIdentity::of(metadata),
            size: metadata.len(),
            modified: metadata.modified().ok(),
        }
    }

    /// Returns `true` if the file was written since. One that another took the place of was not:
    /// what was mapped of it stays as it is.
    pub(super) fn is_outdated(&self, path: &str) -> bool {
        std::fs::metadata(crate::file_name::path(path)).is_ok_and(|metadata| {
            let now = Self::of(&metadata);
            now.identity == self.identity && now != *self
        })
    }
}

#[cfg(test)]
mod tests {
    use super::FileStamp;

    #[test]
    fn files_that_are_written_or_cut_are_outdated() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.o");
        let name = path.to_str().unwrap();
        let stamp = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            FileStamp::of(&std::fs::metadata(&path).unwrap())
        };
        let first = stamp(b"one");
        assert!(!first.is_outdated(name));
        let second = stamp(b"longer");
        assert!(first.is_outdated(name) && !second.is_outdated(name));
        // The old contents stay where another file comes in their place, or none.
        let other = folder.path().join("b.o");
        std::fs::write(&other, b"another").unwrap();
        std::fs::rename(&other, &path).unwrap();
        assert!(!second.is_outdated(name));
        std::fs::remove_file(&path).unwrap();
        assert!(!second.is_outdated(name));
    }
}
