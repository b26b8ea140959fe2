//! The code of a function with instructions added or taken out, in both forms, as NVIDIA's finalizer
//! changes it: barriers in front of the ends of code for the debugger [debugger-ends], and the
//! work-arounds at memory barriers of code that is not linked with any other [fences-alone].

use super::capmerc::Capmerc;
use super::capmerc::Form;
use super::capmerc::HEAD;
use super::capmerc::INSTRUCTION;
use super::capmerc::Item;
use crate::sass::Instruction;
use crate::sass::operands::Generation;

/// The barriers in front of the end of code for the debugger, `MEMBAR`, `ERRBAR` and `CGAERRBAR`,
/// with no guard.
const BARRIERS: [u128; 3] = [
    0x000f_c000_0000_5000_0000_0000_0000_7992,
    0x000f_c000_0000_0000_0000_0000_0000_79ab,
    0x000f_ec00_0000_0000_0000_0000_0000_75ab,
];

/// `EXIT` without guard and control bits.
const EXIT: u128 = 0x0380_0000_0000_0000_0000_094d;

/// The cycles that `EXIT` takes.
const END_STALL: u8 = 5;

/// The entry of an end with barriers, with no guard: a run of four instructions with a record.
const GUARDED_END: [u8; 18] = [
    0x51, 0x02, 0x01, 0x11, 0x00, 0x0a, 0xf8, 0, 0, 0, 0, 0, 0, 0xf8, 0, 0, 0, 0,
];

/// The byte of that entry that names the guard.
const GUARD: usize = 6;

/// `CALL` of a place in the same code.
const CALL_NEAR: u16 = 0x944;

/// The bits of an instruction that name its guard, and their value for none.
const GUARD_BITS: u32 = 12;
const NO_GUARD: u128 = 7;

/// Code without Mercury at the end of a function has a branch to itself and at least this many `NOP`,
/// and code is this many instructions, or a multiple of them.
const FILLING: usize = 8;

/// The operation of records of what uses barriers in shared memory: `mbarrier` of PTX.
const SHARED_BARRIERS: u8 = 0x1b;

/// The most instructions of a run.
const LONGEST_RUN: usize = 0x1ff;

/// Code that was changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edited {
    /// Its SASS.
    pub code: Vec<u8>,
    /// Its `.nv.capmerc.text.F`.
    pub capmerc: Vec<u8>,
    /// Where its instructions are now.
    pub places: Places,
}

impl Edited {
    /// Changes the code once more; `None` if that change is not known.
    pub fn then(self, change: impl Fn(&[u8], &[u8]) -> Option<Edited>) -> Option<Edited> {
        let made = change(&self.code, &self.capmerc)?;
        let after = |number: usize| made.places.rows.get(number);
        let rows = self.places.rows.iter().map(|row| {
            Some(Place {
                start: after(row.start)?.start,
                own: match row.own {
                    Some(own) => after(own)?.own,
                    None => None,
                },
            })
        });
        let places = Places {
            rows: rows.collect::<Option<_>>()?,
        };
        Some(Edited { places, ..made })
    }
}

/// Where the instructions of changed code are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    /// By the number of the instruction before the change, with the end of the code.
    rows: Vec<Place>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    /// The number of the first instruction that is run by who goes there.
    start: usize,
    /// Its own number; `None` if it was taken out.
    own: Option<usize>,
}

impl Places {
    /// Returns the offset in bytes to which what leads to an offset leads now; `None` for offsets
    /// outside of the code.
    pub fn target(&self, offset: u64) -> Option<u64> {
        let (row, rest) = self.row(offset)?;
        Some(row.start as u64 * INSTRUCTION + rest)
    }

    /// Returns the offset in bytes of what lies at an offset; `None` if it was taken out, and for
    /// offsets outside of the code.
    pub fn instruction(&self, offset: u64) -> Option<u64> {
        let (row, rest) = self.row(offset)?;
        Some(row.own? as u64 * INSTRUCTION + rest)
    }

    /// Returns the number before the change of each instruction that was there, in their order now,
    /// each with its number now.
    pub fn kept(&self) -> impl Iterator<Item = (usize, usize)> {
        let rows = self.rows.iter().enumerate();
        rows.filter_map(|(was, row)| Some((was, row.own?)))
    }

    fn row(&self, offset: u64) -> Option<(Place, u64)> {
        let number = usize::try_from(offset / INSTRUCTION).ok()?;
        Some((*self.rows.get(number)?, offset % INSTRUCTION))
    }
}

