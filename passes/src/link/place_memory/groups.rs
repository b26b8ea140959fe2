//! Groups of numbers that grow together, by union and find.

/// Returns the root of a group, with path halving: `group` has for each number another of its group,
/// or itself for a root.
pub(super) fn root(group: &mut [u32], mut of: u32) -> u32 {
    while group[of as usize] != of {
        let next = group[of as usize];
        group[of as usize] = group[next as usize];
        of = next;
    }
    of
}
