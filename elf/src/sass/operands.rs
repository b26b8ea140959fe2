//! The registers that SASS instructions write and read.
//!
//! The tables, one for each [`Generation`], were measured: they say of each operation what `nvdisasm
//! -plr` says of compiled programs. What they do not have is unknown, and so is the function that
//! holds it.

use std::sync::OnceLock;

use super::Class;
use super::Instruction;

/// GPUs whose instructions are alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Generation {
    /// sm_75 to sm_90.
    Sm75,
    /// sm_100 and later.
    Sm100,
}

impl Generation {
    /// Returns the generation of a GPU, by its SM number; `None` for those before sm_75.
    pub fn of(sm: u16) -> Option<Generation> {
        match sm {
            0..75 => None,
            75..100 => Some(Generation::Sm75),
            100.. => Some(Generation::Sm100),
        }
    }

    /// Returns the name of an instruction's operation, without modifiers; `None` if it is not known.
    pub fn name(self, word: Instruction) -> Option<&'static str> {
        self.operation(word).map(|operation| operation.name)
    }

    /// Returns what an instruction does, in classes.
    pub fn class(self, word: Instruction) -> Class {
        self.operation(word)
            .map_or(Class::Other, |operation| operation.class)
    }

    /// Returns the names of all operations that are known, without modifiers.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        self.table()
            .iter()
            .flatten()
            .map(|operation| operation.name)
    }

    fn operation(self, word: Instruction) -> Option<&'static Operation> {
        self.table()[usize::from(word.operation())].as_ref()
    }

    /// Returns the operations by bits 0 to 11 of an instruction.
    fn table(self) -> &'static [Option<Operation>] {
        static SM75: OnceLock<Vec<Option<Operation>>> = OnceLock::new();
        static SM100: OnceLock<Vec<Option<Operation>>> = OnceLock::new();
        let table = match self {
            Generation::Sm75 => &SM75,
            Generation::Sm100 => &SM100,
        };
        table.get_or_init(|| read_table(self.lines()))
    }

    /// Returns the table as it is written.
    fn lines(self) -> &'static str {
        match self {
            Generation::Sm75 => include_str!("operands-sm75.txt"),
            Generation::Sm100 => include_str!("operands-sm100.txt"),
        }
    }

    /// Returns the width in bits of the number of a register.
    const fn width(self, file: File) -> u32 {
        match (file, self) {
            (File::Uniform, Generation::Sm75) => 6,
            (File::General | File::Uniform, _) => 8,
            (File::Predicate | File::UniformPredicate, _) => 3,
        }
    }

    /// Returns how many registers of a file an instruction can name; a higher number stands for
    /// none.
    const fn registers(self, file: File) -> usize {
        match (file, self) {
            (File::Uniform, Generation::Sm75) => 63,
            _ => file.range().1,
        }
    }
}

/// The number of 64-bit words of [`Registers`].
const WORDS: usize = 7;

/// A register file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum File {
    /// General registers, `R0` to `R254`.
    General,
    /// Uniform registers, `UR0` to `UR79`; to `UR62` before sm_100.
    Uniform,
    /// Predicates, `P0` to `P6`.
    Predicate,
    /// Uniform predicates, `UP0` to `UP6`.
    UniformPredicate,
}

impl File {
    /// Returns the first bit of the file in [`Registers`], and the number that stands for none of
    /// its registers, which is also how many there are.
    const fn range(self) -> (usize, usize) {
        match self {
            File::General => (0, 255),
            File::Uniform => (256, 127),
            File::Predicate => (384, 7),
            File::UniformPredicate => (392, 7),
        }
    }

    /// All files, in the order in which registers are listed.
    const ALL: [File; 4] = [
        File::General,
        File::Uniform,
        File::Predicate,
        File::UniformPredicate,
    ];

    /// Returns what stands in front of the number of a register: `R`, `UR`, `P` or `UP`.
    pub const fn prefix(self) -> &'static str {
        match self {
            File::General => "R",
            File::Uniform => "UR",
            File::Predicate => "P",
            File::UniformPredicate => "UP",
        }
    }

    fn parse(text: &str) -> Option<File> {
        File::ALL.into_iter().find(|file| file.prefix() == text)
    }
}

/// A set of registers of all files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Registers([u64; WORDS]);

impl Registers {
    /// The set without registers.
    pub const NONE: Registers = Registers([0; WORDS]);

    /// Adds `count` registers from `first` on; registers that a file does not have are left out.
    pub fn add(&mut self, file: File, first: usize, count: usize) {
        let (base, none) = file.range();
        for register in first..first.saturating_add(count).min(none) {
            let bit = base + register;
            self.0[bit / 64] |= 1 << (bit % 64);
        }
    }

    /// Returns `true` if a register is in both sets.
    pub fn meets(&self, other: &Registers) -> bool {
        self.0
            .iter()
            .zip(other.0)
            .any(|(one, other)| one & other != 0)
    }

