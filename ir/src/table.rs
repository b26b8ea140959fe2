//! Dense tables keyed by typed ids, after cranelift-entity's `PrimaryMap`.

use std::marker::PhantomData;
use std::ops::Index;
use std::ops::IndexMut;
use std::ops::Range;

/// An index into one [`PrimaryMap`].
pub trait EntityId: Copy + Eq + Ord + std::fmt::Debug {
    /// What the text form puts in front of the number.
    const PREFIX: &'static str;
    /// Returns the id with this index.
    fn new(index: usize) -> Self;
    /// Returns the index of this id.
    fn index(self) -> usize;

    /// Returns the index in the width in which it is stored and in which messages are ordered.
    fn index_u32(self) -> u32 {
        self.index() as u32
    }
}

/// A table that owns its entities and hands out their ids in order of creation.
#[derive(Clone, PartialEq, Eq)]
pub struct PrimaryMap<K, V> {
    rows: Vec<V>,
    key: PhantomData<K>,
}

impl<K, V> Default for PrimaryMap<K, V> {
    fn default() -> Self {
        PrimaryMap {
            rows: Vec::new(),
            key: PhantomData,
        }
    }
}

impl<K: EntityId, V: std::fmt::Debug> std::fmt::Debug for PrimaryMap<K, V> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl<K: EntityId, V> PrimaryMap<K, V> {
    /// Creates an empty table.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a table that takes over rows already in order.
    pub fn from_rows(rows: Vec<V>) -> Self {
        PrimaryMap {
            rows,
            key: PhantomData,
        }
    }

    /// Returns the rows, in order.
    pub fn into_rows(self) -> Vec<V> {
        self.rows
    }

    /// Makes room for this number of further entities.
    pub fn reserve(&mut self, more: usize) {
        self.rows.reserve(more);
    }

    /// Adds an entity.
    ///
    /// The number of entities stays below `u32::MAX` because every entity takes at least one byte
    /// of an input and inputs that would break this are refused when objects are appended.
    pub fn push(&mut self, value: V) -> K {
        let id = K::new(self.rows.len());
        self.rows.push(value);
        id
    }

    /// Returns the number of entities.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns `true` if the table has no entity.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns the entity, if the id is one of this table.
    pub fn get(&self, id: K) -> Option<&V> {
        self.rows.get(id.index())
    }

    /// Returns all ids, in order.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = K> + ExactSizeIterator + use<K, V> {
        (0..self.rows.len()).map(K::new)
    }

    /// Returns all entities with their ids, in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (K, &V)> + ExactSizeIterator {
        self.rows
            .iter()
            .enumerate()
            .map(|(index, row)| (K::new(index), row))
    }

    /// Returns all entities, in order.
    pub fn values(&self) -> std::slice::Iter<'_, V> {
        self.rows.iter()
    }

    /// Returns all entities, in order, to change.
    pub fn values_mut(&mut self) -> std::slice::IterMut<'_, V> {
        self.rows.iter_mut()
    }

    /// Returns the entities, in order, to divide among threads that change them.
    pub fn rows_mut(&mut self) -> &mut [V] {
        &mut self.rows
    }

    /// Returns the table in parts that end before these indices, ascending, to divide among threads
    /// that change them.
    pub fn parts_mut(&mut self, ends: impl IntoIterator<Item = usize>) -> Vec<PartMut<'_, K, V>> {
        let mut rest = &mut self.rows[..];
        let mut start = 0;
        let parts = ends.into_iter().map(|end| {
            let count = end.saturating_sub(start).min(rest.len());
            let (rows, behind) = std::mem::take(&mut rest).split_at_mut(count);
            rest = behind;
            let part = PartMut {
                start,
                rows,
                key: PhantomData,
            };
            start += count;
            part
        });
        parts.collect()
    }

    /// Returns all rows, as those of a part.
    pub fn as_part(&self) -> Part<'_, K, V> {
        Part {
            start: 0,
            rows: &self.rows,
            key: PhantomData,
        }
    }

    /// Appends all rows of another table.
    pub fn extend(&mut self, rows: impl IntoIterator<Item = V>) {
        self.rows.extend(rows);
    }
}

/// Some rows of a table, by their ids.
pub struct Part<'t, K, V> {
    start: usize,
    rows: &'t [V],
    key: PhantomData<K>,
}

impl<'t, K: EntityId, V> Part<'t, K, V> {
    /// Returns the entity; the id is one of this part's.
    pub fn at(self, id: K) -> &'t V {
        &self.rows[id.index().wrapping_sub(self.start)]
    }
}

