//! String tables as nvlink builds them: in order of first use, without duplicates, without sharing
//! of suffixes (`merge.md` section 4).

use foldhash::fast::FixedState;
use hashbrown::HashTable;
use std::hash::BuildHasher;

/// A string table in the making. Offset 0 is the empty string.
pub struct NameTable {
    bytes: Vec<u8>,
    index: HashTable<Entry>,
}

/// A string of the table. Its hash stands beside its offset, so that the index grows without reading the strings.
#[derive(Clone, Copy)]
struct Entry {
    hash: NameHash,
    offset: u32,
}

/// The hash of a name, the same for all tables: a name that goes into several is hashed once.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct NameHash(u32);

impl NameHash {
    /// The hash of a name.
    pub fn of(name: &[u8]) -> Self {
        NameHash((FixedState::default().hash_one(name) >> 32) as u32)
    }

    /// Spread over the bits that the index looks at.
    fn spread(self) -> u64 {
        u64::from(self.0).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
}

impl Default for NameTable {
    fn default() -> Self {
        NameTable {
            bytes: vec![0],
            index: HashTable::new(),
        }
    }
}

impl NameTable {
    /// A table that holds only the empty string.
    pub fn new() -> Self {
        Self::default()
    }

    /// As [`NameTable::new`], with room for so many names of so many bytes in all.
    pub fn with_capacity(names: usize, bytes: usize) -> Self {
        let mut table = NameTable {
            bytes: Vec::with_capacity(bytes.saturating_add(1)),
            index: HashTable::with_capacity(names),
        };
        table.bytes.push(0);
        table
    }

    /// The offset of a name, which is added if it is new.
    pub fn add(&mut self, name: &[u8]) -> u32 {
        if name.is_empty() {
            return 0;
        }
        self.add_even_empty(name)
    }

    /// As [`NameTable::add`], with the hash of the name.
    pub fn add_hashed(&mut self, name: &[u8], hash: NameHash) -> u32 {
        if name.is_empty() {
            return 0;
        }
        match self.lookup(name, hash) {
            Some(offset) => offset,
            None => self.insert(name, hash),
        }
    }

    /// As [`NameTable::add`], but the empty string gets a place of its own: the empty prototypes of kernels whose
    /// address is taken (measured).
    pub fn add_even_empty(&mut self, name: &[u8]) -> u32 {
        let hash = NameHash::of(name);
        match self.lookup(name, hash) {
            Some(offset) => offset,
            None => self.insert(name, hash),
        }
    }

    /// The offset of a name that is in the table.
    pub fn find(&self, name: &[u8]) -> Option<u32> {
        self.find_hashed(name, NameHash::of(name))
    }

    /// As [`NameTable::find`], with the hash of the name.
    pub fn find_hashed(&self, name: &[u8], hash: NameHash) -> Option<u32> {
        if name.is_empty() {
            return Some(0);
        }
        self.lookup(name, hash)
    }

    /// As [`NameTable::find`], but of the empty string the place of its own.
    pub fn find_even_empty(&self, name: &[u8]) -> Option<u32> {
        self.lookup(name, NameHash::of(name))
    }

    fn lookup(&self, name: &[u8], hash: NameHash) -> Option<u32> {
        let same = |entry: &Entry| {
            let start = entry.offset as usize;
            entry.hash == hash
                && self.bytes.get(start..start + name.len()) == Some(name)
                && self.bytes.get(start + name.len()) == Some(&0)
        };
        let found = self.index.find(hash.spread(), same)?;
        Some(found.offset)
    }

    fn insert(&mut self, name: &[u8], hash: NameHash) -> u32 {
        let offset = self.bytes.len() as u32;
        self.bytes.extend_from_slice(name);
        self.bytes.push(0);
        self.index
            .insert_unique(hash.spread(), Entry { hash, offset }, |entry| {
                entry.hash.spread()
            });
        offset
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
