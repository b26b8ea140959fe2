//! The owner of all input bytes.

use std::cell::Cell;
use std::fmt;
use std::sync::Mutex;
use std::sync::PoisonError;

use memmap2::Mmap;
use typed_arena::Arena;

/// Owns mapped files, files read into memory and decompressed images for the length of a link.
///
/// The caller makes one before discovery; everything that discovery returns borrows from it.
#[derive(Default)]
pub struct InputArena {
    buffers: Arena<Vec<u8>>,
    maps: Arena<Mmap>,
    opened: Mutex<Vec<String>>,
    /// Bytes in `buffers`.
    buffered: Cell<u64>,
}

impl InputArena {
    /// An empty arena.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes over a buffer and lends its bytes.
    pub fn keep_buffer(&self, buffer: Vec<u8>) -> &[u8] {
        let bytes = self.buffered.get().saturating_add(buffer.len() as u64);
        self.buffered.set(bytes);
        self.buffers.alloc(buffer)
    }

    /// Takes over a mapping and lends its bytes.
    pub fn keep_map(&self, map: Mmap) -> &[u8] {
        self.maps.alloc(map)
    }

    /// Remembers a file that was read.
    pub fn note_opened(&self, path: &str) {
        // Another thread that panicked has left the list whole.
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        opened.push(path.to_owned());
    }

    /// The files that were read, as they were named, in the order of reading.
    pub fn opened(&self) -> Vec<String> {
        let opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        opened.clone()
    }

    /// How many buffers it owns.
    pub fn buffers_kept(&self) -> usize {
        self.buffers.len()
    }

    /// How many bytes its buffers hold.
    pub fn bytes_buffered(&self) -> u64 {
        self.buffered.get()
    }

    /// How many mappings it owns.
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
