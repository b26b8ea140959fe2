//! The program's memory: a heap of its own, which begins without a call to the system and takes large pages for large links, as a page fault
//! takes longer than filling the small page that it brings.
//!
//! Not that of the C library: with musl's a link of 1,000 objects takes nearly twice as long, and glibc's has to be talked into large pages.

#[cfg(target_os = "linux")]
mod pages;
#[cfg(target_os = "linux")]
mod spare;

#[cfg(target_os = "linux")]
pub use self::linux::{LargePages, is_large, prepare};

#[cfg(not(target_os = "linux"))]
pub use self::elsewhere::{LargePages, is_large, prepare};

/// Smaller inputs take not enough memory for large pages.
const SMALLEST: u64 = 512 << 10;

/// The C library, which has memory of its own, gives threads that start from now on none: they take little, and 64 MB of addresses each
/// would be reserved.
pub fn share() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: a setting with a valid value, which changes where blocks come from.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 1);
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::alloc::GlobalAlloc;
    use std::alloc::Layout;
    use std::sync::Mutex;
    use std::sync::MutexGuard;

    use dlmalloc::Dlmalloc;

    use super::SMALLEST;
    use super::pages;
    use super::pages::Pages;
    use super::spare;
    use super::spare::Kind;

    /// The most that the heap grows at once.
    const MOST: u64 = 256 << 20;

    /// All blocks.
    static HEAP: Mutex<Dlmalloc<Pages>> = Mutex::new(Dlmalloc::new_with_allocator(Pages::new()));

    fn heap() -> MutexGuard<'static, Dlmalloc<Pages>> {
        // Nothing panics while it has the heap.
        HEAP.lock().unwrap_or_else(|held| held.into_inner())
    }

    /// The program's allocator.
    #[derive(Clone, Copy, Debug)]
    pub struct LargePages;

    // SAFETY: every block is the heap's, which gets back what it gave, with the layout that it was asked for with, or the size of its kind, and is
    // asked by one thread at a time. A block that a thread keeps is nobody else's until it is given again.
    unsafe impl GlobalAlloc for LargePages {
        unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
            let Some(kind) = Kind::of(layout) else {
                // SAFETY: the layout is a valid one.
                return unsafe { heap().malloc(layout.size(), layout.align()) };
            };
            let block = spare::take(kind);
            if !block.is_null() {
                return block;
            }
            // SAFETY: a small size, which is valid with any alignment of the kind.
            unsafe { heap().malloc(kind.size(), layout.align()) }
        }

        unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
            let size = match Kind::of(layout) {
                // SAFETY: as the caller promises; blocks of this layout were made with the kind's size.
                Some(kind) if unsafe { spare::keep(block, kind) } => return,
                Some(kind) => kind.size(),
                None => layout.size(),
            };
            // SAFETY: as the caller promises; this is what the block was asked for with.
            unsafe { heap().free(block, size, layout.align()) }
        }

        unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
            let align = layout.align();
            let whole = |size| {
                let layout = Layout::from_size_align(size, align).ok();
                layout.and_then(Kind::of).map_or(size, Kind::size)
            };
            let (before, size) = (whole(layout.size()), whole(size));
            if before == size {
                return block;
            }
            // SAFETY: as the caller promises; this is what the block was asked for with.
            unsafe { heap().realloc(block, before, align, size) }
        }
    }

    /// Gives the heap room on large pages for a link of inputs of so many bytes, once for the program; whether they are worth it. Memory that
    /// is not used is not taken.
    pub fn prepare(bytes: u64) -> bool {
        let is_worth_it = bytes >= SMALLEST;
        if is_worth_it {
            let mut heap = heap();
            let room = bytes.saturating_mul(4).min(MOST) as usize;
            // A program with another allocator has none of its blocks here.
            if heap.allocator_mut().grows_by(room) {
                // SAFETY: a block that is given back as it came. It is larger than what is left of the first memory: the heap goes on with
                // large pages.
                unsafe {
                    let block = heap.c_malloc(pages::FIRST);
                    heap.c_free(block);
                }
            }
        }
        is_worth_it
    }

    /// Whether the heap has room on large pages.
    pub fn is_large() -> bool {
        heap().allocator_mut().is_large()
    }
}

