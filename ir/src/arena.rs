//! The arena that owns bytes which no input holds: records the linker creates, parsed text.

use std::cell::Cell;

use bumpalo::Bump;
use typed_arena::Arena as TypedArena;

/// A bump allocator for byte strings that live as long as the module.
///
/// One arena belongs to one thread; what threads make, they make in memory that it gave before.
#[derive(Default)]
pub struct Arena {
    bump: Bump,
    /// What is asked for zeroed is large, and all of it at once: after it the arena would ask the
    /// system for twice as much.
    zeroed: Bump,
    /// Buffers that were taken over, and their bytes.
    kept: TypedArena<Vec<u8>>,
    kept_bytes: Cell<usize>,
}

impl Arena {
    /// Creates an empty arena; nothing is reserved until the first allocation.
    pub fn new() -> Self {
        Self::default()
    }

    /// Copies bytes into the arena.
    pub fn bytes(&self, bytes: &[u8]) -> &[u8] {
        self.bump.alloc_slice_copy(bytes)
    }

    /// Allocates `size` zero bytes in the arena, which the caller may change.
    #[allow(clippy::mut_from_ref)]
    pub fn zeroed(&self, size: usize) -> &mut [u8] {
        self.zeroed.alloc_slice_fill_copy(size, 0)
    }

    /// Takes over bytes.
    pub fn keep(&self, bytes: Vec<u8>) -> &[u8] {
        self.kept_bytes
            .set(self.kept_bytes.get() + bytes.capacity());
        self.kept.alloc(bytes)
    }

    /// Copies two strings of bytes into the arena, one after the other.
    pub fn joined(&self, first: &[u8], second: &[u8]) -> &[u8] {
        let joined = self
            .bump
            .alloc_slice_fill_copy(first.len() + second.len(), 0);
        let (start, end) = joined.split_at_mut(first.len());
        start.copy_from_slice(first);
        end.copy_from_slice(second);
        joined
    }

    /// Copies a string into the arena.
    pub fn string(&self, text: &str) -> &str {
        self.bump.alloc_str(text)
    }

    /// Returns the number of bytes taken from the system so far.
    pub fn allocated_bytes(&self) -> usize {
        self.bump.allocated_bytes() + self.zeroed.allocated_bytes() + self.kept_bytes.get()
    }
}
