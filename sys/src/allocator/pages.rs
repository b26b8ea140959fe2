//! Memory from the system, which the heap grows by.

use std::cell::Cell;
use std::cell::UnsafeCell;
use std::ptr::null_mut;

use dlmalloc::Allocator;
use rustix::mm;
use rustix::mm::Advice;
use rustix::mm::MapFlags;
use rustix::mm::ProtFlags;

/// Bytes of a large page, where the system has any.
const LARGE_PAGE: usize = 2 << 20;

/// Bytes of a small page, or more: memory comes in whole ones.
const SMALL_PAGE: usize = 4 << 10;

/// Bytes that the heap begins with.
pub(super) const FIRST: usize = 256 << 10;

/// The least that it grows by before it is known that the link is a large one, on small pages: what
/// is left of them then takes page faults.
const LEAST: usize = 256 << 10;

/// Limit for growth on small pages: a command line that needs more memory than this has enough
/// inputs to justify large pages.
const MOST_SMALL: usize = 1 << 20;

/// Memory that comes with the program: links of small inputs ask the system for none. What is not
/// used is never touched, and takes none.
#[repr(align(4096))]
struct First(UnsafeCell<[u8; FIRST]>);

// SAFETY: nothing but the heap uses it, which one thread at a time asks.
unsafe impl Sync for First {}

static FIRST_MEMORY: First = First(UnsafeCell::new([0; FIRST]));

/// What the heap grows by.
pub(super) struct Pages {
    /// Bytes on small pages, the first memory among them.
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
        if size <= FIRST && small == 0 {
            self.small.set(FIRST);
            return (FIRST_MEMORY.0.get().cast(), FIRST, 0);
        }
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
    let access = ProtFlags::READ | ProtFlags::WRITE;
    // SAFETY: memory that nobody has.
    let start = unsafe { mm::mmap_anonymous(null_mut(), all, access, MapFlags::PRIVATE) }.ok()?;
    if is_large {
        // SAFETY: this memory; a system that does not know the advice gives it page by page.
        let _ = unsafe { mm::madvise(start, pages, Advice::LinuxHugepage) };
    }
    Some((start.cast(), pages + SMALL_PAGE, 0))
}