    /// Returns `true` if a register is in the set.
    pub fn has(&self, file: File, register: usize) -> bool {
        let mut one = Registers::NONE;
        one.add(file, register, 1);
        self.meets(&one)
    }

    /// Returns the registers that are in one of two sets.
    #[must_use]
    pub fn with(mut self, other: &Registers) -> Registers {
        for (word, other) in self.0.iter_mut().zip(other.0) {
            *word |= other;
        }
        self
    }

    /// Returns the registers that are not in another set.
    #[must_use]
    pub fn without(mut self, other: &Registers) -> Registers {
        for (word, other) in self.0.iter_mut().zip(other.0) {
            *word &= !other;
        }
        self
    }

    /// Returns the general registers of the set.
    #[must_use]
    pub fn general(mut self) -> Registers {
        self.0[4..].fill(0);
        self
    }

    /// Returns the predicates of the set, but for uniform ones.
    #[must_use]
    pub fn predicates(mut self) -> Registers {
        self.0[..6].fill(0);
        self.0[6] &= 0xff;
        self
    }

    /// Returns the uniform registers and predicates of the set.
    #[must_use]
    pub fn uniform(mut self) -> Registers {
        self.0[..4].fill(0);
        self.0[6] &= !0xff;
        self
    }

    /// Returns the registers as text, those that follow each other together: `R2-R3`, `P0`.
    pub fn ranges(&self) -> Vec<String> {
        let mut ranges = Vec::new();
        for file in File::ALL {
            let (count, prefix) = (file.range().1, file.prefix());
            let mut register = 0;
            while register < count {
                let first = register;
                while register < count && self.has(file, register) {
                    register += 1;
                }
                match register - first {
                    0 => register += 1,
                    1 => ranges.push(format!("{prefix}{first}")),
                    _ => ranges.push(format!("{prefix}{first}-{prefix}{}", register - 1)),
                }
            }
        }
        ranges
    }

    /// Returns how many registers there are.
    pub fn count(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// Returns `true` if there is none.
    pub fn is_empty(&self) -> bool {
        self.0 == [0; WORDS]
    }
}

/// The predicate that decides whether an instruction does anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guard {
    /// Its register file.
    pub file: File,
    /// Its number.
    pub number: u8,
    /// Whether the instruction does something if the predicate is false.
    pub negated: bool,
}

/// What an instruction writes and reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operands {
    /// The name of the operation, without modifiers.
    pub name: &'static str,
    /// The registers that it writes.
    pub defined: Registers,
    /// The registers that it reads, its guard among them.
    pub used: Registers,
    /// Its guard; `None` if it always does something.
    pub guard: Option<Guard>,
}

impl Operands {
    /// Returns what an instruction writes and reads; `None` if that is not known.
    pub fn of(generation: Generation, word: Instruction) -> Option<Operands> {
        let operation = generation.operation(word)?;
        let parts = operation.parts.as_ref()?;
        let names_none = |place: &Place| {
            let width = u32::from(place.count);
            word.bits(u32::from(place.bit), width) == (1 << width) - 1
        };
        if !operation.none.iter().all(names_none) {
            return None;
        }
        let guard = match word.bits(12, 3) as u8 {
            7 => None,
            number => Some(Guard {
                file: operation.guard?,
                number,
                negated: word.bits(15, 1) != 0,
            }),
        };
        let mut operands = Operands {
            name: operation.name,
            defined: Registers::NONE,
            used: Registers::NONE,
            guard,
        };
        if let Some(guard) = guard {
            operands.used.add(guard.file, usize::from(guard.number), 1);
        }
        for part in parts {
            let value = part.bits.iter().fold(0, |value, bit| {
                value << 1 | word.bits(u32::from(*bit), 1) as u16
            });
            let (_, places) = part.forms.iter().find(|(form, _)| *form == value)?;
            let registers = match part.is_defined {
                true => &mut operands.defined,
                false => &mut operands.used,
            };
            for place in places {
                let width = generation.width(part.file);
                let first = word.bits(u32::from(place.bit), width) as usize;
                let end = generation
                    .registers(part.file)
                    .min(first + usize::from(place.count));
                registers.add(part.file, first, end.saturating_sub(first));
            }
        }
        Some(operands)
    }
}

/// An operation of the table.
#[derive(Debug)]
struct Operation {
    name: &'static str,
    class: Class,
    /// The file of its guard; `None` if it was not seen with one.
    guard: Option<File>,
    /// Its operands; `None` if only the name is known.
    parts: Option<Vec<Part>>,
    /// Bits that could name a register and were all set; the count is that of the bits.
    none: Vec<Place>,
}

/// Operands of one file that an operation writes, or those that it reads.
#[derive(Debug)]
struct Part {
    is_defined: bool,
    file: File,
    /// The bits on which the places depend, the highest of the value first.
    bits: Vec<u8>,
    /// Places by the value of these bits.
    forms: Vec<(u16, Vec<Place>)>,
}

