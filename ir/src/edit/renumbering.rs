//! The numbers that rows have after a batch of edits.

use crate::ids::*;
use crate::table::EntityId;
use crate::table::IdRange;
use crate::text::fields::IdVisitor;

/// What stands for a row that was erased.
const GONE: u32 = u32::MAX;

/// Where each row stands after a batch of edits.
///
/// Keys are ids before the edits, and those that [`Edits`](super::Edits) handed out for new rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Renumbering {
    tables: [Numbers; 8],
}

/// The new numbers of one table, by old number; rows that were added come last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Numbers(pub(super) Vec<u32>);

impl Numbers {
    pub(super) fn all_gone(rows: usize) -> Self {
        Numbers(vec![GONE; rows])
    }

    pub(super) fn set(&mut self, old: usize, new: usize) {
        if let Some(number) = self.0.get_mut(old) {
            *number = new as u32;
        }
    }

    pub(super) fn get(&self, old: usize) -> Option<usize> {
        let new = self.0.get(old).copied().filter(|new| *new != GONE)?;
        Some(new as usize)
    }

    /// Returns the rows that stay in their new order.
    pub(super) fn place<V>(&self, rows: impl Iterator<Item = V>) -> Vec<V> {
        let mut placed: Vec<Option<V>> = Vec::new();
        placed.resize_with(self.0.len(), || None);
        for (number, row) in self.0.iter().zip(rows) {
            if let Some(place) = placed.get_mut(*number as usize) {
                *place = Some(row);
            }
        }
        placed.into_iter().flatten().collect()
    }
}

/// Returns the place of a table in [`Renumbering::tables`]; `None` for tables whose rows keep their
/// numbers.
fn place(prefix: &str) -> Option<usize> {
    const PREFIXES: [&str; 8] = [
        RelocId::PREFIX,
        SymbolId::PREFIX,
        SectionId::PREFIX,
        AttributeId::PREFIX,
        FunctionId::PREFIX,
        CallId::PREFIX,
        PrototypeId::PREFIX,
        NoteId::PREFIX,
    ];
    PREFIXES.iter().position(|known| *known == prefix)
}

impl Renumbering {
    /// Returns the id of a row after the edits; `None` if the row was erased or never existed.
    /// Objects and resolved symbols keep their ids.
    pub fn get<K: EntityId>(&self, id: K) -> Option<K> {
        match place(K::PREFIX).and_then(|place| self.tables.get(place)) {
            Some(numbers) => numbers.get(id.index()).map(K::new),
            None => Some(id),
        }
    }

    /// Returns the numbers of a table.
    pub(super) fn of<K: EntityId>(&self) -> &Numbers {
        const NONE: &Numbers = &Numbers(Vec::new());
        place(K::PREFIX)
            .and_then(|place| self.tables.get(place))
            .unwrap_or(NONE)
    }

    pub(super) fn set<K: EntityId>(&mut self, numbers: Numbers) {
        if let Some(table) = place(K::PREFIX).and_then(|place| self.tables.get_mut(place)) {
            *table = numbers;
        }
    }

    /// Returns `true` if the id named a row before the edits, or one that was added.
    pub(super) fn knows<K: EntityId>(&self, id: K) -> bool {
        match place(K::PREFIX).and_then(|place| self.tables.get(place)) {
            Some(numbers) => id.index() < numbers.0.len(),
            None => true,
        }
    }
}

/// Gives the ids in rows their new numbers.
pub(super) struct Renumber<'r> {
    numbers: &'r Renumbering,
    /// The first id without a new number, and whether it named a row.
    pub(super) lost: Option<(String, bool)>,
}

impl<'r> Renumber<'r> {
    pub(super) fn new(numbers: &'r Renumbering) -> Self {
        Renumber {
            numbers,
            lost: None,
        }
    }
}

impl IdVisitor for Renumber<'_> {
    fn id<K: EntityId>(&mut self, id: &mut K) {
        match self.numbers.get(*id) {
            Some(new) => *id = new,
            None if self.lost.is_none() => {
                self.lost = Some((format!("{id:?}"), self.numbers.knows(*id)));
            }
            None => {}
        }
    }

    /// Ranges follow from where the rows stand, and are made anew once all rows are placed.
    fn range<K: EntityId>(&mut self, _: &mut IdRange<K>) {}
}