/// An instruction of the changed code.
#[derive(Clone, Copy)]
struct Word {
    /// Its number before the change; `None` if it was added.
    was: Option<usize>,
    word: Instruction,
}

/// Adds barriers in front of each `EXIT` that has none; `None` for code in which something is not
/// known that may have to move, and for an end right after a memory barrier, which nvlink makes one
/// with that of the end.
pub fn guard_ends(code: &[u8], capmerc: &[u8]) -> Option<Edited> {
    let ends = Instruction::all(code).skip(1);
    let mut pairs = Instruction::all(code).zip(ends);
    if pairs.any(|(before, end)| before.is_memory_barrier() && end.is_exit()) {
        return None;
    }
    edit(code, capmerc, |form, words| {
        let &[end] = words else {
            return Some(None);
        };
        if !end.word.is_exit() {
            return Some(None);
        }
        let guard = end.word.bits(GUARD_BITS, 4);
        let bare = end.word.0 & !(0xf << GUARD_BITS) & ((1 << 105) - 1);
        if form != Form::Plain || bare != EXIT {
            return None;
        }
        let mut entry = GUARDED_END;
        if guard != NO_GUARD {
            entry[GUARD] = (guard as u8 & 7) << 3 | guard as u8 >> 3;
        }
        let barriers = BARRIERS.map(|word| Word {
            was: None,
            word: Instruction(word & !(0xf << GUARD_BITS) | guard << GUARD_BITS),
        });
        let mut words = [&barriers[..], &[end]].concat();
        if end.word.stalls_longest() {
            // Without optimisation all wait for the same.
            words[1].word = words[1].word.waiting_as(end.word);
            words[2].word = words[2].word.controlled_as(end.word);
        } else {
            words[3].word = end.word.with_stall(END_STALL).without_yield();
        }
        Some(Some((entry.to_vec(), words)))
    })
}

/// What memory barriers of a function have that no other code needs.
pub struct Needless {
    /// Waits for shared memory: they are needed where the code copies to it while threads go on.
    waits: bool,
    /// Barriers of a block of threads in front of wider ones: they are needed where the code uses
    /// barriers in shared memory.
    barriers: bool,
    /// Barriers where code ends: they are needed where it writes to surfaces.
    ends: bool,
}

impl Needless {
    /// Finds it by the function's SASS and `.nv.capmerc.text.F`, in a walk over both.
    pub fn of(code: &[u8], capmerc: &Capmerc<'_>) -> Needless {
        let uses_barriers = |item: Item<'_>| match item.form {
            Form::Record(record) | Form::Run(Some(record)) => {
                record.get(1) == Some(&SHARED_BARRIERS)
            }
            _ => false,
        };
        Needless {
            waits: !Instruction::all(code).any(Instruction::copies_to_shared),
            barriers: !capmerc.marked().any(uses_barriers),
            ends: !Instruction::all(code).any(Instruction::writes_surface),
        }
    }

    /// Returns `true` if a run of the function's instructions has what [`thin_fences`] takes out.
    pub fn is_in(&self, run: &[u8]) -> bool {
        let words: Vec<Instruction> = Instruction::all(run).collect();
        words.iter().any(|word| word.is_memory_barrier())
            && (0..words.len()).any(|at| self.has(&words, at))
    }

    /// Returns `true` if an instruction of a run with a memory barrier goes.
    fn has(&self, run: &[Instruction], at: usize) -> bool {
        let word = run[at];
        let next = run.get(at + 1);
        self.waits && word.waits_for_shared()
            || self.barriers
                && word.is_weak_block_barrier()
                && next.is_some_and(|next| next.is_wide_memory_barrier())
            || self.ends && word.is_memory_barrier() && ends_with_exit(run)
    }
}

/// Returns `true` if a run of instructions ends the thread.
fn ends_with_exit(run: &[Instruction]) -> bool {
    run.last().is_some_and(|word| word.is_exit())
}