impl<K, V> Clone for Part<'_, K, V> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K, V> Copy for Part<'_, K, V> {}

impl<K: EntityId, V> Index<K> for Part<'_, K, V> {
    type Output = V;
    fn index(&self, id: K) -> &V {
        self.at(id)
    }
}

/// Some rows of a table to change, by their ids.
pub struct PartMut<'t, K, V> {
    start: usize,
    rows: &'t mut [V],
    key: PhantomData<K>,
}

impl<K: EntityId, V> PartMut<'_, K, V> {
    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns `true` if there is no row.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns the entities of a range, if all are in this part, to change; none otherwise.
    pub fn range_mut(&mut self, range: IdRange<K>) -> &mut [V] {
        let start = range.start().wrapping_sub(self.start);
        let end = start.wrapping_add(range.len());
        self.rows.get_mut(start..end).unwrap_or(&mut [])
    }

    /// Returns the same rows, not to change.
    pub fn as_part(&self) -> Part<'_, K, V> {
        Part {
            start: self.start,
            rows: self.rows,
            key: PhantomData,
        }
    }

    /// Returns the entity, if it is in this part.
    pub fn get(&self, id: K) -> Option<&V> {
        self.rows.get(id.index().wrapping_sub(self.start))
    }

    /// Returns the entity, if it is in this part, to change.
    pub fn get_mut(&mut self, id: K) -> Option<&mut V> {
        self.rows.get_mut(id.index().wrapping_sub(self.start))
    }
}

impl<K: EntityId, V> Index<K> for PrimaryMap<K, V> {
    type Output = V;
    fn index(&self, id: K) -> &V {
        &self.rows[id.index()]
    }
}

impl<K: EntityId, V> IndexMut<K> for PrimaryMap<K, V> {
    fn index_mut(&mut self, id: K) -> &mut V {
        &mut self.rows[id.index()]
    }
}

impl<K: EntityId, V> Index<IdRange<K>> for PrimaryMap<K, V> {
    type Output = [V];
    fn index(&self, range: IdRange<K>) -> &[V] {
        &self.rows[range.start as usize..range.end as usize]
    }
}

/// The contiguous ids that one owner (an object, a section) has in a table.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct IdRange<K> {
    start: u32,
    end: u32,
    key: PhantomData<K>,
}

impl<K> Default for IdRange<K> {
    fn default() -> Self {
        IdRange {
            start: 0,
            end: 0,
            key: PhantomData,
        }
    }
}

impl<K: EntityId> std::fmt::Debug for IdRange<K> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}{}..{}", K::PREFIX, self.start, self.end)
    }
}

impl<K: EntityId> IdRange<K> {
    /// Returns the ids from `start` up to, not including, `end`.
    pub fn new(start: usize, end: usize) -> Self {
        IdRange {
            start: start as u32,
            end: end.max(start) as u32,
            key: PhantomData,
        }
    }

    /// Returns the ids from `start` up to, not including, `end`, of a section: without any, those
    /// of a section that has no rows of the kind.
    pub(crate) fn of_section(start: usize, end: usize) -> Self {
        match end <= start {
            true => IdRange::default(),
            false => IdRange::new(start, end),
        }
    }

    /// Does the same as [`Self::rebased`] for the rows of a section: an empty range stays as it is.
    pub(crate) fn rebased_of_section(self, base: usize) -> Self {
        match self.is_empty() {
            true => self,
            false => self.rebased(base),
        }
    }

    /// Returns the index of the first id.
    pub fn start(self) -> usize {
        self.start as usize
    }

    /// Returns one past the index of the last id.
    pub fn end(self) -> usize {
        self.end as usize
    }

    /// Returns the number of ids.
    pub fn len(self) -> usize {
        (self.end - self.start) as usize
    }

    /// Returns `true` if there is no id in the range.
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// Returns the id at this place of the range.
    pub fn get(self, ordinal: usize) -> Option<K> {
        (ordinal < self.len()).then(|| K::new(self.start as usize + ordinal))
    }

    /// Returns the place of the id within the range.
    pub fn ordinal(self, id: K) -> Option<usize> {
        let index = id.index();
        (self.start() <= index && index < self.end()).then(|| index - self.start())
    }

    /// Returns the ids of the range, in order.
    pub fn iter(self) -> impl DoubleEndedIterator<Item = K> + ExactSizeIterator {
        (self.start as usize..self.end as usize).map(K::new)
    }

    /// Returns the range as plain indices.
    pub fn indices(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// Returns the same range moved up by `base`, when a part is appended to a module.
    pub fn rebased(self, base: usize) -> Self {
        IdRange::new(self.start() + base, self.end() + base)
    }
}
