//! The program's memory: a heap that takes large pages for large links, as a page fault takes longer than filling the small page that it brings (`lean`
//! 1,000: 23.1 ms in place of 31.7).
//!
//! It is not that of the C library: with musl's a link of 1,000 objects takes nearly twice as long,
//! and glibc's takes large pages only by settings of its environment, and 50 % more processor time
//! without them. mimalloc takes 10 to 23 % more, and twice the memory (`docs/log/performance.md`).

#[cfg(target_os = "linux")]
mod pages;

#[cfg(target_os = "linux")]
pub use self::linux::{LargePages, reserve, uses_large_pages};

#[cfg(not(target_os = "linux"))]
pub use self::elsewhere::{LargePages, reserve, uses_large_pages};

#[cfg(target_os = "linux")]
mod linux {
    use std::alloc::GlobalAlloc;
    use std::alloc::Layout;
    use std::io::Write;
    use std::sync::Mutex;
    use std::sync::MutexGuard;
    use std::sync::atomic::AtomicBool;
    use std::sync::atomic::Ordering;
    use std::time::Duration;

    use dlmalloc::Dlmalloc;

    use super::pages;
    use super::pages::Pages;
    use crate::end::end_at_once;

    /// Inputs below this size do not use enough memory to benefit from large pages.
    pub(super) const SMALLEST_INPUTS: u64 = 512 << 10;

    /// The most that the heap grows by at once.
    const MOST_GROWTH: u64 = 256 << 20;

    /// Owns all blocks.
    static HEAP: Mutex<Dlmalloc<Pages>> = Mutex::new(Dlmalloc::new_with_allocator(Pages::new()));

    fn heap() -> MutexGuard<'static, Dlmalloc<Pages>> {
        // Nothing panics while it holds the heap.
        HEAP.lock().unwrap_or_else(|held| held.into_inner())
    }

    /// The program's global allocator.
    #[derive(Clone, Copy, Debug)]
    pub struct LargePages;

    // SAFETY: each function passes its arguments on to a heap that keeps the same contract, one
    // thread at a time.
    unsafe impl GlobalAlloc for LargePages {
        unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
            // SAFETY: as the caller promises.
            let block = unsafe { heap().malloc(layout.size(), layout.align()) };
            there_is(block, layout.size())
        }

        unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
            // SAFETY: as the caller promises.
            unsafe { heap().free(block, layout.size(), layout.align()) }
        }

        unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
            // SAFETY: as the caller promises.
            let block = unsafe { heap().realloc(block, layout.size(), layout.align(), size) };
            there_is(block, size)
        }
    }

    /// Returns a block of this size in bytes. If the system has no memory for it the program ends,
    /// with a message and the code of a link that failed; Rust's own end would be a crash.
    fn there_is(block: *mut u8, size: usize) -> *mut u8 {
        if block.is_null() {
            out_of_memory(size);
        }
        block
    }

    #[cold]
    fn out_of_memory(size: usize) -> ! {
        static IS_SAID: AtomicBool = AtomicBool::new(false);
        if IS_SAID.swap(true, Ordering::Relaxed) {
            // Another thread is about to end the program.
            std::thread::sleep(Duration::from_secs(1));
        }
        let mut said = [0; 128];
        let mut rest = &mut said[..];
        // Takes no memory: the text fits.
        let _ = writeln!(
            rest,
            "cuweld: error: out of memory: the system has no {size} bytes more"
        );
        let length = 128 - rest.len();
        // Nobody may be there to read it.
        let _ = rustix::io::write(rustix::stdio::stderr(), &said[..length]);
        end_at_once(1)
    }

    /// Switches the heap to growing on large pages, by room for a link of inputs of `bytes` in all,
    /// if these are enough to benefit. The first such call counts. Memory that is not used is not
    /// taken.
    pub fn reserve(bytes: u64) {
        if bytes < SMALLEST_INPUTS {
            return;
        }
        let mut heap = heap();
        let room = bytes.saturating_mul(4).min(MOST_GROWTH) as usize;
        // In a program with another allocator this heap has no blocks.
        if heap.allocator_mut().switch_to_large(room) {
            // SAFETY: a block that is given back as it came. It is larger than what is left of the
            // small pages that came last: the heap goes on with large pages.
            unsafe {
                let block = heap.c_malloc(pages::LEAST);
                heap.c_free(block);
            }
        }
    }

    /// Returns `true` if the heap grows on large pages.
    pub fn uses_large_pages() -> bool {
        heap().allocator_mut().is_large()
    }
}

#[cfg(not(target_os = "linux"))]
mod elsewhere {
    /// The system's allocator.
    pub use std::alloc::System as LargePages;

    /// Does nothing.
    pub fn reserve(_: u64) {}

    /// Returns `false`: there is no such heap.
    pub fn uses_large_pages() -> bool {
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
            // SAFETY: the block has this number of bytes.
            unsafe { self.start.write_bytes(self.filling, self.layout.size()) };
        }

        fn is_whole(&self, size: usize) -> bool {
            // SAFETY: the block has this number of bytes, all of which were written.
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
                // Most blocks are small, some larger than what the heap begins with, few larger
                // than a large page.
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
                    reserve(linux::SMALLEST_INPUTS);
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