/// Takes out what memory barriers have that no other code needs: waits for shared memory, barriers of
/// a block of threads in front of wider ones, and those where code for the debugger ends. `None` for
/// code in which something is not known that may have to move.
pub fn thin_fences(code: &[u8], capmerc: &[u8]) -> Option<Edited> {
    let needless = Needless::of(code, &Capmerc::parse(capmerc).ok()?);
    edit(code, capmerc, |form, words| {
        let Form::Run(Some(record)) = form else {
            return Some(None);
        };
        if !words.iter().any(|word| word.word.is_memory_barrier()) {
            return Some(None);
        }
        let run: Vec<Instruction> = words.iter().map(|word| word.word).collect();
        let numbered = words.iter().enumerate();
        let stays = numbered.filter(|(at, _)| !needless.has(&run, *at));
        let stays: Vec<Word> = stays.map(|(_, word)| *word).collect();
        if stays.len() == words.len() {
            return Some(None);
        }
        let mut entry = Vec::with_capacity(2 + record.len());
        if stays.len() > 1 {
            entry.extend_from_slice(&run_head(stays.len(), 0x51)?);
        }
        entry.extend_from_slice(record);
        Some(Some((entry, stays)))
    })
}

/// Returns the head of a run of instructions, with the lowest seven bits of `kind`.
fn run_head(count: usize, kind: u8) -> Option<[u8; 2]> {
    let count = u16::try_from(count).ok()?;
    (usize::from(count) <= LONGEST_RUN).then(|| (count << 7 | u16::from(kind & 0x7f)).to_le_bytes())
}

/// What an item is replaced by: its entry and its instructions; `None` if it stays.
type Replaced = Option<(Vec<u8>, Vec<Word>)>;

/// Changes code item by item, and all that depends on where instructions are.
fn edit(
    code: &[u8],
    bytes: &[u8],
    change: impl Fn(Form<'_>, &[Word]) -> Option<Replaced>,
) -> Option<Edited> {
    let capmerc = Capmerc::parse(bytes).ok()?;
    capmerc.covers(code.len() as u64).ok()?;
    let words = Instruction::all(code).enumerate();
    let words: Vec<Word> = words
        .map(|(number, word)| Word {
            was: Some(number),
            word,
        })
        .collect();
    let items: Vec<Item<'_>> = capmerc.items().collect();
    let (last, rest) = items.split_last()?;
    let own = |item: &Item<'_>| {
        let first = usize::try_from(item.instruction).ok()?;
        words.get(first..)?.get(..usize::try_from(item.count).ok()?)
    };
    let mut made = Made {
        bitmap: vec![0; 4 * items.len().div_ceil(32)],
        entries: Vec::with_capacity(bytes.len()),
        words: Vec::with_capacity(words.len()),
        rows: Vec::with_capacity(words.len() + 1),
    };
    for item in rest {
        let own = own(item)?;
        match change(item.form, own)? {
            Some((entry, words)) => {
                made.entries.extend_from_slice(&entry);
                made.add(own, &words);
            }
            None => {
                match item.form {
                    Form::Plain => {
                        made.bitmap[item.number as usize / 8] |= 1 << (item.number % 8);
                    }
                    _ => made.entries.extend_from_slice(capmerc.entry(item)),
                }
                made.add(own, own);
            }
        }
    }
    made.fill_up(last.form, own(last)?, bytes.get(last.at).copied())?;
    let places = Places { rows: made.rows };
    let mut code = Vec::with_capacity(made.words.len() * INSTRUCTION as usize);
    for (number, word) in made.words.iter().enumerate() {
        let word = moved(*word, number, &places)?;
        code.extend_from_slice(&word.0.to_le_bytes());
    }
    Some(Edited {
        code,
        capmerc: [bytes.get(..HEAD)?, &made.bitmap, &made.entries].concat(),
        places,
    })
}

/// Changed code so far.
struct Made {
    bitmap: Vec<u8>,
    entries: Vec<u8>,
    words: Vec<Word>,
    rows: Vec<Place>,
}

impl Made {
    /// Adds the instructions of an item that had others before.
    fn add(&mut self, before: &[Word], words: &[Word]) {
        let start = self.words.len();
        self.words.extend_from_slice(words);
        for (index, old) in before.iter().enumerate() {
            let place = |at: &dyn Fn(&Word) -> bool| words.iter().position(at).map(|at| start + at);
            let own = place(&|word| word.was == old.was);
            let after = place(&|word| word.was >= old.was).unwrap_or(words.len() + start);
            self.rows.push(Place {
                start: if index == 0 { start } else { after },
                own,
            });
        }
    }

