//! The entries of `.debug_frame`, which is in the 64-bit form, and their rules for the unwinder.

use std::collections::BTreeMap;

use super::offsets::Offsets;

/// Offset in bytes within an FDE of the field that names its CIE.
pub const CIE_POINTER: u64 = 12;

/// Offset in bytes within an FDE of the address of its function.
pub const FUNCTION: u64 = 20;

/// Offset in bytes within an FDE of the size of its function.
pub const RANGE: u64 = 28;

/// Offset in bytes within an FDE of its instructions.
pub const INSTRUCTIONS: u64 = 36;

/// Offset in bytes within a CIE of its version, without augmentation, and of the unit of advances.
const CIE_VERSION: usize = 20;

/// Offset in bytes within a CIE of the unit of advances.
pub const CIE_UNIT: usize = CIE_VERSION + 2;

/// Bytes of an entry, at least in what compilers write.
const ENTRY_SIZE: usize = 48;

/// Returns the offsets in bytes at which the entries begin; none if the entries are of another
/// form, or do not end where the section does.
pub fn entries(bytes: &[u8]) -> Vec<u64> {
    let mut starts = Vec::with_capacity(bytes.len() / ENTRY_SIZE);
    let mut at = 0_usize;
    while at < bytes.len() {
        let word = |from: usize, length: usize| bytes.get(from..from.checked_add(length)?);
        let Some(length) = word(at, 12)
            .and_then(|head| head.strip_prefix(&[0xff; 4]))
            .and_then(|length| length.try_into().ok())
            .map(u64::from_le_bytes)
        else {
            return Vec::new();
        };
        starts.push(at as u64);
        let next = usize::try_from(length)
            .ok()
            .and_then(|length| at.checked_add(12)?.checked_add(length));
        match next {
            Some(next) if next <= bytes.len() => at = next,
            _ => return Vec::new(),
        }
    }
    starts
}

/// How many entries are looked at around the one that was found before.
const NEAR: usize = 3;

/// Returns the index of the entry that begins at the offset `at`, or in which it lies; the entries
/// are in ascending order. `last` is an index that was found before: rows of one entry come one
/// after the other, and entries in their order or the reverse.
pub fn entry_at<E>(
    entries: &[E],
    start: impl Fn(&E) -> u64,
    at: u64,
    last: usize,
) -> Option<usize> {
    let is_before = |index: usize| entries.get(index).is_some_and(|entry| start(entry) <= at);
    let near = match is_before(last) {
        true => (last..last + NEAR).find(|index| !is_before(index + 1)),
        false => (last.saturating_sub(NEAR)..last)
            .rev()
            .find(|index| is_before(*index)),
    };
    near.or_else(|| {
        let after = entries.partition_point(|entry| start(entry) <= at);
        after.checked_sub(1)
    })
}

/// Returns `true` if the advances of the frames of a CIE count in this number of bytes.
pub fn advances_by(cie: &[u8], unit: u8) -> bool {
    cie.get(CIE_VERSION..CIE_VERSION + 3) == Some(&[3, 0, unit])
}

/// Makes the advances of the frames of a CIE, the last `length` bytes, count in the unit of the SASS
/// view.
pub fn advance_by_sass(bytes: &mut [u8], length: usize) {
    let start = bytes.len().saturating_sub(length);
    if let Some(unit) = bytes.get_mut(start + CIE_UNIT)
        && length > CIE_UNIT
    {
        *unit = SASS_UNIT;
    }
}

/// The instruction for an advance of 32 bits.
const ADVANCE: u8 = 4;

/// The unit in bytes of advances in the SASS view.
pub const SASS_UNIT: u8 = 4;

/// The unit in bytes of advances in the Mercury view.
pub const MERCURY_UNIT: u8 = 1;

/// An instruction of an FDE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step<'data> {
    /// What follows holds this many units later.
    Advance(u32),
    /// A rule, with its operands.
    Rule(&'data [u8]),
}

/// Returns the instructions of an FDE; `None` for one of an unknown form, which is the last.
pub fn steps(mut instructions: &[u8]) -> impl Iterator<Item = Option<Step<'_>>> {
    std::iter::from_fn(move || {
        let (&code, rest) = instructions.split_first()?;
        let step = match code {
            ADVANCE => rest.split_first_chunk::<4>().map(|(units, rest)| {
                let step = Step::Advance(u32::from_le_bytes(*units));
                (step, rest)
            }),
            _ => operands(code, rest)
                .and_then(|length| instructions.split_at_checked(1 + length))
                .map(|(rule, rest)| (Step::Rule(rule), rest)),
        };
        instructions = step.map_or(&[], |(_, rest)| rest);
        Some(step.map(|(step, _)| step))
    })
}

/// Rules for the unwinder of one function in the Mercury view: instructions, by the offset in the
/// code from which they hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules<'data>(BTreeMap<u32, Vec<&'data [u8]>>);

impl<'data> Rules<'data> {
    /// Adds the instructions of an FDE. At an offset that has rules already, the new ones take
    /// their place. `None` for instructions of an unknown form.
    pub fn add(&mut self, instructions: &'data [u8]) -> Option<()> {
        let mut at = 0_u32;
        let mut rules = Vec::new();
        for step in steps(instructions) {
            match step? {
                Step::Advance(units) => {
                    // An advance without rules counts only at the end.
                    if !rules.is_empty() {
                        self.0.insert(at, std::mem::take(&mut rules));
                    }
                    at = at.wrapping_add(units);
                }
                Step::Rule(rule) => rules.push(rule),
            }
        }
        self.0.insert(at, rules);
        Some(())
    }

