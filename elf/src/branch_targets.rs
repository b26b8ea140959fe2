//! The record of branches by tables, `INDIRECT_BRANCH_TARGETS`: of each branch its place in the code
//! in bytes, 0, the number of its targets, and their places.

/// A branch whose target a table says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BranchByTable<'data> {
    /// Where it lies in the code, in bytes.
    pub place: u32,
    targets: &'data [[u8; 4]],
}

impl<'data> BranchByTable<'data> {
    /// Returns where its targets lie in the code, in bytes.
    pub fn targets(self) -> impl ExactSizeIterator<Item = u32> + use<'data> {
        self.targets.iter().map(|word| u32::from_le_bytes(*word))
    }
}

/// Reads the payload of a record. The last item is `None` if the payload is of another form.
pub fn branches_by_table(payload: &[u8]) -> impl Iterator<Item = Option<BranchByTable<'_>>> {
    let (mut words, rest) = payload.as_chunks::<4>();
    let mut has_ended = false;
    std::iter::from_fn(move || {
        if has_ended || words.is_empty() && rest.is_empty() {
            return None;
        }
        let branch = first(words);
        match branch {
            Some((_, after)) => words = after,
            None => has_ended = true,
        }
        Some(branch.map(|(branch, _)| branch))
    })
}

/// Returns the first branch, and the words after it.
fn first(words: &[[u8; 4]]) -> Option<(BranchByTable<'_>, &[[u8; 4]])> {
    let [place, [0, 0, 0, 0], count, after @ ..] = words else {
        return None;
    };
    let count = usize::try_from(u32::from_le_bytes(*count)).ok()?;
    let (targets, after) = after.split_at_checked(count)?;
    let place = u32::from_le_bytes(*place);
    Some((BranchByTable { place, targets }, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &[u32]) -> Vec<Option<(u32, Vec<u32>)>> {
        let payload: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let branches = branches_by_table(&payload);
        let branches = branches.map(|branch| {
            let branch = branch?;
            Some((branch.place, branch.targets().collect()))
        });
        branches.collect()
    }

    #[test]
    fn branches_follow_each_other() {
        assert_eq!(read(&[]), []);
        assert_eq!(
            read(&[0x40, 0, 2, 0x80, 0xc0, 0x90, 0, 0]),
            [Some((0x40, vec![0x80, 0xc0])), Some((0x90, vec![]))]
        );
    }

    #[test]
    fn what_has_another_form_is_the_end() {
        assert_eq!(read(&[0x40, 0, 2, 0x80]), [None]);
        assert_eq!(read(&[0x40, 1, 1, 0x80]), [None]);
        assert_eq!(
            read(&[0x40, 0, 1, 0x80, 0x90]),
            [Some((0x40, vec![0x80])), None]
        );
        assert_eq!(branches_by_table(&[0, 0]).collect::<Vec<_>>(), [None]);
    }
}
