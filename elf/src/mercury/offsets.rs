//! Where the Mercury instructions of a function begin, and the SASS that stands for each.
//!
//! A record says how many units of 16 bytes its instruction has in Mercury. A plain item does not:
//! there the operation of the SASS instruction decides, and in some operations an operand.

use super::capmerc::Capmerc;
use super::capmerc::Form;
use super::capmerc::INSTRUCTION;
use super::capmerc::Item;
use crate::sass::Instruction;

/// Bytes of a unit of Mercury code.
const UNIT: u64 = 16;

/// `WARPSYNC` of all lanes. A range that begins right before it begins at `!0` in one of thirty
/// functions; which, the code does not tell.
const BREAKING: u16 = 0x948;

/// `WARPSYNC.COLLECTIVE` of some lanes and of all, with which barriers begin that are more than one
/// SASS instruction.
const COLLECTIVE: [u16; 2] = [0x348, 0x948];

/// What comes after it in barriers at whose end ranges begin.
const COLLECTIVE_WORK: [u16; 4] = [0x389, 0x806, 0x819, 0x918];

/// `BSYNC`.
const AFTER_BARRIER: u16 = 0x941;

/// The register that is none.
const RZ: u128 = 255;

/// The predicate that is always true.
const PT: u128 = 7;

/// The instructions of a function in both forms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offsets {
    starts: Starts,
    /// What else is known of each instruction; the last is the end of the Mercury code.
    details: Vec<Detail>,
}

/// Where the instructions of a function begin in both forms: what is asked of functions that are
/// only compared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Starts {
    /// In ascending order of both offsets; the last is the end of the Mercury code.
    all: Vec<Start>,
    /// Bytes of SASS.
    size: u64,
}

/// Where an instruction begins, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Start {
    mercury: u64,
    sass: u64,
    /// Whether SASS without Mercury lies before it.
    is_after_padding: bool,
}

/// What else than its [`Start`] is known of an instruction, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Detail {
    /// The SASS instruction that is the main one of those that stand for it; `None` for SASS of an
    /// unknown form.
    main: Option<u64>,
    /// The SASS instruction before which a range begins that begins at the Mercury instruction
    /// before.
    first: Option<u64>,
    /// Where the main SASS instruction ends of the Mercury instruction before.
    frame: Option<u64>,
    /// Whether it stands alone for [`BREAKING`].
    is_breaking: bool,
    barrier: Barrier,
}

/// Whether an instruction is a barrier or what lanes do after one ([`COLLECTIVE`],
/// [`AFTER_BARRIER`]), at which ranges begin elsewhere than at others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Barrier {
    None,
    /// Ranges begin at its end.
    Known,
    /// It is of another form than those that were measured.
    Unknown,
}

impl Starts {
    /// Replaces these starts by those of the function with this capsule, SASS code and number of
    /// bytes of Mercury code; `None`, with starts that mean nothing, if they cannot be told for
    /// certain.
    pub fn read(&mut self, capmerc: &[u8], code: &[u8], size: u64) -> Option<()> {
        self.read_each(capmerc, code, size, |_, _| {})
    }