    /// Adds what stands at the end of each function: a branch to itself and `NOP`. `None` if this
    /// function has something else there.
    fn fill_up(&mut self, form: Form<'_>, before: &[Word], kind: Option<u8>) -> Option<()> {
        let (branch, filling) = before.split_first()?;
        let filled = |start: usize| (start + 1 + FILLING).next_multiple_of(FILLING);
        let is_filling = filling.iter().all(|word| word.word.is_filling());
        let is_known = form == Form::Run(None)
            && branch.word.branch() == Some(-1)
            && is_filling
            && self.rows.len() + before.len() == filled(self.rows.len());
        if !is_known {
            return None;
        }
        let start = self.words.len();
        let size = filled(start);
        self.entries
            .extend_from_slice(&run_head(size - start, kind?)?);
        self.words.push(*branch);
        let nop = Word {
            was: None,
            word: filling.last()?.word,
        };
        self.words.resize(size, nop);
        self.rows.push(Place {
            start,
            own: Some(start),
        });
        let end = Place {
            start: size,
            own: None,
        };
        self.rows.resize(self.rows.len() + before.len(), end);
        Some(())
    }
}

/// Returns an instruction of changed code with its number, leading where it did before; `None` if
/// that is not known.
fn moved(word: Word, number: usize, places: &Places) -> Option<Instruction> {
    let Some(was) = word.was else {
        return Some(word.word);
    };
    let instruction = word.word;
    let new_distance = |distance: i64| {
        let before = i64::try_from(was).ok()?.checked_add(1)?;
        let before = usize::try_from(before.checked_add(distance)?).ok()?;
        let start = places.rows.get(before)?.start;
        Some(i64::try_from(start).ok()? - i64::try_from(number).ok()? - 1)
    };
    match Generation::Sm100.name(instruction)? {
        // That of `RET` and `BRX` is the start of the function, to which they add.
        "BRA" | "WARPSYNC" | "RET" | "BRX" => {
            instruction.with_distance(new_distance(instruction.distance())?)
        }
        "BSSY" => instruction.with_marked_place(new_distance(instruction.marked_place()?)?),
        "CALL" if instruction.operation() == CALL_NEAR => None,
        "BRXU" | "JMP" | "JMX" | "JMXU" | "LEPC" | "RTT" | "BPT" => None,
        _ => Some(instruction),
    }
}

#[cfg(test)]
mod tests {
    use super::BARRIERS;
    use super::EXIT;
    use super::Edited;
    use super::guard_ends;
    use super::thin_fences;
    use crate::mercury::capmerc::Capmerc;
    use crate::mercury::capmerc::VERSION;
    use crate::sass::Instruction;

    /// The control bits of a stall of five cycles that sets no scoreboard, and no guard.
    const FIVE: u128 = 5 << 105 | 0x3f << 110 | 7 << 12;
    const NOP: u128 = 0x918 | 7 << 12;
    /// A branch to itself.
    const END: u128 = 0x0383_ffff_ffff_fffc_00fc_7947 | 7 << 87;
    /// `LDS RZ` of no thread, `MEMBAR.ALL.CTA` and `MEMBAR.SC.GPU`.
    const WAIT: u128 = 0xff << 16 | 0xf984;
    const WEAK: u128 = 8 << 76 | 0x7992;
    const WIDE: u128 = 2 << 76 | 0x7992;

    /// Builds code and its capsule, of items with their entries (none for plain ones).
    fn function(items: &[(&[u8], &[u128])]) -> (Vec<u8>, Vec<u8>) {
        let mut words: Vec<u128> = items
            .iter()
            .flat_map(|(_, words)| *words)
            .copied()
            .collect();
        let head = words.len();
        let size = (head + 9).next_multiple_of(8);
        words.push(Instruction(END).with_distance(-1).unwrap().0);
        words.resize(size, NOP);
        let plain = (0..).zip(items).filter(|(_, (entry, _))| entry.is_empty());
        let bitmap: u32 = plain.map(|(bit, _)| 1 << bit).sum();
        let heads = [1, VERSION, items.len() as u32 + 1, bitmap];
        let mut capsule: Vec<u8> = heads.iter().flat_map(|word| word.to_le_bytes()).collect();
        items.iter().for_each(|(entry, _)| capsule.extend(*entry));
        capsule.extend((((size - head) as u16) << 7 | 0x50).to_le_bytes());
        let code = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        (code, capsule)
    }

    fn words(edited: &Edited) -> Vec<Instruction> {
        Capmerc::parse(&edited.capmerc)
            .and_then(|capmerc| capmerc.covers(edited.code.len() as u64))
            .unwrap();
        Instruction::all(&edited.code).collect()
    }