/// Where the number of a first register stands, and how many registers follow each other.
#[derive(Debug)]
struct Place {
    bit: u8,
    count: u8,
}

fn read_table(lines: &'static str) -> Vec<Option<Operation>> {
    let mut table: Vec<Option<Operation>> = (0..1 << 12).map(|_| None).collect();
    for line in lines.lines() {
        if let Some((number, operation)) = parse_operation(line)
            && let Some(row) = table.get_mut(number)
        {
            *row = Some(operation);
        }
    }
    table
}

/// Reads a line of the table; `None` for comments.
fn parse_operation(line: &'static str) -> Option<(usize, Operation)> {
    let mut words = line.splitn(4, ' ');
    let number = usize::from_str_radix(words.next()?, 16).ok()?;
    let (name, guard) = (words.next()?, File::parse(words.next()?));
    let operands = words.next().unwrap_or("");
    let mut operation = Operation {
        name,
        class: Class::of(name),
        guard,
        parts: None,
        none: Vec::new(),
    };
    if operands == "?" {
        return Some((number, operation));
    }
    let mut parts = Vec::new();
    let texts = operands.split(';').map(str::trim);
    for part in texts.filter(|part| !part.is_empty()) {
        match part.strip_prefix("none ") {
            Some(places) => operation.none = parse_places(places)?,
            None => parts.push(parse_part(part)?),
        }
    }
    operation.parts = Some(parts);
    Some((number, operation))
}

/// Reads operands: `def R 16.1`, `use R @73,74 00=24.1 01=24.2`.
fn parse_part(text: &str) -> Option<Part> {
    let mut words = text.split(' ').peekable();
    let is_defined = match words.next()? {
        "def" => true,
        "use" => false,
        _ => return None,
    };
    let file = File::parse(words.next()?)?;
    let bits = words.next_if(|word| word.starts_with('@'));
    let bits: Option<Vec<u8>> = bits
        .into_iter()
        .flat_map(|bits| bits[1..].split(','))
        .map(|bit| bit.parse().ok())
        .collect();
    let forms: Option<Vec<(u16, Vec<Place>)>> = words.map(parse_form).collect();
    Some(Part {
        is_defined,
        file,
        bits: bits?,
        forms: forms?,
    })
}

/// Reads the places of one value of the bits: `01=16.4`, without bits `24.1,32.1`, `-` for none.
fn parse_form(text: &str) -> Option<(u16, Vec<Place>)> {
    let (value, places) = match text.split_once('=') {
        Some((value, places)) => (u16::from_str_radix(value, 2).ok()?, places),
        None => (0, text),
    };
    Some((value, parse_places(places)?))
}

/// Reads places: `24.1,32.1`, `-` for none.
fn parse_places(places: &str) -> Option<Vec<Place>> {
    let parse_place = |place: &str| {
        let (bit, count) = place.split_once('.')?;
        Some(Place {
            bit: bit.parse().ok()?,
            count: count.parse().ok()?,
        })
    };
    let places = places.split(',').filter(|place| *place != "-");
    places.map(parse_place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_tables_is_read() {
        for generation in [Generation::Sm75, Generation::Sm100] {
            let lines = generation.lines().lines();
            let lines: Vec<&str> = lines.filter(|line| !line.starts_with('#')).collect();
            assert!(lines.iter().all(|line| parse_operation(line).is_some()));
            let known = generation.table().iter().flatten().count();
            assert_eq!(known, lines.len(), "an operation stands twice");
        }
    }

    #[test]
    fn the_width_of_a_load_decides_what_it_writes() {
        // @P0 LDG.E.128 R4, desc[UR6][R2.64] with another width in bits 73 to 75.
        let load = |width: u128| {
            let word = 0x981 | 4 << 16 | 2 << 24 | 6 << 32 | width << 73 | 7 << 81;
            Operands::of(Generation::Sm100, Instruction(word)).expect("the operation is known")
        };
        let widths = [(4, 1), (5, 2), (6, 4)].map(|(width, count)| {
            let mut expected = Registers::NONE;
            expected.add(File::General, 4, count);
            (load(width).defined, expected)
        });
        assert!(widths.iter().all(|(defined, expected)| defined == expected));
        let mut used = Registers::NONE;
        used.add(File::General, 2, 2);
        used.add(File::Uniform, 6, 2);
        used.add(File::Predicate, 0, 1);
        assert_eq!(load(4).used, used);
        let guard = Guard {
            file: File::Predicate,
            number: 0,
            negated: false,
        };
        assert_eq!(load(4).guard, Some(guard));
    }

    #[test]
    fn what_the_table_does_not_have_is_unknown() {
        assert_eq!(Operands::of(Generation::Sm100, Instruction(0xfff)), None);
        // A load of a width that there is not.
        let word = 0x981 | 4 << 16 | 2 << 24 | 6 << 32 | 7 << 73;
        assert_eq!(Operands::of(Generation::Sm100, Instruction(word)), None);
    }
}
