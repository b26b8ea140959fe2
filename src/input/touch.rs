//! Page faults of mapped inputs, and the way of their bytes from memory to the cache that processors share: a second thread takes both before the first
//! one comes there.

use std::hint::black_box;
use std::sync::Arc;

use cuweld_elf::raw::EM_CUDA;
use memmap2::Mmap;

use super::identify::elf_kind;
use crate::jobs::Jobs;

/// Bytes that Linux maps in one page fault.
const FAULT: usize = 64 << 10;

/// Bytes that come into a cache at once.
const LINE: usize = 64;

/// The largest file that is brought into the cache: others would not stay there.
const LARGEST_CACHED: usize = 8 << 20;

/// Smaller files are not worth a thread.
const WORTH_A_THREAD: usize = 1 << 20;

/// The most that is touched of a file of any kind: of archives and host objects a part may do, and what is not in memory is read from the disk.
const MOST: usize = 1 << 20;

/// Has the system map a file, of a large one the beginning, and brings it into the cache.
pub(super) fn touch(map: &Mmap) {
    touch_all(&map[..map.len().min(MOST)]);
}

fn touch_all(bytes: &[u8]) {
    let step = match bytes.len() {
        ..=LARGEST_CACHED => LINE,
        _ => FAULT,
    };
    for byte in bytes.iter().step_by(step) {
        black_box(*byte);
    }
}

/// Has another thread touch all of a device ELF file that is worth it, if there is one that has nothing else to do; returns whether there is.
pub(super) fn touch_beside(map: &Arc<Mmap>, jobs: &Jobs) -> bool {
    let is_device = elf_kind(map).is_some_and(|kind| kind.machine == EM_CUDA);
    if map.len() < WORTH_A_THREAD || !is_device {
        return false;
    }
    let map = Arc::clone(map);
    jobs.spawn(move || touch_all(&map))
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Write;
    use std::thread;
    use std::time::Duration;
    use std::time::Instant;

    use super::*;

    /// A mapped file of some size that begins with the header of an ELF file for a machine.
    fn mapped(machine: u16, size: usize) -> Arc<Mmap> {
        let mut file = tempfile::tempfile().unwrap();
        let mut header = vec![0; 64];
        header[..6].copy_from_slice(b"\x7fELF\x02\x01");
        header[18..20].copy_from_slice(&machine.to_le_bytes());
        file.write_all(&header).unwrap();
        file.set_len(size as u64).unwrap();
        // SAFETY: nobody else has the file.
        Arc::new(unsafe { Mmap::map(&File::try_clone(&file).unwrap()) }.unwrap())
    }

    #[test]
    fn large_device_files_are_touched_by_a_thread_that_lets_them_go() {
        let two = Jobs::new(Some(2), None);
        for (machine, size) in [(EM_CUDA, WORTH_A_THREAD - 1), (62, WORTH_A_THREAD)] {
            let map = mapped(machine, size);
            touch(&map);
            assert!(!touch_beside(&map, &two));
        }
        let map = mapped(EM_CUDA, WORTH_A_THREAD);
        assert!(!touch_beside(&map, &Jobs::new(Some(1), None)));
        let of_make = Jobs::new(None, Some("-j2".to_owned()));
        assert!(!touch_beside(&map, &of_make));
        let others = [WORTH_A_THREAD, 2 * WORTH_A_THREAD].map(|size| mapped(EM_CUDA, size));
        assert!(others.iter().all(|map| touch_beside(map, &two)));
        let begun = Instant::now();
        while others.iter().any(|map| Arc::strong_count(map) > 1) {
            assert!(begun.elapsed() < Duration::from_secs(20));
            thread::sleep(Duration::from_millis(1));
        }
    }
}
