//! The entries of `.debug_frame`, which is in the 64-bit form.

/// Offset in bytes within an FDE of the field that names its CIE.
pub const CIE_POINTER: u64 = 12;

/// Offset in bytes within an FDE of the address of its function.
pub const FUNCTION: u64 = 20;

/// Offset in bytes within an FDE of the size of its function.
pub const RANGE: u64 = 28;

/// Bytes of an entry, at least in what compilers write.
const ENTRY_SIZE: usize = 48;

/// Returns the offsets in bytes at which the entries begin; none if the entries are of another
/// form.
pub fn entries(bytes: &[u8]) -> Vec<u64> {
    let mut starts = Vec::with_capacity(bytes.len() / ENTRY_SIZE);
    let mut at = 0_usize;
    while at < bytes.len() {
        let word = |from: usize, length: usize| bytes.get(from..from.checked_add(length)?);
        let Some(length) = word(at, 12)
            .and_then(|head| head.strip_prefix(&[0xff; 4]))
            .and_then(|length| length.try_into().ok())
            .map(u64::from_le_bytes)
        else {
            return Vec::new();
        };
        starts.push(at as u64);
        let next = usize::try_from(length)
            .ok()
            .and_then(|length| at.checked_add(12)?.checked_add(length));
        match next {
            Some(next) => at = next,
            None => return Vec::new(),
        }
    }
    starts
}

#[cfg(test)]
mod tests {
    use super::entries;

    #[test]
    fn entries_follow_each_other() {
        let entry = |length: u8| {
            let mut bytes = vec![0xff; 4];
            bytes.extend_from_slice(&[length, 0, 0, 0, 0, 0, 0, 0]);
            bytes.extend(std::iter::repeat_n(0, length.into()));
            bytes
        };
        let bytes = [entry(5), entry(0), entry(9)].concat();
        assert_eq!(entries(&bytes), [0, 17, 29]);
        assert_eq!(entries(&bytes[4..]), [0_u64; 0]);
        assert_eq!(entries(&[0xff; 12]), [0_u64; 0]);
    }
}
