//! Memory of large links comes on large pages, where the system gives them to those who ask: a page fault takes longer than filling the
//! small page that it brings.

use std::alloc::GlobalAlloc;
use std::alloc::Layout;
use std::alloc::System;

/// Bytes of a large page, where the system has any.
const PAGE: usize = 2 << 20;

/// Bytes of a small page, or more: advice is given for whole ones.
#[cfg(target_os = "linux")]
const SMALL_PAGE: usize = 4 << 10;

/// What the allocator writes before a large block, or more. The system puts memory that takes whole large pages at the beginning of one.
const BLOCK_HEADER: usize = 64;

/// The system's allocator; blocks that hold large pages ask for them.
#[derive(Clone, Copy, Debug)]
pub struct LargePages;

// SAFETY: every block is the system allocator's, which gets back what it gave, with the layout that it was asked for.
unsafe impl GlobalAlloc for LargePages {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        asked_for(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        asked_for(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises; this is the layout that the block was asked for with.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as the caller promises; this is the layout that the block was asked for with.
        asked_for(unsafe { System.realloc(block, layout, size) }, size)
    }
}

/// The block, which has asked for large pages: for all that it is, as the system cannot move what is advised in part.
#[inline]
fn asked_for(block: *mut u8, size: usize) -> *mut u8 {
    if size >= PAGE && !block.is_null() {
        ask(block, size);
    }
    block
}

/// Asks for large pages for the small pages that bytes lie on.
#[cfg(target_os = "linux")]
fn ask(block: *mut u8, bytes: usize) {
    // SAFETY: the advice is one of these.
    unsafe { advise(block, bytes, rustix::mm::Advice::LinuxHugepage) };
}

/// Gives advice for the small pages that bytes lie on. A system that does not know it gives memory page by page.
///
/// # Safety
///
/// The advice is one that changes neither what memory holds nor whether it can be read or written.
#[cfg(target_os = "linux")]
unsafe fn advise(start: *const u8, bytes: usize, advice: rustix::mm::Advice) {
    let before = start.addr() % SMALL_PAGE;
    let place = start.wrapping_sub(before).cast_mut().cast();
    let bytes = (bytes + before).next_multiple_of(SMALL_PAGE);
    // SAFETY: such advice changes nothing that a program can see, whoever the memory belongs to.
    let _ = unsafe { rustix::mm::madvise(place, bytes, advice) };
}

/// Smaller images are not worth the call.
#[cfg(target_os = "linux")]
const SMALLEST_PREFAULT: usize = 128 << 10;

/// Has the system map all pages of an image at once, before it is read: one call in place of a page fault for every 64 KiB, and the
/// calls that write from pages that are not mapped take twice the time (measured).
#[cfg(target_os = "linux")]
pub(crate) fn prefault(image: &[u8]) {
    if image.len() >= SMALLEST_PREFAULT {
        // SAFETY: the advice is one of those that change nothing.
        unsafe {
            advise(
                image.as_ptr(),
                image.len(),
                rustix::mm::Advice::LinuxPopulateRead,
            )
        };
    }
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn prefault(_image: &[u8]) {}

#[cfg(not(target_os = "linux"))]
fn ask(_block: *mut u8, _bytes: usize) {}

/// Smaller inputs take not enough memory for large pages.
const SMALLEST: u64 = 512 << 10;

/// The most that the heap grows at once.
const MOST: u64 = 256 << 20;

/// What is left of the heap before it grows, or more.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const TOP: usize = 256 << 10;

/// Gives the heap room on large pages for a link of inputs of so many bytes, once for the program; whether they are worth it. Memory that
/// is not used is not taken.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub fn prepare(bytes: u64) -> bool {
    static ONCE: std::sync::Once = std::sync::Once::new();
    let is_worth_it = bytes >= SMALLEST;
    if is_worth_it {
        ONCE.call_once(|| make_room(bytes));
    }
    is_worth_it
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn make_room(bytes: u64) {
    use std::ffi::c_int;
    let room = bytes.saturating_mul(4).min(MOST) as usize;
    let block = PAGE / 2;
    // SAFETY: these settings, of which each is a valid one, change where blocks come from; the blocks are given back as they came, or never,
    // and the first lies on the heap, which ends where the program's data do. Advice changes neither what memory holds nor whether it can
    // be read or written.
    unsafe {
        // Blocks of large pages get their own memory, and give it back.
        libc::mallopt(libc::M_MMAP_THRESHOLD, PAGE as c_int);
        libc::mallopt(libc::M_TRIM_THRESHOLD, c_int::MAX);
        // The last large page is a whole one.
        let end = libc::sbrk(0).addr();
        let whole = end
            .checked_add(room)
            .and_then(|last| last.checked_next_multiple_of(PAGE));
        let room = whole.map_or(room, |last| last - end) + TOP;
        libc::mallopt(libc::M_TOP_PAD, room as c_int);
        let start = libc::malloc(block).cast::<u8>();
        let end = libc::sbrk(0).cast::<u8>();
        let heap = end.addr().checked_sub(start.addr());
        let heap = heap.filter(|heap| *heap >= block && *heap <= room + PAGE);
        if let Some(heap) = heap {
            ask(start, heap);
        }
        libc::free(start.cast());
        // The heap goes on at its first large page. What comes before is never touched, and takes no memory. The compiler leaves out a
        // block that nobody sees.
        if heap.is_some() {
            let before = start.addr().next_multiple_of(PAGE) - start.addr();
            std::hint::black_box(libc::malloc(before.saturating_sub(BLOCK_HEADER)));
        }
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn prepare(bytes: u64) -> bool {
    bytes >= SMALLEST
}

/// Threads that start from now on share the heap of the first: they make few blocks, and a heap for each takes memory.
pub fn share() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: a setting with a valid value, which changes where blocks come from.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 1);
    }
}