    /// Returns the instructions of an FDE of the SASS view, with what fills it up; `None` if the
    /// place of a rule is not known.
    pub fn in_sass(&self, offsets: &Offsets) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        let mut last = 0;
        for (at, rules) in &self.0 {
            let Some(place) = offsets.frame(u64::from(*at)) else {
                continue;
            };
            let place = place?;
            if place != last {
                let advance = place.checked_sub(last)? / u64::from(SASS_UNIT);
                out.push(ADVANCE);
                out.extend_from_slice(&u32::try_from(advance).ok()?.to_le_bytes());
                last = place;
            }
            let rules = rules.iter().filter(|rule| **rule != [0]);
            rules.for_each(|rule| out.extend_from_slice(rule));
        }
        let length = (INSTRUCTIONS as usize + out.len()).next_multiple_of(8);
        out.resize(length - INSTRUCTIONS as usize, 0);
        Some(out)
    }
}

/// Returns the bytes of the operands of an instruction; `None` for one that compilers do not write.
fn operands(code: u8, rest: &[u8]) -> Option<usize> {
    let number = |at: usize| {
        let length = rest.get(at..)?.iter().position(|byte| byte & 0x80 == 0)?;
        Some(at + length + 1)
    };
    // A block has one byte for its length.
    let block = |at: usize| Some(at + 1 + usize::from(*rest.get(at).filter(|byte| **byte < 0x80)?));
    match code {
        // Nothing, and the state as it was.
        0x00 | 0x0a | 0x0b => Some(0),
        // An offset, another register, the frame's register with an offset.
        0x05 | 0x09 | 0x0c => number(number(0)?),
        // Restored, undefined, the same; the frame's register, its offset.
        0x06..=0x08 | 0x0d | 0x0e => number(0),
        // Expressions.
        0x0f => block(0),
        0x10 | 0x16 => block(number(0)?),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::Offsets;
    use super::Rules;
    use super::entries;
    use super::entry_at;

    #[test]
    fn entries_follow_each_other() {
        let entry = |length: u8| {
            let mut bytes = vec![0xff; 4];
            bytes.extend_from_slice(&[length, 0, 0, 0, 0, 0, 0, 0]);
            bytes.extend(std::iter::repeat_n(0, length.into()));
            bytes
        };
        let bytes = [entry(5), entry(0), entry(9)].concat();
        assert_eq!(entries(&bytes), [0, 17, 29]);
        assert_eq!(entries(&bytes[4..]), [0_u64; 0]);
        assert_eq!(entries(&[0xff; 12]), [0_u64; 0]);
        // The last entry is cut.
        assert_eq!(entries(&bytes[..bytes.len() - 1]), [0_u64; 0]);
    }

    #[test]
    fn an_entry_is_found_from_any_other() {
        let starts = [0_u64, 17, 29, 40, 52, 60, 61, 80];
        for (at, last) in (0..100).flat_map(|at| (0..=starts.len()).map(move |last| (at, last))) {
            let expected = starts.iter().rposition(|start| *start <= at);
            let found = entry_at(&starts, |start| *start, at, last);
            assert_eq!(found, expected, "{at} from {last}");
        }
        assert_eq!(entry_at(&starts[1..], |start| *start, 5, 3), None);
        assert_eq!(entry_at(&[0_u64; 0], |start| *start, 5, 0), None);
    }

    /// Code of four instructions of one unit, the last without Mercury.
    fn offsets() -> Offsets {
        let padding = (1_u16 << 7 | 0x50).to_le_bytes();
        let words = [1, super::super::capmerc::VERSION, 4, 7];
        let words = words.iter().flat_map(|word| word.to_le_bytes());
        let capsule: Vec<u8> = words.chain(padding).collect();
        let code = [0x202_u128, 0x202, 0x202, 0x918]
            .map(u128::to_le_bytes)
            .concat();
        Offsets::new(&capsule, &code, 0x30).unwrap()
    }

    #[test]
    fn later_rules_take_the_place_of_earlier_ones() {
        let mut rules = Rules::default();
        // At 0x10 and 0x30, and one that lies within an instruction.
        let first = [
            &[4, 0x10, 0, 0, 0, 0x0e, 1, 0x0e, 2][..],
            &[4, 0x20, 0, 0, 0, 0x0e, 3, 4, 4, 0, 0, 0, 0x0e, 9],
        ]
        .concat();
        rules.add(&first).unwrap();
        rules.add(&[4, 0x10, 0, 0, 0, 0x0e, 4, 0, 0]).unwrap();
        let sass = rules.in_sass(&offsets()).unwrap();
        let expected = [4, 4, 0, 0, 0, 0x0e, 4, 4, 8, 0, 0, 0, 0x0e, 3];
        assert_eq!(sass[..14], expected);
        assert!(sass[14..].iter().all(|byte| *byte == 0));
        assert_eq!((36 + sass.len()) % 8, 0);
    }

    #[test]
    fn rules_of_another_form_are_not_taken() {
        for instructions in [&[4, 0, 0][..], &[0x41], &[0x0e, 0x80], &[0x10, 1, 5, 0]] {
            assert_eq!(Rules::default().add(instructions), None);
        }
    }
}
