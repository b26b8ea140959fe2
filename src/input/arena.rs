//! The owner of all input bytes.

use std::cell::Cell;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::PoisonError;

use memmap2::Mmap;
use typed_arena::Arena;

use super::file_identity::FileStamp;
use super::identify::FileKind;
use super::shared::SharedFile;
use super::shared::SharedFiles;
use crate::limits::LimitError;
use crate::limits::Limits;

/// A file that is in memory from the start.
pub(super) struct GivenFile {
    pub(super) bytes: Vec<u8>,
    /// What the caller has told of it.
    pub(super) told: Option<ToldInput>,
}

/// What a caller tells of an input.
#[derive(Clone, Debug)]
pub(crate) struct ToldInput {
    /// The name that messages use.
    pub(crate) name: String,
    pub(crate) kind: FileKind,
    /// Whether it was compiled for this link.
    pub(crate) is_compiled: bool,
}

/// Owns mapped files, files read into memory and decompressed images for the length of a link.
///
/// The caller makes one before discovery; everything that discovery returns borrows from it.
#[derive(Default)]
pub struct InputArena {
    buffers: Arena<Vec<u8>>,
    maps: Arena<Mmap>,
    /// The files that are mapped, as they were then.
    stamps: RefCell<Vec<(String, FileStamp)>>,
    /// The files that there are, if the file system is not asked.
    files: Option<BTreeMap<String, GivenFile>>,
    /// The files that other links have, too.
    shared: Option<Arc<SharedFiles>>,
    shared_files: Arena<Arc<SharedFile>>,
    shared_buffers: Arena<Arc<Vec<u8>>>,
    opened: Mutex<Vec<String>>,
    /// Bytes in `buffers`.
    buffered: Cell<u64>,
    /// What was unpacked before it is asked for, by the address of the packed bytes.
    unpacked: RefCell<BTreeMap<usize, Vec<u8>>>,
    /// How much may be unpacked, and the bytes that were unpacked so far, and to how many.
    limits: Cell<Limits>,
    packed_bytes: Cell<u64>,
    unpacked_bytes: Cell<u64>,
}

impl InputArena {
    /// Creates an empty arena.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates an arena with all files that there are, by name: nothing is looked for in the file
    /// system then, nor libraries and members of thin archives.
    pub fn of_files<N: Into<String>, B: Into<Vec<u8>>>(
        files: impl IntoIterator<Item = (N, B)>,
    ) -> Self {
        let file = |(name, bytes): (N, B)| {
            let (bytes, told) = (bytes.into(), None);
            (name.into(), GivenFile { bytes, told })
        };
        InputArena {
            files: Some(files.into_iter().map(file).collect()),
            ..Self::default()
        }
    }

    /// Creates an arena with these inputs, several of which may have the same name. They are looked
    /// for by their numbers.
    pub(crate) fn of_inputs(inputs: impl IntoIterator<Item = (ToldInput, Vec<u8>)>) -> Self {
        let file = |(number, (told, bytes)): (usize, (ToldInput, Vec<u8>))| {
            let told = Some(told);
            (number.to_string(), GivenFile { bytes, told })
        };
        InputArena {
            files: Some((0..).zip(inputs).map(file).collect()),
            ..Self::default()
        }
    }

    /// Creates an arena for one of several links that share their files.
    pub fn sharing(files: &Arc<SharedFiles>) -> Self {
        InputArena {
            shared: Some(Arc::clone(files)),
            ..Self::default()
        }
    }

    /// Returns the files that other links have, too.
    pub(super) fn shared(&self) -> Option<&SharedFiles> {
        self.shared.as_deref()
    }

    /// Takes a share in a file and lends its bytes.
    pub(super) fn keep_shared(&self, file: Arc<SharedFile>, path: &str) -> &[u8] {
        let stamp = file.stamp().map(|stamp| (path.to_owned(), stamp.clone()));
        self.stamps.borrow_mut().extend(stamp);
        self.shared_files.alloc(file).bytes()
    }

