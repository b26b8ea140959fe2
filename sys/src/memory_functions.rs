//! Functions of the C library that copy memory, for programs that are linked with musl: with its own,
//! which go byte by byte where blocks end, a link of 1,000 objects takes 5 % more processor time, one
//! of 4,000 kernels for sm_100 9 % (`docs/log/performance.md`). Comparing memory with functions of the
//! program's own wins less than 2 %.
//!
//! A compiler may make such a loop a call of the function that it is in. CI links with the static
//! program, which shows that this one does not.

use std::arch::asm;
use std::arch::x86_64::__m128i;

/// What two instructions move.
type Pair = [__m128i; 2];

/// Its size in bytes.
const PAIR: usize = size_of::<Pair>();

/// From here on the processor's own loop is faster.
const LONG: usize = 1024;

/// Copies bytes, as the C standard says.
///
/// # Safety
///
/// The caller can read `bytes` bytes at `from` and write them at `to`, and they do not overlap.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub(crate) unsafe extern "C" fn memcpy(to: *mut u8, from: *const u8, bytes: usize) -> *mut u8 {
    // SAFETY: as the caller promises.
    unsafe {
        if bytes <= 2 * PAIR {
            copy_few(to, from, bytes);
        } else if bytes < LONG {
            copy_up(to, from, bytes);
        } else {
            asm!(
                "rep movsb",
                inout("rcx") bytes => _,
                inout("rdi") to => _,
                inout("rsi") from => _,
                options(nostack, preserves_flags)
            );
        }
    }
    to
}

/// Copies bytes to where they may overlap, as the C standard says.
///
/// # Safety
///
/// The caller can read `bytes` bytes at `from` and write them at `to`.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub(crate) unsafe extern "C" fn memmove(to: *mut u8, from: *const u8, bytes: usize) -> *mut u8 {
    // SAFETY: as the caller promises.
    unsafe {
        if bytes <= 2 * PAIR {
            copy_few(to, from, bytes);
        } else if to.addr().wrapping_sub(from.addr()) >= bytes {
            // What is written has been read.
            copy_up(to, from, bytes);
        } else {
            copy_down(to, from, bytes);
        }
    }
    to
}

/// Copies at most two pairs of words, of which all is read before anything is written.
#[inline(always)]
unsafe fn copy_few(to: *mut u8, from: *const u8, bytes: usize) {
    /// Copies the first and the last bytes, of a type's size, of at most twice as many.
    macro_rules! ends {
        ($type:ty) => {{
            let last = bytes - size_of::<$type>();
            let ends = (
                from.cast::<$type>().read_unaligned(),
                from.add(last).cast::<$type>().read_unaligned(),
            );
            to.cast::<$type>().write_unaligned(ends.0);
            to.add(last).cast::<$type>().write_unaligned(ends.1);
        }};
    }
    // SAFETY: each end is no longer than the bytes are.
    unsafe {
        if bytes > PAIR {
            ends!(Pair);
        } else if bytes >= 16 {
            ends!(__m128i);
        } else if bytes >= 8 {
            ends!(u64);
        } else if bytes >= 4 {
            ends!(u32);
        } else if bytes >= 2 {
            ends!(u16);
        } else if bytes == 1 {
            *to = *from;
        }
    }
}

/// Copies more than a pair of words from the first to the last, which is read first.
#[inline(always)]
unsafe fn copy_up(to: *mut u8, from: *const u8, bytes: usize) {
    let end = bytes - PAIR;
    // SAFETY: a pair of words can be read and written at each offset up to `end`.
    unsafe {
        let last = from.add(end).cast::<Pair>().read_unaligned();
        let mut at = 0;
        while at < end {
            let pair = from.add(at).cast::<Pair>().read_unaligned();
            to.add(at).cast::<Pair>().write_unaligned(pair);
            at += PAIR;
        }
        to.add(end).cast::<Pair>().write_unaligned(last);
    }
}

/// Copies more than a pair of words from the last to the first, which is read first.
#[inline(always)]
unsafe fn copy_down(to: *mut u8, from: *const u8, bytes: usize) {
    // SAFETY: a pair of words can be read and written at each offset up to `bytes - PAIR`.
    unsafe {
        let first = from.cast::<Pair>().read_unaligned();
        let mut at = bytes - PAIR;
        while at > 0 {
            let pair = from.add(at).cast::<Pair>().read_unaligned();
            to.add(at).cast::<Pair>().write_unaligned(pair);
            at = at.saturating_sub(PAIR);
        }
        to.cast::<Pair>().write_unaligned(first);
    }
}

#[cfg(test)]
mod tests {
    /// Checks every length around those where the method changes, and every distance of source and
    /// target up to some machine words.
    #[test]
    fn bytes_are_those_of_slices() {
        let bytes: Vec<u8> = (0..4096_u32).map(|at| (at * 7 + at / 256) as u8).collect();
        let lengths = (0..300).chain(1000..1060).chain([2047, 2048]);
        for length in lengths {
            for from in (0..70).chain([500]) {
                for to in [0, 1, 15, 31, 33, 64, 100, 501, 1500] {
                    let mut expected = bytes.clone();
                    expected.copy_within(from..from + length, to);
                    let mut moved = bytes.clone();
                    let start = moved.as_mut_ptr();
                    // SAFETY: both lie within the bytes.
                    let result = unsafe { super::memmove(start.add(to), start.add(from), length) };
                    assert_eq!(result, start.wrapping_add(to));
                    assert!(moved == expected, "move {length} from {from} to {to}");

                    let mut copied = bytes.clone();
                    // SAFETY: as above, from other bytes.
                    unsafe {
                        super::memcpy(copied.as_mut_ptr().add(to), bytes[from..].as_ptr(), length)
                    };
                    assert!(copied == expected, "copy {length} from {from} to {to}");
                }
            }
        }
    }
}
