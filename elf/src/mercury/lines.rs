//! The line tables `.debug_line` and `.nv_debug_line_sass`: units with a head and sequences, one
//! for each function.
//!
//! ```text
//! u32 size of the rest, head, then for each function
//!   00 09 02 u64      the address of the function, a relocation
//!   ...               its lines
//!   00 01 01          the end
//! ```

mod remake;

pub use self::remake::Remade;
pub use self::remake::in_mercury;
pub use self::remake::remake;
pub use self::remake::units;
pub use self::remake::with_addresses;

/// Bytes in front of an address in a line table.
pub const SET_ADDRESS: [u8; 3] = [0, 9, 2];

/// The end of a sequence.
const END: [u8; 3] = [0, 1, 1];

/// A line table without some of its sequences.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kept {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// Where each address that stays lies now, in bytes, in the order of the addresses.
    pub addresses: Vec<Option<u64>>,
}

/// A sequence that stays.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Staying {
    /// By which sequences of a unit are sorted.
    pub rank: u32,
    /// What stands in its place, from [`remake()`].
    pub made: Option<Vec<u8>>,
}

/// Leaves sequences out of a table and sorts the others of each unit by their rank: `addresses`
/// says where the address of each lies, in ascending order, and what becomes of it if it stays.
/// `ends_empty` has a unit without sequences end as a sequence does. `None` if the table is of
/// another form.
pub fn keep(bytes: &[u8], addresses: &[(u64, Option<Staying>)], ends_empty: bool) -> Option<Kept> {
    let mut kept = Kept::default();
    let mut rest = addresses;
    let mut at = 0_usize;
    while at < bytes.len() {
        let length = bytes.get(at..at.checked_add(4)?)?;
        let length = u32::from_le_bytes(length.try_into().ok()?);
        let end = at
            .checked_add(4)?
            .checked_add(usize::try_from(length).ok()?)?;
        if length >= 0xffff_fff0 || end > bytes.len() {
            return None;
        }
        let count = rest.partition_point(|(address, _)| *address < end as u64);
        let (unit, after) = rest.split_at(count);
        rest = after;
        let starts: Vec<usize> = unit
            .iter()
            .map(|(address, _)| {
                usize::try_from(*address)
                    .ok()?
                    .checked_sub(SET_ADDRESS.len())
            })
            .collect::<Option<_>>()?;
        let start = kept.bytes.len();
        kept.bytes
            .extend_from_slice(bytes.get(at..starts.first().copied().unwrap_or(end))?);
        let mut sequences = Vec::new();
        for (index, (_, staying)) in unit.iter().enumerate() {
            let next = starts.get(index + 1).copied().unwrap_or(end);
            let sequence = bytes.get(starts[index]..next)?;
            if !sequence.starts_with(&SET_ADDRESS) || !sequence.ends_with(&END) {
                return None;
            }
            if let Some(staying) = staying {
                let made = staying.made.as_deref();
                sequences.push((staying.rank, index, made.unwrap_or(sequence)));
            }
        }
        if ends_empty && sequences.is_empty() && !kept.bytes.ends_with(&END) {
            kept.bytes.extend_from_slice(&END);
        }
        sequences.sort_by_key(|(rank, ..)| *rank);
        let first = kept.addresses.len();
        kept.addresses.resize(first + unit.len(), None);
        for (_, index, sequence) in sequences {
            let place = (kept.bytes.len() + SET_ADDRESS.len()) as u64;
            kept.addresses[first + index] = Some(place);
            kept.bytes.extend_from_slice(sequence);
        }
        let length = u32::try_from(kept.bytes.len().checked_sub(start)?.checked_sub(4)?).ok()?;
        kept.bytes
            .get_mut(start..start + 4)?
            .copy_from_slice(&length.to_le_bytes());
        at = end;
    }
    rest.is_empty().then_some(kept)
}

#[cfg(test)]
mod tests {
    use super::Staying;
    use super::keep;

    fn rank(rank: u32) -> Staying {
        Staying { rank, made: None }
    }

    /// Builds a unit with a head of two bytes and sequences of one line each.
    fn unit(sequences: u8) -> Vec<u8> {
        let mut bytes = vec![2 + 15 * sequences, 0, 0, 0, 7, 7];
        for number in 0..sequences {
            bytes.extend([0, 9, 2, 0, 0, 0, 0, 0, 0, 0, 0, number, 0, 1, 1]);
        }
        bytes
    }

    #[test]
    fn sequences_go_and_sizes_follow() {
        let table = [unit(2), unit(1), unit(0)].concat();
        let kept = keep(&table, &[(9, None), (24, Some(rank(0))), (45, None)], false).unwrap();
        let mut first = unit(1);
        first[17] = 1;
        assert_eq!(kept.bytes, [first, unit(0), unit(0)].concat());
        assert_eq!(kept.addresses, [None, Some(9), None]);
        let kept = keep(&unit(2), &[(9, Some(rank(8))), (24, Some(rank(3)))], false).unwrap();
        assert_eq!(kept.addresses, [Some(24), Some(9)]);
        assert_eq!((kept.bytes[17], kept.bytes[32]), (1, 0));
    }

    #[test]
    fn another_form_is_refused() {
        let table = unit(1);
        assert!(keep(&table, &[(10, None)], false).is_none());
        assert!(keep(&table, &[(2, None)], false).is_none());
        assert!(keep(&table, &[(900, None)], false).is_none());
        assert!(keep(&table[..8], &[], false).is_none());
    }
}
