//! The output sections of each function, by name.

use cuweld_ir::LinkSymbolId;
use cuweld_ir::table::EntityId;
use foldhash::fast::FixedState;
use hashbrown::HashMap;

use super::OutId;

/// How many sections of a function are looked through one by one. Compilers write fewer.
const LISTED: u32 = 12;

/// No section.
const NONE: u32 = u32::MAX;

/// Returns a mark that differs for most names of one function's sections, which end alike, so that
/// the names need not be read.
fn mark(name: &[u8]) -> u32 {
    let word = |start: usize| {
        let word = name.get(start..).and_then(<[u8]>::first_chunk);
        word.map_or(0, |word| u64::from_le_bytes(*word))
    };
    let start = (word(1) ^ word(9).rotate_left(32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (start >> 32) as u32 ^ name.len() as u32
}

/// Finds a function's section by its name: most functions have a handful, which are compared; only
/// names of functions with more are hashed.
pub(super) struct FunctionSections<'data> {
    /// The section of each resolved symbol that came last, and how many it has.
    last: Vec<(u32, u32)>,
    /// The section of the same resolved symbol before this one, and the mark of this one's name, by
    /// section.
    before: Vec<(u32, u32)>,
    /// Those that are not listed.
    further: HashMap<(LinkSymbolId, &'data [u8]), OutId, FixedState>,
}

impl<'data> FunctionSections<'data> {
    /// Builds an empty table for `links` resolved symbols, with room for `sections` sections.
    pub(super) fn new(links: usize, sections: usize) -> Self {
        FunctionSections {
            last: vec![(NONE, 0); links],
            before: Vec::with_capacity(sections),
            further: HashMap::default(),
        }
    }

    /// Adds a section of a function.
    pub(super) fn insert(&mut self, link: LinkSymbolId, name: &'data [u8], id: OutId) {
        let (last, count) = &mut self.last[link.index()];
        if *count == LISTED {
            self.further.insert((link, name), id);
            return;
        }
        if self.before.len() <= id {
            self.before.resize(id + 1, (NONE, 0));
        }
        self.before[id] = (*last, mark(name));
        *last = id as u32;
        *count += 1;
    }

    /// Returns the section of a function that has this name; `name_of` says what a section is
    /// called.
    pub(super) fn find(
        &self,
        link: LinkSymbolId,
        name: &[u8],
        name_of: impl Fn(OutId) -> &'data [u8],
    ) -> Option<OutId> {
        let (mut next, count) = self.last[link.index()];
        let mark = mark(name);
        while next != NONE {
            let id = next as OutId;
            let (before, mark_of) = self.before[id];
            if mark_of == mark && name_of(id) == name {
                return Some(id);
            }
            next = before;
        }
        if count < LISTED {
            return None;
        }
        self.further.get(&(link, name)).copied()
    }
}

#[cfg(test)]
mod tests {
    use cuweld_ir::LinkSymbolId;
    use cuweld_ir::table::EntityId;

    use super::FunctionSections;

    #[test]
    fn sections_are_found_by_function_and_name_however_many() {
        let names: Vec<Vec<u8>> = (0..60)
            .map(|i| format!("s{}", i / 2).into_bytes())
            .collect();
        let mut sections = FunctionSections::new(2, 60);
        for (id, name) in names.iter().enumerate() {
            sections.insert(LinkSymbolId::new(id % 2), name, id);
        }
        let find = |link, name: &str| {
            sections.find(LinkSymbolId::new(link), name.as_bytes(), |id| &names[id])
        };
        for id in 0..60 {
            assert_eq!(find(id % 2, &format!("s{}", id / 2)), Some(id));
        }
        assert_eq!(find(0, "s30"), None);
    }
}
