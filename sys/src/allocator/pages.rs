//! Memory from the system, which the heap grows by.

use std::cell::Cell;
use std::ptr::null_mut;

use dlmalloc::Allocator;
use memmap2::Advice;
use memmap2::MmapMut;

/// Bytes of a large page, where the system has any.
const LARGE_PAGE: usize = 2 << 20;

/// Bytes of a small page, or more: memory comes in whole ones.
const SMALL_PAGE: usize = 4 << 10;

/// The least that the heap grows by before it is known that the link is a large one, on small pages:
/// what is left of them then takes page faults.
pub(super) const LEAST: usize = 256 << 10;

/// Limit for growth on small pages: a command line that needs more memory than this has enough
/// inputs to justify large pages.
const MOST_SMALL: usize = 1 << 20;

/// What the heap grows by.
pub(super) struct Pages {
    /// Bytes on small pages.
    small: Cell<usize>,
    /// Bytes that it grows by, on large pages; 0 if not on those.
    room: Cell<usize>,
}

impl Pages {
    pub(super) const fn new() -> Self {
        Pages {
            small: Cell::new(0),
            room: Cell::new(0),
        }
    }

    /// Switches the heap to growing by `room` bytes of large pages. Returns true if this changed
    /// anything, that is, if the heap is in use and was not switched before.
    pub(super) fn switch_to_large(&mut self, room: usize) -> bool {
        let is_news = self.small.get() != 0 && self.room.get() == 0;
        if is_news {
            self.room.set(room);
        }
        is_news
    }

    /// Returns `true` if the heap grows on large pages.
    pub(super) fn is_large(&self) -> bool {
        self.room.get() != 0
    }
}

// SAFETY: memory is given once, and belongs to nobody else.
unsafe impl Allocator for Pages {
    fn alloc(&self, size: usize) -> (*mut u8, usize, u32) {
        let small = self.small.get();
        let wanted = match self.room.get() {
            0 if small < MOST_SMALL => {
                let more = size.max(LEAST);
                self.small.set(small.saturating_add(more));
                grown(more, false)
            }
            room => grown(size.max(room), true),
        };
        // More than is needed may be more than there is.
        wanted
            .or_else(|| grown(size, false))
            .unwrap_or((null_mut(), 0, 0))
    }

    fn remap(&self, _: *mut u8, _: usize, _: usize, _: bool) -> *mut u8 {
        null_mut()
    }

    fn free_part(&self, _: *mut u8, _: usize, _: usize) -> bool {
        false
    }

    fn free(&self, _: *mut u8, _: usize) -> bool {
        false
    }

    fn can_release_part(&self, _: u32) -> bool {
        false
    }

    fn allocates_zeros(&self) -> bool {
        true
    }

    fn page_size(&self) -> usize {
        SMALL_PAGE
    }
}

/// Maps new memory of at least this number of bytes; `None` if the system has none.
fn grown(bytes: usize, is_large: bool) -> Option<(*mut u8, usize, u32)> {
    let page = if is_large { LARGE_PAGE } else { SMALL_PAGE };
    let pages = bytes.checked_next_multiple_of(page)?;
    // Memory that takes whole large pages is put at the beginning of one. The heap notes where it
    // ends at its end, on a small page: what lies after that is never touched, and takes no memory.
    let all = pages.checked_add(page)?;
    // The error about a larger one would take memory.
    isize::try_from(all).ok()?;
    let mut memory = MmapMut::map_anon(all).ok()?;
    if is_large {
        // A system that does not know the advice gives it page by page.
        let _ = memory.advise_range(Advice::HugePage, 0, pages);
    }
    let start = memory.as_mut_ptr();
    // It is the heap's until the program ends.
    std::mem::forget(memory);
    Some((start, pages + SMALL_PAGE, 0))
}
