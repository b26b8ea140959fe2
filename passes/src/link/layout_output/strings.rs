//! The names of sections and symbols, which go into their tables in the order in which things are
//! created.
//!
//! Creation needs no offset of a name. So names are gathered and put into the tables some at a
//! time; where there are many, by a second thread.

use std::sync::mpsc::SyncSender;
use std::sync::mpsc::sync_channel;

use cuweld_elf::string_table::NameHash;
use cuweld_elf::string_table::NameTables;
use cuweld_ir::LinkSymbolId;
use cuweld_ir::Module;
use cuweld_ir::table::EntityId;

use super::OutId;
use crate::threads::Threads;
use crate::threads::Work;

/// How many names are gathered.
const NAMES_AT_A_TIME: usize = 1024;

/// How often names wait for the second thread before the first one does.
const WAITING: usize = 16;

/// No offset yet.
pub(super) const NO_OFFSET: u32 = u32::MAX;

/// Which tables a name goes into, and what has it.
#[derive(Clone, Copy)]
pub(super) enum Named {
    /// Both; nothing asks for it.
    Unused,
    /// The symbols' table; nothing asks for it yet, and the empty name has a place of its own.
    EvenEmpty,
    /// The symbols' table; nothing asks for it yet.
    SymbolName,
    /// Both; a section.
    Section(OutId),
    /// The sections' table; a section.
    SectionAlone(OutId),
    /// The symbols' table; the symbol of a section.
    SectionSymbol(OutId),
    /// The symbols' table; a resolved symbol.
    Link(LinkSymbolId),
}

/// The table of the names of sections.
const SECTIONS: usize = 0;

/// The table of the names of symbols.
const SYMBOLS: usize = 1;

/// Both tables, and the offsets of what has names in them.
pub(super) struct Strings {
    tables: NameTables<2>,
    /// The offsets of sections' names in both tables.
    of_sections: Vec<[u32; 2]>,
    of_links: Vec<u32>,
    /// Hashes of names that are added next.
    hashes: Vec<NameHash>,
}

impl Strings {
    fn new(module: &Module<'_>, names: usize) -> Self {
        let of_symbols = Room::of_symbols(module);
        let of_sections = Room::of_sections(names, of_symbols);
        let bytes = of_sections.bytes;
        Strings {
            tables: NameTables::with_capacity(
                of_sections.names + of_symbols.names,
                [bytes, bytes + of_symbols.bytes],
            ),
            of_sections: Vec::with_capacity(of_sections.names),
            of_links: vec![NO_OFFSET; module.link_symbols.len()],
            hashes: Vec::with_capacity(NAMES_AT_A_TIME),
        }
    }

    /// Returns the offset of a name that is in the table of sections, or 0.
    pub(super) fn in_sections(&self, name: &[u8]) -> u32 {
        self.tables.find(name, SECTIONS).unwrap_or(0)
    }

    /// Returns the offset of a name that is in the table of symbols, or 0.
    pub(super) fn in_symbols(&self, name: &[u8]) -> u32 {
        self.tables.find(name, SYMBOLS).unwrap_or(0)
    }

    /// Returns `true` if a prototype is empty: all of them come before other names.
    pub(super) fn has_empty_prototype(&self) -> bool {
        let [empty, first] = [&b""[..], b".shstrtab"].map(|name| self.tables.find(name, SYMBOLS));
        empty.is_some() && empty < first
    }

    /// Returns the sizes in bytes of the tables of sections and symbols.
    pub(super) fn sizes(&self) -> (usize, usize) {
        let size = |table| self.tables.bytes(table).len();
        (size(SECTIONS), size(SYMBOLS))
    }

    /// Takes the bytes of the tables of sections and symbols, and returns them; the offsets stay.
    pub(super) fn take_bytes(&mut self) -> (Vec<u8>, Vec<u8>) {
        let [sections, symbols] = std::mem::take(&mut self.tables).into_bytes();
        (sections, symbols)
    }

    /// Returns the offset of the name of a section.
    pub(super) fn of_section(&self, id: OutId) -> u32 {
        self.of_sections.get(id).map_or(0, |of| of[SECTIONS])
    }

    /// Returns the offset of the name of a section in the table of symbols.
    pub(super) fn of_section_symbol(&self, id: OutId) -> u32 {
        self.of_sections.get(id).map_or(0, |of| of[SYMBOLS])
    }

    /// Returns the offset of the name of a resolved symbol, or [`NO_OFFSET`].
    pub(super) fn of_link(&self, link: LinkSymbolId) -> u32 {
        self.of_links[link.index()]
    }

    /// Adds names, and empties the list.
    fn add_all(&mut self, names: &mut Vec<Entry<'_>>) {
        let mut hashes = std::mem::take(&mut self.hashes);
        self.tables
            .prepare(names.iter().map(|(name, _)| *name), &mut hashes);
        for ((name, named), hash) in names.drain(..).zip(hashes.drain(..)) {
            self.add(name, hash, named);
        }
        self.hashes = hashes;
    }

