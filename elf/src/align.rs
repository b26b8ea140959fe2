//! Alignment of sizes and offsets.

/// Rounds up to an alignment; 0 and 1 mean none. What does not fit into 64 bits becomes the largest
/// number, which no limit and no file allows.
pub fn align_up(value: u64, align: u64) -> u64 {
    if align > 1 {
        value.checked_next_multiple_of(align).unwrap_or(u64::MAX)
    } else {
        value
    }
}

#[cfg(test)]
mod tests {
    use super::align_up;

    #[test]
    fn alignment_never_overflows() {
        assert_eq!(align_up(5, 0), 5);
        assert_eq!(align_up(5, 1), 5);
        assert_eq!(align_up(5, 4), 8);
        assert_eq!(align_up(u64::MAX - 1, 4), u64::MAX);
    }
}
