//! The registers that SASS instructions of sm_100 and later write and read.
//!
//! The table (`operands.txt`) was measured: it says of each operation what `nvdisasm -plr` says of
//! compiled programs. What it does not have is unknown, and so is the function that holds it.

use std::sync::OnceLock;

use super::sass::Instruction;

/// The number of 64-bit words of [`Registers`].
const WORDS: usize = 7;

/// A register file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum File {
    /// General registers, `R0` to `R254`.
    General,
    /// Uniform registers, `UR0` to `UR79`.
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

    /// Returns the width in bits of the number of a register.
    const fn width(self) -> u32 {
        match self {
            File::General | File::Uniform => 8,
            File::Predicate | File::UniformPredicate => 3,
        }
    }

    fn parse(text: &str) -> Option<File> {
        Some(match text {
            "R" => File::General,
            "UR" => File::Uniform,
            "P" => File::Predicate,
            "UP" => File::UniformPredicate,
            _ => return None,
        })
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

    /// Returns the general registers of the set.
    #[must_use]
    pub fn general(mut self) -> Registers {
        self.0[4..].fill(0);
        self
    }

    /// Returns the uniform registers and predicates of the set.
    #[must_use]
    pub fn uniform(mut self) -> Registers {
        self.0[..4].fill(0);
        self.0[6] &= !0xff;
        self
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
    pub fn of(word: Instruction) -> Option<Operands> {
        let operation = table()[usize::from(word.operation())].as_ref()?;
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
        for part in &operation.parts {
            let value = part.bits.iter().fold(0, |value, bit| {
                value << 1 | word.bits(u32::from(*bit), 1) as u16
            });
            let (_, places) = part.forms.iter().find(|(form, _)| *form == value)?;
            let registers = match part.is_defined {
                true => &mut operands.defined,
                false => &mut operands.used,
            };
            for place in places {
                let first = word.bits(u32::from(place.bit), part.file.width()) as usize;
                registers.add(part.file, first, usize::from(place.count));
            }
        }
        Some(operands)
    }
}

/// An operation of the table.
#[derive(Debug)]
struct Operation {
    name: &'static str,
    /// The file of its guard; `None` if it was not seen with one.
    guard: Option<File>,
    parts: Vec<Part>,
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

/// Returns the operations by bits 0 to 11 of an instruction.
fn table() -> &'static [Option<Operation>] {
    static TABLE: OnceLock<Vec<Option<Operation>>> = OnceLock::new();
    TABLE.get_or_init(|| {
        let mut table: Vec<Option<Operation>> = (0..1 << 12).map(|_| None).collect();
        for line in include_str!("operands.txt").lines() {
            if let Some((number, operation)) = parse_operation(line)
                && let Some(row) = table.get_mut(number)
            {
                *row = Some(operation);
            }
        }
        table
    })
}

/// Reads a line of the table; `None` for comments.
fn parse_operation(line: &'static str) -> Option<(usize, Operation)> {
    let mut words = line.splitn(4, ' ');
    let number = usize::from_str_radix(words.next()?, 16).ok()?;
    let (name, guard) = (words.next()?, File::parse(words.next()?));
    let parts = words.next().unwrap_or("").split(';').map(str::trim);
    let mut operation = Operation {
        name,
        guard,
        parts: Vec::new(),
        none: Vec::new(),
    };
    for part in parts.filter(|part| !part.is_empty()) {
        match part.strip_prefix("none ") {
            Some(places) => operation.none = parse_places(places)?,
            None => operation.parts.push(parse_part(part)?),
        }
    }
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
    fn every_line_of_the_table_is_read() {
        let lines = include_str!("operands.txt").lines();
        let lines: Vec<&str> = lines.filter(|line| !line.starts_with('#')).collect();
        assert!(lines.iter().all(|line| parse_operation(line).is_some()));
        let known = table().iter().flatten().count();
        assert_eq!(known, lines.len(), "an operation stands twice");
    }

    #[test]
    fn the_width_of_a_load_decides_what_it_writes() {
        // @P0 LDG.E.128 R4, desc[UR6][R2.64] with another width in bits 73 to 75.
        let load = |width: u128| {
            let word = 0x981 | 4 << 16 | 2 << 24 | 6 << 32 | width << 73 | 7 << 81;
            Operands::of(Instruction(word)).expect("the operation is known")
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
        assert_eq!(Operands::of(Instruction(0xfff)), None);
        // A load that writes a predicate, too.
        let word = 0x981 | 4 << 16 | 2 << 24 | 6 << 32 | 4 << 73;
        assert_eq!(Operands::of(Instruction(word)), None);
    }
}
