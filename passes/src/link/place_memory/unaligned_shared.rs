//! Shared variables without an alignment, which output of `-r` has for names that began as dynamic
//! shared memory [unaligned-shared].

use cuweld_elf::align::align_up;

/// The most bytes at a multiple of which such a variable lies.
const MOST: u64 = 8;

/// Returns the place in bytes of a variable after what ends at `end`. Without an alignment its size
/// is one.
pub(super) fn place(end: u64, align: u64, size: u64) -> u64 {
    match align {
        0 => align_up(end, size.min(MOST)),
        _ => align_up(end, align),
    }
}

#[cfg(test)]
mod tests {
    use super::place;

    #[test]
    fn small_sizes_are_alignments() {
        let place_of = |size| place(5, 0, size);
        assert_eq!([0, 1, 2, 3, 7].map(place_of), [5, 5, 6, 6, 7]);
        assert_eq!([8, 9, 232].map(place_of), [8; 3]);
        assert_eq!(place(5, 16, 3), 16);
    }
}