    /// Does the same as [`Starts::read`], and passes each item that has Mercury to `each` with the
    /// SASS that stands for it.
    fn read_each(
        &mut self,
        capmerc: &[u8],
        code: &[u8],
        size: u64,
        mut each: impl FnMut(&Item<'_>, &[Bytes]),
    ) -> Option<()> {
        let capmerc = Capmerc::head(capmerc).ok()?;
        let (sass, _) = code.as_chunks();
        self.size = code.len() as u64;
        self.all.clear();
        // Each item stands for an instruction, in sound capsules.
        self.all.reserve(sass.len() + 1);
        let mut mercury = 0;
        let mut padding = None;
        let mut items = capmerc.entries();
        for item in items.by_ref() {
            let item = item.ok()?;
            let first = usize::try_from(item.instruction).ok()?;
            let own = sass.get(first..first.checked_add(usize::try_from(item.count).ok()?)?)?;
            let units = match item.form {
                Form::Plain => units(instruction(own.first()?))?,
                Form::Record(record) | Form::Run(Some(record)) => units_of_record(record)?,
                // Without Mercury: within the code or at its end.
                Form::Run(None) => {
                    padding = padding.or(Some(item.instruction * INSTRUCTION));
                    continue;
                }
                Form::Note(_) => return None,
            };
            self.all.push(Start {
                mercury,
                sass: item.instruction * INSTRUCTION,
                is_after_padding: padding.take().is_some(),
            });
            each(&item, own);
            mercury += units * UNIT;
        }
        if !items.cover(self.size) {
            return None;
        }
        self.all.push(Start {
            mercury,
            sass: padding.unwrap_or(self.size),
            is_after_padding: false,
        });
        (mercury == size).then_some(())
    }

    /// Returns the number of the instruction that begins at this offset of the Mercury code. The
    /// end counts as an instruction.
    fn at(&self, mercury: u64) -> Option<usize> {
        let offset = |start: &Start| start.mercury;
        self.all.binary_search_by_key(&mercury, offset).ok()
    }

    /// Returns `true` if the SASS at an offset is of the Mercury instruction that lies at another
    /// offset.
    pub fn is_of(&self, sass: u64, mercury: u64) -> bool {
        let after = self.all.partition_point(|start| start.mercury <= mercury);
        let own = after.checked_sub(1).and_then(|own| self.all.get(own));
        let next = self.all.get(after).map_or(self.size, |next| next.sass);
        own.is_some_and(|own| own.sass <= sass && sass < next.max(own.sass + INSTRUCTION))
    }

    /// Returns the address in the SASS for an address in the Mercury code
    /// [addresses-in-replaced-copies]: of the first instruction that does not begin before it, after
    /// code without Mercury that lies there, the size of the SASS for what lies after the code, and
    /// 0 within the last instruction.
    pub fn address(&self, mercury: u64) -> u64 {
        let number = self.all.partition_point(|start| start.mercury < mercury);
        let last = self.all.len().saturating_sub(1);
        match self.all.get(number) {
            Some(start) if number < last => start.sass,
            Some(start) if start.mercury != mercury => 0,
            _ => self.size,
        }
    }
}

impl Offsets {
    /// Returns the offsets of the function with this capsule, SASS code and number of bytes of
    /// Mercury code; `None` if they cannot be told for certain.
    pub fn new(capmerc: &[u8], code: &[u8], size: u64) -> Option<Self> {
        let mut starts = Starts::default();
        let mut details = Vec::new();
        let mut frame = Some(0);
        starts.read_each(capmerc, code, size, |item, own| {
            let start = item.instruction * INSTRUCTION;
            let main = match item.form {
                Form::Run(_) => main_of(own),
                _ => Some(Main::ONLY),
            };
            let first = main.and_then(|main| main.first);
            let main = main.map(|main| start + main.number * INSTRUCTION);
            details.push(Detail {
                main,
                first: first.map(|first| start + first * INSTRUCTION),
                frame,
                is_breaking: matches!(own, [only] if operation(only) == BREAKING),
                barrier: barrier_of(own),
            });
            frame = main.map(|main| main + INSTRUCTION);
        })?;
        let end = starts.all.last().map(|end| end.sass);
        details.push(Detail {
            main: end,
            first: end,
            frame,
            is_breaking: false,
            barrier: Barrier::None,
        });
        Some(Offsets { starts, details })
    }

    /// Returns the same without what is known of where ranges begin around Mercury instructions that
    /// became several SASS instructions.
    pub fn without_runs(mut self) -> Self {
        let mut next_is_run = false;
        for (start, detail) in self.starts.all.iter().zip(&mut self.details).rev() {
            let is_run = detail.main != Some(start.sass);
            if is_run || next_is_run || detail.barrier != Barrier::None {
                detail.barrier = Barrier::Unknown;
            }
            next_is_run = is_run;
        }
        self
    }

    /// Returns where the instructions begin.
    pub fn starts(&self) -> &Starts {
        &self.starts
    }

    /// Returns the number of the instruction that begins at this offset of the Mercury code, with
    /// its start and what else is known of it. The end counts as an instruction.
    fn at(&self, mercury: u64) -> Option<(usize, Start, Detail)> {
        self.numbered(self.starts.at(mercury)?)
    }

    fn numbered(&self, number: usize) -> Option<(usize, Start, Detail)> {
        let start = self.starts.all.get(number)?;
        Some((number, *start, *self.details.get(number)?))
    }

