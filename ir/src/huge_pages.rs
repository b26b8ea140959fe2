//! Large tables on large pages of the system, where it gives them to those who ask.

/// Bytes of a large page, where the system has any.
const PAGE: usize = 2 << 20;

/// Bytes of a small page, or more: advice is given for whole ones.
const SMALL_PAGE: usize = 4 << 10;

/// What the allocator writes before a large block, or more. A block that takes whole large pages with it begins at one.
const BLOCK_HEADER: usize = 64;

/// Makes room for as many rows as a table is going to have, and asks for large pages behind those that will be full: one page fault for
/// what takes 512 otherwise, and fewer misses of the processor's address cache on each walk over the table.
pub fn reserve<T>(rows: &mut Vec<T>, more: usize) {
    let bytes = rows
        .len()
        .saturating_add(more)
        .saturating_mul(size_of::<T>());
    let whole = bytes
        .saturating_add(BLOCK_HEADER)
        .checked_next_multiple_of(PAGE);
    let Some(whole) = whole.filter(|_| bytes >= PAGE) else {
        return rows.reserve_exact(more);
    };
    let capacity = (whole - BLOCK_HEADER) / size_of::<T>().max(1);
    rows.reserve_exact(capacity.saturating_sub(rows.len()));
    // The last one, if most of it will be used. The first stays small pages, as the allocator has written to it by now.
    advise(rows, (bytes + PAGE / 2) / PAGE * PAGE);
}

/// Asks for large pages behind the first bytes of a table's memory.
#[cfg(target_os = "linux")]
fn advise<T>(rows: &mut Vec<T>, size: usize) {
    let start = rows.as_mut_ptr().cast::<u8>();
    let before = start.addr() % SMALL_PAGE;
    let place = start.wrapping_sub(before).cast();
    // SAFETY: the advice changes neither what memory holds nor whether it can be read or written, also not that of what lies on the first
    // page before the table; the table's capacity, less than one small page more, reaches as far as the advice.
    let asked = unsafe { rustix::mm::madvise(place, size, rustix::mm::Advice::LinuxHugepage) };
    // Without large pages everything is as it was.
    let _ = asked;
}

#[cfg(not(target_os = "linux"))]
fn advise<T>(_rows: &mut Vec<T>, _size: usize) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_keep_their_rows_and_get_room() {
        for more in [0, 1, 1000, 100_000, 1_000_000] {
            let mut rows: Vec<[u32; 3]> = (0..500).map(|row| [row; 3]).collect();
            reserve(&mut rows, more);
            assert!(rows.capacity() >= 500 + more);
            rows.extend((500..).map(|row| [row; 3]).take(more));
            assert!((0..).zip(&rows).all(|(index, row)| *row == [index; 3]));
        }
    }
}
