//! String tables as nvlink builds them: in order of first use, without duplicates, without sharing
//! of suffixes.

use foldhash::fast::FixedState;
use std::hash::BuildHasher;
use std::hash::Hasher;
use std::hint::black_box;

/// A string table in the making. Offset 0 is the empty string.
#[derive(Default)]
pub struct NameTable {
    tables: NameTables<1>,
}

impl NameTable {
    /// Creates a table that holds only the empty string.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a name if it is new, and returns its offset.
    pub fn add(&mut self, name: &[u8]) -> u32 {
        self.tables.add(name, [true])[0]
    }

    /// Adds a string as [`NameTable::add`] does, but gives the empty one a place of its own.
    pub fn add_even_empty(&mut self, name: &[u8]) -> u32 {
        let hash = NameHash::of(name);
        self.tables.add_even_empty(name, hash, [true])[0]
    }

    /// Returns the offset of a name that is in the table.
    pub fn find(&self, name: &[u8]) -> Option<u32> {
        match name.is_empty() {
            true => Some(0),
            false => self.tables.find(name, 0),
        }
    }

    /// Returns the table's bytes so far.
    pub fn bytes(&self) -> &[u8] {
        self.tables.bytes(0)
    }

    /// Returns the table's bytes.
    pub fn into_bytes(self) -> Vec<u8> {
        let [bytes] = self.tables.into_bytes();
        bytes
    }
}

/// String tables in the making that have many names in common, which are looked up once for all of
/// them.
///
/// The index of large tables is not in the processor's cache, and most names are new: a lookup
/// reads one place of it and nothing else.
pub struct NameTables<const TABLES: usize> {
    bytes: [Vec<u8>; TABLES],
    /// The offset of each string in each table, 0 where it is not.
    offsets: Vec<[u32; TABLES]>,
    index: Index,
}

/// Where strings are found by their hash: as many places as a power of two, of which some are free.
#[derive(Default)]
struct Index {
    /// The hash of a string and above it its number, counted from 1; 0 of a free place.
    places: Vec<u64>,
}

impl Index {
    /// Builds an empty index with room for `strings` strings.
    fn with_capacity(strings: usize) -> Self {
        let places = match strings {
            0 => 0,
            _ => (strings + strings / 3 + 1).next_power_of_two(),
        };
        Index {
            places: vec![0; places],
        }
    }

    /// Returns the index at which the search for a hash begins.
    fn start(&self, hash: u32) -> usize {
        hash as usize & self.places.len().wrapping_sub(1)
    }

    /// Returns the index of the first string with this hash for which `is_it` holds, or the empty
    /// slot where probing stopped. There is an empty slot.
    fn find(&self, hash: u32, is_it: impl Fn(usize) -> bool) -> Result<usize, usize> {
        let mut place = self.start(hash);
        loop {
            let found = self.places.get(place).copied().unwrap_or(0);
            match (found >> 32).checked_sub(1) {
                None => return Err(place),
                Some(number) if found as u32 == hash && is_it(number as usize) => {
                    return Ok(number as usize);
                }
                Some(_) => place = (place + 1) & (self.places.len() - 1),
            }
        }
    }

    /// Makes room for one string more than `strings`.
    fn grow(&mut self, strings: usize) {
        if strings < self.places.len() / 4 * 3 {
            return;
        }
        let larger = vec![0; (2 * self.places.len()).max(16)];
        let before = std::mem::replace(&mut self.places, larger);
        for row in before.into_iter().filter(|row| *row != 0) {
            if let Err(place) = self.find(row as u32, |_| false) {
                self.places[place] = row;
            }
        }
    }
}

/// The hash of a name.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct NameHash(u32);

impl NameHash {
    /// Returns the hash of these bytes.
    pub fn of(name: &[u8]) -> Self {
        let mut hasher = FixedState::default().build_hasher();
        hasher.write(name);
        NameHash((hasher.finish() >> 32) as u32)
    }

    /// Spreads the bits of the hash over those that tables of the crate hashbrown look at.
    pub fn spread(self) -> u64 {
        u64::from(self.0).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
}

impl<const TABLES: usize> Default for NameTables<TABLES> {
    fn default() -> Self {
        Self::with_capacity(0, [0; TABLES])
    }
}

impl<const TABLES: usize> NameTables<TABLES> {
    /// Builds tables that hold only the empty string, with room for `names` names in all, and for
    /// this number of bytes in each.
    pub fn with_capacity(names: usize, bytes: [usize; TABLES]) -> Self {
        NameTables {
            bytes: bytes.map(|bytes| {
                let mut table = Vec::with_capacity(bytes.saturating_add(1));
                table.push(0);
                table
            }),
            offsets: Vec::with_capacity(names),
            index: Index::with_capacity(names),
        }
    }

    /// Hashes names that are added soon, and reads where they will be looked for: the processor
    /// fetches many places at once that do not depend on each other, and names that are added find
    /// theirs in its cache.
    pub fn prepare<'n>(&self, names: impl Iterator<Item = &'n [u8]>, hashes: &mut Vec<NameHash>) {
        hashes.extend(names.map(NameHash::of));
        let places = hashes.iter().map(|hash| self.index.start(hash.0));
        let found = places.map(|place| self.index.places.get(place).copied().unwrap_or(0));
        black_box(found.fold(0, |all, row| all | row));
    }

