//! Memory of large tables: at once, and on large pages where the system gives them to those who ask.

/// Bytes of a large page, where the system has any.
const PAGE: usize = 2 << 20;

/// Bytes of a small page, or more: advice is given for whole ones.
const SMALL_PAGE: usize = 4 << 10;

/// Smaller tables are not worth a call.
const SMALLEST: usize = 128 << 10;

/// Makes room for as many rows as a table is going to have, and a few to spare, and has the system give memory for those that it is going
/// to have at once: two thirds of what a page fault for each small page takes. Large pages, one for 512 small ones, take less than half of
/// that again, and the processor finds them faster on each walk over the table. Room that is not used lies on large pages with what follows,
/// and takes memory: there should be little of it.
pub fn reserve<T>(rows: &mut Vec<T>, more: usize, spare: usize) {
    rows.reserve_exact(more.saturating_add(spare));
    let bytes = rows
        .len()
        .saturating_add(more)
        .saturating_mul(size_of::<T>());
    if bytes >= SMALLEST {
        prepare(rows, bytes);
    }
}

/// Has the system give memory for the first bytes of a table's room.
#[cfg(target_os = "linux")]
fn prepare<T>(rows: &mut Vec<T>, bytes: usize) {
    use rustix::mm::Advice;
    use rustix::mm::madvise;
    let start = rows.as_mut_ptr().cast::<u8>();
    let before = start.addr() % SMALL_PAGE;
    let place = start.wrapping_sub(before).cast();
    let large = bytes / PAGE * PAGE;
    // SAFETY: advice changes neither what memory holds nor whether it can be read or written, also not that of what lies on the first page
    // before the table; `bytes` end within its room.
    let asked = unsafe {
        if large != 0 {
            let _ = madvise(place, large, Advice::LinuxHugepage);
        }
        madvise(
            place,
            bytes / SMALL_PAGE * SMALL_PAGE,
            Advice::LinuxPopulateWrite,
        )
    };
    // A system that knows no such advice gives memory page by page.
    let _ = asked;
}

#[cfg(not(target_os = "linux"))]
fn prepare<T>(_rows: &mut Vec<T>, _bytes: usize) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_keep_their_rows_and_get_room() {
        for more in [0, 1, 1000, 100_000, 1_000_000] {
            let mut rows: Vec<[u32; 3]> = (0..500).map(|row| [row; 3]).collect();
            reserve(&mut rows, more, 7);
            assert!(rows.capacity() >= 507 + more);
            rows.extend((500..).map(|row| [row; 3]).take(more));
            assert!((0..).zip(&rows).all(|(index, row)| *row == [index; 3]));
        }
    }
}
