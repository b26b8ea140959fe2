//! How much is in memory, which decides what is mapped.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering;

use super::batch::Batch;
use super::batch::Contents;
use super::batch::Mapping;

/// Many small files are mapped, too, once this much has been read: what is read takes memory of our
/// own.
const BUFFER_LIMIT: u64 = 64 << 20;

/// How many files are mapped; a process may have 65530 mappings.
const MAP_LIMIT: usize = 48 << 10;

/// How much is in memory.
#[derive(Default)]
pub(super) struct Loaded {
    /// Mappings.
    maps: AtomicUsize,
    /// Bytes in buffers.
    buffered: AtomicU64,
}

impl Loaded {
    /// Returns the counts of what an arena has in memory.
    pub(super) fn new(maps: usize, buffered: u64) -> Self {
        Loaded {
            maps: AtomicUsize::new(maps),
            buffered: AtomicU64::new(buffered),
        }
    }

    /// Returns the kind of files that are mapped from now on.
    pub(super) fn mapping(&self) -> Mapping {
        if self.maps.load(Ordering::Relaxed) >= MAP_LIMIT {
            Mapping::None
        } else if self.buffered.load(Ordering::Relaxed) >= BUFFER_LIMIT {
            Mapping::Small
        } else {
            Mapping::Large
        }
    }

    /// Counts files that were opened.
    pub(super) fn add(&self, batch: &Batch) {
        let (mut maps, mut bytes) = (0, batch.buffer.len());
        for contents in batch.files.iter().flatten() {
            match contents {
                Contents::Map(..) => maps += 1,
                Contents::Own(own) => bytes += own.len(),
                Contents::Part(_) => {}
            }
        }
        self.maps.fetch_add(maps, Ordering::Relaxed);
        self.buffered.fetch_add(bytes as u64, Ordering::Relaxed);
    }
}
