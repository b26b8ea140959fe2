//! String tables as nvlink builds them: in order of first use, without duplicates, without sharing
//! of suffixes (`merge.md` section 4).

use foldhash::fast::FixedState;
use hashbrown::HashTable;
use hashbrown::hash_table;
use std::hash::BuildHasher;

/// A string table in the making. Offset 0 is the empty string.
#[derive(Default)]
pub struct NameTable {
    tables: NameTables<1>,
}

impl NameTable {
    /// A table that holds only the empty string.
    pub fn new() -> Self {
        Self::default()
    }

    /// The offset of a name, which is added if it is new.
    pub fn add(&mut self, name: &[u8]) -> u32 {
        self.tables.add(name, [true])[0]
    }

    /// The offset of a name that is in the table.
    pub fn find(&self, name: &[u8]) -> Option<u32> {
        match name.is_empty() {
            true => Some(0),
            false => self.tables.find(name, 0),
        }
    }

    /// The table's bytes so far.
    pub fn bytes(&self) -> &[u8] {
        self.tables.bytes(0)
    }

    /// The table's bytes.
    pub fn into_bytes(self) -> Vec<u8> {
        let [bytes] = self.tables.into_bytes();
        bytes
    }
}

/// String tables in the making that have many names in common, which are looked up once for all of them.
pub struct NameTables<const TABLES: usize> {
    bytes: [Vec<u8>; TABLES],
    index: HashTable<Entry<TABLES>>,
}

/// A string of any of the tables. Its hash stands beside its offsets, so that the index grows without reading the strings.
#[derive(Clone, Copy)]
struct Entry<const TABLES: usize> {
    hash: u32,
    /// Its offset in each table, 0 where it is not.
    offsets: [u32; TABLES],
}

impl<const TABLES: usize> Entry<TABLES> {
    /// Whether it is a name with this hash.
    fn is(&self, name: &[u8], hash: u32, tables: &[Vec<u8>; TABLES]) -> bool {
        self.hash == hash
            && std::iter::zip(self.offsets, tables)
                .find(|(offset, _)| *offset != 0)
                .and_then(|(offset, bytes)| bytes.get(offset as usize..))
                .and_then(|rest| rest.strip_prefix(name))
                .is_some_and(|rest| rest.first() == Some(&0))
    }
}

/// A hash of 32 bits, spread over the bits that the index looks at.
fn spread(hash: u32) -> u64 {
    u64::from(hash).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

fn hash_of(name: &[u8]) -> u32 {
    (FixedState::default().hash_one(name) >> 32) as u32
}

impl<const TABLES: usize> Default for NameTables<TABLES> {
    fn default() -> Self {
        Self::with_capacity(0, [0; TABLES])
    }
}

impl<const TABLES: usize> NameTables<TABLES> {
    /// Tables that hold only the empty string, with room for so many names in all, and so many bytes in each.
    pub fn with_capacity(names: usize, bytes: [usize; TABLES]) -> Self {
        NameTables {
            bytes: bytes.map(|bytes| {
                let mut table = Vec::with_capacity(bytes.saturating_add(1));
                table.push(0);
                table
            }),
            index: HashTable::with_capacity(names),
        }
    }

    /// The offset of a name in each table, 0 where it is not; it is added to these if it is new there.
    pub fn add(&mut self, name: &[u8], tables: [bool; TABLES]) -> [u32; TABLES] {
        match name.is_empty() {
            true => [0; TABLES],
            false => self.add_even_empty(name, tables),
        }
    }

    /// As [`NameTables::add`], but the empty string gets a place of its own: the empty prototypes of kernels whose
    /// address is taken (measured).
    pub fn add_even_empty(&mut self, name: &[u8], tables: [bool; TABLES]) -> [u32; TABLES] {
        let hash = hash_of(name);
        let same = |entry: &Entry<TABLES>| entry.is(name, hash, &self.bytes);
        let rehash = |entry: &Entry<TABLES>| spread(entry.hash);
        let entry = self.index.entry(spread(hash), same, rehash);
        let mut put = |index: usize| {
            let bytes: &mut Vec<u8> = &mut self.bytes[index];
            let offset = bytes.len() as u32;
            bytes.extend_from_slice(name);
            bytes.push(0);
            offset
        };
        match entry {
            // What was just written is not read again: it is seldom in the cache, and the processor would wait for it.
            hash_table::Entry::Vacant(place) => {
                let offsets = std::array::from_fn(|index| match tables[index] {
                    true => put(index),
                    false => 0,
                });
                place.insert(Entry { hash, offsets });
                offsets
            }
            hash_table::Entry::Occupied(mut entry) => {
                let offsets = &mut entry.get_mut().offsets;
                for (index, offset) in offsets.iter_mut().enumerate() {
                    if tables[index] && *offset == 0 {
                        *offset = put(index);
                    }
                }
                *offsets
            }
        }
    }

    /// The offset of a name that is in a table; of the empty string, that of the place of its own.
    pub fn find(&self, name: &[u8], table: usize) -> Option<u32> {
        let hash = hash_of(name);
        let same = |entry: &Entry<TABLES>| entry.is(name, hash, &self.bytes);
        let offset = self.index.find(spread(hash), same)?.offsets[table];
        Some(offset).filter(|offset| *offset != 0)
    }

    /// The bytes of a table so far.
    pub fn bytes(&self, table: usize) -> &[u8] {
        &self.bytes[table]
    }

    /// The bytes of the tables.
    pub fn into_bytes(self) -> [Vec<u8>; TABLES] {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::NameTable;
    use super::NameTables;

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

    #[test]
    fn a_name_has_its_own_place_in_each_table() {
        let mut tables = NameTables::default();
        assert_eq!(tables.add(b"first", [false, true]), [0, 1]);
        assert_eq!(tables.add(b"both", [true, true]), [1, 7]);
        assert_eq!(tables.add(b"first", [true, false]), [6, 1]);
        assert_eq!(tables.add(b"", [true, true]), [0, 0]);
        assert_eq!(tables.find(b"", 1), None);
        assert_eq!(tables.add_even_empty(b"", [false, true]), [0, 12]);
        assert_eq!(tables.find(b"", 1), Some(12));
        assert_eq!(tables.find(b"both", 0), Some(1));
        assert_eq!(tables.find(b"bot", 0), None);
        assert_eq!(
            tables.into_bytes(),
            [b"\0both\0first\0".to_vec(), b"\0first\0both\0\0".to_vec()]
        );
    }
}