    fn add(&mut self, name: &[u8], hash: NameHash, named: Named) {
        let tables = match named {
            Named::Unused | Named::Section(_) => [true, true],
            Named::SectionAlone(_) => [true, false],
            Named::EvenEmpty | Named::SymbolName | Named::SectionSymbol(_) | Named::Link(_) => {
                [false, true]
            }
        };
        let offsets = match named {
            Named::EvenEmpty => self.tables.add_even_empty(name, hash, tables),
            _ => self.tables.add_prepared(name, hash, tables),
        };
        match named {
            Named::Unused | Named::EvenEmpty | Named::SymbolName => {}
            Named::Section(id) => *self.section(id) = offsets,
            Named::SectionAlone(id) => self.section(id)[SECTIONS] = offsets[SECTIONS],
            Named::SectionSymbol(id) => self.section(id)[SYMBOLS] = offsets[SYMBOLS],
            Named::Link(link) => self.of_links[link.index()] = offsets[SYMBOLS],
        }
    }

    /// Returns the offsets of a section, most often of one after all others.
    fn section(&mut self, id: OutId) -> &mut [u32; 2] {
        if self.of_sections.len() <= id {
            self.of_sections.resize(id + 1, [0; 2]);
        }
        &mut self.of_sections[id]
    }
}

/// Names on their way into the tables. What is gathered last goes there when the value goes.
pub(super) struct Names<'n, 'data> {
    gathered: Vec<Entry<'data>>,
    taker: Taker<'n, 'data>,
    sections: usize,
}

/// A name with what has it.
type Entry<'data> = (&'data [u8], Named);

/// What puts names into the tables.
enum Taker<'n, 'data> {
    Here(&'n mut Strings),
    Thread(SyncSender<Vec<Entry<'data>>>),
}

impl<'n, 'data> Names<'n, 'data> {
    fn new(taker: Taker<'n, 'data>, sections: usize) -> Self {
        Names {
            sections,
            gathered: Vec::with_capacity(NAMES_AT_A_TIME),
            taker,
        }
    }

    /// Returns an estimate of the number of sections that will have names.
    pub(super) fn sections(&self) -> usize {
        self.sections
    }

    /// Adds a name.
    pub(super) fn add(&mut self, name: &'data [u8], named: Named) {
        self.gathered.push((name, named));
        if self.gathered.len() == NAMES_AT_A_TIME {
            self.hand_on(NAMES_AT_A_TIME);
        }
    }

    /// Hands on what was gathered, and makes room for `more` names.
    fn hand_on(&mut self, more: usize) {
        match &mut self.taker {
            Taker::Here(strings) => strings.add_all(&mut self.gathered),
            Taker::Thread(thread) => {
                let full = std::mem::replace(&mut self.gathered, Vec::with_capacity(more));
                // A thread that has ended has panicked, which the code that waits for it sees.
                let _ = thread.send(full);
            }
        }
    }
}

impl Drop for Names<'_, '_> {
    fn drop(&mut self) {
        self.hand_on(0);
    }
}

/// Runs `first`, which adds names, and then `then` with its result. About `sections` names will be
/// those of sections, and `names` with those of sections that are not made. Returns the result of
/// `then`, and the tables.
pub(super) fn with_names<'data, A, B>(
    module: &Module<'data>,
    threads: &Threads,
    (sections, names): (usize, usize),
    first: impl FnOnce(Names<'_, 'data>) -> A,
    then: impl FnOnce(A) -> B,
) -> (B, Strings) {
    let Some(second) = threads.second(Work::Sections(module.link_symbols.len())) else {
        let mut strings = Strings::new(module, names);
        let made = first(Names::new(Taker::Here(&mut strings), sections));
        return (then(made), strings);
    };
    let (give, take) = sync_channel(WAITING);
    let mut strings = None;
    let gather = || {
        let strings = strings.insert(Strings::new(module, names));
        for mut names in take {
            strings.add_all(&mut names);
        }
    };
    let made = second.beside(gather, || {
        then(first(Names::new(Taker::Thread(give), sections)))
    });
    (made, strings.unwrap_or_else(|| Strings::new(module, names)))
}

/// About what stands before the name of a function in those of its sections.
const PREFIX_LENGTH: usize = 14;

/// How much room names take; a little less or more than it will be.
#[derive(Clone, Copy, Default)]
struct Room {
    names: usize,
    bytes: usize,
}

impl Room {
    /// Returns the room for `names` names of sections, most of which are a prefix and the name of a
    /// symbol.
    fn of_sections(names: usize, symbols: Room) -> Self {
        let length = symbols.bytes / symbols.names.max(1) + PREFIX_LENGTH;
        Room {
            names,
            bytes: names * length,
        }
    }

    fn of_symbols(module: &Module<'_>) -> Self {
        let mut room = Room::default();
        for link in module.link_symbols.ids() {
            room.add(module.link_name(link).len());
        }
        room
    }

    fn add(&mut self, length: usize) {
        self.names += 1;
        self.bytes += length + 1;
    }
}