    /// Returns the range in the SASS of this range of the Mercury code: from the SASS instruction
    /// before the main one of the next instruction to the main one, with 0 for an end within an
    /// instruction. It begins before the first one of a barrier, and after the last one of it.
    /// `None` if an end is not within the code, or is not known.
    pub fn range(&self, mercury: [u64; 2]) -> Option<[u64; 2]> {
        let last = self.starts.all.last()?;
        let begin = |number: usize, own: Detail| {
            let (_, next, after) = self.numbered(number + 1)?;
            let first = match own.barrier {
                // Of several SASS instructions of an unknown form ranges begin at some other.
                Barrier::None => own.main.and(after.first)?,
                Barrier::Known => next.sass,
                Barrier::Unknown => return None,
            };
            (!after.is_breaking && !next.is_after_padding)
                .then_some(first)?
                .checked_sub(INSTRUCTION)
        };
        let within = |mercury: u64| Some(0).filter(|_| mercury < last.mercury);
        let begin = match self.at(mercury[0]) {
            Some((number, _, own)) => begin(number, own),
            None => within(mercury[0]),
        };
        let end = match self.at(mercury[1]) {
            Some((number, ..)) if number + 1 == self.details.len() => None,
            Some((_, start, own)) => own.main.filter(|_| !start.is_after_padding),
            None => within(mercury[1]),
        };
        Some([begin?, end?])
    }

    /// Returns the offset in the SASS of a rule for the unwinder at this offset of the Mercury
    /// code: after the instruction before. The inner `None` says that this is not known, the outer
    /// one that no instruction begins there.
    pub fn frame(&self, mercury: u64) -> Option<Option<u64>> {
        let (_, _, detail) = self.at(mercury)?;
        Some(detail.frame)
    }

