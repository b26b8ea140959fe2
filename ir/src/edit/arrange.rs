//! The order of a table with rows that come and go: each object keeps a range of its own.

use std::ops::Range;

use crate::object::Object;
use crate::table::EntityId;
use crate::table::IdRange;

use super::renumbering::Numbers;

/// Where a new row stands: in an object, before an old row, and among the new ones before that row
/// by its key. Rows with equal keys stand in the order in which they were added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) object: usize,
    pub(super) before: usize,
    pub(super) key: usize,
}

/// A table whose rows have their new places.
pub(super) struct Arranged {
    pub(super) numbers: Numbers,
    /// The rows of each object.
    pub(super) ranges: Vec<Range<usize>>,
    /// Whether an object has got or lost a row.
    pub(super) changed: Vec<bool>,
}

/// Returns the rows of each object in a table; those of an object without rows lie where they
/// would be.
pub(super) fn ranges<'data, K: EntityId>(
    objects: &[Object<'data>],
    range: impl Fn(&Object<'data>) -> IdRange<K>,
) -> Vec<Range<usize>> {
    let mut next = 0;
    let ranges = objects.iter().map(|object| {
        let range = range(object);
        if range.is_empty() {
            return next..next;
        }
        next = range.end();
        range.indices()
    });
    ranges.collect()
}

/// Arranges a table: `old` rows of the objects' ranges and after them, of which those stay for which
/// `stays` is true, and new rows. Linear in the rows, but for sorting the new ones.
pub(super) fn arrange(
    old: usize,
    ranges: &[Range<usize>],
    stays: impl Fn(usize) -> bool,
    added: &[Place],
) -> Arranged {
    let mut numbers = Numbers::all_gone(old + added.len());
    let mut order: Vec<(Place, usize)> = added.iter().copied().zip(old..).collect();
    order.sort_unstable();
    let mut order = order.into_iter().peekable();
    let mut new = 0;
    let mut arranged = Vec::with_capacity(ranges.len());
    let mut changed = vec![false; ranges.len()];
    for (object, range) in ranges.iter().enumerate() {
        let start = new;
        for row in range.clone().chain([usize::MAX]) {
            while let Some((_, id)) =
                order.next_if(|(place, _)| place.object == object && place.before <= row)
            {
                numbers.set(id, new);
                new += 1;
                changed[object] = true;
            }
            match row {
                usize::MAX => {}
                row if stays(row) => {
                    numbers.set(row, new);
                    new += 1;
                }
                _ => changed[object] = true,
            }
        }
        arranged.push(start..new);
    }
    // The linker's own rows, which no object owns.
    let end = ranges.last().map_or(0, |range| range.end);
    for row in (end..old).filter(|row| stays(*row)) {
        numbers.set(row, new);
        new += 1;
    }
    Arranged {
        numbers,
        ranges: arranged,
        changed,
    }
}

/// Returns the range of an object after the edits. An empty range that said where rows would be says
/// so again; any other is the default one.
pub(super) fn range_after<K: EntityId>(before: IdRange<K>, after: &Range<usize>) -> IdRange<K> {
    let says_where = before.is_empty() && before != IdRange::default();
    match after.is_empty() && !says_where {
        true => IdRange::default(),
        false => IdRange::new(after.start, after.end),
    }
}