    /// Lends what packed bytes unpack to, which a link that shares the files may have already.
    pub(super) fn unpacked<E>(
        &self,
        packed: &[u8],
        unpack: impl FnOnce() -> Result<Vec<u8>, E>,
    ) -> Result<&[u8], E> {
        Ok(match &self.shared {
            None => self.keep_buffer(unpack()?),
            Some(shared) => self.shared_buffers.alloc(shared.unpacked(packed, unpack)?),
        })
    }

    /// Returns the files that the arena began with, if it is not the file system that has them.
    pub(super) fn files(&self) -> Option<&BTreeMap<String, GivenFile>> {
        self.files.as_ref()
    }

    /// Takes over a buffer and lends its bytes.
    pub fn keep_buffer(&self, buffer: Vec<u8>) -> &[u8] {
        let bytes = self.buffered.get().saturating_add(buffer.len() as u64);
        self.buffered.set(bytes);
        self.buffers.alloc(buffer)
    }

    /// Takes over the mapping of a file and lends its bytes.
    pub(super) fn keep_map(&self, map: Mmap, path: &str, stamp: FileStamp) -> &[u8] {
        self.stamps.borrow_mut().push((path.to_owned(), stamp));
        self.maps.alloc(map)
    }

    /// Returns the first file that was written since it was mapped, if there is one: what came of
    /// its bytes may be of both contents.
    pub fn changed(&self) -> Option<String> {
        let stamps = self.stamps.borrow();
        let changed = stamps.iter().find(|(path, stamp)| stamp.is_outdated(path));
        changed.map(|(path, _)| path.clone())
    }

    /// Takes over what packed bytes unpack to, until it is asked for.
    pub(super) fn keep_unpacked(&self, packed: &[u8], unpacked: Vec<u8>) {
        let address = packed.as_ptr().addr();
        self.unpacked.borrow_mut().insert(address, unpacked);
    }

    /// Takes the bytes to which `packed` unpacks, if they are known already.
    pub(super) fn take_unpacked(&self, packed: &[u8]) -> Option<Vec<u8>> {
        self.unpacked.borrow_mut().remove(&packed.as_ptr().addr())
    }

    /// Begins a walk over the inputs, in which no more is unpacked than these limits allow.
    pub(super) fn set_limits(&self, limits: Limits) {
        self.limits.set(limits);
        self.packed_bytes.set(0);
        self.unpacked_bytes.set(0);
    }

    /// Notes that bytes are unpacked.
    ///
    /// # Errors
    ///
    /// If these are too many, with those before them.
    pub(super) fn count_unpacked(&self, packed: u64, unpacked: u64) -> Result<(), LimitError> {
        let packed = self.packed_bytes.get().saturating_add(packed);
        let unpacked = self.unpacked_bytes.get().saturating_add(unpacked);
        self.limits.get().unpacked(unpacked, packed)?;
        self.packed_bytes.set(packed);
        self.unpacked_bytes.set(unpacked);
        Ok(())
    }

    /// Remembers a file that was read.
    pub fn note_opened(&self, path: &str) {
        // Another thread that panicked has left the list whole.
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        opened.push(path.to_owned());
    }

    /// Returns the files that were read, as they were named, in the order of reading.
    pub fn opened(&self) -> Vec<String> {
        let opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        opened.clone()
    }

    /// Returns the number of buffers that the arena owns.
    pub fn buffers_kept(&self) -> usize {
        self.buffers.len()
    }

    /// Returns the number of bytes that the arena's buffers hold.
    pub fn bytes_buffered(&self) -> u64 {
        self.buffered.get()
    }

    /// Returns the number of mappings that the arena owns.
    pub fn maps_kept(&self) -> usize {
        self.maps.len()
    }
}

impl fmt::Debug for InputArena {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InputArena")
            .field("buffers", &self.buffers_kept())
            .field("maps", &self.maps_kept())
            .finish()
    }
}