    /// Adds a name to those of `tables` in which it is new. Returns its offset in each of them, 0
    /// in the other tables.
    pub fn add(&mut self, name: &[u8], tables: [bool; TABLES]) -> [u32; TABLES] {
        self.add_prepared(name, NameHash::of(name), tables)
    }

    /// Does the same as [`NameTables::add`], with the hash that [`NameTables::prepare`] returned
    /// for the name.
    pub fn add_prepared(
        &mut self,
        name: &[u8],
        hash: NameHash,
        tables: [bool; TABLES],
    ) -> [u32; TABLES] {
        match name.is_empty() {
            true => [0; TABLES],
            false => self.add_even_empty(name, hash, tables),
        }
    }

    /// Adds a string as [`NameTables::add_prepared`] does, but gives the empty one a place of its
    /// own, for the empty prototypes of kernels whose address is taken [empty-prototype].
    pub fn add_even_empty(
        &mut self,
        name: &[u8],
        NameHash(hash): NameHash,
        tables: [bool; TABLES],
    ) -> [u32; TABLES] {
        self.index.grow(self.offsets.len());
        let found = self.index.find(hash, |number| self.is(number, name));
        let put = |bytes: &mut Vec<u8>| {
            let offset = bytes.len() as u32;
            bytes.reserve(name.len() + 1);
            bytes.extend_from_slice(name);
            bytes.push(0);
            offset
        };
        match found {
            // What was just written is not read again: it is seldom in the cache, and the processor
            // would wait for it.
            Err(place) => {
                let offsets = std::array::from_fn(|index| match tables[index] {
                    true => put(&mut self.bytes[index]),
                    false => 0,
                });
                self.offsets.push(offsets);
                self.index.places[place] = (self.offsets.len() as u64) << 32 | u64::from(hash);
                offsets
            }
            Ok(number) => {
                let offsets = &mut self.offsets[number];
                for (index, offset) in offsets.iter_mut().enumerate() {
                    if tables[index] && *offset == 0 {
                        *offset = put(&mut self.bytes[index]);
                    }
                }
                *offsets
            }
        }
    }

    /// Returns `true` if a string is a name.
    fn is(&self, number: usize, name: &[u8]) -> bool {
        let offsets = self.offsets.get(number).into_iter().flatten();
        std::iter::zip(offsets, &self.bytes)
            .find(|(offset, _)| **offset != 0)
            .and_then(|(offset, bytes)| bytes.get(*offset as usize..))
            .and_then(|rest| rest.strip_prefix(name))
            .is_some_and(|rest| rest.first() == Some(&0))
    }

    /// Returns the offset of a name that is in a table; of the empty string, that of the place of
    /// its own.
    pub fn find(&self, name: &[u8], table: usize) -> Option<u32> {
        if self.offsets.is_empty() {
            return None;
        }
        let NameHash(hash) = NameHash::of(name);
        let number = self.index.find(hash, |number| self.is(number, name)).ok()?;
        Some(self.offsets[number][table]).filter(|offset| *offset != 0)
    }

    /// Returns the bytes of a table so far.
    pub fn bytes(&self, table: usize) -> &[u8] {
        &self.bytes[table]
    }

    /// Returns the bytes of the tables.
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
    fn the_index_grows_with_the_names() {
        for room in [0, 1, 100, 5000] {
            let mut tables = NameTables::<1>::with_capacity(room, [0]);
            let mut end = 1;
            for number in 0..3000_u32 {
                let name = format!("name{number}");
                assert_eq!(tables.add(name.as_bytes(), [true]), [end]);
                end += name.len() as u32 + 1;
            }
            let mut end = 1;
            for number in 0..3000_u32 {
                let name = format!("name{number}");
                assert_eq!(tables.find(name.as_bytes(), 0), Some(end));
                end += name.len() as u32 + 1;
            }
            assert_eq!(tables.find(b"name3000", 0), None);
        }
    }

    #[test]
    fn a_name_has_its_own_place_in_each_table() {
        let mut tables = NameTables::default();
        assert_eq!(tables.add(b"first", [false, true]), [0, 1]);
        assert_eq!(tables.add(b"both", [true, true]), [1, 7]);
        assert_eq!(tables.add(b"first", [true, false]), [6, 1]);
        assert_eq!(tables.add(b"", [true, true]), [0, 0]);
        assert_eq!(tables.find(b"", 1), None);
        let mut hashes = Vec::new();
        tables.prepare([&b""[..]].into_iter(), &mut hashes);
        assert_eq!(
            tables.add_even_empty(b"", hashes[0], [false, true]),
            [0, 12]
        );
        assert_eq!(tables.find(b"", 1), Some(12));
        assert_eq!(tables.find(b"both", 0), Some(1));
        assert_eq!(tables.find(b"bot", 0), None);
        assert_eq!(
            tables.into_bytes(),
            [b"\0both\0first\0".to_vec(), b"\0first\0both\0\0".to_vec()]
        );
    }
}