    /// Returns where instructions begin in the Mercury code and in the SASS, in order, without the
    /// end.
    pub fn instructions(&self) -> impl Iterator<Item = (u64, u64)> {
        let starts = self.starts.all.split_last();
        let starts = starts.map_or(&[][..], |(_, rest)| rest);
        starts.iter().map(|start| (start.mercury, start.sass))
    }
}

/// A SASS instruction as it stands in code.
type Bytes = [u8; INSTRUCTION as usize];

fn instruction(bytes: &Bytes) -> Instruction {
    Instruction(u128::from_le_bytes(*bytes))
}

fn operation(bytes: &Bytes) -> u16 {
    instruction(bytes).operation()
}

/// Returns `true` for the SASS of a barrier that is more than one instruction.
fn is_collective(sass: &[Bytes]) -> bool {
    sass.len() > 1 && COLLECTIVE.contains(&operation(&sass[0]))
}

/// Returns which barrier the SASS of an instruction is.
fn barrier_of(sass: &[Bytes]) -> Barrier {
    match sass {
        [only] if operation(only) == AFTER_BARRIER => Barrier::Known,
        [_, second, ..] if is_collective(sass) => {
            match COLLECTIVE_WORK.contains(&operation(second)) {
                true => Barrier::Known,
                false => Barrier::Unknown,
            }
        }
        _ => Barrier::None,
    }
}

/// Returns the units of the instruction that a record stands for.
fn units_of_record(record: &[u8]) -> Option<u64> {
    record.first().map(|byte| u64::from(byte & 3))
}

/// What counts of the SASS instructions that one Mercury instruction became, by number.
#[derive(Clone, Copy)]
struct Main {
    /// The main one.
    number: u64,
    /// The one before which ranges begin: the main one but for barriers; `None` if it is not known.
    first: Option<u64>,
}

impl Main {
    /// That of a single instruction.
    const ONLY: Main = Main {
        number: 0,
        first: Some(0),
    };
}

/// Returns what counts of the SASS instructions that one Mercury instruction became; `None` for a
/// form that is not known.
fn main_of(sass: &[Bytes]) -> Option<Main> {
    let operations: Vec<u16> = sass.iter().map(operation).collect();
    let waits = operations.iter().take_while(|code| **code == 0x984).count();
    let main = match operations.get(waits..)? {
        // `MEMBAR`.
        [0x992] if waits > 0 => 0,
        // `MEMBAR` twice; then `ERRBAR`, `CGAERRBAR` and one or two more.
        [0x992, 0x992, 0x9ab, 0x5ab, 0x98f | 0x9c7] => 1,
        [0x992, 0x992, 0x9ab, 0x5ab, 0x9a8, 0x98f] => 4,
        _ if waits > 0 => return None,
        // The same without the waits and the first `MEMBAR`, in kernels that are scheduled anew.
        [0x992, 0x9ab, 0x5ab, 0x98f | 0x9c7] => 0,
        // `MEMBAR`, `ERRBAR`, `CGAERRBAR`, `EXIT`.
        [0x992, 0x9ab, 0x5ab, 0x94d] => 3,
        // The same where nothing waits for the `MEMBAR`.
        [0x9ab, 0x5ab, 0x94d] => 2,
        // `BAR` and others, as measured.
        [0x348, 0x918 | 0x389, 0x91b] => 1,
        [0x948, 0x819, 0x812, 0x31d, 0x819, 0x91b] => 3,
        [0xb1d, 0x31c] | [0x202, 0x202] | [0x805, 0x824, 0xb82] => 0,
        _ => return None,
    };
    let number = (waits + main) as u64;
    let first = match operations.last() {
        _ if is_collective(sass) => Some(0),
        // nvlink has some begin before the first one.
        Some(0x94d) => None,
        // Of kernels that are scheduled anew frames alone were measured.
        Some(0x98f | 0x9c7) if waits == 0 && operations.len() == 4 => None,
        _ => Some(number),
    };
    Some(Main { number, first })
}

/// Returns the units of the Mercury instruction that a plain item with this SASS instruction stands
/// for; `None` if they are not known.
fn units(word: Instruction) -> Option<u64> {
    let is_extended = word.bits(74, 1) != 0;
    let has_third = word.bits(64, 8) != RZ;
    match word.operation() {
        // Comparisons with a second result or with a predicate, and of upper halves.
        0x20b | 0x20c | 0x22a | 0xc0c | 0xe2a if word.bits(84, 6) != PT << 3 | PT => Some(2),
        0x20c | 0xc0c if word.bits(72, 1) != 0 => Some(2),
        // Addition and multiplication of integers with a carry.
        0x210 | 0x224 | 0x290 | 0xc10 | 0xe24 if is_extended => Some(2),
        // Addition of three registers, logic of three operands, addition with two carries.
        0x210 | 0x290 | 0xc10 if has_third => Some(2),
        0x212 | 0xc12 if depends_on_third(word.bits(72, 8)) => Some(2),
        0x210 | 0xc10 if word.bits(84, 3) != PT => Some(2),
        // `ULEA` by 24, with which addresses in shared memory begin.
        0x291 if word.bits(72, 8) == 24 << 3 && word.bits(81, 9) == 0x1c7 && !has_third => Some(1),
        // `BSSY` with and without reconvergence.
        0x945 => match word.bits(72, 9) {
            0 => Some(2),
            1 | 2 => Some(1),
            _ => None,
        },
        0x202 | 0x207 | 0x208 | 0x209 | 0x20a | 0x20b | 0x20c | 0x20f | 0x210 | 0x212 | 0x213
        | 0x216 | 0x219 | 0x21a | 0x220 | 0x221 | 0x224 | 0x226 | 0x228 | 0x229 | 0x22a | 0x230
        | 0x232 | 0x238 | 0x23a | 0x23e | 0x240 | 0x245 | 0x246 | 0x248 | 0x287 | 0x28c | 0x290
        | 0x296 | 0x299 | 0x2a4 | 0x2bd | 0x2bf | 0x2ca | 0x300 | 0x301 | 0x302 | 0x304 | 0x305
        | 0x306 | 0x307 | 0x308 | 0x309 | 0x310 | 0x311 | 0x312 | 0x313 | 0x3a1 | 0x3c4 | 0x802
        | 0x806 | 0x882 | 0x886 | 0x906 | 0x908 | 0x918 | 0x941 | 0x942 | 0x946 | 0x94d | 0x95c
        | 0x95d | 0x9af | 0xc02 | 0xc07 | 0xc08 | 0xc0b | 0xc0c | 0xc10 | 0xc12 | 0xc19 | 0xc20
        | 0xc24 | 0xc26 | 0xc28 | 0xc36 | 0xc3e | 0xc45 | 0xc46 | 0xc48 | 0xc82 | 0xd00 | 0xd05
        | 0xd06 | 0xd08 | 0xd09 | 0xd10 | 0xd12 | 0xe21 | 0xe24 | 0xe29 | 0xe2a | 0xe46 => Some(1),
        0x211 | 0x223 | 0x225 | 0x227 | 0x22b | 0x231 | 0x234 | 0x276 | 0x291 | 0x2a5 | 0x343
        | 0x381 | 0x388 | 0x3aa | 0x416 | 0x419 | 0x421 | 0x423 | 0x424 | 0x431 | 0x446 | 0x4a4
        | 0x547 | 0x589 | 0x803 | 0x804 | 0x807 | 0x808 | 0x809 | 0x80b | 0x80c | 0x810 | 0x811
        | 0x812 | 0x816 | 0x819 | 0x81a | 0x81c | 0x820 | 0x823 | 0x824 | 0x825 | 0x827 | 0x831
        | 0x836 | 0x83b | 0x846 | 0x848 | 0x883 | 0x887 | 0x88c | 0x890 | 0x891 | 0x892 | 0x896
        | 0x899 | 0x8a4 | 0x8a5 | 0x902 | 0x944 | 0x947 | 0x949 | 0x94e | 0x958 | 0x981 | 0x983
        | 0x984 | 0x987 | 0x988 | 0x989 | 0xc11 | 0xc23 | 0xc25 | 0xc27 | 0xc2b | 0xe23 | 0xe25
        | 0xe27 | 0xe2b | 0xf89 => Some(2),
        _ => None,
    }
}

/// Returns `true` if a logical operation with this table of results asks for its third operand.
fn depends_on_third(table: u128) -> bool {
    (table ^ table >> 1) & 0x55 != 0
}

#[cfg(test)]
mod tests {
    use super::Offsets;