#[cfg(not(target_os = "linux"))]
mod elsewhere {
    /// The system's allocator.
    pub use std::alloc::System as LargePages;

    /// Whether a link of inputs of so many bytes is a large one.
    pub fn prepare(bytes: u64) -> bool {
        bytes >= super::SMALLEST
    }

    /// Whether the heap has room on large pages.
    pub fn is_large() -> bool {
        false
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::alloc::GlobalAlloc;
    use std::alloc::Layout;

    use super::*;

    /// A block, and the byte that it is filled with.
    struct Block {
        start: *mut u8,
        layout: Layout,
        filling: u8,
    }

    // SAFETY: nobody else has its bytes.
    unsafe impl Send for Block {}

    impl Block {
        fn new(size: usize, align: usize, filling: u8) -> Block {
            let layout = Layout::from_size_align(size, align).unwrap();
            // SAFETY: the size is not 0.
            let start = unsafe { LargePages.alloc(layout) };
            assert!(!start.is_null() && start.addr().is_multiple_of(align));
            let block = Block {
                start,
                layout,
                filling,
            };
            block.fill();
            block
        }

        fn fill(&self) {
            // SAFETY: the block has so many bytes.
            unsafe { self.start.write_bytes(self.filling, self.layout.size()) };
        }

        fn is_whole(&self, size: usize) -> bool {
            // SAFETY: the block has so many bytes, all of which were written.
            let bytes = unsafe { std::slice::from_raw_parts(self.start, size) };
            bytes.iter().all(|byte| *byte == self.filling)
        }

        fn resize(&mut self, size: usize) {
            let (before, align) = (self.layout.size(), self.layout.align());
            // SAFETY: the block is one of the heap, with this layout; the size is not 0.
            self.start = unsafe { LargePages.realloc(self.start, self.layout, size) };
            assert!(!self.start.is_null() && self.start.addr().is_multiple_of(align));
            assert!(self.is_whole(before.min(size)));
            self.layout = Layout::from_size_align(size, align).unwrap();
            self.fill();
        }
    }

    impl Drop for Block {
        fn drop(&mut self) {
            assert!(self.is_whole(self.layout.size()));
            // SAFETY: the block is one of the heap, with this layout, and nobody uses it any more.
            unsafe { LargePages.dealloc(self.start, self.layout) };
        }
    }

    #[test]
    fn blocks_that_go_to_another_thread_come_back_whole() {
        let (give, take) = std::sync::mpsc::channel::<Vec<Block>>();
        std::thread::scope(|threads| {
            threads.spawn(move || {
                for mut blocks in take {
                    let last = blocks.pop();
                    blocks.iter_mut().for_each(|block| block.resize(24));
                    drop((last, blocks));
                }
            });
            for step in 0..1000_usize {
                let block = |nth: usize| {
                    Block::new(1 + (step * 7 + nth * 61) % 600, 1 << (nth % 5), nth as u8)
                };
                give.send((0..100_usize).map(block).collect()).unwrap();
            }
            drop(give);
        });
    }

    #[test]
    fn blocks_of_threads_keep_their_bytes() {
        let work = |thread: u32| {
            let mut state = thread;
            let mut random = |below: u32| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                ((u64::from(state) * u64::from(below)) >> 32) as u32
            };
            let mut blocks: Vec<Block> = Vec::new();
            for step in 0..4000 {
                // Most blocks are small, some larger than what the heap begins with, few larger than a large page.
                let most = match random(64) {
                    0 => 3_000_000,
                    1..4 => 400_000,
                    4..10 => 30_000,
                    _ => 700,
                };
                let size = 1 + random(most) as usize;
                let which = random(64) as usize;
                match blocks.get_mut(which) {
                    None => blocks.push(Block::new(size, 1 << random(9), step as u8)),
                    Some(block) if random(2) == 0 => block.resize(size),
                    Some(_) => drop(blocks.swap_remove(which)),
                }
                if step == 1000 {
                    assert!(prepare(SMALLEST) && !prepare(SMALLEST - 1));
                }
            }
        };
        std::thread::scope(|threads| {
            for thread in 1..4 {
                threads.spawn(move || work(thread));
            }
        });
    }
}
