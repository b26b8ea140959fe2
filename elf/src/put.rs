//! Writing into a buffer of a known size.

/// Writes bytes, as far as there is room, and returns what is after them.
pub fn put<'b>(room: &'b mut [u8], bytes: &[u8]) -> &'b mut [u8] {
    match room.split_at_mut_checked(bytes.len()) {
        Some((start, rest)) => {
            start.copy_from_slice(bytes);
            rest
        }
        None => &mut [],
    }
}