    /// Builds a capsule of items: plain ones (`None`), and entries.
    fn capsule(items: &[Option<&[u8]>]) -> Vec<u8> {
        let plain = (0..).zip(items).filter(|(_, item)| item.is_none());
        let bitmap: u32 = plain.map(|(bit, _)| 1 << bit).sum();
        let words = [
            1,
            super::super::capmerc::VERSION,
            items.len() as u32,
            bitmap,
        ];
        let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        items
            .iter()
            .flatten()
            .for_each(|entry| bytes.extend(*entry));
        bytes
    }

    fn code(operations: &[u128]) -> Vec<u8> {
        let words = operations.iter().map(|word| word.to_le_bytes());
        words.flatten().collect()
    }

    #[test]
    fn what_begins_before_a_barrier_of_memory_or_lanes() {
        let mut record = [0; 16];
        record[0] = 1;
        let run = [&(3_u16 << 7 | 0x51).to_le_bytes()[..], &record].concat();
        let capsule = capsule(&[None, Some(&run), None, Some(&record), None]);
        let code = code(&[0x202, 0x984, 0x984, 0x992, 0x202, 0x948, 0x202]);
        let offsets = Offsets::new(&capsule, &code, 0x50).unwrap();
        assert_eq!(offsets.range([0, 0x10]), Some([0x20, 0x30]));
        assert_eq!(offsets.range([0x10, 0x20]), Some([0x30, 0x40]));
        assert_eq!(offsets.range([0x20, 0x30]), None);
        assert_eq!(offsets.range([0x30, 0x30]), Some([0x50, 0x50]));
    }

    /// A move, an addition of an immediate, a record of one unit, `EXIT` for the debugger, padding.
    fn function() -> (Vec<u8>, Vec<u8>) {
        let mut record = [0; 16];
        record[0] = 1;
        let exit = [&(4_u16 << 7 | 0x51).to_le_bytes()[..], &record].concat();
        let padding = (2_u16 << 7 | 0x50).to_le_bytes();
        let items = [None, None, Some(&record[..]), Some(&exit), Some(&padding)];
        let operations = [
            0x202, 0x810, 0x919, 0x992, 0x9ab, 0x5ab, 0x94d, 0x947, 0x918,
        ];
        (capsule(&items), code(&operations))
    }

    #[test]
    fn instructions_have_places_in_both_forms() {
        let (capsule, code) = function();
        let offsets = Offsets::new(&capsule, &code, 0x50).unwrap();
        let places: Vec<(u64, u64)> = offsets.instructions().collect();
        assert_eq!(places, [(0, 0), (0x10, 0x10), (0x30, 0x20), (0x40, 0x30)]);
        // Another size than the items have.
        assert_eq!(Offsets::new(&capsule, &code, 0x60), None);
        assert_eq!(Offsets::new(&capsule, &code[16..], 0x50), None);
    }

