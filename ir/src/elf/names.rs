//! String tables as nvlink builds them: in order of first use, without duplicates, without sharing
//! of suffixes (`merge.md` section 4).

use foldhash::fast::FixedState;
use hashbrown::HashTable;
use std::hash::BuildHasher;

/// A string table in the making. Offset 0 is the empty string.
pub struct NameTable {
    bytes: Vec<u8>,
    index: HashTable<u32>,
    state: FixedState,
}

impl Default for NameTable {
    fn default() -> Self {
        NameTable {
            bytes: vec![0],
            index: HashTable::new(),
            state: FixedState::default(),
        }
    }
}

impl NameTable {
    /// A table that holds only the empty string.
    pub fn new() -> Self {
        Self::default()
    }

    /// The offset of a name, which is added if it is new.
    pub fn add(&mut self, name: &[u8]) -> u32 {
        if name.is_empty() {
            return 0;
        }
        self.add_even_empty(name)
    }

    /// As [`NameTable::add`], but the empty string gets a place of its own: the empty prototypes of kernels whose
    /// address is taken (measured).
    pub fn add_even_empty(&mut self, name: &[u8]) -> u32 {
        let hash = self.state.hash_one(name);
        let bytes = &self.bytes;
        let same = |offset: &u32| {
            let start = *offset as usize;
            bytes.get(start..start + name.len()) == Some(name)
                && bytes.get(start + name.len()) == Some(&0)
        };
        if let Some(offset) = self.index.find(hash, same) {
            return *offset;
        }
        let offset = self.bytes.len() as u32;
        self.bytes.extend_from_slice(name);
        self.bytes.push(0);
        let (bytes, state) = (&self.bytes, &self.state);
        self.index.insert_unique(hash, offset, |offset| {
            let rest = &bytes[*offset as usize..];
            let end = rest
                .iter()
                .position(|byte| *byte == 0)
                .unwrap_or(rest.len());
            state.hash_one(&rest[..end])
        });
        offset
    }

    /// The offset of a name that is in the table.
    pub fn find(&self, name: &[u8]) -> Option<u32> {
        if name.is_empty() {
            return Some(0);
        }
        let same = |offset: &u32| {
            let start = *offset as usize;
            self.bytes.get(start..start + name.len()) == Some(name)
                && self.bytes.get(start + name.len()) == Some(&0)
        };
        self.index.find(self.state.hash_one(name), same).copied()
    }

    /// The table's bytes so far.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The table's bytes.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::NameTable;

    #[test]
    fn names_are_kept_once_and_suffixes_are_not_shared() {
        let mut table = NameTable::new();
        assert_eq!(table.add(b"long.name"), 1);
        assert_eq!(table.add(b"name"), 11);
        assert_eq!(table.add(b"long.name"), 1);
        assert_eq!(table.add(b""), 0);
        assert_eq!(table.find(b"name"), Some(11));
        assert_eq!(table.find(b"nam"), None);
        assert_eq!(table.into_bytes(), b"\0long.name\0name\0");
    }
}
