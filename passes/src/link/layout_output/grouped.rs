//! Rows that belong to output sections: collected in any order, then read section by section.

use super::OutId;

/// Rows by output section; those of one section stay in the order in which they came.
///
/// One allocation for all sections, where most have one row or none.
pub(crate) struct Grouped<T> {
    collected: Vec<(u32, T)>,
    rows: Vec<T>,
    /// The end of each section's rows in `rows`.
    ends: Vec<u32>,
}

impl<T> Default for Grouped<T> {
    fn default() -> Self {
        Grouped {
            collected: Vec::new(),
            rows: Vec::new(),
            ends: Vec::new(),
        }
    }
}

impl Grouped<u32> {
    /// Groups the indices of rows by the number below `groups` that `group_of` returns for each
    /// row.
    pub(crate) fn by<R>(groups: usize, rows: &[R], group_of: impl Fn(&R) -> usize) -> Self {
        let mut grouped = Grouped {
            collected: Vec::with_capacity(rows.len()),
            ..Grouped::default()
        };
        for (index, row) in rows.iter().enumerate() {
            grouped.push(group_of(row), index as u32);
        }
        grouped.group(groups);
        grouped
    }
}

impl<T: Copy> Grouped<T> {
    /// Adds a row of a section.
    pub(crate) fn push(&mut self, section: OutId, row: T) {
        self.collected.push((section as u32, row));
    }

    /// Sorts what was collected, for this number of sections; linear.
    pub(crate) fn group(&mut self, sections: usize) {
        let collected = std::mem::take(&mut self.collected);
        let mut starts = vec![0; sections + 1];
        for (section, _) in &collected {
            if let Some(start) = starts.get_mut(*section as usize + 1) {
                *start += 1;
            }
        }
        for index in 1..starts.len() {
            starts[index] += starts[index - 1];
        }
        let Some((_, filler)) = collected.first().copied() else {
            self.ends = vec![0; sections];
            return;
        };
        self.rows = vec![filler; collected.len()];
        for (section, row) in collected {
            let next = &mut starts[section as usize];
            self.rows[*next as usize] = row;
            *next += 1;
        }
        // Each start has moved to its section's end.
        starts.pop();
        self.ends = starts;
    }

    /// Returns the rows of a section, once grouped.
    pub(crate) fn of(&self, section: OutId) -> &[T] {
        let end = self.ends.get(section).copied().unwrap_or(0);
        let start = match section.checked_sub(1) {
            Some(before) => self.ends.get(before).copied().unwrap_or(0),
            None => 0,
        };
        self.rows.get(start as usize..end as usize).unwrap_or(&[])
    }
}

#[cfg(test)]
mod tests {
    use super::Grouped;

    #[test]
    fn rows_of_a_section_keep_their_order() {
        let mut rows = Grouped::default();
        for (section, row) in [(2, 'a'), (0, 'b'), (2, 'c'), (4, 'd'), (0, 'e')] {
            rows.push(section, row);
        }
        rows.group(6);
        assert_eq!(rows.of(0), ['b', 'e']);
        assert_eq!(rows.of(1), []);
        assert_eq!(rows.of(2), ['a', 'c']);
        assert_eq!(rows.of(4), ['d']);
        assert_eq!(rows.of(5), []);
        let mut none = Grouped::<u8>::default();
        none.group(3);
        assert!(none.of(2).is_empty());
    }
}
