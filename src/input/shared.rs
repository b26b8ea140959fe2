//! Files that several links read at a time: each is opened once, and what is packed in it is
//! unpacked once as long as a link has it.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;
use std::sync::Weak;

use memmap2::Mmap;

use super::batch::Batch;
use super::batch::Contents;
use super::file_identity::FileStamp;
use super::loaded::Loaded;

/// Files that several links read, by the names that they were asked for with.
#[derive(Default)]
pub struct SharedFiles {
    opened: Mutex<BTreeMap<String, Opened>>,
    loaded: Loaded,
    /// What links have of packed bytes, by the address of these. One that unpacks keeps the others
    /// waiting.
    unpacked: Mutex<BTreeMap<usize, Unpacked>>,
}

/// Unpacked bytes, for as long as a link has them.
type Unpacked = Arc<Mutex<Weak<Vec<u8>>>>;

/// A file, or why there is none.
type Opened = Result<Arc<SharedFile>, OpenError>;

/// An error of the system that can be given to each link.
#[derive(Clone)]
enum OpenError {
    Numbered(i32),
    Other(io::ErrorKind, String),
}

/// A file in memory.
pub(super) struct SharedFile {
    bytes: Bytes,
    /// What it was when it was mapped.
    stamp: Option<FileStamp>,
}

enum Bytes {
    Map(Mmap),
    Own(Vec<u8>),
}

impl SharedFile {
    /// Returns the contents.
    pub(super) fn bytes(&self) -> &[u8] {
        match &self.bytes {
            Bytes::Map(map) => map,
            Bytes::Own(bytes) => bytes,
        }
    }

    /// Returns what the file was when it was mapped; `None` if it was read.
    pub(super) fn stamp(&self) -> Option<&FileStamp> {
        self.stamp.as_ref()
    }
}

impl SharedFiles {
    /// Opens a file that no link has asked for, or returns what is known of it.
    pub(super) fn open(&self, path: &str) -> io::Result<Arc<SharedFile>> {
        let mut opened = lock(&self.opened);
        if let Some(file) = opened.get(path) {
            return file.clone().map_err(io::Error::from);
        }
        let file = self.read(path).map_err(OpenError::from);
        opened.insert(path.to_owned(), file.clone());
        Ok(file?)
    }

    fn read(&self, path: &str) -> io::Result<Arc<SharedFile>> {
        let mut batch = Batch::open(&[path], self.loaded.mapping());
        self.loaded.add(&batch);
        let contents = batch.files.pop().unwrap_or(Ok(Contents::Part(0..0)))?;
        let (bytes, stamp) = match contents {
            Contents::Map(map, stamp) => (Bytes::Map(map), Some(stamp)),
            Contents::Own(bytes) => (Bytes::Own(bytes), None),
            // The buffer has the one file.
            Contents::Part(_) => (Bytes::Own(batch.buffer), None),
        };
        Ok(Arc::new(SharedFile { bytes, stamp }))
    }

    /// Returns what bytes of a file unpack to: what another link has of them, or else what
    /// `unpack` makes.
    pub(super) fn unpacked<E>(
        &self,
        packed: &[u8],
        unpack: impl FnOnce() -> Result<Vec<u8>, E>,
    ) -> Result<Arc<Vec<u8>>, E> {
        let address = packed.as_ptr().addr();
        let entry = Arc::clone(lock(&self.unpacked).entry(address).or_default());
        let mut entry = lock(&entry);
        if let Some(unpacked) = entry.upgrade() {
            return Ok(unpacked);
        }
        let unpacked = Arc::new(unpack()?);
        *entry = Arc::downgrade(&unpacked);
        Ok(unpacked)
    }

    /// Returns the names of the files that were read, sorted.
    pub fn names(&self) -> Vec<String> {
        let opened = lock(&self.opened);
        let read = opened.iter().filter(|(_, file)| file.is_ok());
        read.map(|(name, _)| name.clone()).collect()
    }
}

/// Locks a table, which is whole even if a thread panicked meanwhile.
fn lock<T>(table: &Mutex<T>) -> MutexGuard<'_, T> {
    table.lock().unwrap_or_else(PoisonError::into_inner)
}

impl fmt::Debug for SharedFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedFiles")
            .field("opened", &self.names())
            .finish_non_exhaustive()
    }
}

impl From<io::Error> for OpenError {
    fn from(error: io::Error) -> Self {
        match error.raw_os_error() {
            Some(number) => OpenError::Numbered(number),
            None => OpenError::Other(error.kind(), error.to_string()),
        }
    }
}

impl From<OpenError> for io::Error {
    fn from(error: OpenError) -> Self {
        match error {
            OpenError::Numbered(number) => io::Error::from_raw_os_error(number),
            OpenError::Other(kind, text) => io::Error::new(kind, text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::arena::InputArena;
    use super::super::mapped::Files;
    use super::super::mapped::Sharing;
    use super::*;

    #[test]
    fn files_are_read_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a").to_str().unwrap().to_owned();
        std::fs::write(&path, b"first").unwrap();
        let shared = Arc::new(SharedFiles::default());
        let arenas = [InputArena::sharing(&shared), InputArena::sharing(&shared)];
        for arena in &arenas {
            let files = arena.shared().unwrap();
            let sharing = Sharing { arena, files };
            assert_eq!(sharing.open(&path).unwrap(), b"first");
            assert!(sharing.open("/nowhere").is_err());
            std::fs::write(&path, b"second").unwrap();
        }
        assert_eq!(shared.names(), [path]);
    }

    #[test]
    fn what_is_unpacked_is_lent_as_long_as_somebody_has_it() {
        let shared = Arc::new(SharedFiles::default());
        let packed = b"packed";
        let (one, other) = (InputArena::sharing(&shared), InputArena::sharing(&shared));
        assert_eq!(
            one.unpacked(packed, || Ok::<_, ()>(vec![1, 2])),
            Ok(&[1, 2][..])
        );
        assert_eq!(other.unpacked(packed, || Err(())), Ok(&[1, 2][..]));
        drop((one, other));
        assert_eq!(
            InputArena::sharing(&shared).unpacked(packed, || Err(())),
            Err(())
        );
    }
}