    /// A branch over an instruction to an `EXIT` with a guard, and another `EXIT`.
    #[test]
    fn what_leads_to_an_end_leads_to_its_barriers() {
        let branch = Instruction(END).with_distance(1).unwrap().0;
        let guarded = EXIT | FIVE & !(0xf << 12) | 9 << 12;
        let plain: &[u8] = &[];
        let items = [branch, NOP, guarded, EXIT | FIVE].map(|word| [word]);
        let items = items.each_ref().map(|word| (plain, &word[..]));
        let (code, capsule) = function(&items);
        let edited = guard_ends(&code, &capsule).unwrap();
        let made = words(&edited);
        assert_eq!(made.len(), 24);
        assert_eq!(made[0].distance(), 1);
        assert_eq!(made[2].0, BARRIERS[0] & !(0xf << 12) | 9 << 12);
        assert_eq!(made[5].0, guarded | 1 << 109);
        assert_eq!(made[6..9], BARRIERS.map(Instruction));
        assert_eq!(made[9].0, EXIT | FIVE | 1 << 109);
        assert_eq!(made[10].branch(), Some(-1));
        let places = &edited.places;
        let of = |at: u64| (places.target(at * 16), places.instruction(at * 16 + 4));
        assert_eq!(of(1), (Some(0x10), Some(0x14)));
        assert_eq!(of(2), (Some(0x20), Some(0x54)));
        assert_eq!(of(3), (Some(0x60), Some(0x94)));
        assert_eq!(of(16), (Some(0x180), None));
        assert_eq!(of(17), (None, None));
        // The guard is @!P1.
        assert_eq!(edited.capmerc[16..22], [0x51, 2, 1, 0x11, 0, 10]);
        assert_eq!(edited.capmerc[22], 9);
        assert_eq!(edited.capmerc[40], 0xf8);
    }

    #[test]
    fn fences_lose_what_other_code_needs() {
        let record = [1, 0x11, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        let run = |count: u16| [&(count << 7 | 0x51).to_le_bytes()[..], &record].concat();
        let branch = Instruction(END).with_distance(-6).unwrap().0;
        let of = |fence: &[u128]| {
            let run = run(fence.len() as u16);
            function(&[(&[], &[NOP]), (&run, fence), (&[], &[branch])])
        };
        let (code, capsule) = of(&[WAIT, WAIT, WEAK, WIDE]);
        let edited = thin_fences(&code, &capsule).unwrap();
        let made = words(&edited);
        assert_eq!((made.len(), made[1].0, made[2].distance()), (16, WIDE, -3));
        // A run of one is a record.
        assert_eq!(edited.capmerc[16..32], record);
        assert_eq!(edited.places.target(0x20), Some(0x10));
        assert_eq!(edited.places.instruction(0x20), None);
        assert_eq!(edited.places.instruction(0x40), Some(0x10));
        // A barrier of the block alone stays.
        let (code, capsule) = of(&[WAIT, WEAK, NOP, NOP]);
        let edited = thin_fences(&code, &capsule).unwrap();
        assert_eq!(words(&edited)[1].0, WEAK);
        assert_eq!(edited.capmerc[16..34], run(3));
        // Waits of other runs stay.
        let (code, capsule) = of(&[WAIT, WAIT, NOP, NOP]);
        assert_eq!(thin_fences(&code, &capsule).unwrap().code, code);
    }

    #[test]
    fn what_may_have_to_move_has_to_be_known() {
        let one = |word: u128| function(&[(&[], &[word]), (&[], &[EXIT | FIVE])]);
        let made = |(code, capsule): (Vec<u8>, Vec<u8>)| guard_ends(&code, &capsule);
        assert!(made(one(NOP)).is_some());
        // `JMP`, `LEPC`, an operation that is not known, a branch to nowhere.
        let nowhere = Instruction(END).with_distance(100).unwrap().0;
        for word in [0x94a, 0x94e, 0x7ff, nowhere] {
            assert_eq!(made(one(word)), None);
        }
        // An `EXIT` with other bits, and one that is a record's.
        assert_eq!(made(one(EXIT | 1 << 40 | FIVE)), None);
        let mut record = [0; 16];
        record[0] = 1;
        assert_eq!(made(function(&[(&record, &[EXIT | FIVE])])), None);
        // An end after a memory barrier.
        assert_eq!(made(one(WEAK)), None);
        // No branch to itself at the end, and a cut capsule.
        let (code, capsule) = one(NOP);
        assert_eq!(guard_ends(&code[..0x20], &capsule), None);
        assert_eq!(guard_ends(&code, &capsule[..17]), None);
    }
}