    #[test]
    fn addresses_ranges_and_rules_have_their_own_rules() {
        let (capsule, code) = function();
        let offsets = Offsets::new(&capsule, &code, 0x50).unwrap();
        let addresses = [0, 0x20, 0x40, 0x48, 0x50, 0x90].map(|at| offsets.starts().address(at));
        assert_eq!(addresses, [0, 0x20, 0x30, 0, 0x90, 0x90]);
        assert_eq!(offsets.range([0x10, 0x40]), Some([0x10, 0x60]));
        assert_eq!(offsets.range([0x10, 0x50]), None);
        assert_eq!(offsets.range([0x10, 0x20]), Some([0x10, 0]));
        assert_eq!(offsets.range([0x10, 0x60]), None);
        assert_eq!(offsets.range([0x10, 0x10]), Some([0x10, 0x10]));
        // In front of `EXIT` for the debugger nvlink has ranges begin at either end of it.
        assert_eq!(offsets.range([0x30, 0x30]), None);
        assert_eq!(offsets.frame(0x20), None);
        assert_eq!(offsets.frame(0x40), Some(Some(0x30)));
        assert_eq!(offsets.frame(0x50), Some(Some(0x70)));
    }

    /// As nvlink writes them for random weak functions with such barriers (64,000 rows of `-r -g`).
    #[test]
    fn ranges_lie_around_barriers() {
        let run = |count: u16| {
            let mut record = [0; 16];
            record[0] = 1;
            [&(count << 7 | 0x51).to_le_bytes()[..], &record].concat()
        };
        for barrier in [
            &[0x348, 0x918, 0x91b][..],
            &[0x348, 0x389, 0x91b],
            &[0x948, 0x819, 0x812, 0x31d, 0x819, 0x91b],
        ] {
            let fence = [0x984, 0x984, 0x992, 0x992, 0x9ab, 0x5ab, 0x98f];
            let operations = [&[0x202], barrier, &fence[..], &[0x941], &fence[..]].concat();
            let (one, other) = (run(barrier.len() as u16), run(7));
            let items = [None, Some(&one[..]), Some(&other), None, Some(&other)];
            let offsets = Offsets::new(&capsule(&items), &code(&operations), 0x50).unwrap();
            let begin = |mercury| offsets.range([mercury, mercury]).map(|[begin, _]| begin);
            let end = 0x10 + barrier.len() as u64 * 0x10;
            assert_eq!(begin(0), Some(0), "before the barrier");
            assert_eq!(begin(0x10), Some(end - 0x10), "at it");
            // The fence's second `MEMBAR` is the main one, which the range after `BSYNC` passes over.
            assert_eq!(begin(0x20), Some(end + 0x60), "before `BSYNC`");
            assert_eq!(begin(0x30), Some(end + 0x70), "at it");
        }
    }

    /// nvlink has a range at this barrier of clusters begin where its SASS does.
    #[test]
    fn where_ranges_begin_at_other_barriers_is_not_known() {
        let mut record = [0; 16];
        record[0] = 1;
        let run = [&(4_u16 << 7 | 0x51).to_le_bytes()[..], &record].concat();
        let operations = [0x202, 0x948, 0xdc7, 0x98f, 0x91b, 0x941];
        let items = [None, Some(&run[..]), None];
        let offsets = Offsets::new(&capsule(&items), &code(&operations), 0x30).unwrap();
        assert_eq!(offsets.range([0x10, 0x20]), None);
        assert_eq!(offsets.range([0x20, 0x20]), Some([0x50, 0x50]));
    }

    #[test]
    fn what_is_not_known_is_said() {
        // An operation that is not in the table.
        assert_eq!(Offsets::new(&capsule(&[None]), &code(&[0x7ff]), 0x10), None);
        // A run of an unknown form, and code without Mercury within the code.
        let mut record = [0; 16];
        record[0] = 1;
        let run = [&(2_u16 << 7 | 0x51).to_le_bytes()[..], &record].concat();
        let gap = (1_u16 << 7 | 0x50).to_le_bytes();
        let capsule = capsule(&[Some(&run), None, Some(&gap), None]);
        let code = code(&[0x81c, 0x2ca, 0x202, 0x918, 0x202]);
        let offsets = Offsets::new(&capsule, &code, 0x30).unwrap();
        assert_eq!(offsets.frame(0x10), Some(None));
        // After the instruction before the code without Mercury.
        assert_eq!(offsets.frame(0x20), Some(Some(0x30)));
        // nvlink has ranges begin at either.
        assert_eq!(offsets.range([0, 0x10]), None);
        assert_eq!(offsets.range([0, 0]), None);
        // Addresses after code without Mercury are those of the instruction.
        let addresses = [0x10, 0x20].map(|at| offsets.starts().address(at));
        assert_eq!(addresses, [0x20, 0x40]);
    }
}
