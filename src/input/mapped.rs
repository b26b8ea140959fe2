//! Bringing files into memory.

use std::cell::Cell;
use std::fs::File;
use std::fs::Metadata;
use std::io;
use std::io::Read;

use memmap2::MmapOptions;

use super::arena::InputArena;

/// Files below this size are read: a read into a buffer costs less than setting up a mapping and
/// taking its page faults.
const MAP_THRESHOLD: u64 = 16 << 10;

/// Many small files are mapped, too, once this much has been read: what is read takes memory of our own.
const BUFFER_LIMIT: u64 = 8 << 20;

/// Below this size a mapping takes more memory than the file.
const SMALLEST_MAP: u64 = 2 << 10;

/// All pages of smaller files are mapped at once, as most of them are read: one call in place of a page fault for every 64 KiB. Of
/// larger files, archives first of all, a part may do.
const POPULATE_LIMIT: u64 = 1 << 20;

/// How many files are mapped; a process may have 65530 mappings.
const MAP_LIMIT: usize = 48 << 10;

/// How much is read from something that is not a regular file (a pipe has no size to go by).
const STREAM_LIMIT: u64 = 4 << 30;

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

/// A file's contents.
#[derive(Clone, Debug)]
pub struct LoadedFile<'data> {
    /// All its bytes.
    pub bytes: &'data [u8],
    /// Which file it is.
    pub identity: FileIdentity,
}

/// Small files beyond so many bytes are read into shared memory.
const FIRST_BUFFERS: u64 = 256 << 10;

/// How much memory small files share; the system can give it as one page.
const SHARED_BUFFER: usize = 2 << 20;

/// Reads or maps a file. The file must not be changed while the link runs.
pub fn load<'data>(path: &str, arena: &'data InputArena) -> io::Result<LoadedFile<'data>> {
    Loader::new(arena).load(path)
}

/// Reads or maps files, one after the other.
pub struct Loader<'data> {
    arena: &'data InputArena,
    /// What is left of the memory that small files share.
    rest: Cell<&'data mut [u8]>,
}

impl<'data> Loader<'data> {
    /// One that has read nothing.
    pub fn new(arena: &'data InputArena) -> Self {
        Loader {
            arena,
            rest: Cell::default(),
        }
    }

    /// Reads or maps a file. The file must not be changed while the link runs.
    pub fn load(&self, path: &str) -> io::Result<LoadedFile<'data>> {
        let arena = self.arena;
        let mut file = File::open(path)?;
        arena.note_opened(path);
        let metadata = file.metadata()?;
        if metadata.is_dir() {
            return Err(io::Error::from(io::ErrorKind::IsADirectory));
        }
        let identity = identity(path, &metadata);
        let is_mapped = match metadata.len() {
            _ if !metadata.is_file() || arena.maps_kept() >= MAP_LIMIT => false,
            0..SMALLEST_MAP => false,
            SMALLEST_MAP..MAP_THRESHOLD => arena.bytes_buffered() >= BUFFER_LIMIT,
            MAP_THRESHOLD.. => true,
        };
        let bytes = if is_mapped {
            let mut options = MmapOptions::new();
            if metadata.len() < POPULATE_LIMIT {
                options.populate();
            }
            // SAFETY: the mapping is private and read-only, and the arena keeps it as long as the
            // slice lives. That nobody else changes or truncates the file meanwhile cannot be enforced
            // on this platform; it is the documented contract of `load` and `discover`, as it is of
            // every linker that maps its inputs.
            let map = unsafe { options.map(&file) }?;
            arena.keep_map(map)
        } else if metadata.is_file() && (1..MAP_THRESHOLD).contains(&metadata.len()) {
            self.read(&mut file, metadata.len() as usize)?
        } else {
            let mut buffer = Vec::new();
            file.by_ref().take(STREAM_LIMIT).read_to_end(&mut buffer)?;
            arena.keep_buffer(buffer)
        };
        Ok(LoadedFile { bytes, identity })
    }

    /// The bytes of a small file, which a single call reads if the file has the size that it says.
    fn read(&self, file: &mut File, size: usize) -> io::Result<&'data [u8]> {
        let mut buffer = self.buffer(size);
        let mut end = 0;
        while end < size {
            match file.read(&mut buffer[end..]) {
                Ok(0) => break,
                Ok(more) => end += more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        buffer = &mut buffer[..end];
        Ok(buffer)
    }

    /// Memory of this size, all zeros.
    fn buffer(&self, size: usize) -> &'data mut [u8] {
        if self.arena.bytes_buffered() < FIRST_BUFFERS {
            return self.arena.keep_zeros(size);
        }
        let mut rest = self.rest.take();
        if rest.len() < size {
            rest = match self.arena.keep_shared(SHARED_BUFFER) {
                Ok(shared) => shared,
                Err(_) => return self.arena.keep_zeros(size),
            };
        }
        let (buffer, rest) = rest.split_at_mut(size);
        self.rest.set(rest);
        self.arena.count_buffered(size);
        buffer
    }
}

#[cfg(unix)]
fn identity(_path: &str, metadata: &Metadata) -> FileIdentity {
    use std::os::unix::fs::MetadataExt;
    FileIdentity::Inode {
        device: metadata.dev(),
        inode: metadata.ino(),
    }
}

#[cfg(not(unix))]
fn identity(path: &str, _metadata: &Metadata) -> FileIdentity {
    let name = std::fs::canonicalize(path).map(|path| path.to_string_lossy().into_owned());
    FileIdentity::Name(name.unwrap_or_else(|_| path.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_and_large_files_load_alike() {
        let folder = tempfile::tempdir().unwrap();
        let arena = InputArena::new();
        for size in [0usize, 1, 16383, 16384, 300_000] {
            let path = folder.path().join(format!("{size}"));
            let bytes: Vec<u8> = (0..size).map(|i| (i * 7) as u8).collect();
            std::fs::write(&path, &bytes).unwrap();
            let loaded = load(path.to_str().unwrap(), &arena).unwrap();
            assert_eq!(loaded.bytes, bytes);
        }
        assert_eq!((arena.buffers_kept(), arena.maps_kept()), (3, 2));
    }

    #[test]
    fn folders_and_missing_files_are_errors() {
        let folder = tempfile::tempdir().unwrap();
        let arena = InputArena::new();
        assert!(load(folder.path().to_str().unwrap(), &arena).is_err());
        assert!(load(folder.path().join("x").to_str().unwrap(), &arena).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn links_are_the_same_file_and_copies_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let arena = InputArena::new();
        let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        std::fs::write(path("a"), b"x").unwrap();
        std::fs::copy(path("a"), path("copy")).unwrap();
        std::fs::hard_link(path("a"), path("hard")).unwrap();
        std::os::unix::fs::symlink(path("a"), path("soft")).unwrap();
        let identity = |name: &str| load(&path(name), &arena).unwrap().identity;
        assert_eq!(identity("a"), identity("hard"));
        assert_eq!(identity("a"), identity("soft"));
        assert_ne!(identity("a"), identity("copy"));
    }
}
