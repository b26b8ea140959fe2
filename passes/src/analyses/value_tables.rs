//! The tables by which nvlink finds constants of equal value [value-tables].

/// Returns `true` if nvlink has a table for values of this size in bytes in a section of this
/// alignment.
pub(crate) fn has_table(size: u64, align: u64) -> bool {
    match size {
        4 | 8 => align == size,
        12 | 16 | 20 | 24 | 32 | 48 | 64 => true,
        _ => false,
    }
}

/// Returns `true` if a value is never found in its table: nvlink takes a zero for an empty place.
pub(crate) fn is_empty_value(value: &[u8]) -> bool {
    value.len() <= 8 && value.iter().all(|byte| *byte == 0)
}
